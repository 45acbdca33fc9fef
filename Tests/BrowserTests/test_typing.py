"""What is typed in the app doesn't reach an archived page that takes the keyboard focus again and again."""

import base64
from pathlib import Path

import pytest

from support.archives import write_archive
from support.engines.engine import NotThere, ScriptError
from support.host import Host
from support.waiting import wait_until

pytestmark = pytest.mark.parametrize("shared_engine", ["chromium", "firefox"], indirect=True)

TAKER = (Path(__file__).parent / "support" / "focus_taker.js").read_text(encoding="utf-8")
SITE = "https://taker.example"
ORDINARY = ["element", "svg", "window", "nested"]
HOSTILE = ["native element", "native window", "fragment", "link", "selection", "label", "validity", "dialog", "agent"]
TEXT = "limpet"
CLOSED = "The page kept taking the keyboard focus"
URL_FIELD = ".url-bar input"
# As WebDriver names keys
TAB, ENTER, ESCAPE, F6 = "\ue004", "\ue007", "\ue00c", "\ue036"


def page(start=""):
    """The engine rewrites scripts, so a hostile page decodes its own. The constructor of asynchronous functions isn't replaced."""
    return f"""<!doctype html><title>Taker</title><body style="margin: 0; height: 3000px">
        <a id="elsewhere" href="#other" style="display: block; height: 60px">A link</a>
        <p id="text">A text that can be selected.</p>
        <label for="own">Own field</label><input id="own" autofocus required>
        <div id="editable" contenteditable>Editable</div><a href="#own">To the field</a>
        <svg width="9" height="9"><a id="drawing" tabindex="0"><rect width="9" height="9"/></a></svg>
        <dialog><input></dialog><script>{start}</script>"""


def decoded(code):
    return f"Object.getPrototypeOf(async () => {{}}).constructor(atob('{base64.b64encode(code.encode()).decode()}'))();"


def script(way):
    code = f"{TAKER}\ntaker.start('{way}');"
    return code if way in ORDINARY else decoded(code)


def outer(way):
    inner = f"<iframe src='{SITE}/inner'></iframe>" if way == "nested" else ""
    return page(script(way)).replace("<dialog>", f"{inner}<dialog>")


def url_of(way):
    return f"{SITE}/{way.replace(' ', '-')}"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typing")
    host = Host(folder)
    pages = {f"{SITE}/": page(decoded(TAKER)), f"{SITE}/plain": page(TAKER), f"{SITE}/inner": page(script("element")), **{url_of(way): outer(way) for way in [*ORDINARY, *HOSTILE]}}
    host.add(write_archive(folder / "taker.wacz", "Taker", pages))
    with host:
        yield host


def open_page(engine, host, way, mode):
    engine.go("about:blank")
    engine.go(f"{host.home}/?archive=/archives/taker.wacz&replay={mode}#url={url_of(way).replace(':', '%3A').replace('/', '%2F')}")
    engine.wait_for("() => document.querySelector('.capture-time .label') !== null", what="the page is shown")


def value_of(engine, selector):
    return engine.run("(selector) => document.querySelector(selector).value", selector)


def keys_in_page(engine):
    names = engine.run_in_agent("() => caches.keys()")
    # The engine puts the site before it.
    return {name.rpartition("key ")[2] for name in names if "key " in name}


def forget_keys(engine):
    engine.run_in_agent("async () => { for (const name of await caches.keys()) await caches.delete(name); }")


def is_closed(engine):
    return engine.run("(text) => document.body.innerText.includes(text)", CLOSED)


def tries(engine):
    """How often the page tried. Once it is closed, that isn't known."""
    try:
        return engine.run_in_page("() => (window.wrappedJSObject ?? window).taker.tries()")
    except (NotThere, ScriptError):
        return 0


def place_of(engine, identifier):
    """The middle of an element of the archived page, in the window."""
    x, y = engine.run("() => (({ left, top }) => [left, top])(document.querySelector('iframe[name=___wb_replay_top_frame]').getBoundingClientRect())")
    inner_x, inner_y = engine.run_in_page("""(identifier) => (({ left, top, width, height }) => [left + width / 2, top + height / 2])(
        document.getElementById(identifier).getBoundingClientRect())""", identifier)
    return x + inner_x, y + inner_y


def press_on(engine, identifier):
    """Moves the mouse to an element of the archived page, and presses its button there."""
    x, y = place_of(engine, identifier)
    engine.press_at((x - 3, y - 3), (x, y))


def type_into(engine, selector):
    """Clicks a field, and types in place of what is in it."""
    engine.wait_for("(selector) => document.querySelector(selector) !== null", selector, what=f"{selector} is there")
    engine.click(selector)
    engine.run("(selector) => document.querySelector(selector).select()", selector)
    engine.press_keys(TEXT)
    engine.wait_for("(selector, text) => document.querySelector(selector).value === text", selector, TEXT, what=f"{TEXT} is in {selector}")


