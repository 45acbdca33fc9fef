"""The text of PDFs is read in the sandbox that the system has, and not without one unless that is allowed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from packed import Package, Record
from program import SECONDS, Result
from support.places import BINARY, WEB_INTERFACE

pytestmark = pytest.mark.needs("Linux on x86-64 or ARM64", "pdftotext")

LACKING = Path(__file__).parent / "lacking.py"
NOBODY = 65534
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf"
NOT_READ = "no sandbox for pdftotext works"


def pdf(text):
    """A PDF with a line of text. ISO 32000-1"""
    content = f"BT /F1 18 Tf 20 50 Td ({text}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>\nstream\n{content}\nendstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    data, places = "%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{item}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 6\n0000000000 65535 f \n{table}trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF"
    return (data + end).encode()


class Library:
    """The store of a user, on a kernel that lacks something."""

    def __init__(self, folder, user):
        self.folder, self.user = folder, user
        self.program = shutil.copy(BINARY, folder / "replayhost")
        record = Record("https://reef.example/a.pdf", pdf("Coral handbook"), head=HEAD, mime="application/pdf")
        Package([record]).write(folder / "reef.wacz")
        for path in [folder, self.program, folder / "reef.wacz"]:
            os.chown(path, user, -1)

    def run(self, *arguments, lacking=()):
        command = [sys.executable, LACKING, *lacking, "--", self.program, *arguments]
        if self.user != os.geteuid():
            command = ["setpriv", "--reuid", f"{self.user}", "--regid", f"{self.user}", "--clear-groups", *command]
        environment = {"PATH": os.environ["PATH"], "HOME": f"{self.folder}", "NO_COLOR": "1",
            "REPLAYHOST_STORE": f"{self.folder / 'store'}", "REPLAYHOST_ASSETS": f"{WEB_INTERFACE}"}
        return Result(subprocess.run(
            list(map(str, command)), env=environment, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS * 5))

    def run_checked(self, *arguments, lacking=()):
        result = self.run(*arguments, lacking=lacking)
        assert result.code == 0, f"{arguments}: {result.output}{result.errors}"
        return result

    def index(self, *options, lacking=()):
        self.run_checked("jobs", "run", *options, lacking=lacking)

    def found(self):
        return [hit["url"] for hit in self.run_checked("search", '"coral handbook"', "--json").lines() if "url" in hit]

    def sandbox(self, lacking=()):
        checks = self.run("doctor", "--port", "0", "--json", lacking=lacking).lines()
        return next(check["what"] for check in checks if check["name"] == "PDFs")


@pytest.fixture(params=[pytest.param(0, marks=pytest.mark.needs("root")), NOBODY], ids=["root", "user"])
def library(request):
    # Not below pytest's folders: each start of pytest closes them to other users.
    folder = Path(tempfile.mkdtemp(prefix="replayhost-pdf-"))
    folder.chmod(0o755)
    library = Library(folder, request.param if os.geteuid() == 0 else os.geteuid())
    library.run_checked("import", "reef.wacz")
    yield library
    shutil.rmtree(folder)


@pytest.mark.parametrize("lacking, sandbox", [
    pytest.param((), "Landlock and seccomp", marks=pytest.mark.needs("Landlock")),
    pytest.param(("namespaces",), "Landlock and seccomp", marks=pytest.mark.needs("Landlock")),
    pytest.param(("landlock",), "bubblewrap", marks=pytest.mark.needs("bubblewrap"))])
def test_pdfs_are_read_in_the_sandbox_that_works(library, lacking, sandbox):
    found = library.sandbox(lacking)
    assert found == f"{shutil.which('pdftotext')} runs in a sandbox ({sandbox})"
    library.index(lacking=lacking)
    assert library.found() == ["https://reef.example/a.pdf"]


def test_without_a_sandbox_pdfs_are_read_only_if_that_is_allowed(library):
    lacking = ("landlock", "namespaces")
    assert library.sandbox(lacking) == f"not read, because no sandbox for {shutil.which('pdftotext')} works here"
    library.index(lacking=lacking)
    assert library.found() == []
    assert f"1 PDF, not indexed because {NOT_READ}" in library.run_checked("info", "reef").output
    jobs = library.run_checked("jobs", "--all", "--json").lines()
    assert [job["reason"] for job in jobs if job["kind"] == "text"] == [f"1 PDF wasn't read: {NOT_READ} on this system"]

    library.index("--pdf-text", lacking=lacking)
    assert library.found() == ["https://reef.example/a.pdf"]
    assert NOT_READ not in library.run_checked("info", "reef").output


def test_pdfs_are_read_when_a_sandbox_works_later(library):
    library.index(lacking=("landlock", "namespaces"))
    assert library.found() == []
    library.index()
    assert library.found() == ["https://reef.example/a.pdf"]
    before = len(library.run_checked("jobs", "--all", "--json").lines())
    library.index()
    assert len(library.run_checked("jobs", "--all", "--json").lines()) == before, "the archive isn't indexed again and again"
