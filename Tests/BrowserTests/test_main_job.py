"""Import and replay without a network, and recovery from failures."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from playwright.sync_api import Error

from support.expecting import expect
from support.journey import OLD_TEXTS, SITE, TITLE, expect_home, expect_species, journey, open_page_from_library, open_tab
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until
from writers.generated import write_large


def import_by_picker(page, address, file):
    # Registered early: if it's late, the browser may open its own picker.
    page.on("filechooser", lambda chooser: None)
    page.goto(address)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").first.click()
    chooser.value.set_files(file)


def open_main_page(page, address, title=TITLE):
    page.goto(address)
    page.get_by_role("link", name=f"Open {title}").click()
    return Viewer(page)


def reload_by_button(viewer):
    """Reloads the archived page, and waits for a new document with the same content."""
    viewer.read("body").evaluate("body => { body.dataset.before = 'reload'; }")
    viewer.page.get_by_role("button", name="Reload this page").click()
    expect(viewer.read("body[data-before]")).to_have_count(0)
    expect_home(viewer)


def test_import_by_picker_opens_the_archive_page(host, page):
    """It shows details and the list of pages."""
    page.goto(host.address)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    import_by_picker(page, host.address, FIXTURES / "sample.wacz")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    expect(page.locator(".facts-line")).to_contain_text("10 pages · 31 captures")
    open_tab(page, "Pages")
    expect(page.get_by_role("link", name=f"Beadlet anemone - {TITLE}")).to_be_visible()
    open_tab(page, "Details")
    expect(page.get_by_text(host.archives()[0]["sha256"])).to_be_visible()
    assert host.ids() == ["sample"]


def test_journey_from_the_printed_address(host, page):
    """Imports an archive and uses everything that its pages consist of, from `http://localhost:PORT`."""
    import_by_picker(page, host.address, FIXTURES / "sample.wacz")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    journey(page, host.address)


@pytest.mark.few()
def test_journey_from_the_home_address(host_with_sample, page):
    """The same from `http://replayhost.localhost:PORT`, where the app runs. `make test` does this without a network, below."""
    journey(page, host_with_sample.home)


@pytest.mark.needs("user namespaces")
def test_journey_in_an_empty_network_namespace():
    """The same with only a loopback interface."""
    run = subprocess.run(
        ["unshare", "-rn", sys.executable, "-m", "support.no_network", __file__,
            "-k", "test_journey_from_the_home_address", "-p", "no:cacheprovider"],
        cwd=str(FIXTURES.parent / "Tests" / "BrowserTests"), env={**os.environ, "CASES": "all"}, capture_output=True,
        text=True, timeout=200)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert "1 passed" in run.stdout


def test_deep_link_of_the_viewer_in_a_new_profile(host_with_sample, page):
    """A URL copied from the viewer opens that page."""
    address = "https%3A%2F%2Ffieldguide.example%2Fspecies%2F"
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#url={address}&ts=20241121090006")
    expect_species(Viewer(page))


def test_deep_link_at_the_replay_origin_in_a_new_profile(host_with_sample, page):
    """A replay URL opens the page in the viewer, without a service worker."""
    collection = host_with_sample.archive("sample")["replayCollection"]
    origin = host_with_sample.replay_origin("sample")
    page.goto(f"{origin}/{collection}/20241121090006mp_/{SITE}/species/")
    expect_species(Viewer(page))


def test_restart_of_the_server(host_with_sample, browser, page):
    """On the same port: the open page reloads, links work, and the library lists the archive."""
    # The open page can ask for jobs while no server runs.
    browser.allow("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING")
    viewer = open_main_page(page, host_with_sample.home)
    expect_home(viewer)
    host_with_sample.restart()
    reload_by_button(viewer)
    viewer.follow("Species")
    expect_species(viewer)
    page.reload()
    expect_species(viewer)
    viewer = open_page_from_library(page, host_with_sample.home)
    expect_home(viewer)


def test_archive_without_page_list_opens_a_typed_url(host, page):
    """Its page shows that there's no page list."""
    host.add(FIXTURES / "no-pages.wacz")
    page.goto(host.home)
    page.locator(".windowed").get_by_role("link").first.click()
    open_tab(page, "Pages")
    expect(page.get_by_text(re.compile("No page list in this file|These pages were detected"))).to_be_visible()
    open_tab(page, "URLs")
    page.get_by_label("Text in the URL").fill("leaf.example")
    page.get_by_role("link", name="https://leaf.example/", exact=True).click()
    viewer = Viewer(page)
    expect(viewer.read("body")).to_contain_text("This archive lists no pages.")
    viewer.expect_at("https://leaf.example/", "A single leaf", "2 December 2024, 11:59 UTC", "20241202115900")


