"""The administrator's page of the capture server: the configuration, a server that stops, and all sections together."""

import re
from types import SimpleNamespace

import pytest
from capture_host import CaptureHost
from fake_tools import FakeTools
from support.accessibility import view_problems, violations
from support.administrator import SIGN_IN, UNREACHABLE, config, free_port, link, new_key, press, section, shown
from support.expecting import expect
from support.host import Host

pytestmark = pytest.mark.one_chromium

MARKUP = '<img src=x onerror="window.ran = 1"> & \u202egpj.exe'
# Without the character that reorders text
SHOWN = MARKUP.replace("\u202e", "")
COOKIE = ".example.org\tTRUE\t/\tTRUE\t0\tsession\tsecret-value\n"


@pytest.fixture
def capture(tmp_path):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools")) as host:
        yield host


@pytest.fixture
def page(capture, browser):
    """A tab with the administrator's page, opened by a link."""
    browser.page.goto(link(capture))
    return shown(browser.page)


@pytest.fixture
def editor(page):
    part = section(page, "Configuration")
    return SimpleNamespace(part=part, text=part.get_by_label("Text of the file"))


def test_configuration_is_checked_saved_and_restored(capture, browser, page, editor):
    """A problem leads to its line. Nothing invalid is saved."""
    browser.allow("400")
    part, text = editor.part, editor.text
    expect(part.get_by_role("button", name="Save configuration")).to_be_disabled()
    expect(part.get_by_role("button", name="Restore the previous version…")).to_be_disabled()
    wrong = "# 𝛼\n" * 40 + "downloads:\n  max_concurent: 2\nserver: {name: \"𝛼𝛼\", prot: 1}\n"
    text.fill(wrong)
    expect(part).to_contain_text("You have unsaved changes.")
    press(part, "Check text")
    expect(part.get_by_role("alert")).to_contain_text("There are 2 problems.")
    press(part, "Save configuration")
    expect(part.get_by_role("alert")).to_contain_text("Not saved. There are 2 problems.")
    assert not config(capture).exists()
    for name, place in (("Line 42", "max_concurent"), ("Line 43", "prot")):
        part.get_by_role("button", name=re.compile(f"^{name} ")).click()
        expect(text).to_be_focused()
        # JavaScript counts UTF-16 code units.
        assert text.evaluate("area => area.selectionStart") == len(wrong[:wrong.index(place)].encode("utf-16-le")) // 2
        assert text.evaluate("area => area.scrollTop > 0 && document.getElementById('config-lines').scrollTop === area.scrollTop")
    one, other = "server:\n  name: One\n", "server:\n  name: Other\n"
    text.fill(one)
    press(part, "Check text")
    expect(part).to_contain_text("No problems found.")
    assert not config(capture).exists()
    text.press("Control+s")
    expect(part).to_contain_text("Saved.")
    expect(part).to_contain_text("No unsaved changes.")
    assert config(capture).read_text() == one
    text.fill(other)
    press(part, "Save configuration")
    expect(part).to_contain_text("Saved.")
    press(part, "Restore the previous version…")
    press(page.get_by_role("dialog", name="Restore the previous version?"), "Cancel")
    assert config(capture).read_text() == other
    press(part, "Restore the previous version…")
    press(page.get_by_role("dialog"), "Restore")
    expect(text).to_have_value(one)
    assert config(capture).read_text() == one
    assert capture.call("GET", "/config/connection")[1]["server_name"] == "One"


def test_unsaved_text_survives_a_reload_and_a_stopped_server(capture, browser, page, editor):
    browser.allow(f"{UNREACHABLE}|401")
    part, text = editor.part, editor.text
    text.fill("# Mine\n")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]
    expect(text).to_have_value("# Mine\n")
    expect(part).to_contain_text("unsaved text from before the page was reloaded")
    section(page, "Cookies").get_by_role("textbox", name="Cookies").fill("typed")
    text.scroll_into_view_if_needed()
    refused = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status == 401 else None)
    capture.kill_9()
    # It's said also where the text is, far below.
    expect(page.locator("#banners")).to_contain_text("The server doesn't respond")
    expect(page.locator("#banners")).to_be_in_viewport()
    text.fill("# Mine, too\n")
    press(part, "Save configuration")
    expect(part.get_by_role("alert")).to_contain_text("The server doesn't respond.")
    capture.start()
    # The restart has ended the session.
    expect(page.locator("#banners")).to_be_empty()
    expect(page.get_by_role("alert")).to_contain_text("Sessions end after 12 hours, and when the server restarts.")
    # One wrong key: after twenty, the server refuses all keys for an hour.
    assert len(refused) == 1, refused
    page.get_by_label(SIGN_IN).fill(link(capture))
    press(page, "Open")
    expect(text).to_have_value("# Mine, too\n")
    expect(section(page, "Cookies").get_by_role("textbox", name="Cookies")).to_have_value("typed")
    press(part, "Save configuration")
    expect(part).to_contain_text("Saved.")
    assert config(capture).read_text() == "# Mine, too\n"


