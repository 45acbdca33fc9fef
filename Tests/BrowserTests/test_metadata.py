"""Title, tags and notes: editing, filtering, and hostile text."""

import re

import pytest

from support.expecting import expect
from support.journey import TITLE
from support.places import FIXTURES

pytestmark = pytest.mark.one_chromium

HOSTILE = '<img src=x onerror="document.title=\'attacked\'">"\'`${1}</script>\u202etxet'


def field(page, name):
    return page.get_by_role("textbox", name=name, exact=True)


def tag_field(page):
    return page.get_by_role("combobox", name="Tags", exact=True)


def edit(page, title=None, tags=(), notes=None):
    page.get_by_role("button", name=re.compile("tags and notes")).click()
    if title is not None:
        field(page, "Title").fill(title)
    for tag in tags:
        tag_field(page).fill(tag)
        tag_field(page).press("Enter")
    if notes is not None:
        field(page, "Notes").fill(notes)
    page.get_by_role("button", name="Save").click()


def test_edited_metadata_is_saved(host_with_sample, page):
    """The page shows the server's answer: the title is trimmed to one line. A tag with a comma stays."""
    host = host_with_sample
    host.change("PATCH", "/api/archives/sample", {"tags": ["Skerry Bay, west"]})
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=overview")
    edit(page, "  Shore walks  ", ["sea"], "First line\n\nThird line")
    for when in ["now", "after a reload"]:
        expect(page.get_by_role("heading", name="Shore walks", level=1)).to_be_visible()
        expect(page.locator(".metadata .tag")).to_have_text(["Skerry Bay, west", "sea"])
        expect(page.locator(".notes")).to_have_text("First line\n\nThird line", use_inner_text=True)
        expect(page).to_have_title("Shore walks – replayhost")
        if when == "now":
            page.reload()
    archive = host.archive("sample")
    assert (archive["title"], archive["tags"]) == ("Shore walks", ["Skerry Bay, west", "sea"])
    assert archive["notes"].replace("\r", "") == "First line\n\nThird line"


def test_metadata_is_edited_with_the_keyboard(host_with_sample, page):
    """Once cancelled and once saved, with all fields in order. `e` opens the dialog."""
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#view=overview")
    button = page.get_by_role("button", name="Add tags and notes")
    button.press("Enter")
    expect(field(page, "Title")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" changed")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    expect(button).to_be_focused()
    page.keyboard.press("e")
    expect(field(page, "Title")).to_have_value(TITLE)
    page.keyboard.press("Tab")
    expect(tag_field(page)).to_be_focused()
    page.keyboard.type("rocks")
    page.keyboard.press("Enter")
    page.keyboard.type("weed,left in the field")
    expect(page.get_by_role("dialog").locator(".tag")).to_have_text([re.compile("rocks"), re.compile("weed")])
    for name in ["Notes", "Save"]:
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_accessible_name(name)
    page.keyboard.press("Enter")
    expect(page.locator(".metadata .tag")).to_have_text(["rocks", "weed", "left in the field"])
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_title_is_edited_in_its_place(host_with_sample, browser):
    page = browser.page
    browser.allow("400")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#view=urls")
    pencil = page.get_by_role("button", name="Edit title")
    pencil.click()
    expect(field(page, "Title")).to_be_focused()
    page.keyboard.type("Something else")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    expect(pencil).to_be_focused()
    pencil.click()
    page.keyboard.type("   ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The title is empty.")
    field(page, "Title").fill("Shore walks")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Shore walks", level=1)).to_be_focused()
    expect(page).to_have_title("Shore walks – replayhost")
    expect(page).to_have_url(re.compile("#view=urls$"))
    assert host_with_sample.archive("sample")["title"] == "Shore walks"


def test_tags_of_the_library_are_suggested(host_with_sample, page):
    host = host_with_sample
    host.add(FIXTURES / "second.wacz")
    host.change("PATCH", "/api/archives/second", {"tags": ["harbour"]})
    host.create_collection("Both", "sample", tags=["coast"])
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=overview")
    page.get_by_role("button", name="Add tags and notes").click()
    expect(page.locator("#known-tags option")).to_have_count(2)
    assert page.locator("#known-tags option").evaluate_all("all => all.map((one) => one.value)") == ["harbour", "coast"]
    expect(page.locator("#known-tags option").first).to_have_attribute("label", "harbour, 1 archive")


def test_tag_is_removed(host_with_sample, page):
    host = host_with_sample
    host.change("PATCH", "/api/archives/sample", {"tags": ["one", "two", "three"]})
    page.goto(f"{host.home}/?archive=/archives/sample.wacz#view=overview")
    page.get_by_role("button", name="Edit tags and notes").click()
    page.get_by_role("button", name="Remove tag two").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".metadata .tag")).to_have_text(["one", "three"])
    assert host.archive("sample")["tags"] == ["one", "three"]


def test_invalid_title_stays_in_the_form(host_with_sample, browser):
    page = browser.page
    browser.allow("400")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#view=overview")
    edit(page, "   ", ["sea"])
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("The title is empty.")
    expect(field(page, "Title")).to_have_value("   ")
    assert host_with_sample.archive("sample")["title"] == TITLE


def test_hostile_metadata_is_shown_as_text(host_with_sample, page):
    """In the library, on the pages of archives and collections, in forms and in dialogs. No script runs."""
    host = host_with_sample
    metadata = {"title": HOSTILE, "tags": [HOSTILE], "notes": f"{HOSTILE}\n{HOSTILE}"}
    host.change("PATCH", "/api/archives/sample", metadata)
    host.add(FIXTURES / "second.wacz")
    collection = host.create_collection(HOSTILE, "sample", tags=[HOSTILE], notes=HOSTILE)
    shown = HOSTILE.replace("\u202e", "")
    page.goto(host.home)
    expect(page.get_by_role("link", name=shown, exact=True)).to_have_count(2)
    page.get_by_role("button", name=f"More actions for {shown}", exact=True).click()
    page.get_by_role("menuitem", name="Edit tags…").click()
    expect(page.get_by_role("dialog").get_by_text(shown[:50])).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name=f"More actions for {shown}", exact=True).click()
    page.get_by_role("menuitem", name="Remove…").click()
    expect(page.get_by_role("dialog")).to_contain_text(shown)
    page.keyboard.press("Escape")
    page.get_by_role("navigation", name="Tags, sites, years").get_by_role("link", name=shown[:50]).click()
    expect(page.get_by_role("link", name=f"Remove filter: {shown[:50]}")).to_be_visible()
    for address in ["?archive=/archives/sample.wacz", f"?collection={collection}"]:
        page.goto(f"{host.home}/{address}#view=overview")
        expect(page.get_by_role("heading", name=shown, level=1, exact=True)).to_be_visible()
        expect(page.locator(".notes")).to_contain_text(shown)
        page.get_by_role("button", name="Edit tags and notes").click()
        expect(field(page, "Title")).to_have_value(HOSTILE)
        page.keyboard.press("Escape")
    page.goto(f"{host.home}/?archive=/archives/sample.wacz")
    expect(page.get_by_role("link", name=shown, exact=True)).to_be_visible()
    expect(page).to_have_title(re.compile(re.escape(shown)))
    assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
