"""Browsers that are steered by WebDriver's commands (https://www.w3.org/TR/webdriver2/), over whichever connection."""

import base64

from ..waiting import SECONDS, wait_until
from .engine import REPLAY_FRAME, Engine, NotThere, ScriptError

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER = "\ue007"
GONE = ["no such frame", "no such element", "no such window", "stale element reference", "detached"]

# The answer has to be an object: an engine may pass on a bare error as its own.
CALL = """
const [list, done] = arguments;
new Promise((resolve) => resolve((FUNCTION)(...list))).then(
    (value) => done({ value: value === undefined ? null : value }), (error) => done({ error: String(error) }));
"""


class WebDriverError(Exception):
    """A command that the browser refused: WebDriver's word for it, and what the browser says."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class WebDriverEngine(Engine):
    """Subclasses have `command(name, **parameters)`, with WebDriver's names of commands."""

    def command(self, name, **parameters):
        raise NotImplementedError

    def begin(self):
        """After the session was made. A page has loaded when its frames have, which takes long on a busy machine."""
        self.command("SetTimeouts", script=SECONDS * 1000, pageLoad=SECONDS * 2000, implicit=0)

    def go(self, address):
        self.command("Navigate", url=address)

    def call(self, function, arguments):
        script = CALL.replace("FUNCTION", function)
        answer = self.command("ExecuteAsyncScript", script=script, args=[list(arguments)])
        if not isinstance(answer, dict):
            raise NotThere(f"the document went away: {answer}")
        if "error" in answer:
            raise ScriptError(answer["error"])
        return answer["value"]

    def run(self, function, *arguments):
        return self.attempt(self.call, function, arguments)

    def in_frame(self, name, action, *arguments):
        """Does something inside of a frame, and comes out of it again."""
        def inside():
            frame = self.find("css selector", f'iframe[name="{name}"]')
            self.switch_to_frame(frame)
            return action(*arguments)

        try:
            return self.attempt(inside)
        finally:
            self.attempt(self.switch_to_frame, None)

    def run_in_frame(self, name, function, *arguments):
        return self.in_frame(name, self.call, function, arguments)

    def attempt(self, action, *arguments):
        try:
            return action(*arguments)
        except WebDriverError as error:
            if any(word in str(error) for word in GONE):
                raise NotThere(str(error)) from None
            raise

    def find(self, using, value):
        return self.command("FindElement", using=using, value=value)[ELEMENT]

    def switch_to_frame(self, element):
        self.command("SwitchToFrame", id=element and {ELEMENT: element})

    def click_element(self, using, value):
        self.command("ElementClick", id=self.find(using, value))

    def click(self, selector):
        """A row of the library may be rendered again between finding and clicking. Then nothing was clicked yet."""
        def is_clicked():
            try:
                self.attempt(self.click_element, "css selector", selector)
            except NotThere as error:
                if "stale element" not in str(error):
                    raise
                return False
            return True

        wait_until(is_clicked, f"{selector} is clicked")

    def type_into_element(self, selector, text):
        element = self.find("css selector", selector)
        self.command("ElementClear", id=element)
        self.command("ElementSendKeys", id=element, text=f"{text}{ENTER}")

    def type(self, selector, text):
        self.attempt(self.type_into_element, selector, text)

    def press_keys(self, text):
        keys = [{"type": kind, "value": letter} for letter in text for kind in ["keyDown", "keyUp"]]
        self.command("PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    def press_at(self, *places, drag=False):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0} for x, y in places]
        actions.insert(len(actions) - (1 if drag else 0), {"type": "pointerDown", "button": 0})
        self.command("PerformActions", actions=[
            {"type": "pointer", "id": "mouse", "actions": [*actions, {"type": "pointerUp", "button": 0}]}])

    def send_file(self, selector, path):
        self.command("ElementSendKeys", id=self.find("css selector", selector), text=str(path))

    def choose_file(self, selector, path):
        self.attempt(self.send_file, selector, path)

    def follow(self, name):
        self.in_frame(REPLAY_FRAME, self.click_element, "link text", name)

    def reload(self):
        self.command("Refresh")

    def open_tab(self):
        self.command("SwitchToWindow", handle=self.command("NewWindow", type="tab")["handle"])

    def resize(self, width, height):
        """The window is larger by what is around the page, which can change meanwhile. Browsers have a least width."""
        def has_size():
            around = self.command("GetWindowRect")["height"] - self.run("() => innerHeight")
            self.command("SetWindowRect", width=width, height=height + around)
            return self.run("() => innerHeight") == height

        wait_until(has_size, "the window has its size")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("TakeScreenshot", full=False)))
