"""The viewer, as a user sees it."""

import re
from urllib.parse import unquote, urlsplit

from .expecting import expect
from .waiting import wait_until


def click_in_page(element):
    """Clicks an element of the archived page when the page sees the pointer over it.

    Chromium loses clicks on a frame that it has not drawn yet, for example in the moment when the panel above it goes.
    """
    def sees_pointer():
        element.hover()
        return element.evaluate("element => element.matches(':hover')")

    wait_until(sees_pointer, f"the page sees the pointer over {element}")
    element.click()


def as_shown(url):
    """Letters that aren't ASCII are shown decoded, other escapes as they are."""
    return re.sub(r"(?:%[89A-F][0-9A-F])+", lambda escapes: unquote(escapes[0]), url)


class Viewer:
    """The toolbar above an archived page, and the page itself."""

    def __init__(self, page):
        self.page = page
        self.archived = page.frame_locator('iframe[title="Archived page"]')
        self.address = page.get_by_role("textbox", name="URL in this archive", exact=True)

    def read(self, selector):
        """An element in the archived page."""
        return self.archived.locator(selector)

    def follow(self, name):
        """Clicks a link of the archived page."""
        click_in_page(self.archived.get_by_role("link", name=name, exact=True).first)

    def open_url(self, url):
        """Types a URL into the viewer's URL field."""
        self.address.fill(url)
        self.address.press("Enter")

    def block_restart_detection(self):
        """Blocks the requests by which the viewer notices that the server is back, so that it opens nothing by itself."""
        self.page.route(re.compile("/api/(events|health)$"), lambda route: route.abort("connectionrefused"))

    def expect_at(self, address, title, captured, timestamp):
        """Checks the toolbar, the tab's title and the tab's URL."""
        expect(self.address).to_have_value(as_shown(address))
        expect(self.page).to_have_title(re.compile(f"^{re.escape(title)}"))
        expect(self.page.locator(".capture-time time")).to_have_attribute("title", re.compile(captured.replace(" UTC", r":\d\d UTC")))
        encoded = re.escape(address.replace("%", "%25").replace(":", "%3A").replace("/", "%2F"))
        expect(self.page).to_have_url(re.compile(f"url={encoded}&ts={timestamp}$"))

    def natural_width(self, selector):
        return self.read(selector).evaluate("image => image.decode().then(() => image.naturalWidth)")

    @property
    def archived_frame(self):
        return self.page.frame(name="___wb_replay_top_frame")

    @property
    def agent_frame(self):
        """The hidden frame with the agent: a page of replayhost at the archive's origin, with unchanged functions."""
        origin = urlsplit(self.archived_frame.url)
        return self.page.frame(url=re.compile(rf"^{re.escape(f'{origin.scheme}://{origin.netloc}')}/(\?replay=\w+)?$"))
