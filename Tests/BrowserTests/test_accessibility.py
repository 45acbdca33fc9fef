"""Accessibility beyond what test_views.py checks in every view: states without colour, motion, and what screen readers are told."""

import re

import pytest

from support.accessibility import motions
from support.expecting import expect, expect_loaded
from support.journey import TITLE, choose_earlier_capture, expect_home
from support.places import FIXTURES
from support.viewer import Viewer
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium


def expect_other_look(element, change, what):
    """Checks that a change in the document is seen, without the pointer or the focus there."""
    handle = element.element_handle()
    before = handle.screenshot()
    handle.evaluate(change)
    assert handle.screenshot() != before, f"{what} can't be told apart"


WITHOUT_CURRENT = "(element) => element.removeAttribute('aria-current')"
# What tells a list of choices from a field is its arrow.
AS_FIELD = "(select) => Object.assign(select.style, { appearance: 'none', backgroundImage: 'none', border: getComputedStyle(select).border })"


def test_states_are_seen_with_forced_colours(host, page):
    """The system replaces all colours: what's chosen, found, counted or failed still looks different."""
    host.add(FIXTURES / "sample.wacz")
    host.change("PATCH", "/api/archives/sample", {"tags": ["shore"]})
    host.wait_until_indexed()
    wait_until(lambda: host.archive("sample")["verification"] != "not-verified", "it's verified")
    wait_until(lambda: not {job["state"] for job in host.jobs()} & {"waiting", "running"}, "no job goes on")
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    page.goto(host.home)
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    expect_other_look(page.locator("#library-sort"), AS_FIELD, "a list of choices and a field")
    expect_other_look(page.locator(".layouts [aria-current]"), WITHOUT_CURRENT, "the layout that's chosen")
    # The app, which knows of no failure, would take the class away again.
    page.locator(".activity-count").evaluate("({ classList }) => { classList.add('failed'); classList.toggle = () => false; }")
    expect_other_look(page.locator(".activity-count"), "(link) => link.classList.remove('failed')", "failed activity")
    page.get_by_role("combobox", name="Search text, titles and URLs").fill("limpet")
    expect(page.locator(".suggestions li").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".suggestions [aria-selected=true]")
    expect(chosen).to_be_visible()
    expect_other_look(chosen, "(option) => option.setAttribute('aria-selected', 'false')", "the suggestion that's chosen")
    page.keyboard.press("Enter")
    page.goto(f"{host.home}/#search=limpet")
    found = page.locator(".snippet:has(mark)").first
    expect(found).to_be_visible()
    expect_other_look(found, "(text) => { for (const mark of text.querySelectorAll('mark')) mark.replaceWith(mark.textContent); }", "words that were found")
    archive = f"{host.home}/?archive=/archives/sample.wacz"
    page.goto(f"{archive}#view=files")
    expect(page.locator(".files img").first).to_be_visible()
    for selector in [".tabs [aria-current]", ".kinds [aria-current]"]:
        expect_other_look(page.locator(selector), WITHOUT_CURRENT, selector)
    page.goto(f"{archive}#view=timeline&after=20241121&before=20241122")
    expect(page.locator(".day-captures li").first).to_be_visible()
    expect_other_look(page.locator(".calendar [aria-current]"), WITHOUT_CURRENT, "the day that's chosen")
    for bar in page.locator(".bars a:not(.none) .track").all():
        expect_other_look(bar, "(track) => track.firstChild.remove()", "a bar and no bar")


