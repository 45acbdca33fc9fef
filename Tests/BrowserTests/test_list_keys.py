"""The keys of the library's list, in Chromium and Firefox."""

import pytest

from support.host import Host
from support.places import FIXTURES

pytestmark = pytest.mark.parametrize("shared_engine", ["chromium", "firefox"], indirect=True)

ESCAPE, DELETE = "\ue00c", "\ue017"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    host = Host(tmp_path_factory.mktemp("keys"))
    for name in ["sample.wacz", "second.wacz"]:
        host.add(FIXTURES / name)
    with host:
        yield host


def open_list(engine, host):
    engine.go("about:blank")
    engine.go(f"{host.home}/#as=list")
    engine.wait_for("() => document.querySelectorAll('.row h2 a').length === 2", what="the list is shown")
    focus(engine, 0)


def focus(engine, row):
    """The list is invisible, and takes no focus, until all of it is known."""
    engine.wait_for("""(row) => {
        const link = document.querySelectorAll('.row h2 a')[row];
        link.focus();
        return document.activeElement === link;
    }""", row, what="the row has the focus")


def has_dialog(engine, text):
    engine.wait_for("(text) => document.querySelector('dialog[open]')?.innerText.includes(text)", text, what=f"a dialog says {text}")


def test_keys_act_on_the_selection(host, tab):
    """Also on archives that aren't the row with the focus. The letter isn't typed into the field that it opens."""
    open_list(tab, host)
    for _ in range(2):
        tab.press_keys("e")
        has_dialog(tab, "Tags")
        tab.press_keys("x")
        tab.wait_for("() => document.activeElement.matches('dialog input') && document.activeElement.value === 'x'", what="only x is typed")
        tab.press_keys(ESCAPE + ESCAPE)
        tab.wait_for("() => !document.querySelector('dialog[open]')", what="the dialog is closed")
    for row in [1, 0]:
        focus(tab, row)
        tab.press_keys(" ")
        tab.wait_for_text(f"{2 - row} selected")
    tab.press_keys(DELETE)
    has_dialog(tab, "2 archives")
    tab.press_keys(ESCAPE)
    assert len(host.ids()) == 2


def test_every_key_is_listed(host, tab):
    """Those that docs/webapp.md names."""
    open_list(tab, host)
    tab.press_keys("?")
    has_dialog(tab, "Keyboard shortcuts")
    listed = tab.run("() => [...document.querySelectorAll('dialog kbd')].map((one) => one.textContent)")
    named = {"/", "?", "Esc", "↑", "↓", "Home", "End", "Page Up", "Page Down", "←", "→", "Enter", "Space", "Shift+↑", "Shift+↓", "e", "Del",
        "F6", "Shift+F6", "n", "Shift+n"}
    assert named - {*listed} == set()
