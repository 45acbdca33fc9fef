"""The page that describes the capture server's API, and sends its requests that only read."""

import json

import pytest
from capture_host import FAST_RETRIES, CaptureHost
from described import DESCRIPTION, operations
from fake_tools import FakeTools
from support.accessibility import violations
from support.expecting import expect
from support.places import SCREENSHOTS

pytestmark = pytest.mark.one_chromium

OPERATIONS = operations()


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    with CaptureHost(folder, FakeTools(folder / "tools"), *FAST_RETRIES) as host:
        yield host


@pytest.fixture
def guarded(tmp_path):
    """A server on which every program needs a key."""
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"))
    host.configure("security:\n  require_key: always\n")
    with host:
        yield host


def open_docs(host, page, fragment=""):
    page.goto(f"{host.started['address']}/docs{fragment}")
    expect(page.get_by_role("heading", name="API", level=1, exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_visible()


def call(page, title):
    return page.get_by_role("article", name=title, exact=True)


def send(page, title, **values):
    """Sends a request by its form. Returns what is shown of the response: a locator."""
    form = call(page, title).get_by_role("form")
    for name, value in values.items():
        field = form.get_by_label(name, exact=True)
        if field.evaluate("field => field.localName") == "select":
            field.select_option(value)
        else:
            field.fill(value)
    form.get_by_role("button", name="Send").click()
    return call(page, title).locator(".result")


def test_every_call_is_on_the_page(capture, page):
    """With its parameters, its responses and a line for a terminal; reading calls that end have a form."""
    open_docs(capture, page)
    found = page.locator("main article:has(.method)").evaluate_all("""all => all.map((one) => ({
        title: one.querySelector("h3").textContent, fields: [...one.querySelectorAll("dt > code")].map((code) => code.textContent),
        section: one.closest("section").querySelector("h2").textContent, hasForm: one.querySelector("form") !== null,
        example: [...one.querySelectorAll("pre")].at(-1).textContent}))""")
    by_title = {one["title"]: one for one in found}
    assert sorted(by_title) == sorted(f"{method} {path}" for method, path, _ in OPERATIONS)
    for method, path, operation in OPERATIONS:
        one = by_title[f"{method} {path}"]
        names = [parameter["name"] for parameter in operation.get("parameters", [])] + list(operation["responses"])
        assert sorted(one["fields"]) == sorted(names), path
        assert [one["section"]] == operation["tags"]
        assert one["hasForm"] is (method == "GET" and path != "/events"), path
        assert one["example"].startswith("curl "), path
        assert ("$KEY" in one["example"]) is (operation.get("security") != []), path
    origin = capture.started["address"]
    assert by_title["POST /download"]["example"] == (
        f"curl --request POST --header \"Authorization: Bearer $KEY\" --json '{{\"url\":\"https://example.org/video\"}}' {origin}/download")
    assert by_title["GET /server.crt"]["example"] == f"curl {origin}/server.crt"


def test_links_lead_to_objects(capture, page):
    """Whose keys are there, with their possible values."""
    open_docs(capture, page)
    states = ", ".join(DESCRIPTION["components"]["schemas"]["Download"]["properties"]["stage"]["enum"][:-1])
    expect(page.get_by_role("article", name="Download", exact=True)).to_contain_text(f"One of: {states}")
    targets = page.locator("main a[href^='#']").evaluate_all("all => all.map((link) => document.getElementById(link.hash.slice(1)) !== null)")
    assert len(targets) > 50 and all(targets)
    ids = page.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(set(ids)) == len(ids)
    open_docs(capture, page, "#errors")
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_in_viewport()
    page.get_by_role("link", name="openapi.json").click()
    assert json.loads(page.locator("body").inner_text()) == DESCRIPTION


def test_former_address_leads_here(capture, page):
    page.goto(f"{capture.started['address']}/redoc")
    expect(page.get_by_role("heading", name="API", level=1, exact=True)).to_be_visible()
    assert page.url == f"{capture.started['address']}/docs"


def test_requests_are_sent_and_shown(capture, site, page):
    """With parameters of the path and of the query; JSON, other text, and what isn't text."""
    identifier = capture.add(site.fake("ok", title="<b>Quay</b> lights"), username="ana")
    capture.add(site.fake("ok", n=2), username="ben")
    capture.wait_for(identifier, "completed")
    open_docs(capture, page)
    result = send(page, "GET /status/{id}", id=identifier)
    expect(result).to_contain_text("200 OK application/json")
    # Text from the web is text.
    expect(result.locator("pre")).to_contain_text('"title": "<b>Quay</b> lights"')
    assert json.loads(result.locator("pre").inner_text()) == capture.status(identifier)
    result = send(page, "GET /history", username="ana", limit="5")
    expect(result).to_contain_text("200 OK")
    assert [row["download_id"] for row in json.loads(result.locator("pre").inner_text())] == [identifier]
    # Values are encoded, and a list of values is a menu.
    asked = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(capture.started["address"])))
    expect(send(page, "GET /history", username="a&b=c", genre="pdf").locator("pre")).to_have_text("[]")
    assert asked == ["/history?limit=5&username=a%26b%3Dc&genre=pdf"]
    # A film, of which only the beginning is read.
    result = send(page, "GET /download/{id}/file", id=identifier)
    expect(result).to_contain_text("200 OK video/mp4")
    expect(result).to_contain_text("The body isn't text.")
    result = send(page, "GET /docs")
    expect(result).to_contain_text("200 OK text/html")
    expect(result.locator("pre")).to_contain_text("<!doctype html>")
    assert page.get_by_role("heading", level=1).count() == 1
    result = send(page, "GET /openapi.json")
    expect(result).to_contain_text("This is the beginning of the body.")