def test_archive_with_a_compressed_index_opens(host, page):
    """A ZipNum index, as crawlers write it."""
    host.add(FIXTURES / "debian-faq.wacz")
    viewer = open_main_page(page, host.home, "The Debian GNU/Linux FAQ")
    expect(viewer.archived.get_by_role("heading", name="The Debian GNU/Linux FAQ").first).to_be_visible()
    expect(viewer.address).to_have_value("https://www.debian.org/doc/manuals/debian-faq/")


def test_viewer_recovers_when_the_browser_cleared_its_storage(host_with_sample, browser):
    """Worker and databases are deleted while a page is open. The next navigation sets them up again: by a reload of the tab,
    by the button, or by a link in the page.
    """
    page = browser.page
    viewer = open_main_page(page, host_with_sample.home)

    def clear():
        expect_home(viewer)
        browser.clear_storage(host_with_sample.replay_origin("sample"))

    def expect_film():
        viewer.follow("Film")
        expect(viewer.read("#film")).to_be_visible()
        # The viewer adds the entry of the browser's history when the page has reported itself, a little later.
        viewer.expect_at(f"{SITE}/film.html", f"A short film - {TITLE}", "21 November 2024, 09:00 UTC", "20241121090045")
        page.go_back()

    clear()
    page.reload()
    expect_home(viewer)
    expect_film()
    clear()
    reload_by_button(viewer)
    expect_film()
    clear()
    viewer.follow("Species")
    expect_species(viewer)
    expect_film()


def test_second_visit_registers_no_worker(host_with_sample, browser):
    """The worker of the first visit is used as it is. In Chromium, another registration would wait for seconds."""
    page = browser.page
    expect_home(open_main_page(page, host_with_sample.home))
    page.context.add_init_script("""ServiceWorkerContainer.prototype.register = () => Promise.reject(new Error("registered again"))""")
    viewer = open_main_page(page, host_with_sample.home)
    viewer.follow("Film")
    expect(viewer.read("#film")).to_be_visible()
    # The script above is effective: without a worker, the page can't be shown.
    browser.clear_storage(host_with_sample.replay_origin("sample"))
    page.reload()
    expect(page.get_by_text("The browser blocked the replay engine")).to_be_visible()


def test_failed_reload_is_repeated_when_the_server_is_back(host_with_sample, browser):
    """The engine has to be set up again, which needs the server."""
    host, page = host_with_sample, browser.page
    viewer = open_main_page(page, host.home)
    expect_home(viewer)
    viewer.read("body").evaluate("body => { body.dataset.before = 'reload'; }")
    browser.clear_storage(host.replay_origin("sample"))
    browser.allow("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|error occurred when fetching the script")
    host.stop()
    page.get_by_role("button", name="Reload this page").click()
    failure = page.locator(".failure-panel")
    expect(failure).to_contain_text("replayhost has stopped")
    host.start()
    expect(failure).to_have_count(0)
    expect(viewer.read("body[data-before]")).to_have_count(0)
    expect_home(viewer)


def test_reload_is_pressed_twice(host_with_sample, page):
    """The second time before the first has an effect."""
    viewer = open_main_page(page, host_with_sample.home)
    expect_home(viewer)
    viewer.read("body").evaluate("body => { body.dataset.before = 'reload'; }")
    page.get_by_role("button", name="Reload this page").evaluate("button => { button.click(); button.click(); }")
    expect(viewer.read("body[data-before]")).to_have_count(0)
    expect_home(viewer)


def test_changed_engine_is_used_after_a_reload(host_with_own_assets, browser):
    """After the engine's file changes, a reload runs the new one, and pages replay as before."""
    host, page = host_with_own_assets, browser.page
    host.add(FIXTURES / "sample.wacz")
    viewer = open_main_page(page, host.home)
    expect_home(viewer)

    def markers():
        """The marker of each running engine. A worker may end meanwhile."""
        found = []
        for worker in browser.context.service_workers:
            with contextlib.suppress(Error):
                found.append(worker.evaluate("self.engineOfTheTest ?? 'first'"))
        return found

    assert markers() == ["first"]
    with open(host.assets / "vendor" / "sw.js", "a", encoding="utf-8") as script:
        script.write("\nself.engineOfTheTest = 'second';\n")
    page.reload()
    expect_home(viewer)
    active = "navigator.serviceWorker.getRegistration('/').then((found) => found.active.state)"
    assert viewer.agent_frame.evaluate(active) == "activated"
    wait_until(lambda: markers() == ["second"], "only the new engine runs")
    viewer.follow("Species")
    expect_species(viewer)


