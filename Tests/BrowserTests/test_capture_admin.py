"""The administrator's page of the capture server, in the order of its sections. The tools are fakes."""

import base64
import json
import os
import subprocess
import urllib.parse

import pytest
from capture_host import FAST_RETRIES, CaptureHost
from fake_tools import FakeTools
from support.accessibility import view_problems
from support.administrator import SIGN_IN, config, free_port, link, new_key, press, section, shown, with_key
from support.expecting import expect
from support.waiting import wait_until
from website import Website

pytestmark = pytest.mark.one_chromium

COOKIE = ".example.org\tTRUE\t/\tTRUE\t0\tsession\tsecret-value\n"


@pytest.fixture
def capture(tmp_path):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES) as host:
        yield host


@pytest.fixture
def site():
    website = Website()
    yield website
    website.close()


@pytest.fixture
def page(capture, browser):
    """A tab with the administrator's page, opened by a link."""
    browser.page.goto(link(capture))
    return shown(browser.page)


# Who may open it


def test_link_opens_the_page_once(capture, browser):
    browser.allow("401")
    page = browser.page
    page.goto(f"{capture.started['address']}/admin")
    field = page.get_by_label(SIGN_IN)
    expect(field).to_be_focused()
    expect(page.locator("main")).to_contain_text("replayhost-capture admin")
    expect(section(page, "Status")).to_be_hidden()
    assert view_problems(page, "admin-sign-in") == []
    field.fill("short")
    press(page, "Open")
    expect(page.get_by_role("alert")).to_contain_text("This isn’t a link or a key")
    address = link(capture)
    page.goto(address)
    shown(page)
    # The code isn't in the address, and the session survives a reload.
    assert page.url == f"{capture.started['address']}/admin"
    page.reload()
    shown(page)
    press(page, "Sign out")
    expect(section(page, "Status")).to_be_hidden()
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("This link was used or has expired")
    field.fill(link(capture))
    press(page, "Open")
    shown(page)


def test_key_opens_the_page_if_it_is_an_administrators(capture, browser):
    browser.allow("401|403")
    page = browser.page
    page.goto(f"{capture.started['address']}/config/setup")
    field = page.get_by_label(SIGN_IN)
    field.fill(new_key(capture, "phone"))
    press(page, "Open")
    expect(page.get_by_role("alert")).to_contain_text("Only the administrator can do this")
    expect(section(page, "Status")).to_be_hidden()
    field.fill("x" * 40)
    press(page, "Open")
    expect(page.get_by_role("alert")).to_contain_text("doesn’t know this session or key")
    field.fill(new_key(capture, "desk", "--admin"))
    press(page, "Open")
    shown(page)
    expect(section(page, "Connect a device")).to_be_focused()
    assert capture.command("keys revoke", "desk").returncode == 0
    expect(page.get_by_role("alert")).to_contain_text("doesn’t know this session or key")
    expect(section(page, "Status")).to_be_hidden()


# The sections


def test_problems_come_with_what_repairs_them_and_go(capture, page):
    status = section(page, "Status")
    problem = status.get_by_role("listitem").filter(has_text="logging.level")
    expect(status.get_by_role("listitem").filter(has_text="gallery-dl")).to_contain_text("Run replayhost-capture tools install")
    expect(problem).to_have_count(0)
    capture.configure("logging:\n  level: LOUD\n")
    expect(problem).to_contain_text("config.yaml:2:")
    expect(problem).to_contain_text("Change it below")
    capture.configure("logging:\n  level: INFO\n")
    expect(problem).to_have_count(0)


