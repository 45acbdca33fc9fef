"""Another program changes a signed file while it is read. Only the bytes that were signed are shown as signed."""

import http.client
import json
import os
from urllib.parse import quote

import pytest

from forgeries import SIGNED, packed, read
from packed import STAMP, Package, Record
from program import Server, Store, sha256
from support.signing import signed

SITE = "https://bank.example"
PAGES = 12
# At so many points, spread over all reads of it, the file is changed. 20 in `make soak`.
MOMENTS = int(os.environ.get("MOMENTS", "2"))
IMPORT, LINK, VERIFY, BACKUP = ["import", "source.wacz"], ["import", "--link", "source.wacz"], ["verify"], ["backup", "copies"]
# What is done before, what is done while the file changes, and which file that is.
WORK = {
    "import": ([], IMPORT, "source"),
    "import, in the library": ([], IMPORT, "incoming"),
    "import by a hard link": ([], [*IMPORT, "--move"], "incoming"),
    "link": ([], LINK, "source"),
    "verification": ([IMPORT], VERIFY, "store"),
    "verification of a linked file": ([LINK], VERIFY, "source"),
    "replay": ([IMPORT, VERIFY], None, "store"),
    "replay of a linked file": ([LINK, VERIFY], None, "source"),
    "backup": ([IMPORT, VERIFY], BACKUP, "store"),
    "check of a backup": ([IMPORT, VERIFY, BACKUP], [*BACKUP, "--verify"], "copies"),
    "restore": ([IMPORT, VERIFY, BACKUP], ["restore", "copies", "--store", "again"], "copies"),
}


def bodies(text):
    return {f"{SITE}/{number}": f"<title>{number}</title>Pay {text}. ".encode() * 2500 for number in range(PAGES)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A signed file, and one that differs in its WARC. Their lengths are the same, and the other's ZIP and WARC are in order."""
    folder = tmp_path_factory.mktemp("files")
    parts = {}
    for text in ["Alice", "Mallo"]:
        parts[text] = dict(read(Package([Record(url, body) for url, body in bodies(text).items()]).write(folder / f"{text}.wacz")))
    path, _ = signed(folder, "anonymous", files=parts["Alice"])
    right, other = folder / "right.wacz", folder / "other.wacz"
    right.write_bytes(packed(read(path)))
    other.write_bytes(packed([(name, parts["Mallo"][name] if name.startswith("archive/") else data) for name, data in read(path)]))
    assert right.stat().st_size == other.stat().st_size and sha256(right) != sha256(other)
    return right, other


def answer(server, path):
    """The body, or nothing if the server refuses it or ends its answer."""
    try:
        status, _, body = server.get(path)
    except (http.client.HTTPException, OSError):
        return None
    return body if status == 200 else None


def result(server, path):
    """What is known of a capture or an archive now."""
    found = json.loads(answer(server, path) or "{}")
    return found.get("closest", found).get("verification")


def replay(store, right, **faults):
    """Requests captures, as by lookups, and the whole file, as by ranges. What isn't as it was signed isn't called signed from then on."""
    given = []
    with Server(store, **faults) as server:
        for url, body in bodies("Alice").items():
            found = answer(server, f"/c/source/{STAMP}id_/{url}")
            is_signed = result(server, f"/api/archives/source/captures?url={quote(url, safe='')}&closest={STAMP}") in SIGNED
            assert found in (body, None) or not is_signed, url
            given.append((found, is_signed))
            if len(given) % 10 == 1:
                found = answer(server, "/archives/source.wacz")
                assert found in (right.read_bytes(), None) or result(server, "/api/archives/source") not in SIGNED
        assert server.process.poll() is None
    return all(found and is_signed for found, is_signed in given)


def expect_true(store, right):
    """Whatever is called signed has the bytes that were signed. Returns the results."""
    results = []
    for archive in store.listed().values():
        path = archive.get("linkedPath") or store.root / "files" / f"{archive['sha256']}.wacz"
        assert archive["verification"] not in SIGNED or sha256(path) == sha256(right), archive
        results.append(archive["verification"])
    return results


class Case:
    """One piece of work, in a store of its own."""

    def __init__(self, folder, shim, right, work):
        folder.mkdir()
        self.right = right
        self.store = Store(folder / "store", folder, shim)
        before, self.command, where = WORK[work]
        source = folder / "source.wacz"
        source.write_bytes(right.read_bytes())
        for command in before:
            self.store.run_checked(*command)
        name = f"{sha256(right)}.wacz"
        # The name of a file in `incoming` isn't known yet.
        self.changed = {"source": source, "incoming": folder / "store" / "incoming", "store": folder / "store" / "files" / name,
            "copies": folder / "copies" / "files" / name}[where]
        self.result = Store(folder / "again", folder, shim) if work == "restore" else self.store

    def run(self, **faults):
        faults |= {"FAIL_CALL": "read", "FAIL_PATH": self.changed}
        if self.command is None:
            return replay(self.store, self.right, **faults)
        code = self.store.run(*self.command, **faults).code
        assert code >= 0, "the program crashed"
        return code == 0

    def expect_true(self):
        """Of the library right after the work, and after the file was verified again."""
        first = expect_true(self.result, self.right)
        self.result.run("verify")
        return [*first, *expect_true(self.result, self.right)]


@pytest.mark.parametrize("by", ["writing", "rename"])
@pytest.mark.parametrize("work", WORK)
def test_changed_bytes_are_never_called_signed(tmp_path, shim, files, work, by):
    right, other = files
    # Without a change, it works and the file is signed.
    control = Case(tmp_path / "control", shim, right, work)
    count = tmp_path / "count"
    assert control.run(MATCH_COUNT=count, FAIL_AFTER=1 << 40, FAIL_ERRNO=0)
    assert control.expect_true()[-1] in SIGNED
    reads = int(count.read_text())
    assert reads > 1
    for before in sorted({reads * moment // MOMENTS for moment in range(MOMENTS)}):
        case = Case(tmp_path / f"{before}", shim, right, work)
        is_done = case.run(FAIL_AFTER=before, CHANGE_TO=other, CHANGE_BY=by)
        results = case.expect_true()
        print(f"{work}, {by}: {before} of {reads} reads, {'done' if is_done else 'refused'}, {results}")
        # Of the others the library has a copy, or what changed is replaced by one.
        if work.startswith(("link", "verification", "replay")):
            is_changed = sha256(case.changed) == sha256(other)
            # A server reads the file also in the background, so the number of its reads varies.
            assert is_changed or work.startswith("replay") and before > 0
            assert not is_changed or not SIGNED & {*results[-1:]}
