"""The capture server's page: save URLs, follow their downloads, and open what was saved. The tools are fakes."""

import re
import shutil
from types import SimpleNamespace
from urllib.parse import quote

import media_content
import pytest
from capture_host import CAPTURE_BINARY, FAST_RETRIES, CaptureHost
from fake_tools import FakeTools
from support.accessibility import violations
from support.capture_page import UNREACHABLE, box, open_page, row, state
from support.expecting import expect
from support.host import Host
from support.places import FIXTURES, SCREENSHOTS
from support.viewer import Viewer
from support.waiting import wait_until
from support.website import WebSite
from website import PDF, Website

pytestmark = pytest.mark.one_chromium

STOPPED = "The server doesn't respond"
ERROR_PAGE = "chrome-error://chromewebdata/"


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """A capture server, the library of the same store, and a website."""
    assert CAPTURE_BINARY.exists(), f"build the program first: {CAPTURE_BINARY}"
    assert shutil.which("curl"), "these tests need curl"
    folder = tmp_path_factory.mktemp("servers")
    capture, library, site = CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES), Host(folder), Website()
    try:
        yield SimpleNamespace(capture=capture.start(), library=library.start(), site=site)
    finally:
        capture.stop()
        library.stop()
        site.close()


@pytest.fixture
def capture(servers):
    """The capture server. It runs, and no download is left from another test."""
    capture = servers.capture
    if not capture.process:
        capture.start()
    for row in capture.rows():
        capture.cancel(row["download_id"])
        capture.wait_for(row["download_id"])
        assert capture.call("DELETE", f"/history/{row['download_id']}")[0] == 200
    return capture


@pytest.fixture
def library(servers):
    return servers.library


@pytest.fixture
def site(servers):
    return servers.site


@pytest.fixture
def gate(tmp_path):
    """The fake tool waits until this file exists."""
    return tmp_path / "gate"


@pytest.fixture
def page(capture, browser):
    """A tab with the capture server's page."""
    return open_page(browser, capture)


def save(page, text):
    box(page).fill(text)
    page.get_by_role("button", name="Save", exact=True).click()


def button(page, text, name):
    """A control of the row with this name, which is the end of the control's own name."""
    role = "link" if text in ("Play", "Open PDF", "Open in library") else "button"
    return page.get_by_role(role, name=f"{text} {name}", exact=True)


def open_tab(page, link):
    with page.context.expect_page() as opened:
        link.click()
    opened.value.wait_for_load_state()
    return opened.value


def expect_no_session(capture):
    """No process works for a download, and no session folder is left."""
    capture.expect_no_processes()
    wait_until(lambda: capture.sessions() == [], "sessions/ is empty")


def expect_saved_from(page, library, title, text):
    """The archive's own page in the library says from which URL it was made, and for whom."""
    page.goto(library.home)
    page.get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    page.get_by_role("navigation", name="Contents").get_by_role("link", name=re.compile("^Details")).click()
    fact = page.locator(".facts > div").filter(has=page.get_by_text("Saved from", exact=True))
    expect(fact.locator("dd")).to_have_text(text)


def test_library_shows_together_what_was_saved_from_one_url(capture, library, site, page):
    """A ferry twice, and a crane."""
    ferry, crane = (site.fake("ok", title=title) for title in ("The ferry", "The crane"))
    for url in (ferry, crane, ferry):
        capture.wait_for(capture.add(url), "completed")
    page.goto(library.home)
    items = page.get_by_role("article")
    expect(items.filter(has_text="The crane")).to_be_visible()
    expect(items.filter(has_text="The crane").get_by_text("Saved")).to_have_count(0)
    items.filter(has_text="The ferry").first.get_by_role("link", name="Saved 2 times").click()
    expect(items).to_have_count(2)
    expect(items.filter(has_text="The ferry")).to_have_count(2)
    page.reload()
    expect(items).to_have_count(2)
    page.get_by_role("link", name=f"Remove filter: Saved from {ferry}").click()
    expect(items.filter(has_text="The crane")).to_be_visible()


