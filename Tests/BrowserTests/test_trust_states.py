"""Each place that shows the result of a verification shows that of the file as it is now: whole, changed, replaced or gone."""

import json
import os
import re
from urllib.parse import quote

import pytest

from forgeries import forge, read
from packed import STAMP, Package, Record
from support.expecting import expect
from support.journey import SITE, expect_home
from support.places import CHECKOUT, FIXTURES
from support.signing import signed
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

# The files of the app that show a result, and the test that drives each; "states" is the second test below. The last two are driven in one state.
SHOWN = {
    "archive/head.js": "states", "archive/members.js": "states", "archive/report-sheet.js": "states", "archive/report-short.js": "states",
    "library/archive-item.js": "states", "search/hit.js": "states", "viewer/viewer-toolbar.js": "states", "viewer/page-info.js": "states",
    "archive/verdict.js": "states", "components/trust-mark.js": "states",
    "archive/sources.js": "test_exported_page_says_where_it_comes_from", "components/other-copies.js": "test_issue_leads_to_a_whole_copy",
}
# The words for each result, by the table in docs/verify.md.
WORDS = {"signed-anonymously": "Signed, unknown key", "hashes-agree": "Hashes agree", "partly": "Partly checked",
    "uncovered": "Has content that the signature doesn't cover", "signer-not-proven": "Signer not proven", "records-differ": "Records differ",
    "suspicious": "May be an attack", "unreplayable": "Can't show everything", "invalid-signature": "Invalid signature",
    "damaged": "Damaged or changed", "changed": "Changed since it was checked", "not-verified": "Not verified"}
# In lists, these have no mark, and files that aren't there or were changed have other words.
UNMARKED = {"signed-anonymously", "hashes-agree", "partly", "not-verified"}
# The results of files by state: of a copy in the store, and of a linked file.
STATES = {"whole": None, "changed": ("not-verified", "changed"), "replaced": ("not-verified", "changed"), "gone": (None, None)}
# What Details says instead of a result.
GONE = {None: "This file can't be found, so nothing about it can be checked now.",
    "changed": "This file has changed since it was added, so earlier results aren't about its contents now."}
URL = "https://state.example/"


def write_archives(folder):
    """Writes an archive for each result that a verification can have here. Returns their paths by result."""
    folder.mkdir()
    right = read(signed(folder, "anonymous")[0])
    made = {
        "signed-anonymously": lambda: (folder / "anonymous.wacz").read_bytes(),
        "hashes-agree": lambda: Package([Record(URL, b"<title>State</title>agree")]).bytes(),
        "partly": lambda: Package([Record(URL, b"<title>State</title>partly")], change_description=without_hashes).bytes(),
        "uncovered": lambda: forge("warc-plain", right), "invalid-signature": lambda: forge("signature", right),
        "suspicious": lambda: forge("end-record-comment", right), "damaged": lambda: forge("page-title", right),
        "signer-not-proven": lambda: signed(folder, "domain")[0].read_bytes(),
        "records-differ": lambda: Package([Record(URL, b"<title>State</title>differ", digest=lambda _: "sha256:" + "0" * 64)]).bytes(),
        "unreplayable": lambda: (FIXTURES / "damaged" / "index-past-the-end.wacz").read_bytes(),
    }
    paths = {}
    for code, contents in made.items():
        paths[code] = folder / f"of-{code}.wacz"
        paths[code].write_bytes(contents())
    return paths


def without_hashes(description):
    return {**description, "resources": [{key: value for key, value in one.items() if key != "hash"} for one in description["resources"]]}


def bring_into(state, path):
    if state == "whole":
        return
    if state == "gone":
        return path.unlink()
    path.chmod(0o600)
    if state == "changed":
        with path.open("ab") as file:
            file.write(b"more")
    else:
        other = path.with_suffix(".other")
        other.write_bytes(Package([Record(URL, b"another file")]).bytes())
        other.rename(path)