def test_control_page_gets_what_is_typed_in_it(host, tab):
    """The control for what is seen of keys."""
    for way, key in [("", "y"), ("plain", "z")]:
        open_page(tab, host, way, "lookups")
        press_on(tab, "own")
        tab.press_keys(key)
        wait_until(lambda key=key: key in keys_in_page(tab), "the page gets the key")
    forget_keys(tab)


@pytest.mark.few("chromium lookups", "element")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
@pytest.mark.parametrize("way", ORDINARY)
def test_ordinary_page_waits_for_the_focus(host, tab, way, mode):
    """In the URL field and in a dialog. The page isn't closed."""
    open_page(tab, host, way, mode)
    type_into(tab, URL_FIELD)
    tab.click('[aria-label="Export this page…"]')
    type_into(tab, "#export-url")
    assert keys_in_page(tab) == set()
    assert tab.run_in_page("() => document.title") == "Taker"


@pytest.mark.few("chromium lookups", "firefox dialog lookups", "agent")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
@pytest.mark.parametrize("way", HOSTILE)
def test_page_that_gets_around_it_is_closed(host, tab, way, mode):
    """What is typed then doesn't reach what it left in the agent's window either. Opened again, it keeps what it got: nothing."""
    open_page(tab, host, way, mode)
    tab.click(URL_FIELD)
    before = tries(tab)
    wait_until(lambda: is_closed(tab) or tries(tab) > before + 20, "the page is closed, or tried often")
    type_into(tab, URL_FIELD)
    open_page(tab, host, "", mode)
    assert keys_in_page(tab) == set()


def test_closed_page_opens_again(host, tab):
    """With "Try again", which is reached by keys."""
    open_page(tab, host, "native window", "lookups")
    tab.click(URL_FIELD)
    tab.wait_for_text(CLOSED)
    tab.press_keys(F6)
    tab.wait_for("() => document.activeElement.innerText === 'Try again'", what="F6 leads to the button")
    tab.press_keys(ENTER)
    tab.wait_for("() => document.title === 'Taker'", what="the page is there", in_page=True)
    tab.wait_for("() => document.querySelector('.capture-time .label') !== null", what="the page is shown")
    assert value_of(tab, URL_FIELD) == url_of("native window")


def focus_of(engine):
    return engine.run("() => document.activeElement.title || document.activeElement.className || document.activeElement.localName")


def wait_for_focus_in_page(engine):
    engine.wait_for("() => document.hasFocus()", what="the page has the focus", in_page=True)
    assert focus_of(engine) == "Archived page"


def test_first_press_is_the_page_s(host, tab):
    """After typing in the viewer, one click follows a link, and one drag selects a text."""
    open_page(tab, host, "plain", "lookups")
    type_into(tab, URL_FIELD)
    press_on(tab, "elsewhere")
    tab.wait_for("() => location.hash === '#other'", what="the link is followed", in_page=True)
    wait_for_focus_in_page(tab)
    type_into(tab, URL_FIELD)
    x, y = place_of(tab, "text")
    tab.press_at((8, y - 3), (8, y), (x, y), drag=True)
    tab.wait_for("() => getSelection().toString().length > 3", what="text is selected", in_page=True)
    wait_for_focus_in_page(tab)


def test_keys_move_the_focus(host, tab):
    """Tab, F6 and Escape lead from the toolbar to the page, also to one that wants it, which then gets the keys."""
    open_page(tab, host, "element", "lookups")
    for key in [F6, ESCAPE]:
        type_into(tab, URL_FIELD)
        tab.press_keys(key)
        wait_for_focus_in_page(tab)
        tab.wait_for("() => document.activeElement.id === 'own'", what="the field has the focus that the page wants there", in_page=True)
    tab.press_keys(F6)
    tab.wait_for("() => document.activeElement.matches('.url-bar input')", what="F6 leads to the toolbar")
    open_page(tab, host, "plain", "lookups")
    tab.click(URL_FIELD)
    tab.run("() => [...document.querySelectorAll('.toolbar :is(a, button, input, select)')].filter((one) => !one.disabled).at(-1).focus()")
    tab.press_keys(TAB)
    wait_for_focus_in_page(tab)
    forget_keys(tab)


def test_library_keeps_what_is_typed(host, tab):
    """The viewer is hidden, but its page is still there."""
    open_page(tab, host, "native window", "lookups")
    tab.run("() => { location.hash = ''; }")
    tab.click("a[aria-label='Library']")
    tab.wait_for("() => document.querySelector('.search-field')?.offsetParent", what="the library is shown")
    type_into(tab, ".search-field")
    open_page(tab, host, "", "lookups")
    assert keys_in_page(tab) == set()
