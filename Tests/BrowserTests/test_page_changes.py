"""Changes of a page after it was loaded: the answer to a form, and titles set by scripts."""

import pytest

from support.archives import write_captures
from support.expecting import expect
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium

SITE = "http://site.example"
FORM = b"""<!doctype html><title>A form</title>
<form method="post" action="/answer"><input name="word" value="tide"><button>Send</button></form>"""
ANSWER = b"<!doctype html><title>An answer</title><h1>The answer to tide</h1>"
APPLICATION = b"""<!doctype html><title>Loading</title><h1>An application</h1><button id="go">Go</button><output></output><script>
document.querySelector("output").textContent = document.cookie;
document.title = "Set at once";
document.getElementById("go").addEventListener("click", () => { document.title = "Set later"; });
document.querySelector("h1").addEventListener("click", () => { document.querySelector("title").textContent = "In the element"; });
</script>"""
# By ranges, the engine sees only the last one.
COOKIES = [("Set-Cookie", "hidden=1; HttpOnly"), ("Set-Cookie", "seen=1; path=/")]


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_page_changes_after_it_was_loaded(host, page, tmp_path, mode):
    """Both kinds of reload keep the answer to a form. The tab has the page's current title.
    Scripts read the cookies of the response."""
    host.add(write_captures(tmp_path / "changes.wacz", "Changes", [
        ({"url": f"{SITE}/"}, FORM), ({"url": f"{SITE}/answer", "form": "word=tide"}, ANSWER),
        ({"url": f"{SITE}/application", "fields": COOKIES}, APPLICATION),
    ]))
    viewer = Viewer(page)
    page.goto(f"{host.home}/?archive=/archives/changes.wacz&replay={mode}")
    viewer.read("button").click()
    answer = viewer.archived.get_by_text("The answer to tide")
    expect(answer).to_be_visible()
    expect(viewer.address).to_have_value(f"{SITE}/answer")
    viewer.read("body").evaluate("body => { body.dataset.before = 'reload'; }")
    page.get_by_role("button", name="Reload this page").click()
    expect(viewer.read("body:not([data-before])")).to_be_visible()
    expect(answer).to_be_visible()
    page.reload()
    expect(answer).to_be_visible()
    expect(viewer.address).to_have_value(f"{SITE}/answer")
    viewer.open_url(f"{SITE}/application")
    expect(viewer.read("output")).to_have_text("seen=1")
    expect(page).to_have_title("Set at once – Changes")
    viewer.read("#go").click()
    expect(page).to_have_title("Set later – Changes")
    viewer.read("h1").click()
    expect(page).to_have_title("In the element – Changes")
