"""The states of the viewer, as `www/app/viewer/navigation.js` has them."""

import pytest

from support.walk import walk_host  # noqa: F401

# The state after each event. While a URL is opening, events are about that URL; otherwise about the frame.
# "-": the event doesn't apply; "+": a panel covers the previous page; "*": the next page adds a history entry.
TABLE = """
event     empty     opening+  opening   page      file+     file      absent+   absent    failed+   failed
open      opening+  opening+  opening+  opening+  opening+  opening+  opening+  opening+  opening+  opening+
send      -         opening   opening   -         -         -         -         -         opening   opening
leave     -         -         -         page*     file+     file*     absent+   absent*   failed+   failed*
arrive    -         opening+  page      page      file+     page      absent+   page      failed+   page
uncover   -         page      page      -         -         -         -         -         page      page
showFile  -         file+     file      file      file+     file      absent+   file      failed+   file
miss      -         absent+   absent    absent    file+     absent    absent+   absent    failed+   absent
fail      failed+   failed+   failed    failed    file+     failed    absent+   failed    failed+   failed
"""

RUN_TABLE = """async () => {
    const { next, initialState } = await import("/app/viewer/navigation.js");
    const page = (url) => ({ url, reportedURL: url, fragment: "", capture: { url, timestamp: "2024" }, list: {} });
    const [a, b] = [page("a"), page("b")];
    const run = (...steps) => steps.reduce((state, [event, details]) => next(state, event, details), initialState);
    const ask = ["open", { url: "a", timestamp: "", step: "push" }];
    const open = [ask, ["send"]];
    const shown = [...open, ["arrive", { page: a }]];
    const again = [...shown, ["open", { url: "b", timestamp: "", step: "push" }]];
    const panel = {};
    const states = {
        "empty": [], "opening+": again, "opening": open, "page": shown,
        "file+": [...again, ["showFile", { page: b, panel }]],
        "file": [...shown, ["showFile", { page: b, panel, inFrame: true }]],
        "absent+": [...again, ["miss", { url: "b", timestamp: "", panel }]],
        "absent": [...shown, ["miss", { url: "b", timestamp: "", panel, inFrame: true }]],
        "failed+": [...again, ["fail", { panel }]],
        "failed": [...open, ["fail", { panel }]],
    };
    const events = {
        open: { url: "c", timestamp: "", step: "push" }, send: {}, leave: {}, arrive: { page: b }, uncover: { page: b },
        showFile: { page: b, panel }, miss: { url: "b", timestamp: "", panel }, fail: { panel },
    };
    const result = {};
    for (const [state, steps] of Object.entries(states)) {
        const before = run(...steps);
        for (const [event, details] of Object.entries(events)) {
            // While a URL is opening, the event comes from its lookup; otherwise from the frame.
            const after = next(before, event, { ...details, inFrame: before.name !== "opening" && before !== initialState });
            const { name, over, step, made, framePage, page: last, url } = after;
            result[`${event} ${state}`] = after === before ? { name: "-" }
                : { name, over, step, made, framePage: framePage?.url ?? null, page: last?.url ?? null, url, panel: after.panel === panel };
        }
    }
    return result;
}"""


@pytest.fixture
def table(walk_host, page):
    page.goto(walk_host.home)
    return page.evaluate(RUN_TABLE)


def test_each_event_in_each_state(table):
    """The table above, cell by cell."""
    lines = [line.split() for line in TABLE.strip().splitlines()]
    states = lines[0][1:]
    expected = {f"{event} {state}": cell for event, *cells in lines[1:] for state, cell in zip(states, cells, strict=True)}
    shown = {}
    for key, after in table.items():
        is_leaving = key.startswith("leave") and after.get("step") == "push"
        shown[key] = f"{after['name']}{'+' if after.get('over') else ''}{'*' if is_leaving else ''}"
    differences = {key: (expected[key], shown[key]) for key in expected if expected[key] != shown[key]}
    assert differences == {}


def test_each_shown_state_changes_the_history_once(table):
    """In the requested way: it adds an entry or replaces one."""
    for key in ["arrive opening", "uncover opening+", "showFile opening+", "miss opening+", "fail opening+"]:
        assert (table[key]["made"], table[key]["step"]) == ("push", "replace"), key
    for key in ["arrive page", "miss page", "showFile page"]:
        assert table[key]["made"] == "replace", key
    for key, after in table.items():
        if after["name"] == "opening" or after.get("over") and key.startswith(("arrive", "leave")):
            assert after["made"] is None, key


def test_report_of_a_leaving_page_adds_no_entry(walk_host, page):
    """The announced entry belongs to the next page."""
    page.goto(walk_host.home)
    made = page.evaluate("""async () => {
        const { next, initialState } = await import("/app/viewer/navigation.js");
        const pageOf = (url) => ({ url, reportedURL: url, fragment: "", capture: { url, timestamp: "2024" }, list: {} });
        let state = initialState;
        return [
            ["open", { url: "a", timestamp: "", step: "replace" }], ["send"], ["arrive", { page: pageOf("a") }],
            ["leave"], ["arrive", { page: pageOf("a") }], ["arrive", { page: pageOf("b") }], ["arrive", { page: pageOf("c") }],
        ].map(([event, details]) => (state = next(state, event, details)).made);
    }""")
    assert made == [None, None, "replace", None, "replace", "push", "replace"]


def test_panel_is_removed_when_a_page_is_shown(table):
    """And only then. The page below it is always known."""
    for key, after in table.items():
        if after["name"] == "page":
            assert not after["panel"], key
            assert after["framePage"] is not None or key.startswith("leave"), key
        if after["name"] in {"file", "absent", "failed"} and not key.startswith("leave"):
            assert after["panel"], key
    assert table["arrive absent+"]["framePage"] == "b"
