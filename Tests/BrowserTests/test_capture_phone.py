"""The page to save URLs in the browser of a phone at home: over TLS, over plain http, without a network, and after the browser was killed.

Chromium runs in the phone's network namespace, with our root among its certificates.
"""

import json
import os
import signal
import subprocess
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from capture_host import SECONDS
from home_network import SERVER
from home_server import Home, wait_until
from support.browser import ARGUMENTS
from support.capture_page import READ, box, wait_until_offline_ready
from support.expecting import expect
from support.places import CHROMIUM
from ways.network import Network
from website import Website

pytestmark = pytest.mark.needs("network namespaces", "certutil")
BASE = f"https://{SERVER}:8443"


class PhoneBrowser:
    """Runs of Chromium with one profile."""

    def __init__(self, playwright, home, folder, is_trusting=True):
        self.playwright, self.profile, self.is_trusting = playwright, folder / "profile", is_trusting
        self.home = folder / "home"
        database = self.home / ".pki" / "nssdb"
        database.mkdir(parents=True)
        for options in (["-N", "--empty-password"], *([["-A", "-t", "C,,", "-n", "root", "-i", home.root]] if is_trusting else [])):
            subprocess.run(["certutil", "-d", f"sql:{database}", *options], check=True, capture_output=True, timeout=SECONDS)
        self.program = folder / "chromium"
        self.program.write_text(f'#!/bin/sh\necho $$ > {folder}/pid\nexec {" ".join(map(str, home.network.phone.command))} {CHROMIUM} "$@"\n')
        self.program.chmod(0o755)
        self.context = None

    def open(self, address):
        if self.context is None:
            self.context = self.playwright.chromium.launch_persistent_context(
                str(self.profile), executable_path=str(self.program), headless=True, args=ARGUMENTS, env={**os.environ, "HOME": str(self.home)},
                ignore_https_errors=not self.is_trusting, viewport={"width": 360, "height": 740})
            self.page = self.context.pages[0]
        self.page.goto(address)
        return self.page

    def kill(self):
        """With SIGKILL, as when the battery is empty. Playwright starts each browser in a process group of its own."""
        os.killpg(int((self.program.parent / "pid").read_text()), signal.SIGKILL)
        wait_until(self.is_gone, "the browser has ended")
        self.context = None

    def is_gone(self):
        try:
            self.page.evaluate("1")
        except Exception:  # Whatever Playwright says, the page is gone.
            return True
        return False

    def close(self):
        if self.context:
            self.context.close()
            self.context = None


@pytest.fixture(scope="module")
def phone(playwright, tmp_path_factory):
    """A server at home with TLS, a website that it can save, and Ana's phone."""
    folder = tmp_path_factory.mktemp("phone-browser")
    home = Home(folder)
    # The server lets tools through to the sites that are there when it starts.
    site = home.network.server.run(Website)
    browsers = []
    with home:
        try:
            home.wait_until_open()
            made = home.host.command("setup", "--name", "Ana's phone", "--user", "ana", "--yes", "--json")
            assert made.returncode == 0, made.stderr

            def browser(name, **options):
                (folder / name).mkdir()
                browsers.append(PhoneBrowser(playwright, home, folder / name, **options))
                return browsers[-1]

            yield SimpleNamespace(home=home, site=site, setup=json.loads(made.stdout), browser=browser)
        finally:
            for each in browsers:
                each.close()
            site.close()


def rows(phone):
    return phone.home.ask("own", "GET", "/history?limit=100")[1]


def test_everything_arrives_after_the_link_was_down_and_the_browser_was_killed(phone):
    """Set up by the link of the QR code. Two URLs are shared without a network, and the browser is killed. Each is one download."""
    browser = phone.browser("trusting")
    page = browser.open(phone.setup["link"])
    expect(page.get_by_role("heading", name="Save a URL", level=1)).to_be_visible()
    wait_until_offline_ready(page)
    page.get_by_role("link", name="Settings").click()
    expect(page.locator("#certificate-state")).to_have_text("This browser trusts the certificate.")
    expect(page.get_by_text("This is the server's address in your local network.")).to_be_visible()
    urls = [phone.site.fake("ok", title="The ferry"), phone.site("/guide.pdf")]
    name = phone.home.network.server.name
    Network.call(f"ip -n {name} link set home0 down")
    try:
        for url in urls:
            page.goto(f"{BASE}/share?text={quote(url, safe='')}")
            page.get_by_role("button", name="Save this URL").click()
            expect(page.locator("#held")).to_be_hidden()
        assert sorted(share["url"] for share in page.evaluate(READ, "shares")) == sorted(urls)
        browser.kill()
    finally:
        Network.call(f"ip -n {name} link set home0 up")
    page = browser.open(f"{BASE}/")
    wait_until(lambda: page.wait_for_timeout(10) or sorted(row["url"] for row in rows(phone)) == sorted(urls), "both have arrived once")
    for url in urls:
        expect(page.get_by_role("listitem").filter(has_text="The ferry" if "ferry" in url else "guide").first.locator(".state")).to_contain_text("Completed")
    assert {row["username"] for row in rows(phone)} == {"ana"}


def test_plain_http_says_what_is_missing(phone):
    """Pasting works. There is no service worker, and the page leads to TLS."""
    phone.home.wait_until_open()
    browser = phone.browser("plain")
    page = browser.open(f"{phone.home.base('http')}/#{phone.setup['link'].partition('#')[2]}")
    expect(page.get_by_role("heading", name="Save a URL", level=1)).to_be_visible()
    url = phone.site.fake("ok", title="In the open")
    box(page).fill(url)
    box(page).press("Enter")
    expect(page.locator("#result")).to_have_text("Added 1 URL.")
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("This connection isn't encrypted (http).")).to_be_visible()
    assert page.evaluate("'serviceWorker' in navigator") is False


def test_untrusted_certificate_is_named(phone):
    """A person who went on after the browser's warning."""
    phone.home.wait_until_open()
    browser = phone.browser("untrusting", is_trusting=False)
    page = browser.open(phone.setup["link"])
    page.get_by_role("link", name="Settings").click()
    expect(page.locator("#certificate-state")).to_contain_text("Server certificate not trusted.")
    # Also if the browser says so after the tab was opened.
    page.add_init_script("""const { register } = ServiceWorkerContainer.prototype;
        const held = new Promise((done) => { window.release = done; });
        ServiceWorkerContainer.prototype.register = async function (...given) { await held; return register.apply(this, given); };""")
    page.reload()
    expect(page.locator("#certificate-state")).to_contain_text("A page can't see whether its certificate is trusted.")
    page.evaluate("release()")
    expect(page.locator("#certificate-state")).to_contain_text("Server certificate not trusted.")