@pytest.mark.own_chromium
def test_pasted_urls_are_saved_and_replayed(capture, library, site, gate, page):
    """Two URLs in prose, for Anna: a film, which takes a while, and a PDF. Both open in the library."""
    film, guide = site.fake("held", gate=gate, title="Quay lights"), site("/guide.pdf")
    page.locator("#options summary").click()
    page.get_by_label("Save for").fill("Anna")
    save(page, f"Two for the evening: the film ({film}), and “{guide}”. I haven't read it yet.")
    expect(page.get_by_text("Added 2 URLs.").first).to_be_visible()
    expect(box(page)).to_have_value("")
    expect(state(page, "Quay lights")).to_have_text("Fetching…")
    button(page, "Show progress ▶", "Quay lights").click()
    expect(row(page, "Quay lights").locator(".progress")).to_contain_text(re.compile(r"^50 % · 100 kB of 200 kB"))
    expect(state(page, guide)).to_have_text("Queued")
    expect(page.get_by_role("progressbar", name="Quay lights")).to_have_attribute("value", "50")
    expect(page.locator("#count")).to_have_text(re.compile("^2 downloads"))
    gate.touch()
    expect(state(page, "Quay lights")).to_have_text("Completed · 200 kB")
    expect(state(page, "guide")).to_have_text(re.compile("^Completed · "))
    expect(page.get_by_role("progressbar")).to_have_count(0)
    expect(page.locator("#announcements")).to_have_text(re.compile("Completed: guide|2 downloads completed"))
    expect(row(page, "guide").locator(".facts")).to_have_text(re.compile("^127.0.0.1 · for anna · "))

    found = {each["url"]: each for each in capture.rows()}
    assert set(found) == {film, guide}
    assert capture.file(found[film]).read_bytes() == media_content.of(film)
    assert capture.file(found[guide]).read_bytes() == PDF
    button(page, "Open in library", "Quay lights").click()
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_have_text("Quay lights")
    expect(viewer.read("body")).to_contain_text(f"Ana Quay · Saved from {film}")
    assert viewer.read("video").evaluate("film => film.textTracks.length") == 1
    page.goto(capture.started["address"])
    button(page, "Open in library", "guide").click()
    expect(viewer.address).to_have_value(guide)
    wait_until(lambda: is_in_pdf_viewer(page), "the archived PDF is in the browser's PDF viewer")
    expect_saved_from(page, library, "Quay lights", f"{film} for anna")
    expect_saved_from(page, library, "guide", f"{guide} for anna")


@pytest.mark.own_chromium
def test_saved_files_open_in_a_tab(capture, site, page):
    """A film plays, and a PDF is shown."""
    film = site.fake("ok", title="Waves")
    save(page, f"{film} {site('/guide.pdf')}")
    for name in ("Waves", "guide"):
        expect(state(page, name)).to_have_text(re.compile("^Completed"))
    # The fake film can't be played. A real one in its place can.
    row = next(each for each in capture.rows() if each["url"] == film)
    capture.file(row).write_bytes((FIXTURES / "site" / "media" / "waves.webm").read_bytes())
    played = open_tab(page, button(page, "Play", "Waves"))
    wait_until(lambda: played.locator("video").evaluate("film => film.readyState") >= 2, "the film plays")
    read = open_tab(page, button(page, "Open PDF", "guide"))
    wait_until(lambda: is_in_pdf_viewer(read), "the PDF is in the browser's PDF viewer")


def is_in_pdf_viewer(page):
    """Chromium shows PDF with an extension."""
    page.wait_for_timeout(10)
    return any(frame.url.startswith("chrome-extension:") for frame in page.frames)


def test_failed_download_shows_the_tools_line_and_is_retried(site, page):
    """Its log has pages of 20 lines. After four attempts, the fifth is the person's own."""
    save(page, site.fake("transient-then-ok", times=4, title="Fog"))
    expect(state(page, "Fog")).to_have_text("Failed")
    expect(row(page, "Fog").locator(".message")).to_contain_text("Unable to download video data")
    expect(row(page, "Fog").locator(".message")).to_contain_text("Connection reset by peer")
    button(page, "Details", "Fog").click()
    expect(button(page, "Details", "Fog")).to_have_attribute("aria-expanded", "true")
    expect(row(page, "Fog").locator(".lines li")).to_have_count(5)
    expect(row(page, "Fog").locator(".lines")).to_contain_text("Connection reset by peer")
    page.get_by_role("button", name="Show the whole log").click()
    lines, position = row(page, "Fog").locator(".log-table tbody tr"), row(page, "Fog").locator(".pager")
    earlier, later = (page.get_by_role("button", name=name) for name in ("Earlier lines", "Later lines"))
    expect(position).to_contain_text(re.compile(r"Lines 21–(\d+) of \1"))
    expect(lines.last).to_contain_text("Connection reset by peer")
    expect(lines.first.locator("td").first).to_have_text("21")
    expect(later).to_be_disabled()
    earlier.click()
    expect(position).to_contain_text("Lines 1–20 of")
    expect(lines).to_have_count(20)
    expect(earlier).to_be_disabled()
    later.click()
    expect(position).to_contain_text("Lines 21–")
    button(page, "Retry", "Fog").click()
    expect(state(page, "Fog")).to_have_text("Completed · 200 kB")
    expect(row(page, "Fog").locator(".message")).to_have_text("")
    expect(button(page, "Retry", "Fog")).to_have_count(0)