def test_replaced_archive_gets_an_empty_origin(host_with_sample, browser, tmp_path):
    """Data stored by the old archive's pages is deleted before a page of the new one runs, even if nothing was opened between."""
    host, page = host_with_sample, browser.page
    expect_home(open_main_page(page, host.home))

    def agent():
        return next(frame for frame in page.frames if frame.url == f"{host.replay_origin('sample')}/")

    agent().evaluate("""async () => {
        localStorage.setItem("left-behind", "1");
        await (await caches.open("left-behind")).put("/x", new Response("x"));
        await new Promise((done) => { indexedDB.open("left-behind").onsuccess = done; });
    }""")
    page.goto("about:blank")
    host.run("remove", "--yes", "sample")
    replacement = tmp_path / "sample.wacz"
    shutil.copy(FIXTURES / "second.wacz", replacement)
    assert host.add(replacement) == "sample"
    expect(open_main_page(page, host.home, "Harbour Notebook").read("body")).to_contain_text("never show a tidepool")
    assert agent().evaluate("() => localStorage.getItem('left-behind')") is None
    wait_until(lambda: "left-behind" not in agent().evaluate("""async () => [
        ...await caches.keys(), ...(await indexedDB.databases()).map((database) => database.name)]"""), "caches and databases are deleted")


def test_archive_with_a_misleading_directory_replays(host, page, tmp_path):
    """Extra fields in local headers that aren't in the ZIP directory, and the profile of the WACZ 1.2.0 draft."""
    file = tmp_path / "odd.wacz"
    write_large(file, 100_000, 1000)
    with zipfile.ZipFile(file) as package:
        description = json.loads(package.read("datapackage.json"))
        assert package.getinfo("archive/data.warc").extra == b"", "the writer no longer makes what this test is about"
    odd = tmp_path / "profile.wacz"
    with zipfile.ZipFile(file) as package, zipfile.ZipFile(odd, "w") as changed:
        for name in package.namelist():
            content = package.read(name)
            if name == "datapackage.json":
                content = json.dumps(description | {"profile": "wacz", "wacz_version": "1.2.0"}).encode()
            with changed.open(name, "w", force_zip64=True) as entry:
                entry.write(content)
    for path in [file, odd]:
        host.add(path)
        page.goto(f"{host.home}/?archive=/archives/{path.stem}.wacz")
        expect(Viewer(page).read("h1")).to_have_text("First page")


def test_replaced_archive_never_shows_the_old_one(host_with_sample, browser, tmp_path):
    """It's removed and another file is imported with its ID. In the same profile, nothing shows the old pages."""
    host, page = host_with_sample, browser.page
    shown = []
    browser.context.expose_binding("reportText", lambda source, text: shown.append(text))
    browser.context.add_init_script(
        "addEventListener('load', () => window.reportText(`${document.title}\\n${document.body?.innerText ?? ''}`))")
    viewer = open_main_page(page, host.home)
    expect_home(viewer)
    viewer.follow("Species")
    expect_species(viewer)
    old_viewer_address, old_replay_address = page.url, viewer.archived_frame.url
    old_home = f"{host.replay_origin('sample')}/{host.archive('sample')['replayCollection']}/20241121090000mp_/{SITE}/"

    page.goto(host.home)
    page.get_by_role("link", name=TITLE, exact=True).press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    shown.clear()
    browser.allow("404")
    for address in [old_home, old_replay_address, old_viewer_address]:
        page.goto(address)
        heading = re.compile("This archive can't be opened|No archive or collection has the id")
        expect(page.get_by_role("heading", name=heading)).to_be_visible()

    replacement = tmp_path / "sample.wacz"
    shutil.copy(FIXTURES / "second.wacz", replacement)
    import_by_picker(page, host.home, replacement)
    expect(page.get_by_role("heading", name="Harbour Notebook", level=1)).to_be_visible()
    assert host.ids() == ["sample"]
    for address in [old_home, old_replay_address]:
        page.goto(address)
        # With replay ports, the other archive has another port, so the old URL shows nothing.
        message = "is from an earlier version|URL in this archive|No archive has"
        expect(page.get_by_text(re.compile(message))).to_be_visible()
    page.goto(old_viewer_address)
    viewer = Viewer(page)
    expect(viewer.read("#boats")).to_have_text("Two cobles, one drifter and a lugger without a mast.")
    viewer = open_main_page(page, host.home, "Harbour Notebook")
    expect(viewer.read("#shared")).to_have_text("This archive must never show a tidepool.")
    for text in [*OLD_TEXTS, "Beadlet anemone", "Skerry Bay"]:
        assert not [one for one in shown if text in one], f"the old archive's {text!r} was shown"
