"""A list of which only the visible rows are in the document."""

import pytest

from support.expecting import expect, expect_loaded
from support.waiting import wait_until

pytestmark = pytest.mark.one_chromium

LIST = """async ([total, columns]) => {
    const { windowedList } = await import("/app/components/windowed-list.js");
    const { make } = await import("/app/core/dom.js");
    document.body.replaceChildren();
    window.asked = [];
    window.keys = [];
    window.list = windowedList({
        label: "Numbers",
        load: async (offset, limit) => {
            asked.push([offset, limit]);
            return { total, items: Array.from({ length: Math.min(limit, total - offset) }, (_, index) => offset + index) };
        },
        render: (number) => make("p", {}, make("a", { href: `#${number}`, text: `Row ${number}` }), make("button", { text: "More" })),
        shape: () => ({ rem: 3, columns }),
        onKey: (event, item) => keys.push([event.key, item]),
    });
    document.body.append(list.element);
    await list.load();
}"""
ROWS = "[role=listitem]"


def fill(host, page, total, columns=1):
    page.goto(host.home)
    expect_loaded(page)
    page.evaluate(LIST, [total, columns])
    expect(page.get_by_role("link", name="Row 0", exact=True)).to_be_visible()


def focused(page):
    return page.evaluate("document.activeElement.textContent")


def test_open_popover_is_reached_after_the_list_was_read_again(shared_host_with_sample, page):
    """What is in it isn't the list's, whose other controls aren't tab stops."""
    fill(shared_host_with_sample, page, 50)
    page.evaluate("""async () => {
        const { popover } = await import("/app/components/popover.js");
        const { make } = await import("/app/core/dom.js");
        const button = document.querySelectorAll("[role=listitem] button")[1];
        popover(button, () => [make("a", { href: "#inside", text: "Inside" })]);
        button.focus();
        button.click();
        asked.length = 0;
        await list.refresh();
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }""")
    assert page.evaluate("asked.length") > 0
    page.keyboard.press("Tab")
    assert focused(page) == "Inside"


@pytest.mark.parametrize("total", [250, 10_000, 1_000_000])
def test_any_row_is_reached_and_few_are_in_the_document(shared_host_with_sample, page, total):
    """A million rows are higher than browsers can draw."""
    fill(shared_host_with_sample, page, total)
    first = page.get_by_role("link", name="Row 0", exact=True)
    first.focus()
    page.keyboard.press("End")
    last = page.get_by_role("link", name=f"Row {total - 1}", exact=True)
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport(ratio=1)
    assert page.locator(ROWS).count() < 100
    assert last.locator("xpath=ancestor::*[@role='listitem']").evaluate("row => [row.ariaSetSize, row.ariaPosInSet]") == [str(total), str(total)]
    page.keyboard.press("Home")
    expect(first).to_be_focused()
    expect(first).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    middle = page.locator(ROWS).filter(has=page.get_by_role("link"))
    expect(middle.first).to_be_attached()
    expect(first).to_be_focused()
    assert all(limit <= 100 for _, limit in page.evaluate("asked"))


def test_list_has_one_tab_stop(shared_host_with_sample, page):
    fill(shared_host_with_sample, page, 500, columns=2)
    assert page.locator("[role=list] [tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    assert focused(page) == "Row 0"
    for key, expected in [("ArrowRight", "More"), ("ArrowRight", "Row 1"), ("ArrowDown", "Row 3"), ("ArrowUp", "Row 1"), ("ArrowLeft", "Row 0")]:
        page.keyboard.press(key)
        # What moves the focus loads with the first key.
        wait_until(lambda: focused(page) == expected, f"{expected} has the focus")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "Row 0"
    page.keyboard.press("x")
    assert page.evaluate("keys") == [["x", 0]]


def test_focus_and_selection_of_text_survive_a_refresh(shared_host_with_sample, page):
    fill(shared_host_with_sample, page, 500)
    page.get_by_role("link", name="Row 2", exact=True).focus()
    page.evaluate("list.refresh()")
    expect(page.get_by_role("link", name="Row 2", exact=True)).to_be_focused()
    page.evaluate("window.row = document.activeElement")
    page.evaluate("list.refresh()")
    assert page.evaluate("row === document.activeElement"), "an unchanged row isn't made again"


def test_all_rows_can_be_shown(shared_host_with_sample, page):
    """For the browser's own search, and for printing."""
    fill(shared_host_with_sample, page, 450)
    page.evaluate("list.showAll()")
    expect(page.locator(ROWS)).to_have_count(450)
    expect(page.get_by_role("link", name="Row 449", exact=True)).to_be_attached()
