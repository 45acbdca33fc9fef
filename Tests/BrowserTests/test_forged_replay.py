"""What the viewer shows of each forgery of a signed archive, in both replay modes. It never shows the forged page as signed."""

import pytest

from forgeries import DIGEST, FILES, FORGED, SIGNED, ZIPS, forge, read
from packed import Package, Record
from support.expecting import expect
from support.journey import SITE
from support.signing import signed
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

# Other programs may read the list of files, the index or the ZIP of these in another way. `make test` runs only these.
FEW = ["warc-plain", "index-of-signed-record", "list-twice-resources-last", "end-record-comment", "end-record-before"]
MODES = ["lookups", "ranges"]
# What is in the frame, and what the viewer says about it. A panel covers the frame.
SHOWN = """() => {
    const panel = document.querySelector(".panel:not(.progress-panel)");
    const frame = document.querySelector('iframe[title="Archived page"]');
    const mark = document.querySelector(".toolbar [data-trust]");
    return { panel: panel?.querySelector("h1, h2")?.textContent ?? "", mark: mark?.dataset.trust ?? "", hasFrame: frame !== null && !panel };
}"""


def shown(page, address):
    """Opens an address, and returns the panel's heading, the archived page's text and the mark."""
    page.goto("about:blank")
    page.goto(address)
    viewer = Viewer(page)

    def outcome():
        page.wait_for_timeout(20)
        state = page.evaluate(SHOWN)
        if state["panel"]:
            return state["panel"], "", state["mark"]
        text = viewer.read("body").inner_text() if state["hasFrame"] and viewer.archived_frame and viewer.archived_frame.url != "about:blank" else ""
        return text and state["mark"] and ("", text, state["mark"])

    return wait_until(outcome, f"{address} shows a page with a mark, or a panel")


def shown_in_each_mode(host, page, name, url):
    return [shown(page, f"{host.home}/?archive=/archives/{name}.wacz&replay={mode}#url={url}&ts=") for mode in MODES]


def write_forged(folder, name, files):
    path = folder / f"{name}.wacz"
    path.write_bytes(forge(name, files))
    return path


@pytest.mark.few(*(name.replace("-", " ") for name in FEW))
@pytest.mark.parametrize("name", [*FILES, *ZIPS])
def test_forged_page_is_never_shown_as_signed(host, browser, page, tmp_path, name):
    path = write_forged(tmp_path, name, read(signed(tmp_path, "anonymous")[0]))
    # Of a ZIP with two files of one name, programs can take either.
    if name.startswith("twice-"):
        assert host.run("import", path).returncode != 0
        return
    result = host.archive(host.add_verified(path))["verification"]
    # Captures that a forgery damages are answered with these.
    browser.allow("status of (404|409|503)")
    for url in [FORGED, f"{SITE}/"]:
        found = shown_in_each_mode(host, page, name, url)
        for panel, text, mark in found:
            assert "Pay here" not in text or not {mark, result} & {*SIGNED, "uncovered"}
            assert panel or url != FORGED or mark not in SIGNED


def test_forged_page_is_shown_without_a_signature(host, page, tmp_path):
    """The control: without a signature the forged page is shown, and the test above would see it."""
    files = [(name, data) for name, data in read(signed(tmp_path, "anonymous")[0]) if name != DIGEST]
    assert host.archive(host.add_verified(write_forged(tmp_path, "list-hash", files)))["verification"] not in SIGNED
    for panel, text, mark in shown_in_each_mode(host, page, "list-hash", FORGED):
        assert (panel, "Pay here" in text) == ("", True) and mark not in {*SIGNED, ""}


@pytest.mark.parametrize("mode", MODES)
def test_type_in_the_record_decides_what_is_shown(host, page, tmp_path, mode):
    """An index can call a page a PDF, or a PDF a page."""
    document = Record("https://type.example/document", b"%PDF-1.4\n%%EOF", head="HTTP/1.1 200 OK\r\nContent-Type: application/pdf",
        line={"mime": "text/html"})
    site = Record("https://type.example/page", b"<title>Page</title><h1>A page</h1>", line={"mime": "application/pdf"})
    host.add(Package([document, site]).write(tmp_path / "types.wacz"))
    address = f"{host.home}/?archive=/archives/types.wacz&replay={mode}#url="
    page.goto(f"{address}{site.url}&ts=")
    expect(Viewer(page).read("h1")).to_have_text("A page")
    page.goto(f"{address}{document.url}&ts=")
    expect(page.get_by_role("heading", name="A PDF document")).to_be_attached()
