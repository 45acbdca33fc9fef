"""The page to save URLs, as a person uses it."""

import re

from .expecting import expect
from .storages import ASKED
from .waiting import wait_until

# Chromium's words for requests to a stopped server
UNREACHABLE = "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED|ERR_FAILED|ERR_ABORTED|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE_CHUNKED_ENCODING"
# The rows of a store of the page's database, without its modules: the server may be stopped.
READ = f"""async (store) => {{
    {ASKED}
    const database = await asked(indexedDB.open("replayhost-capture"));
    const rows = await asked(database.transaction([store]).objectStore(store).getAll());
    database.close();
    return rows;
}}"""
# Whether the service worker has all files of the page.
KEPT = """async () => {
    for (const name of await caches.keys()) if (await (await caches.open(name)).match("/complete")) return true;
    return false;
}"""


# Rows for the database of the page: of a status, how many, and how many days ago the first one was.
SEED = f"""async ([status, count, days]) => {{
    {ASKED}
    const database = await asked(indexedDB.open("replayhost-capture"));
    const transaction = database.transaction(["shares", "history"], "readwrite");
    for (let number = 0; number < count; number += 1) {{
        const time = Date.now() - days * 86_400_000 + number;
        const url = `https://quay.example/${{number}}`;
        const common = {{ id: `seed-${{number}}`, url, sourceApp: "test", serverDownloadId: null, message: "" }};
        if (status) transaction.objectStore("shares").add({{ ...common, request: {{}}, cachedAt: time, status, lastAttempt: time, attemptCount: 0, notBefore: 0, why: "" }});
        if (status !== "held") transaction.objectStore("history").put({{ ...common, sharedAt: time, status: "confirmed" }});
    }}
    await new Promise((done, failed) => {{
        transaction.oncomplete = done;
        transaction.onabort = () => failed(transaction.error);
    }});
    database.close();
}}"""


def open_page(browser, capture, path="/"):
    """Opens the page, and waits until it has read the list. Tests can answer requests of it at any time."""
    # A route that is the page's first, and is set in the moment in which the service worker takes the page over, has no
    # effect in Chromium (3 of 900 pages). With one from the start, later ones do (500 of 500).
    browser.page.route("**/never-requested", lambda route: route.abort())
    browser.page.goto(f"{capture.started['address']}{path}")
    expect(browser.page.locator("#footer")).to_contain_text("replayhost-capture")
    return browser.page


def box(page):
    return page.get_by_label("URLs", exact=True)


def save(page, text):
    box(page).fill(text)
    box(page).press("Enter")


def shares(page):
    """The queue, as it is in the browser."""
    return page.evaluate(READ, "shares")


def history(page):
    return page.evaluate(READ, "history")


def statuses(page):
    return [share["status"] for share in shares(page)]


def tab(page, name):
    page.get_by_role("navigation", name="Sections").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name="Save a URL" if name == "Download" else name, level=1)).to_be_visible()


def row(page, name):
    """The row of a download in the tab that is shown, by its title, or by its URL as long as it has none."""
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name, exact=True))


def state(page, name):
    return row(page, name).locator(".state")


def wait_until_offline_ready(page):
    """The service worker has the files of the page."""
    # `wait_for_function` takes the promise of an async function for true.
    wait_until(lambda: page.evaluate(KEPT), "the service worker has all files")


def expect_unable(page, reason=""):
    expect(page.get_by_role("alert")).to_contain_text(re.compile(f"Unable to share this content.*{reason}"))
