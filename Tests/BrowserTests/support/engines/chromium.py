"""Chromium, by Playwright: the same browser as in the other tests."""

import json

from playwright.sync_api import Error

from ..browser import Browser
from ..viewer import Viewer
from .engine import Engine, NotThere, ScriptError

KEYS = {"\ue004": "Tab", "\ue007": "Enter", "\ue00c": "Escape", "\ue017": "Delete", "\ue036": "F6"}


class Chromium(Engine):
    name = "chromium"
    can_block = ["site data"]

    def __init__(self, folder, private=False, blocks="", allows="", playwright=None):
        profile = folder / "profile"
        if blocks:
            write_preferences(profile, blocks, allows)
        self.browser = Browser(playwright, profile, ["--incognito"] if private else [])
        super().__init__(private, self.browser.sink)
        self.page = self.browser.page
        try:
            assert self.is_private() == private, "the window isn't of the requested kind"
        except BaseException:
            self.close()
            raise

    def is_private(self):
        """The browser's own default is the ordinary profile."""
        session = self.page.context.new_cdp_session(self.page)
        window = session.send("Target.getTargetInfo")["targetInfo"]["browserContextId"]
        session.detach()
        session = self.page.context.browser.new_browser_cdp_session()
        default = session.send("Target.getBrowserContexts")["defaultBrowserContextId"]
        session.detach()
        return window != default

    def go(self, address):
        self.page.goto(address)

    def run(self, function, *arguments):
        return call(self.page, function, arguments)

    def run_in_frame(self, name, function, *arguments):
        frame = self.page.frame(name=name)
        if not frame:
            self.page.wait_for_timeout(1)  # Playwright learns of frames only while it is asked something.
            raise NotThere(f"no frame {name}")
        return call(frame, function, arguments)

    def click(self, selector):
        self.page.locator(selector).first.click()

    def type(self, selector, text):
        self.page.locator(selector).fill(text)
        self.page.locator(selector).press("Enter")

    def press_keys(self, text):
        for letter in text:
            self.page.keyboard.press(KEYS.get(letter, letter))

    def press_at(self, *places, drag=False):
        mouse = self.page.mouse
        for number, place in enumerate(places):
            mouse.move(*place)
            if number == len(places) - (2 if drag else 1):
                mouse.down()
        mouse.up()

    def choose_file(self, selector, path):
        self.page.locator(selector).set_input_files(path)

    def follow(self, name):
        Viewer(self.page).follow(name)

    def back(self):
        self.page.go_back()

    def forward(self):
        self.page.go_forward()

    def reload(self):
        self.page.reload()

    def open_tab(self):
        with self.page.context.expect_page() as opened:
            self.page.evaluate("() => { window.open('about:blank', '_blank', 'noopener'); }")
        self.page = opened.value

    def resize(self, width, height):
        self.page.set_viewport_size({"width": width, "height": height})

    def screenshot(self, path):
        self.page.screenshot(path=path)

    def allow(self, pattern):
        self.browser.allow(pattern)

    def forget_errors(self):
        self.browser.errors.clear()
        self.browser.allowed.clear()

    def check(self):
        self.browser.check()

    def end(self):
        self.browser.close()


def write_preferences(profile, blocks, allows):
    """Settings, site data: not allowed but for what is named. Service workers have no switch of their own."""
    assert blocks == "site data"
    block, allow = 2, 1
    exceptions = {f"{allows},*": {"setting": allow}} if allows else {}
    settings = {"profile": {
        "default_content_setting_values": {"cookies": block},
        "content_settings": {"exceptions": {"cookies": exceptions}},
    }}
    (profile / "Default").mkdir(parents=True)
    (profile / "Default" / "Preferences").write_text(json.dumps(settings), encoding="utf-8")


def call(frame, function, arguments):
    try:
        return frame.evaluate(f"arguments => ({function})(...arguments)", list(arguments))
    except Error as error:
        raise (ScriptError if "Error: " in error.message else NotThere)(error.message) from None