def test_device_is_connected(capture, browser, page, tmp_path):
    """The network is opened after a question. The codes and the key are shown once, and the key works."""
    browser.allow("400")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    connect = section(page, "Connect a device")
    expect(connect).to_contain_text("only programs on this computer can connect")
    press(connect, "Let other devices connect…")
    press(page.get_by_role("dialog", name="Let devices on your network connect?"), "Cancel")
    assert not config(capture).exists()
    capture.configure(f"server:\n  ssl:\n    port: {free_port()}\n")
    press(connect, "Let other devices connect…")
    press(page.get_by_role("dialog"), "Let them connect")
    expect(connect.get_by_label("Device")).to_be_focused()
    assert "host: 0.0.0.0" in config(capture).read_text()
    if not wait_until(lambda: capture.call("GET", "/config/connection")[1], "it answers")["lan"]["available"]:
        expect(connect).to_contain_text("No device can connect at the moment.")
        pytest.skip("this computer has no IP address in a network")
    expect(connect).to_contain_text("Devices connect at https://")
    press(connect, "Connect device")
    expect(connect.get_by_role("alert")).to_contain_text("Enter a name")
    connect.get_by_label("Device").fill("Ana’s phone")
    connect.get_by_label("User", exact=True).fill("no user")
    press(connect, "Connect device")
    expect(connect.get_by_role("alert")).to_contain_text("only letters (a–z) and digits")
    connect.get_by_label("User", exact=True).fill("ana")
    with page.expect_response("**/config/setup") as answered:
        press(connect, "Connect device")
    answer = answered.value.json()
    expect(connect.get_by_role("heading", name="Connect “Ana’s phone”")).to_be_focused()
    for name, svg in (("For the camera", "link_svg"), ("For apps", "payload_svg")):
        image = connect.get_by_role("img", name=f"QR code: {name}")
        kind, _, content = image.get_attribute("src").partition(",")
        assert (kind, urllib.parse.unquote(content)) == ("data:image/svg+xml", answer[svg])
        wait_until(lambda image=image: image.evaluate("image => image.complete && image.naturalWidth > 0"), "the code is drawn")
        # As a camera sees it.
        image.screenshot(path=tmp_path / f"{svg}.png")
        scanned = subprocess.run(["zbarimg", "--quiet", "--raw", tmp_path / f"{svg}.png"], capture_output=True, text=True, timeout=180)
        assert scanned.stdout.strip() == answer[svg.removesuffix("_svg")]
    payload = json.loads(answer["payload"])
    expect(connect).to_contain_text(f"https://{payload['lan']}/server.crt")
    expect(connect.get_by_role("link", name="download the certificate")).to_have_attribute("href", "/server.crt")
    connect.get_by_text("How to install the certificate").click()
    expect(connect).to_contain_text(payload["fp"])
    press(connect, "Copy key")
    assert page.evaluate("navigator.clipboard.readText()") == answer["secret"]
    assert json.loads(base64.urlsafe_b64decode(answer["link"].partition("#connect=")[2] + "==")) == payload
    assert view_problems(page, "admin-device") == []
    expect(connect).to_contain_text("Waiting for the device")
    assert capture.call("GET", "/history", None, with_key(answer["secret"])) == (200, [])
    expect(connect).to_contain_text("The device has connected.")
    press(connect, "Done")
    expect(connect.get_by_label("Device")).to_be_focused()
    assert answer["secret"] not in page.content() and answer["secret"] not in page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
    row = section(page, "Users and keys").get_by_role("listitem").filter(has_text="Ana’s phone")
    expect(row).to_contain_text("only ana")
    connect.get_by_label("Device").fill("Ana’s phone")
    press(connect, "Connect device")
    expect(connect.get_by_role("alert")).to_contain_text("Another key has this name")


def test_queue_is_paused_and_resumed(capture, site, browser, page):
    queue = section(page, "Queue")
    expect(queue).to_contain_text("0 running · 0 queued")
    press(queue, "Pause downloads")
    expect(queue).to_contain_text("Paused")
    identifier = capture.add(site.fake("ok", title="Ferry"))
    expect(queue).to_contain_text("Paused · 0 running · 1 queued")
    expect(queue).to_contain_text("Nothing new starts")
    with page.context.expect_page() as opened:
        page.evaluate("window.open('/')")
    expect(opened.value.get_by_role("listitem")).to_contain_text("Waits: downloads are paused.")
    opened.value.close()
    assert capture.status(identifier)["state"] == "queued"
    press(queue, "Resume downloads")
    expect(queue.get_by_role("button", name="Pause downloads")).to_be_focused()
    capture.wait_for(identifier, "completed")
    expect(queue).to_contain_text("0 running · 0 queued")