def test_page_recovers_by_itself_with_a_key(capture, browser):
    """A key outlives a restart of the server."""
    browser.allow(UNREACHABLE)
    page = browser.page
    page.goto(f"{capture.started['address']}/admin")
    page.get_by_label(SIGN_IN).fill(new_key(capture, "desk", "--admin"))
    press(page, "Open")
    shown(page)
    capture.stop()
    expect(page.locator("#banners")).to_contain_text("The server doesn't respond")
    capture.start()
    expect(page.locator("#banners")).to_be_empty()
    press(section(page, "Queue"), "Pause downloads")
    expect(section(page, "Queue")).to_contain_text("Paused")


def test_file_that_was_changed_elsewhere_is_not_replaced_unasked(capture, page, editor):
    part, text = editor.part, editor.text
    capture.configure("# Theirs\n")
    # Without changes of one's own, the text follows the file.
    expect(text).to_have_value("# Theirs\n")
    text.fill("# Mine\n")
    capture.configure("# Theirs, again\n")
    press(part, "Save configuration")
    dialog = page.get_by_role("dialog", name="Replace the changed file?")
    press(dialog, "Cancel")
    expect(part).to_contain_text("The file has changed since you began")
    expect(text).to_have_value("# Mine\n")
    assert config(capture).read_text() == "# Theirs, again\n"
    press(part, "Save configuration")
    press(dialog, "Replace")
    expect(part).to_contain_text("Saved.")
    assert config(capture).read_text() == "# Mine\n"
    text.fill("# Mine, again\n")
    press(part, "Discard changes…")
    press(page.get_by_role("dialog", name="Discard your changes?"), "Discard")
    expect(text).to_have_value("# Mine\n")
    expect(part).to_contain_text("No unsaved changes.")


def test_page_leads_to_another_port(tmp_path, browser):
    """The server moves when the configuration's port changes. The page there opens by a link."""
    # Before the old port closes, its requests can be answered as those to a host that the server no longer has.
    browser.allow(f"{UNREACHABLE}|421")
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"))
    ports = [free_port(), free_port()]
    config(host).parent.mkdir(mode=0o700, parents=True)
    config(host).write_text(f"server:\n  port: {ports[0]}\n", encoding="utf-8")
    # Without --port
    host.port = None
    with host:
        Host.ports.add(ports[1])
        page = browser.page
        page.goto(link(host))
        shown(page)
        part = section(page, "Configuration")
        part.get_by_label("Text of the file").fill(f"server:\n  port: {ports[1]}\n")
        press(part, "Save configuration")
        expect(page.locator("#banners")).to_contain_text("The server has another port now")
        page.get_by_role("link", name="Open this page there").click()
        shown(page)
        assert page.url == f"http://localhost:{ports[1]}/admin"


# All of it


def test_texts_of_others_are_text(capture, page, editor):
    """Names of devices, and what the server says about a configuration."""
    new_key(capture, MARKUP)
    keys = section(page, "Users and keys")
    expect(keys.get_by_role("list", name="Keys of devices")).to_contain_text(SHOWN)
    press(keys, f"Revoke… {SHOWN}")
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(f"Revoke the key of “{SHOWN}”?")
    press(page.get_by_role("dialog"), "Cancel")
    editor.text.fill(f"logging:\n  level: '{SHOWN}'\n")
    press(editor.part, "Check text")
    expect(editor.part.get_by_role("alert")).to_contain_text("<img src=x")
    capture.configure(f"logging:\n  level: '{SHOWN}'\n")
    expect(section(page, "Status")).to_contain_text("<img src=x")
    assert page.locator("main img, dialog img").count() == 0
    assert page.evaluate("window.ran") is None
    assert "\u202e" not in page.locator("body").inner_text()


def test_page_is_accessible(capture, browser, page, editor):
    """With rows in each list, problems, and a dialog; and without the server."""
    browser.allow(f"400|{UNREACHABLE}")
    new_key(capture, "phone " * 15, "--user", "ana" * 30)
    new_key(capture, "old phone")
    assert capture.command("keys revoke", "old phone").returncode == 0
    cookies = section(page, "Cookies")
    cookies.get_by_label("User").fill("ana" * 30)
    cookies.get_by_role("textbox", name="Cookies").fill(COOKIE)
    press(cookies, "Save cookies")
    expect(cookies.get_by_role("listitem")).to_have_count(1)
    section(page, "Users and keys").get_by_text("1 revoked key").click()
    capture.configure(f"# {'long ' * 60}\nlogging:\n  level: LOUD\n")
    expect(section(page, "Status")).to_contain_text("logging.level")
    editor.text.fill(f"{'long' * 60}: 1\n")
    press(editor.part, "Save configuration")
    press(page.get_by_role("dialog", name="Replace the changed file?"), "Replace")
    expect(editor.part.get_by_role("alert")).to_contain_text("Not saved.")
    press(section(page, "Queue"), "Pause downloads")
    expect(section(page, "Queue")).to_contain_text("Paused")
    found = view_problems(page, "admin")
    press(section(page, "Cookies"), re.compile("^Remove… ana"))
    found += violations(page)
    press(page.get_by_role("dialog"), "Cancel")
    capture.stop()
    expect(page.locator("#banners")).to_contain_text("The server doesn't respond")
    found += view_problems(page, "admin-stopped")
    assert found == []


def test_keyboard_reaches_the_sections(page):
    page.locator("body").press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(section(page, "Status")).to_be_focused()
    for link_to in page.get_by_role("navigation", name="Sections").get_by_role("link").all():
        name = link_to.inner_text()
        link_to.press("Enter")
        expect(section(page, name)).to_be_focused()
