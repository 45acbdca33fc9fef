"""Everything with the keyboard only, and where the focus is after each step."""

import re

import pytest

from support.expecting import expect, expect_loaded
from support.journey import SITE, TITLE
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

OTHER = "Harbour Notebook"


def focus(page):
    return page.locator(":focus")


def expect_heading(page, name):
    """A view that opens gives the focus to its heading."""
    heading = page.get_by_role("heading", name=name, level=1, exact=True)
    expect(heading).to_be_visible()
    expect(heading).to_be_focused()


def tab_to(page, role, name):
    """Presses Tab until the element has the focus, and checks that the focus is visible."""
    target = page.get_by_role(role, name=name, exact=True).first
    expect(target).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        # Read both at once: when a list reloads, it replaces its rows and restores the focus.
        outline = target.evaluate("""element => element === document.activeElement
            ? [getComputedStyle(element).outlineStyle, parseFloat(getComputedStyle(element).outlineWidth)] : null""")
        if outline:
            style, width = outline
            assert style != "none" and width >= 2, f"no visible focus on {name}"
            expect(target).to_be_in_viewport()
            return
    raise AssertionError(f"Tab never reached the {role} {name!r}")


def expect_page_focused(page):
    """Keys go to the archived page."""
    expect(page.locator("iframe[title='Archived page']")).to_be_focused()
    wait_until(lambda: Viewer(page).archived_frame.evaluate("document.hasFocus()"), "the archived page has the focus")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_everything_by_keyboard(host, page):
    """One journey through all views, whose parts go on where the last one ended."""
    # Registered early: if it's late, the browser may open its own picker.
    page.on("filechooser", lambda chooser: None)
    host.add(FIXTURES / "second.wacz")
    page.goto(host.home)
    expect_loaded(page)
    expect(page.get_by_role("link", name=OTHER, exact=True)).to_be_visible()
    import_a_file(page)
    search_and_open_a_hit(host.wait_until_indexed(), page)
    filter_and_select_archives(host, page)
    remove_an_archive(host, page)
    open_tabs_and_pages(page)
    edit_and_look_at_what_a_mark_means(host, page)
    look_at_activity_settings_and_shortcuts(page)


def import_a_file(page):
    """Enter on the button opens the browser's dialog. The archive opens."""
    tab_to(page, "button", "Add files…")
    with page.expect_file_chooser() as chooser:
        press(page, "Enter")
    chooser.value.set_files(FIXTURES / "sample.wacz")
    expect_heading(page, TITLE)
    expect(page.locator(".toast")).to_contain_text(f"Added “{TITLE}”.")
    tab_to(page, "button", "Dismiss")
    press(page, "Enter")
    expect(page.locator(".toast")).to_have_count(0)


def search_and_open_a_hit(host, page):
    """A suggestion is chosen and left again. From the page, F6 leads to the toolbar. Back leads to the hit."""
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    expect_loaded(page)
    press(page, "/")
    field = page.get_by_role("combobox", name="Search text, titles and URLs")
    expect(field).to_be_focused()
    page.keyboard.type("limpet")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_be_visible()
    press(page, "ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(field).to_be_focused()
    press(page, "Escape")
    expect(options).to_have_count(0)
    press(page, "Enter")
    expect_heading(page, "Search results")
    hit = f"Common limpet - {TITLE}"
    tab_to(page, "link", hit)
    press(page, "Enter")
    viewer = Viewer(page)
    expect(viewer.read("main")).to_contain_text("Its teeth are harder than any other known living thing.")
    expect_page_focused(page)
    press(page, "F6")
    expect(viewer.address).to_be_focused()
    page.keyboard.type(f"{SITE}/tides.html")
    press(page, "Enter")
    expect(viewer.read("h1")).to_have_text("How the tide works")
    expect_page_focused(page)
    press(page, "F6")
    expect(viewer.address).to_be_focused()
    press(page, "F6")
    expect_page_focused(page)
    press(page, "F6")
    expect(viewer.address).to_be_focused()
    for name in ["Export this page…", "Print this page", "Reload this page", "Forward", "Back"]:
        press(page, "Shift+Tab")
        expect(focus(page)).to_have_accessible_name(name)
    press(page, "Enter")
    expect(viewer.read("main")).to_contain_text("Its teeth are harder than any other known living thing.")
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_focused()
    press(page, "Enter")
    expect(page.get_by_role("link", name=hit, exact=True)).to_be_visible()
    expect_heading(page, "Search results")


def filter_and_select_archives(host, page):
    """Tags for two archives at once. Then the focus is still in the list."""
    tab_to(page, "link", "Settings")
    press(page, "Shift+Tab", "Shift+Tab", "Shift+Tab")
    expect(focus(page)).to_have_accessible_name("replayhost")
    press(page, "Enter")
    expect_heading(page, "Library")
    tab_to(page, "searchbox", "Filter archives")
    page.keyboard.type("tidepool")
    expect(page.locator(".card h2")).to_have_text([TITLE])
    press(page, "Control+a", "Delete")
    expect(page.locator(".card h2")).to_have_text([TITLE, OTHER])
    tab_to(page, "link", "List")
    press(page, "Enter")
    expect(page.locator(".row h2")).to_have_text([TITLE, OTHER])
    expect(page.get_by_role("link", name="List", exact=True)).to_be_focused()
    tab_to(page, "link", TITLE)
    press(page, "Space")
    expect(page.get_by_role("checkbox", name=f"Select {TITLE}")).to_be_checked()
    press(page, "Shift+ArrowDown")
    expect(page.get_by_role("link", name=OTHER, exact=True)).to_be_focused()
    expect(page.get_by_text("2 selected")).to_be_visible()
    tab_to(page, "button", "Tags…")
    press(page, "Enter")
    expect(page.get_by_role("combobox", name="Tags")).to_be_focused()
    page.keyboard.type("shore")
    tab_to(page, "button", "Save")
    press(page, "Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("region", name="Selected archives")).to_be_hidden()
    assert [archive["tags"] for archive in host.archives()] == [["shore"], ["shore"]]
    expect(page.get_by_role("link", name=OTHER, exact=True)).to_be_focused()
    # A facet narrows the list, and its chip takes that back.
    tab_to(page, "link", "shore 2 archives")
    press(page, "Enter")
    expect(page.get_by_role("link", name="Remove filter: shore")).to_be_visible()
    tab_to(page, "link", "Remove filter: shore")
    press(page, "Enter")
    expect(page.get_by_role("link", name="Remove filter: shore")).to_have_count(0)


def remove_an_archive(host, page):
    """After a question, which Escape cancels. The next row has the focus then."""
    tab_to(page, "link", TITLE)
    press(page, "End")
    expect(page.get_by_role("link", name=OTHER, exact=True)).to_be_focused()
    press(page, "Delete")
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name=OTHER, exact=True)).to_be_focused()
    assert len(host.ids()) == 2
    press(page, "Delete")
    tab_to(page, "button", "Remove")
    press(page, "Enter")
    expect(page.locator(".row h2")).to_have_text([TITLE])
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_focused()
    assert host.ids() == ["sample"]


