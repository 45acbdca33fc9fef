"""Chromium, by Playwright: the same browser as in the other tests."""

from playwright.sync_api import Error

from ..browser import Browser
from .engine import REPLAY_FRAME, Engine, NotThere, ScriptError


class Chromium(Engine):
    name = "chromium"

    def __init__(self, folder, private=False, workers=True, playwright=None):
        super().__init__(private)
        self.browser = Browser(playwright, folder / "profile")
        self.page = self.browser.page

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

    def follow(self, name):
        frame = self.page.frame_locator(f'iframe[name="{REPLAY_FRAME}"]')
        frame.get_by_role("link", name=name, exact=True).first.click()

    def back(self):
        self.page.go_back()

    def forward(self):
        self.page.go_forward()

    def reload(self):
        self.page.reload()

    def open_tab(self):
        self.page = self.page.context.new_page()

    def resize(self, width, height):
        self.page.set_viewport_size({"width": width, "height": height})

    def screenshot(self, path):
        self.page.screenshot(path=path)

    def allow(self, pattern):
        self.browser.allow(pattern)

    def check(self):
        self.browser.check()

    def end(self):
        self.browser.close()


def call(frame, function, arguments):
    try:
        return frame.evaluate(f"arguments => ({function})(...arguments)", list(arguments))
    except Error as error:
        raise (ScriptError if "Error: " in error.message else NotThere)(error.message) from None