def test_key_is_revoked_after_a_question(capture, page):
    keys = section(page, "Users and keys")
    secrets = {name: new_key(capture, name, *options) for name, options in (("phone", ["--user", "ana"]), ("tablet", []), ("desk", ["--admin"]))}
    row = {name: keys.get_by_role("list", name="Keys of devices").get_by_role("listitem").filter(has_text=name) for name in secrets}
    expect(row["phone"]).to_contain_text("only ana")
    expect(row["tablet"]).to_contain_text("all users")
    expect(row["desk"]).to_contain_text("administrator")
    expect(keys.get_by_role("list", name="Users", exact=True).get_by_role("listitem")).to_contain_text("ana")
    dialog = page.get_by_role("dialog", name="Revoke the key of “tablet”?")
    press(keys, "Revoke… tablet")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert capture.call("GET", "/history", None, with_key(secrets["tablet"]))[0] == 200
    press(keys, "Revoke… tablet")
    press(dialog, "Revoke")
    expect(row["tablet"]).to_have_count(0)
    # The focus is on the row that has its place now.
    expect(keys.get_by_role("button", name="Revoke… phone")).to_be_focused()
    assert capture.call("GET", "/history", None, with_key(secrets["tablet"]))[0] == 401
    assert capture.call("GET", "/history", None, with_key(secrets["phone"]))[0] == 200
    keys.get_by_text("1 revoked key").click()
    expect(keys.get_by_role("list", name="Revoked keys").get_by_role("listitem")).to_contain_text("tablet")


def test_cookies_are_pasted_chosen_and_removed(capture, browser, page):
    browser.allow("400")
    cookies = section(page, "Cookies")
    file = capture.store / "capture" / "cookies" / "ana.txt"
    text = cookies.get_by_role("textbox", name="Cookies")
    expect(cookies).to_contain_text("No user has cookies.")
    press(cookies, "Save cookies")
    expect(cookies.get_by_role("alert")).to_contain_text("Paste cookies")
    cookies.get_by_label("User").fill("ana")
    text.fill("session=secret-value")
    press(cookies, "Save cookies")
    expect(cookies.get_by_role("alert")).to_contain_text("isn't a cookies.txt in the Netscape format")
    expect(text).to_have_value("session=secret-value")
    text.fill(COOKIE)
    press(cookies, "Save cookies")
    row = cookies.get_by_role("listitem").filter(has_text="ana")
    expect(row).to_contain_text("1 cookie ·")
    expect(text).to_have_value("")
    assert file.read_text() == COOKIE
    chosen = capture.folder / "cookies.txt"
    chosen.write_text("# Netscape HTTP Cookie File\n" + COOKIE * 2, encoding="utf-8")
    press(cookies, "Replace ana")
    expect(text).to_be_focused()
    with page.expect_file_chooser() as chooser:
        press(cookies, "Choose a file…")
    chooser.value.set_files(chosen)
    expect(cookies.get_by_role("button", name="Save cookies")).to_be_focused()
    press(cookies, "Save cookies")
    expect(row).to_contain_text("2 cookies ·")
    assert file.read_text() == chosen.read_text()
    assert "secret-value" not in page.content()
    dialog = page.get_by_role("dialog", name="Remove the cookies of ana?")
    press(cookies, "Remove… ana")
    press(dialog, "Cancel")
    assert file.exists()
    press(cookies, "Remove… ana")
    press(dialog, "Remove")
    expect(cookies).to_contain_text("No user has cookies.")
    expect(cookies.get_by_text("No user has cookies.")).to_be_focused()
    assert not file.exists()


