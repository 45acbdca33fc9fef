"""The page that describes the API."""

import json

import pytest

from support.accessibility import violations
from support.expecting import expect
from support.places import WEB_INTERFACE

pytestmark = pytest.mark.one_chromium

DESCRIPTION = json.loads((WEB_INTERFACE / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [(method.upper(), path, operation) for path, item in DESCRIPTION["paths"].items() for method, operation in item.items()]


def open_docs(host, page):
    page.goto(f"{host.home}/api/docs")
    expect(page.get_by_role("heading", name="API", level=1, exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_visible()


def test_every_operation_is_on_the_page(shared_host_with_sample, page):
    """With its parameters, its answers and a line for a terminal."""
    open_docs(shared_host_with_sample, page)
    found = page.locator("main article:has(.method)").evaluate_all("""all => all.map((one) => ({
        title: one.querySelector("h3").textContent, fields: [...one.querySelectorAll("dt > code")].map((code) => code.textContent),
        example: [...one.querySelectorAll("pre")].at(-1).textContent}))""")
    by_title = {one["title"]: one for one in found}
    assert sorted(by_title) == sorted(f"{method} {path}" for method, path, _ in OPERATIONS)
    for method, path, operation in OPERATIONS:
        one = by_title[f"{method} {path}"]
        names = [parameter["name"] for parameter in operation.get("parameters", [])] + list(operation["responses"])
        assert sorted(one["fields"]) == sorted(names), path
        assert one["example"].startswith("curl "), path
    assert by_title["GET /api/archives/{id}/records"]["example"] == (
        f"curl '{shared_host_with_sample.home}/api/archives/ID/records?url=URL&ts=TS'")
    verify = by_title["POST /api/archives/{id}/verify"]["example"]
    assert "--request POST" in verify and 'Replayhost-Token: $TOKEN' in verify


def test_links_lead_to_objects(shared_host_with_sample, page):
    """From the settings to the page, and from an answer to the object that it has."""
    page.goto(f"{shared_host_with_sample.home}/#settings")
    page.get_by_role("link", name="Description of the API").click()
    expect(page.get_by_role("heading", name="API", level=1, exact=True)).to_be_visible()
    targets = page.locator("main a[href^='#']").evaluate_all("all => all.map((link) => document.getElementById(link.hash.slice(1)) !== null)")
    assert len(targets) > 50 and all(targets)
    page.goto(f"{shared_host_with_sample.home}/api/docs#errors")
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize("width, scheme", [(360, "dark"), (1600, "light")])
def test_page_fits_and_is_accessible(shared_host_with_sample, page, width, scheme):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    open_docs(shared_host_with_sample, page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert violations(page) == []


def test_missing_description_is_told(shared_host_with_sample, browser):
    page = browser.page
    browser.allow("500")
    page.route("**/api/openapi.json", lambda route: route.fulfill(status=500))
    page.goto(f"{shared_host_with_sample.home}/api/docs")
    expect(page.get_by_role("alert")).to_contain_text("Can't read the description of the API")
    page.unroute("**/api/openapi.json")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_visible()