# The archives to which a view leads, and the results of their marks.
MARKS = """() => {
    const id = (link) => link?.getAttribute("href").match(/archives.(.+?)\\.wacz/)[1] ?? "";
    const toArchives = "a[href*='/archives/']";
    const row = (mark) => mark.closest("li, tr, article, .row")?.querySelector(toArchives);
    return [[...document.querySelectorAll(`main ${toArchives}`)].map(id),
        Object.fromEntries([...document.querySelectorAll("main [data-trust]")].map((mark) => [id(row(mark)), mark.dataset.trust]))];
}"""


def expect_marks(page, address, archives, expected):
    page.goto("about:blank")
    page.goto(address)
    wait_until(lambda: set(archives) <= set(page.evaluate(MARKS)[0]), f"{address} lists {archives}")
    wait_until(lambda: page.evaluate(MARKS)[1] == expected, f"{address} has only the marks {expected}")


def results_in(page, selector):
    return page.locator(f"{selector} [data-trust]").evaluate_all("(marks) => marks.map((mark) => mark.dataset.trust)")


def test_every_place_that_shows_a_result_is_driven():
    calls = re.compile(r"\b(trustMark|trustOf|captureTrust)\(")
    app = CHECKOUT / "www" / "app"
    assert {str(file.relative_to(app)) for file in app.rglob("*.js") if calls.search(file.read_text())} == set(SHOWN)
    tests = "".join(file.read_text() for file in (CHECKOUT / "Tests" / "BrowserTests").glob("test_*.py"))
    assert all(f"def {test}(" in tests for test in SHOWN.values() if test != "states")


@pytest.mark.few("managed whole", "managed changed", "linked replaced", "linked gone")
@pytest.mark.parametrize("kind", ["managed", "linked"])
@pytest.mark.parametrize("state", STATES)
def test_results_are_those_of_the_file_as_it_is(host, browser, page, tmp_path, kind, state):
    paths = write_archives(tmp_path / "files")
    ids = {code: host.add(path, *(["--link"] if kind == "linked" else [])) for code, path in paths.items()}
    results = {identifier: code for code, identifier in ids.items()}
    wait_until(lambda: {one["id"]: one["verification"] for one in host.archives()} == results, f"the results are {results}")
    host.wait_until_indexed()
    collection = host.create_collection("All", *ids.values())
    for code, identifier in ids.items():
        bring_into(state, paths[code] if kind == "linked" else host.store / "files" / f"{host.archive(identifier)['sha256']}.wacz")
    now = {identifier: code if state == "whole" else STATES[state][kind == "linked"] for code, identifier in ids.items()}
    known = {identifier: code for identifier, code in now.items() if code not in (None, "changed")}
    marked = {identifier: code for identifier, code in known.items() if code not in UNMARKED}
    with_issues = {one["id"] for one in host.archives() if one.get("findingCounts", {}).get("error") or one.get("findingCounts", {}).get("warning")}

    # Programs.
    assert {one["id"]: one.get("verification") for one in host.archives()} == now
    listed = [json.loads(line) for line in host.run("list", "--json").stdout.splitlines()]
    assert {one["id"]: one.get("verification") for one in listed} == now
    hits = json.loads(host.request("GET", "/api/search?q=state&limit=50")[2])["hits"]
    assert all(hit.get("verification") == now[hit["archive"]] for hit in hits)
    assert state == "gone" or hits
    rows = {row.split("  of-")[1].split(" ")[0]: row for row in host.run("list").stdout.splitlines()[1:]}
    for identifier, code in now.items():
        words = WORDS[code] if code else "Unavailable"
        # The table cuts words that are too wide for it.
        assert f"  {words[:36]}" in rows[identifier.removeprefix("of-")]
        assert re.search(rf"^verification: +{re.escape(words)}\b", host.run("info", identifier).stdout, re.MULTILINE)
        path = f"/api/archives/{identifier}/captures?url={quote(URL, safe='')}&closest={STAMP}"
        found = json.loads(host.request("GET", path)[2]).get("closest") or {}
        # These have the URL, unless their file isn't the one that was added.
        is_there = results[identifier] in {"hashes-agree", "partly", "records-differ"} and code not in {None, "changed"} and state != "replaced"
        assert found.get("verification") in ({code} if is_there else {code, None}), found

    # Lists of the app.
    for view in [f"?collection={collection}#view=archives", ""]:
        expect_marks(page, f"{host.home}/{view}", now, marked)
    # Here, issues stand before a result that is no warning.
    expect_marks(page, f"{host.home}/#as=list", now, {identifier: code for identifier, code in known.items() if code not in UNMARKED or identifier not in with_issues})
    found = {hit["archive"] for hit in hits}
    expect_marks(page, f"{host.home}/#search=state", found, {one: code for one, code in now.items() if one in found and code not in {None} | UNMARKED})

    # Views of one archive.
    for identifier in ids.values() if state == "whole" else [ids["signed-anonymously"], ids["hashes-agree"]]:
        only = {now[identifier]} if now[identifier] else set()
        page.goto("about:blank")
        page.goto(f"{host.home}/?archive=/archives/{identifier}.wacz#view=details")
        expect(page.get_by_role("heading", name="Verification")).to_be_visible()
        assert set(results_in(page, ".archive-head")) == only
        verification = page.get_by_role("region", name="Verification")
        if now[identifier] in GONE:
            # Nothing is said of the earlier contents, and nothing can be verified.
            expect(verification).to_contain_text(GONE[now[identifier]])
            assert verification.get_by_role("button").count() == 0 and "match" not in verification.inner_text()
        else:
            expect(verification.get_by_role("button", name=re.compile("^Verify (now|again)$"))).to_be_visible()
        page.goto("about:blank")
        page.goto(f"{host.home}/?archive=/archives/{identifier}.wacz#view=report")
        sheet = page.get_by_role("article")
        expect(sheet).to_have_attribute("aria-busy", "false")
        assert set(results_in(page, "article")) == only
        sections = sheet.get_by_role("heading", level=2)
        assert sections.count() > 4 if state == "whole" else sections.all_inner_texts() == ["In short"]

    # The viewer, which shows nothing of a file that isn't there or was changed elsewhere. The other file doesn't have the page.
    browser.allow("status of (404|409|503)")
    first = ids["signed-anonymously"]
    page.goto("about:blank")
    page.goto(f"{host.home}/?archive=/archives/{first}.wacz#url={SITE}/&ts=20241121090000")
    code = now[first]
    if code in (None, "changed") or state == "replaced":
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
        assert results_in(page, "body") == []
        return
    info = page.get_by_role("button", name="Page info")
    expect(info).to_be_visible()
    assert results_in(page, ".toolbar") == ([code] if code != "not-verified" else [])
    info.click()
    expect(page.locator(".page-info dd").filter(has_text=WORDS[code])).to_have_count(1)


