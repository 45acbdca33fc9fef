"""A hostile page can't find out which words are marked in it.

The page runs its script first, changes the functions of its own window and of the agent's, which has the same origin, and notes
all that it sees (`support/words_spy.js`). One word of the search is on the page, and one isn't.
"""

import base64
import json
from pathlib import Path

import pytest

from support.archives import write_archive
from support.host import Host
from support.marks import MARKS, STATUS, address
from support.waiting import wait_until

SPY = (Path(__file__).parent / "support" / "words_spy.js").read_text(encoding="utf-8")
URL = "https://hostile.example/"
ON_PAGE, ELSEWHERE, CONTROL = "quokkaword", "zebrafishword", "harbourword"
TEXT = (f"This paragraph has a word that the search has, which is <b id='wanted'>{ON_PAGE}</b>, and another word that it doesn't have, "
    f"which is <b id='control'>{CONTROL}</b>. Both are in the middle of one long text, so that they're in the same part of it.")


def hostile(before=""):
    """The engine rewrites scripts, so the page decodes its own first. The constructor of asynchronous functions isn't replaced."""
    code = base64.b64encode(SPY.encode()).decode()
    return f"""<!doctype html><html><head><title>Hostile</title><script>
        Object.getPrototypeOf(async () => {{}}).constructor(atob("{code}"))();</script></head><body>
        <iframe id="fresh" style="height: 20px"></iframe>{before}<p>{TEXT}</p></body></html>"""



@pytest.fixture(params=["names", "ports"])
def host(request, tmp_path):
    host = Host(tmp_path, origins=request.param)
    host.add(write_archive(tmp_path / "hostile.wacz", "Hostile", {
        URL: hostile(), f"{URL}tall": hostile('<div style="height: 4000px">Far above.</div>')}))
    with host:
        yield host


def seen(engine):
    """What the page saw: for each way, the texts, and how often it saw them."""
    return json.loads(engine.run_in_page("() => JSON.stringify(spy.seen)"))


LOOKS = "() => Object.values(spy.seen['page selection']).reduce((sum, count) => sum + count)"


def open_hostile(engine, host, url, mode):
    """Opens the page with its marks. When it has changed the agent's window, the marks are turned off and on again."""
    words = f'{ON_PAGE} "{ELSEWHERE}"'
    engine.go(address(host, "hostile", url, words, mode))
    engine.wait_for(STATUS, "1 of 1", what="the word is marked")
    engine.wait_for("() => 'agent selection' in spy.seen", what="the page has changed the agent's window", in_page=True)
    engine.click('[aria-label="Turn marks off"]')
    engine.wait_for("() => document.querySelector('.marks-bar').hidden", what="the marks are off")
    engine.run("(words) => { location.hash += `&words=${encodeURIComponent(words)}`; }", words)
    engine.wait_for(STATUS, "1 of 1", what="the word is marked again")
    engine.wait_for("() => document.querySelectorAll('.word-mark').length === 1", what="the mark is drawn")
    engine.click('[aria-label="Next marked word"]')
    engine.click('[aria-label="Previous marked word"]')
    count = engine.run_in_page(LOOKS)
    engine.wait_for(f"(count) => ({LOOKS})() > count + 4", count, what="the page has looked again", in_page=True)


def apart(found, word, other):
    """The texts with one of the two words of the page and not the other, by the way they were found. The word's name is left out."""
    values = {how: {text.replace(word, "WORD"): count for text, count in texts.items() if word in text and other not in text}
        for how, texts in found.items()}
    return {how: texts for how, texts in values.items() if texts}


def messages_to_agent(found):
    values = [json.loads(text) for text in found["agent message"]]
    return [value for value in values if isinstance(value, dict) and "replayhost" in value]


@pytest.mark.few("chromium names lookups", "chromium ports ranges", "firefox names lookups")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_page_cannot_read_the_words(host, engine, mode):
    """Whatever it sees of the word on it, it sees of the word beside it as well. It sees nothing of the other word."""
    open_hostile(engine, host, URL, mode)
    found = {}

    def is_even():
        found.update(seen(engine))
        return apart(found, ON_PAGE, CONTROL) == apart(found, CONTROL, ON_PAGE)

    # It may have looked while the agent was between the two.
    wait_until(is_even, "the page sees both words equally often, or neither")
    assert ELSEWHERE not in json.dumps(found)
    assert [how for how in found if "highlight" in how.lower()] == []
    assert {text for how, texts in found.items() if how.endswith("selection") for text in texts} == {""}
    for how in ["viewer location", "viewer name", "viewer document"]:
        assert [*found[f"{how} (refused)"]] == ["SecurityError"] and how not in found
    assert f"{host.home}/" not in json.dumps(found["navigation"])
    # Only Chromium answers this.
    assert found.get("covered wanted") == found.get("covered control")
    # The viewer asks for the text, and for nothing else: the word is visible.
    assert {message["replayhost"] for message in messages_to_agent(found)} <= {"read", "stop", "look", "icon", "check"}
    assert "read" in {message["replayhost"] for message in messages_to_agent(found)}


@pytest.mark.few("firefox ports lookups", "webkit names ranges")
@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_page_learns_only_which_part_is_scrolled_to(host, engine, mode):
    """A part of 256 characters, with other words."""
    open_hostile(engine, host, f"{URL}tall", mode)
    found = seen(engine)
    assert ELSEWHERE not in json.dumps(found)
    parts = [message for message in messages_to_agent(found) if message["replayhost"] == "reveal"]
    assert parts
    for part in parts:
        assert sorted(part) == ["end", "replayhost", "start", "version"]
        assert part["start"] % 256 == 0 and part["end"] - part["start"] == 256
    assert engine.run_in_page("() => scrollY") > 1000


@pytest.mark.few("chromium names", "webkit ports")
def test_control_the_page_sees_what_is_done_at_its_origin(host, engine):
    """The control: it does notice a highlight, a selection, a changed document, functions, and messages to the agent."""
    open_hostile(engine, host, URL, "lookups")
    has_highlights = engine.run_in_page("(word) => spy.control(word)", ELSEWHERE)
    engine.run("(word) => { document.querySelector('iframe[name=___replayhost_agent]').contentWindow.postMessage({ word }, '*'); }", ELSEWHERE)
    wanted = {"page selection": ON_PAGE, "page mutation": ELSEWHERE, "agent message": ELSEWHERE,
        **{f"{where} {name}": ELSEWHERE for where in ["page", "agent"] for name in ["String.indexOf", "RegExp.test", "Set.add"]},
        **({"page highlight": f"control: {ON_PAGE}"} if has_highlights else {})}

    def missed():
        found = seen(engine)
        return [how for how, word in wanted.items() if not any(word in text for text in found.get(how, {}))]

    wait_until(lambda: missed() == [], f"the page sees all of {sorted(wanted)}")
    wait_until(lambda: len(engine.run(MARKS)) == 2, "the word that the control added is marked, too")
