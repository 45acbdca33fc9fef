"""The marks over the words of a search, as the viewer shows them."""

from urllib.parse import quote

# Their rectangles, relative to the archived page.
MARKS = """() => {
    const frame = document.querySelector("iframe[name=___wb_replay_top_frame]").getBoundingClientRect();
    return [...document.querySelectorAll(".word-marks .word-mark")].map((one) => one.getBoundingClientRect())
        .map(({ left, top, right, bottom }) => [left - frame.left, top - frame.top, right - frame.left, bottom - frame.top]);
}"""
# Whether the count of marks says this.
STATUS = "(text) => document.querySelector('.marks-status').innerText === text"


def address(host, archive, url, words, mode=""):
    chosen = f"&replay={mode}" if mode else ""
    return f"{host.home}/?archive=/archives/{archive}.wacz{chosen}#url={quote(url, safe='')}&ts=20241121090000&words={quote(words, safe='')}"