def test_errors_of_requests_are_shown(capture, page, browser):
    browser.allow("400|403|404")
    open_docs(capture, page)
    result = send(page, "GET /history", limit="0")
    expect(result).to_contain_text("400 Bad Request application/json")
    expect(result.locator("pre")).to_contain_text("Input should be a number from 1 to 100")
    expect(page.get_by_role("status")).to_contain_text("400 Bad Request")
    expect(send(page, "GET /keys")).to_contain_text("403 Forbidden")
    expect(send(page, "GET /status/{id}", id="../health").locator("pre")).to_contain_text("Download not found")
    # Without an ID, nothing is sent.
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    send(page, "GET /download/{id}/log", id="")
    assert call(page, "GET /download/{id}/log").get_by_label("id", exact=True).evaluate("field => field.validity.valueMissing")
    expect(send(page, "GET /users").locator("pre")).to_be_visible()
    assert [url.rsplit("/", 1)[1] for url in asked] == ["users"]


def test_key_is_sent_and_forgotten(guarded, page, browser):
    """It is in this page only: not in the browser's storage, and not there after a reload."""
    browser.allow("401")
    key = json.loads(guarded.command("keys add", "phone", "--json").stdout)["secret"]
    open_docs(guarded, page)
    expect(send(page, "GET /history")).to_contain_text("401 Unauthorized")
    field = page.get_by_label("Key for the requests of this page")
    field.fill("not a key")
    asked = []
    page.on("request", lambda request: asked.append((request.url.rpartition("/")[2], request.all_headers().get("authorization"))))
    send(page, "GET /history")
    expect(page.get_by_role("alert")).to_contain_text("This isn’t a key")
    expect(field).to_be_focused()
    assert asked == []
    field.fill(f" {key} ")
    expect(send(page, "GET /history")).to_contain_text("200 OK")
    expect(page.get_by_role("alert")).to_have_count(0)
    # What needs no key doesn't get it.
    expect(send(page, "GET /docs")).to_contain_text("200 OK")
    assert asked == [("history", f"Bearer {key}"), ("docs", None)]
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, location.hash]") == [0, 0, "", ""]
    page.reload()
    expect(field).to_have_value("")
    expect(send(page, "GET /history")).to_contain_text("401 Unauthorized")


def test_stopped_server_is_told(capture, page, browser):
    browser.allow("ERR_FAILED|500")
    page.route("**/openapi.json", lambda route: route.fulfill(status=500))
    page.goto(f"{capture.started['address']}/docs")
    expect(page.get_by_role("alert")).to_contain_text("Can't read the description of the API")
    page.unroute("**/openapi.json")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_visible()
    page.route("**/users", lambda route: route.abort())
    expect(send(page, "GET /users")).to_contain_text("There is no response. Check that replayhost-capture is running.")
    page.unroute("**/users")
    expect(send(page, "GET /users")).to_contain_text("200 OK")


def test_newer_request_wins(capture, page):
    """The response to the former one, which comes later, isn't shown."""
    open_docs(capture, page)
    held = []
    page.route("**/history?limit=7", lambda route: held.append(route))
    expect(send(page, "GET /history", limit="7")).to_contain_text("Sending…")
    result = send(page, "GET /history", limit="1", offset="1000")
    expect(result.locator("pre")).to_have_text("[]")
    assert len(held) == 1
    held[0].fulfill(status=200, body="late", content_type="text/plain")
    expect(send(page, "GET /users")).to_contain_text("200 OK")
    expect(result.locator("pre")).to_have_text("[]")


@pytest.mark.parametrize("width, scheme", [(360, "dark"), (1280, "light")])
def test_page_fits_and_is_accessible(capture, page, browser, width, scheme):
    browser.allow("400|404")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    open_docs(capture, page)
    send(page, "GET /history", limit="0")
    page.get_by_label("Key for the requests of this page").fill("not a key")
    send(page, "GET /health")
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Key for the requests of this page").fill("")
    expect(send(page, "GET /health").locator("pre")).to_contain_text('"healthy"')
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"capture-docs-{width}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert violations(page) == []
