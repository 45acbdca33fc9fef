"""The interface of the tests to a browser of any engine."""

import json

from ..sink import make_sink
from ..waiting import wait_until

REPLAY_FRAME = "___wb_replay_top_frame"
AGENT_FRAME = "___replayhost_agent"


class NotThere(Exception):
    """The target of a script or a click doesn't exist, or is being removed."""


class ScriptError(Exception):
    """A script threw, or its promise was rejected. The text is the error's own."""


class Engine:
    """One run of a browser with a fresh profile, in an ordinary or a private window.

    Subclasses say how to go, run, click and close. Functions are given as source text, take and return what JSON can
    hold, and may return a promise.
    """

    name = ""
    # What a person can turn off in this browser's settings, of what replay needs: "workers", "site data".
    can_block = []

    def __init__(self, private, sink=None):
        self.private = private
        self.sink = sink or make_sink()

    def go(self, address):
        raise NotImplementedError

    def run(self, function, *arguments):
        """Calls a function in the document of the tab."""
        raise NotImplementedError

    def run_in_frame(self, name, function, *arguments):
        """Calls a function in a frame of the tab's document."""
        raise NotImplementedError

    def run_in_page(self, function, *arguments):
        """Calls a function in the archived page, which is in the replay frame."""
        return self.run_in_frame(REPLAY_FRAME, function, *arguments)

    def run_in_agent(self, function, *arguments):
        """Calls a function in the agent's page at the archive's origin, where the engine changes no functions."""
        return self.run_in_frame(AGENT_FRAME, function, *arguments)

    def click(self, selector):
        """Clicks an element of the tab's document, as a person does."""
        raise NotImplementedError

    def type(self, selector, text):
        """Types into a field of the tab's document, in place of what is there, and presses Enter."""
        raise NotImplementedError

    def press_keys(self, text):
        """Presses the keys of a text, one after the other. What has the focus gets them. Other keys have WebDriver's codes."""
        raise NotImplementedError

    def press_at(self, *places, drag=False):
        """Moves the mouse over these places, and clicks at the last. `drag`: the button is pressed at the place before."""
        raise NotImplementedError

    def choose_file(self, selector, path):
        """Chooses a file in a file field of the tab's document, as in the browser's dialog."""
        raise NotImplementedError

    def follow(self, name):
        """Clicks the link of the archived page that has this text, as a person does."""
        raise NotImplementedError

    def back(self):
        raise NotImplementedError

    def forward(self):
        raise NotImplementedError

    def reload(self):
        raise NotImplementedError

    def open_tab(self):
        """Opens another tab in the same window and continues there. The previous tab stays open."""
        raise NotImplementedError

    def resize(self, width, height):
        raise NotImplementedError

    def screenshot(self, path):
        raise NotImplementedError

    def end(self):
        """Ends the browser and all that was started for it."""
        raise NotImplementedError

    def allow(self, pattern):
        """Allows errors that match. Only Chromium reports its errors."""

    def forget_errors(self):
        """Forgets errors, and which are allowed."""

    def check(self):
        """Checks that nothing left this computer."""
        assert self.sink.from_pages == [], "something left this computer"

    def close(self):
        try:
            self.end()
        finally:
            self.sink.close()

    @property
    def title(self):
        return self.run("() => document.title")

    def wait_for(self, function, *arguments, what, in_page=False):
        """Waits for a true value of a function, in the tab's document or in the archived page, and returns it."""
        run = self.run_in_page if in_page else self.run
        last = "nothing"

        def look():
            nonlocal last
            try:
                last = run(function, *arguments)
                return last
            except (NotThere, ScriptError) as error:
                last = repr(error)
                return None

        try:
            return wait_until(look, what)
        except AssertionError as error:
            shown = self.run("() => `${location.href}: ${document.body.innerText}`")
            raise AssertionError(f"{error}; the last answer was {last}; {self.name} shows {shown[:1500]}") from None

    def wait_for_text(self, text, selector="body"):
        """Waits until an element of the tab's document has this text in it."""
        self.wait_for(HAS_TEXT, selector, text, what=f"{json.dumps(text)} is shown")

    def wait_for_text_in_page(self, text, selector="body"):
        """Waits until an element of the archived page has this text in it."""
        self.wait_for(HAS_TEXT, selector, text, what=f"{json.dumps(text)} is in the page", in_page=True)


HAS_TEXT = """(selector, text) =>
    [...document.querySelectorAll(selector)].some((element) => element.innerText.includes(text))"""