@pytest.mark.parametrize("kind", ["managed", "linked"])
def test_file_changes_after_its_captures_were_looked_up(host, page, tmp_path, kind):
    """The file is written again between the lookup and the reading. The viewer asks once more, and shows that it isn't verified."""
    path, _ = signed(tmp_path, "anonymous")
    identifier = host.add_verified(path, *(["--link"] if kind == "linked" else []))
    host.wait_until_indexed()
    file = path if kind == "linked" else host.store / "files" / f"{host.archive(identifier)['sha256']}.wacz"
    answered = []

    def change_meanwhile(route):
        answer = json.loads(host.request("GET", route.request.url.removeprefix(host.home))[2])
        answered.append(answer["closest"]["verification"])
        if len(answered) == 1:
            before = file.stat()
            file.chmod(0o600)
            file.write_bytes(file.read_bytes())
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        route.fulfill(json=answer)

    page.goto(f"{host.home}/?archive=/archives/{identifier}.wacz")
    viewer, mark = Viewer(page), page.locator(".toolbar [data-trust]")
    expect_home(viewer)
    expect(mark).to_have_attribute("data-trust", "signed-anonymously")
    page.route("**/captures?*film*", change_meanwhile)
    viewer.open_url(f"{SITE}/film.html")
    expect(viewer.read("#film")).to_be_visible()
    expect(mark).to_have_attribute("data-trust", "not-verified")
    assert answered[0] == "signed-anonymously"