def decimal(size):
    """As the design says: kB, MB, GB and TB of 1,000, with one digit after the point below 10."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 999.5:
            return f"{size:.{0 if unit == 'bytes' or size >= 9.95 else 1}f} {unit}"
        size /= 1000
    raise AssertionError("a disk of this size")


def test_disks_show_their_space(capture, page):
    disks = section(page, "Disk space")
    for name, folder in (("Library", capture.store), ("Saved files", capture.downloads)):
        row = disks.get_by_role("listitem").filter(has_text=name)
        disk = os.statvfs(capture.folder)
        expect(row).to_contain_text(f" of {decimal(disk.f_blocks * disk.f_frsize)} free")
        expect(row.locator("code")).to_have_text(str(folder))


# `python3 -m venv FOLDER`, then `FOLDER/bin/python -m pip …`, which waits for a file
PYTHON = """#!/bin/sh
mkdir -p "$3/bin"
cat >"$3/bin/python" <<'END'
#!/bin/sh
folder=$(dirname "$0")
while ! [ -e {gate} ]; do sleep 0.05; done
[ "$(cat {gate})" = fail ] && {{ echo "ERROR: no such release" >&2; exit 1; }}
printf '%s\\n' "$@" >{gate}.arguments
printf '#!/bin/sh\\necho 2099.01.02\\n' >"$folder/yt-dlp"
chmod +x "$folder/yt-dlp"
END
chmod +x "$3/bin/python"
"""


@pytest.fixture
def installer(capture, tmp_path):
    """Lets the server install tools from nowhere, when the gate is opened with `ok` or `fail`."""
    gate = tmp_path / "gate"
    for name in ("mkdir", "cat", "chmod", "dirname", "sleep"):
        (capture.tools.path / name).symlink_to(f"/bin/{name}" if os.path.exists(f"/bin/{name}") else f"/usr/bin/{name}")
    python = capture.tools.path / "python3"
    python.write_text(PYTHON.format(gate=gate), encoding="utf-8")
    python.chmod(0o755)
    return gate


def test_tools_are_updated_and_rolled_back(capture, installer, page):
    tools = section(page, "Tools")
    current = capture.tools.root / "current"
    rows = tools.get_by_role("list", name="Tools").get_by_role("listitem")
    expect(rows.filter(has_text="yt-dlp")).to_contain_text((capture.tools.notes / "yt-dlp-version").read_text())
    expect(rows.filter(has_text="gallery-dl")).to_contain_text("not installed")
    update, back = (tools.get_by_role("button", name=name) for name in ("Update tools", "Return to the previous version…"))
    tools.get_by_label("Use the newest nightly build").check()
    update.click()
    expect(tools.get_by_role("list", name="Steps of the update")).to_contain_text("installing yt-dlp")
    expect(tools.get_by_role("progressbar", name="Updating the tools…")).to_be_visible()
    expect(update).to_be_disabled()
    expect(back).to_be_disabled()
    # The page shows it after a reload, too.
    page.reload()
    expect(tools.get_by_role("list", name="Steps of the update")).to_contain_text("installing yt-dlp")
    installer.write_text("ok")
    expect(tools.get_by_role("list", name="Steps of the update")).to_contain_text("yt-dlp 2099.01.02 is in use")
    expect(tools.get_by_role("progressbar", name="Updating the tools…")).to_have_count(0)
    assert os.readlink(current) == "yt-dlp-2"
    assert "--pre" in installer.with_name("gate.arguments").read_text().split()
    back.click()
    press(page.get_by_role("dialog", name="Return to the previous version?"), "Cancel")
    assert os.readlink(current) == "yt-dlp-2"
    back.click()
    press(page.get_by_role("dialog"), "Return")
    wait_until(lambda: os.readlink(current) == "yt-dlp-1", "the version before is in use")
    expect(update).to_be_enabled()


def test_failed_update_says_why_and_changes_nothing(capture, installer, page):
    tools = section(page, "Tools")
    installer.write_text("fail")
    press(tools, "Update tools")
    expect(tools).to_contain_text("The tools weren’t changed")
    expect(tools).to_contain_text("ERROR: no such release")
    expect(tools.get_by_role("button", name="Update tools")).to_be_enabled()
    assert os.readlink(capture.tools.root / "current") == "yt-dlp-1"


def test_log_is_followed(capture, site, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log = section(page, "Server log")
    capture.wait_for(capture.add(site.fake("ok", by="one")), "completed")
    expect(log.get_by_text("Download completed")).to_have_count(1)
    follow = log.get_by_label("Follow")
    follow.uncheck()
    capture.wait_for(capture.add(site.fake("ok", by="two")), "completed")
    # The page has read everything else since.
    capture.configure("logging:\n  level: LOUD\n")
    expect(section(page, "Status")).to_contain_text("logging.level")
    expect(log.get_by_text("Download completed")).to_have_count(1)
    follow.check()
    expect(log.get_by_text("Download completed")).to_have_count(2)
    press(log, "Copy lines")
    copied = page.evaluate("navigator.clipboard.readText()")
    # Each line of the file is there once, and in its order.
    lines = (capture.store / "capture" / "logs" / "server.log").read_text().splitlines()
    assert copied.splitlines() == lines[:len(copied.splitlines())] and copied.count("Download completed") == 2
    # After the log was emptied, it begins again.
    os.truncate(capture.store / "capture" / "logs" / "server.log", 0)
    capture.wait_for(capture.add(site.fake("ok", by="three")), "completed")
    expect(log.get_by_text("Download completed")).to_have_count(1)