def test_row_says_what_is_missing_and_what_was_seen(site, page):
    seen = {"incomplete": "The page isn't saved: it didn't answer", "replay_check": "Differs: the media file doesn't play"}

    def with_check(route):
        rows = route.fetch().json()
        route.fulfill(json=[{**row, **seen} for row in rows])

    save(page, site.fake("ok", title="Half a film"))
    expect(state(page, "Half a film")).to_contain_text("Completed")
    page.route("**/history?*", with_check)
    expect(state(page, "Half a film")).to_contain_text("Partly saved")
    expect(row(page, "Half a film").locator(".message p")).to_have_text([
        "The page isn't saved: it didn't answer.", "Differs: the media file doesn't play."])
    seen.update(incomplete=None, replay_check="Replays: same text, 3 of 3 files")
    expect(state(page, "Half a film")).to_contain_text("Completed")
    expect(row(page, "Half a film").locator(".message p")).to_have_text(["Replays: same text, 3 of 3 files."])


def test_running_download_is_cancelled(capture, site, page):
    save(page, site.fake("busy", title="Endless"))
    expect(state(page, "Endless")).to_have_text(re.compile("^Fetching…"))
    button(page, "Cancel", "Endless").click()
    expect(state(page, "Endless")).to_have_text("Cancelled")
    expect(button(page, "Retry", "Endless")).to_be_visible()
    expect(button(page, "Cancel", "Endless")).to_have_count(0)
    expect_no_session(capture)