def test_what_lies_over_the_page_has_an_edge_with_forced_colours(host_with_sample, page):
    """Shadows and backgrounds are gone then."""
    page.emulate_media(forced_colors="active")
    page.goto(f"{host_with_sample.home}/#settings")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    expect_loaded(page)
    page.evaluate("async () => { (await import('/app/components/toast.js')).toast('Saved.'); }")
    page.keyboard.press("?")
    for selector in [".toast", "dialog"]:
        assert page.locator(selector).evaluate("(element) => getComputedStyle(element).borderTopWidth") != "0px", selector
    page.keyboard.press("Escape")
    page.goto(f"{host_with_sample.home}/#")
    page.get_by_role("button", name=f"More actions for {TITLE}").click()
    assert page.get_by_role("menu").evaluate("(menu) => getComputedStyle(menu).borderTopWidth") != "0px"


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_nothing_moves_if_the_system_asks_for_less_motion(host_with_sample, page, wish):
    """While a page is being opened, with a message and a dialog. Otherwise a bar moves, which shows that the test sees it."""
    page.emulate_media(reduced_motion=wish)
    page.add_init_script("""window.moved = [];
        for (const name of ["animationstart", "transitionrun"]) {
            document.addEventListener(name, (event) => window.moved.push(event.animationName ?? event.propertyName), true);
        }""")
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))
    page.locator(".toolbar").evaluate("(toolbar) => toolbar.classList.add('busy')")
    if wish == "no-preference":
        wait_until(lambda: motions(page), "the bar moves")
        return
    assert motions(page) == []
    page.get_by_role("link", name="Library").click()
    page.get_by_role("button", name=f"More actions for {TITLE}").click()
    page.get_by_role("menuitem", name="Remove…").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    assert page.evaluate("window.moved") == []
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


SPOKEN = """window.spoken = [];
addEventListener("DOMContentLoaded", () => {
    const region = document.getElementById("announcements");
    // Archived pages have none.
    if (region) new MutationObserver(() => region.textContent && window.spoken.push(region.textContent))
        .observe(region, { childList: true, characterData: true, subtree: true });
});"""


def test_screen_readers_are_told_the_start_and_the_end(host, page):
    """Of an import, but not each percent; the number of results once for a word; and the capture that was chosen."""
    page.add_init_script(SPOKEN)
    spoken = lambda: page.evaluate("window.spoken.splice(0)")  # noqa: E731
    page.goto(host.home)
    expect(page.get_by_role("heading", name="No archives yet")).to_be_visible()
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000})
    page.locator("input[type=file]").set_input_files([FIXTURES / "sample.wacz", FIXTURES / "second.wacz"])
    progress = page.get_by_role("region", name="Progress", exact=True)
    expect(progress).to_contain_text("2 added")
    expect(page.locator("#announcements")).to_have_text("2 added")
    assert spoken() == ["Adding 2 files.", "2 added"]
    expect(page.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    page.get_by_role("searchbox", name="Filter archives").press_sequentially("tide", delay=20)
    expect(page.locator("#announcements")).to_have_text("1 archive")
    assert spoken() == ["1 archive"]
    page.get_by_role("link", name=f"Open {TITLE}").click()
    viewer = Viewer(page)
    expect_home(viewer)
    expect(page.locator("#announcements")).to_have_text(TITLE)
    spoken()
    choose_earlier_capture(viewer)
    said = spoken()
    assert any("3 May 2024" in text for text in said) and any("21 November 2024" in text for text in said), said


def test_views_have_landmarks_and_one_heading(host_with_sample, page):
    """A header, navigation, one main part and one h1, also in the viewer, whose tabs are links."""
    for view in ["/", "/#search=limpet", "/#activity", "/#settings", "/?archive=/archives/sample.wacz#view=urls", "/?archive=/archives/sample.wacz"]:
        page.goto("about:blank")
        page.goto(host_with_sample.home + view)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        for role in ["banner", "main"]:
            expect(page.get_by_role(role)).to_have_count(1)
        assert page.get_by_role("navigation").count() > 0, view
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz#view=urls")
    expect(page.get_by_role("columnheader")).to_have_count(6)
    assert page.locator(".urls th").evaluate_all("all => all.every((one) => one.scope === 'col')")
    expect(page.get_by_role("navigation", name="Contents").get_by_role("link")).to_have_text(
        [re.compile(name) for name in ["Overview", "Pages", "URLs", "Files", "Timeline", "Details"]])


def test_toolbar_leaves_room_for_the_page_at_400_percent(host_with_sample, page):
    """At most a quarter of a window of 320 by 256, with targets of 24 px."""
    page.set_viewport_size({"width": 320, "height": 256})
    page.goto(f"{host_with_sample.home}/?archive=/archives/sample.wacz")
    expect_home(Viewer(page))
    assert page.locator(".toolbar").bounding_box()["height"] <= 64
    for control in page.locator(".toolbar").locator("a, button, input, select").all():
        box = control.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24, control