def open_tabs_and_pages(page):
    """A tab keeps the focus, so that the next one is one step away. Lists are one stop."""
    press(page, "Enter")
    expect_heading(page, TITLE)
    tabs = page.get_by_role("navigation", name="Contents").get_by_role("link")
    tab_to(page, "link", "Overview")
    for number in range(tabs.count()):
        expect(tabs.nth(number)).to_be_focused()
        press(page, "Enter")
        expect(tabs.nth(number)).to_have_attribute("aria-current", "page")
        expect(tabs.nth(number)).to_be_focused()
        press(page, "Tab")
    press(page, *["Shift+Tab"] * 5)
    expect(tabs.nth(1)).to_be_focused()
    press(page, "Enter")
    tab_to(page, "link", TITLE)
    press(page, "ArrowDown", "ArrowDown", "ArrowDown")
    expect(page.get_by_role("link", name=f"Common limpet - {TITLE}")).to_be_focused()
    press(page, "End", "PageUp", "Home")
    expect(page.locator(".page-line a").first).to_be_focused()
    press(page, "Shift+Tab")
    tab_to(page, "link", TITLE)
    press(page, "Enter")
    expect(Viewer(page).read("#edition")).to_be_visible()
    expect(page.locator("iframe[title='Archived page']")).to_be_focused()
    press(page, "F6")
    expect(Viewer(page).address).to_be_focused()
    press(page, *["Shift+Tab"] * 6)
    expect(focus(page)).to_have_accessible_name(TITLE)
    press(page, "Enter")
    expect(page.get_by_role("link", name="Pages 10", exact=True)).to_have_attribute("aria-current", "page")
    expect_heading(page, TITLE)


def edit_and_look_at_what_a_mark_means(host, page):
    """The pencil, the letter e, a menu, and a popover: the focus returns to what opened them."""
    tab_to(page, "button", "Edit title")
    press(page, "Enter")
    expect(page.get_by_role("textbox", name="Title", exact=True)).to_be_focused()
    page.keyboard.type("Shore walks")
    press(page, "Enter")
    expect_heading(page, "Shore walks")
    press(page, "e")
    expect(page.get_by_role("textbox", name="Title", exact=True)).to_be_focused()
    press(page, "Escape")
    expect_heading(page, "Shore walks")
    mark = page.get_by_role("button", name="Hashes agree", exact=True)
    wait_until(lambda: "verificationSummary" in host.archive("sample"), "the archive is verified")
    page.reload()
    tab_to(page, "button", "Hashes agree")
    press(page, "Enter")
    expect(page.get_by_role("group", name="What this mark means")).to_be_visible()
    press(page, "Tab")
    expect(focus(page)).to_have_accessible_name(re.compile("Details|Evidence"))
    press(page, "Escape")
    expect(page.get_by_role("group", name="What this mark means")).to_have_count(0)
    expect(mark).to_be_focused()
    tab_to(page, "button", "More actions")
    press(page, "Enter")
    expect(focus(page)).to_have_accessible_name("Edit title, tags and notes…")
    press(page, "ArrowDown", "End")
    expect(focus(page)).to_have_accessible_name("Remove…")
    press(page, "Escape")
    expect(page.get_by_role("button", name="More actions", exact=True)).to_be_focused()
    assert host.archive("sample")["title"] == "Shore walks"


def look_at_activity_settings_and_shortcuts(page):
    """The skip link is the first stop. Arrow keys choose in a group of settings."""
    press(page, *["Shift+Tab"] * 2)
    tab_to(page, "link", "Activity")
    press(page, "Enter")
    expect_heading(page, "Activity")
    tab_to(page, "link", "Settings")
    press(page, "Enter")
    expect_heading(page, "Settings")
    tab_to(page, "radio", "Automatic")
    press(page, "ArrowDown", "ArrowDown")
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    press(page, "Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("radio", name="Dark")).to_be_focused()
    page.reload()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    press(page, "Tab")
    expect(focus(page)).to_have_accessible_name("Skip to content")
    press(page, "Enter")
    expect_heading(page, "Settings")