def test_download_is_removed_after_confirmation(capture, library, site, page):
    """File and archive stay, unless the person chooses otherwise."""
    urls = [site.fake("ok", title=title) for title in ("Kept", "Deleted")]
    save(page, " ".join(urls))
    for title in ("Kept", "Deleted"):
        expect(state(page, title)).to_have_text("Completed · 200 kB")
    rows = {each["title"]: each for each in capture.rows()}
    dialog = page.get_by_role("dialog", name="Remove “Kept”?")
    button(page, "Remove…", "Kept").click()
    expect(dialog).to_contain_text("The file and the archive stay, unless you choose otherwise.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    button(page, "Remove…", "Kept").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(row(page, "Kept")).to_have_count(0)

    button(page, "Remove…", "Deleted").click()
    dialog = page.get_by_role("dialog", name="Remove “Deleted”?")
    dialog.get_by_label(re.compile(r"Also delete the file “.*_Deleted.mp4” \(200 kB\)")).check()
    dialog.get_by_label("Also remove the archive from your library").check()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No downloads yet")).to_be_visible()
    assert capture.rows() == []
    assert capture.file(rows["Kept"]).exists() and not capture.file(rows["Deleted"]).exists()
    wait_until(lambda: rows["Deleted"]["archive"] not in library.ids(), "the archive is removed from the library")
    assert rows["Kept"]["archive"] in library.ids()


def test_library_links_to_the_running_server(capture, library, browser):
    """After it has stopped, and after a kill, the library shows no link on reload."""
    page = browser.page
    link = page.get_by_role("link", name="Save a URL")
    for end in (capture.stop, capture.kill_9):
        if not capture.process:
            capture.start()
        page.goto(library.home)
        expect(link).to_have_attribute("href", capture.started["address"])
        expect(link).to_be_visible()
        end()
        page.reload()
        # The server's health is shown there, and decides about the link.
        expect(page.locator("#footer")).to_contain_text(re.compile(r"Replay engine: \S+ \d"))
        expect(link).to_be_hidden()
    capture.start()
    page.reload()
    link.click()
    expect(page.get_by_role("heading", name="Save a URL", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Library")).to_have_attribute("href", library.address)


def test_page_recovers_when_the_server_was_killed(capture, site, gate, browser, page):
    """The page says so, keeps what it couldn't send, and sends it once when the server is back. The download continues."""
    browser.allow(UNREACHABLE)
    film, guide = site.fake("held", gate=gate, title="Ferry"), site("/guide.pdf?after=kill")
    save(page, film)
    expect(state(page, "Ferry")).to_have_text(re.compile("^Fetching…"))
    capture.kill_9()
    banner = page.locator("#banners")
    expect(banner).to_contain_text(STOPPED)
    save(page, guide)
    expect(page.locator("#unsent")).to_contain_text("1 URL is waiting")
    expect(page.locator("#unsent")).to_contain_text(guide)
    # A link doesn't leave the page while the server is stopped.
    page.get_by_role("link", name="replayhost", exact=True).click()
    expect(page.locator("#unsent")).to_be_visible()
    capture.start()
    expect(banner).to_be_empty()
    expect(page.locator("#unsent")).to_be_hidden()
    gate.touch()
    for name in ("Ferry", "guide"):
        expect(state(page, name)).to_have_text(re.compile("^Completed · "))
    rows = capture.rows()
    assert sorted(each["url"] for each in rows) == sorted([film, guide])
    expect_no_session(capture)


TITLE = '<script>window.ran = 1</script><img src=x onerror="window.ran = 1"> & \u202egpj.exe\u2066 “done”'
# Without the characters that reorder text
SHOWN = TITLE.replace("\u202e", "").replace("\u2066", "")


def test_titles_are_text(capture, library, site, page):
    """Markup, and characters that reorder text: in the list, in the dialog, in the library and in the archive."""
    def expect_nothing_ran():
        assert [frame.evaluate("window.ran") for frame in page.frames] == [None] * len(page.frames)

    save(page, site.fake("ok", title=TITLE, uploader=TITLE, description=TITLE))
    heading = page.get_by_role("heading", level=3)
    expect(heading).to_have_text(SHOWN)
    expect(state(page, SHOWN)).to_have_text("Completed · 200 kB")
    button(page, "Details", SHOWN).click()
    expect(page.locator(".details dd").first).to_be_visible()
    button(page, "Remove…", SHOWN).click()
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(f"Remove “{SHOWN}”?")
    assert page.locator("#app img, #app script, dialog img").count() == 0
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.locator("body").inner_text())
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect_nothing_ran()
    button(page, "Open in library", SHOWN).click()
    viewer = Viewer(page)
    expect(viewer.read("h1")).to_contain_text("<script>window.ran = 1</script>")
    assert viewer.read("img").count() == 0
    expect_nothing_ran()
    page.goto(library.home)
    expect(page.get_by_role("link", name=SHOWN, exact=True)).to_be_visible()
    expect_nothing_ran()


def problems(page, name):
    """Axe's violations and sideways scrolling: narrow and dark, wide and light. The screenshots are for people."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    found = []
    for width, scheme in ((360, "dark"), (1200, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        where = f"capture-{name}-{width}-{scheme}"
        page.screenshot(path=SCREENSHOTS / f"{where}.png", full_page=True)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{where}: the page is wider than the window")
        found += [f"{where}: {violation}" for violation in violations(page)]
    return found


def test_page_is_accessible(capture, site, gate, browser, page):
    """Empty, with each state and an open log, with the dialog, and without the server."""
    browser.allow(UNREACHABLE)
    found = problems(page, "empty")
    page.locator("#options summary").click()
    save(page, f"{site.fake('ok', title='Harbour ' * 30)} {site.fake('private', by='axe')} {site.fake('held', gate=gate, title='Mole')} "
        f"{site('/guide.pdf?' + 'long' * 60)}")
    expect(state(page, "Mole")).to_have_text(re.compile("^Fetching…"))
    failed = page.get_by_role("listitem").filter(has_text="Private video")
    failed.get_by_role("button", name=re.compile("^Details ")).click()
    expect(failed.locator(".lines li").first).to_be_visible()
    save(page, "no URL")
    found += problems(page, "list")
    page.get_by_role("button", name=re.compile("^Remove… Harbour")).click()
    found += problems(page, "dialog")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    capture.stop()
    expect(page.locator("#banners")).to_contain_text(STOPPED)
    save(page, site("/guide.pdf"))
    expect(page.locator("#unsent")).to_be_visible()
    found += problems(page, "stopped")
    assert found == []


# From another site: each way to send a request, to read an answer, and to show something. Returns what it got.
ATTACK = """async ({ address, id, url }) => {
    const got = {};
    const body = JSON.stringify({ url });
    const attempt = async (name, run) => {
        got[name] = await Promise.resolve().then(run).catch((error) => error.name);
    };
    const textOf = async (answer) => `${answer.type} ${(await answer.text()).length}`;
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json"]) {
        for (const mode of ["cors", "no-cors"]) {
            await attempt(`POST ${mode} ${type}`, async () => textOf(await fetch(`${address}/download`, {
                method: "POST", mode, body, headers: { "Content-Type": type }, credentials: "include" })));
        }
    }
    for (const path of ["/history", "/health", `/status/${id}`, `/download/${id}/log`, `/download/${id}/file`, "/"]) {
        await attempt(`GET cors ${path}`, async () => textOf(await fetch(address + path)));
        await attempt(`GET no-cors ${path}`, async () => textOf(await fetch(address + path, { mode: "no-cors" })));
    }
    for (const path of ["cancel", "retry"]) {
        await attempt(path, async () => textOf(await fetch(`${address}/download/${id}/${path}`, { method: "POST", mode: "no-cors" })));
    }
    await attempt("DELETE", async () => textOf(await fetch(`${address}/history/${id}`, { method: "DELETE" })));
    await attempt("beacon", () => navigator.sendBeacon(`${address}/download`, body) && "sent");
    for (const [tag, path] of [["img", "/history"], ["img", "/favicon.ico"], ["script", "/history"], ["script", "/capture/urls.js"],
        ["video", `/download/${id}/file`]]) {
        await attempt(`${tag} ${path}`, () => new Promise((done) => {
            const element = document.createElement(tag);
            element.onload = element.onloadeddata = () => done("loaded");
            element.onerror = () => done("error");
            element.src = address + path;
            document.body.append(element);
        }));
    }
    for (const [name, path] of [["page", "/"], ["file", `/download/${id}/file`], ["history", "/history"]]) {
        const frame = document.createElement("iframe");
        Object.assign(frame, { name, src: address + path });
        await new Promise((done) => {
            frame.onload = done;
            document.body.append(frame);
        });
        await attempt(`frame ${name}`, () => frame.contentDocument === null ? "closed" : frame.contentDocument.body.innerHTML);
    }
    const target = document.createElement("iframe");
    target.name = "answer";
    document.body.append(target);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: `${address}/download`, enctype: "text/plain", target: "answer" });
    const field = document.createElement("input");
    // As text/plain, this is JSON.
    Object.assign(field, { name: `{"url": "${url}", "client_id": "`, value: '"}' });
    form.append(field);
    document.body.append(form);
    form.submit();
    return got;
}"""


def frames_of(page):
    page.wait_for_timeout(10)
    return {frame.name: frame.url for frame in page.frames if frame.name}


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "attacker.localhost"])
def test_another_site_cannot_use_the_server(capture, library, site, browser, name):
    """The same computer with another port, and other names: it adds nothing, changes nothing and reads nothing."""
    row = capture.wait_for(capture.add(site.fake("ok", by=name)), "completed")
    before, archives = capture.rows(), library.ids()
    target = site("/guide.pdf?from=" + quote(name))
    other = WebSite()
    try:
        browser.allow(".")
        browser.page.goto(f"http://{name}:{other.port}/")
        got = browser.page.evaluate(ATTACK, {"address": capture.started["address"], "id": row["download_id"], "url": target})
        wait_until(lambda: frames_of(browser.page) == dict.fromkeys(["page", "file", "history", "answer"], ERROR_PAGE),
            "the browser shows its error page in each frame")
    finally:
        other.close()
    nothing = {"TypeError", "opaque 0", "error", "closed", "sent"}
    assert {what: answer for what, answer in got.items() if answer not in nothing} == {}
    assert capture.rows() == before and library.ids() == archives
    assert not any(path == target.removeprefix(site.address) for _, path in site.asked)


def test_another_site_keeps_no_hold_of_the_page(capture, browser):
    """A window that it opens is severed from it."""
    other = WebSite()
    try:
        browser.page.goto(f"http://attacker.localhost:{other.port}/")
        with browser.page.context.expect_page() as opened:
            browser.page.evaluate("address => { window.other = window.open(address); }", capture.started["address"])
        expect(opened.value.get_by_role("heading", name="Save a URL", level=1)).to_be_visible()
        wait_until(lambda: browser.page.evaluate("window.other.closed"), "the other site has lost the window")
    finally:
        other.close()
