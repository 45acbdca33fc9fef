"""What was saved is replayed when the site is gone: in the viewer in Chromium, in both replay modes, and in pywb."""

import subprocess

import films
import pytest
import pywb_server
from capture_host import CaptureHost
from film_site import Site
from playwright.sync_api import sync_playwright
from real_tools import RealTools
from support.browser import Browser
from support.expecting import expect
from support.host import Host
from support.viewer import Viewer
from support.waiting import wait_until

MODES = pytest.mark.parametrize("mode", ["lookups", "ranges"])
TIKTOK = "https://www.tiktok.com/@ana.quay/video/7300000000000000180"
# How long a browser may take to show a time of a film. Nothing waits that long.
SECONDS = 60

SEEK = """async (medium, time) => {
    await new Promise((done, failed) => {
        medium.addEventListener("seeked", done, { once: true });
        medium.addEventListener("error", () => failed(new Error(medium.error.message)), { once: true });
        setTimeout(() => failed(new Error(`nothing came for ${time} s`)), 60_000);
        medium.currentTime = time;
    });
    return { time: medium.currentTime, state: medium.readyState, error: medium.error?.message ?? null };
}"""
# The mean colour of the picture that is shown
COLOUR = """film => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const drawing = canvas.getContext("2d");
    drawing.drawImage(film, 0, 0, 1, 1);
    const [red, green, blue] = drawing.getImageData(0, 0, 1, 1).data;
    return ["red", "lime", "blue"][[red, green, blue].indexOf(Math.max(red, green, blue))];
}"""
CUES = """async film => {
    const track = film.querySelector("track");
    track.track.mode = "showing";
    while (track.readyState < 2) await new Promise((done) => setTimeout(done, 20));
    return [track.readyState, track.track.language, [...track.track.cues].map((cue) => cue.text)];
}"""
POSTER = "film => { const image = new Image(); image.src = film.poster; return image.decode().then(() => image.naturalWidth); }"


class Saved:
    """A film, a recording and a PDF, and the servers that saved and replay them. Their website is stopped."""

    def __init__(self, folder, ytdlp):
        self.capture, self.library = None, Host(folder)
        site = Site(folder / "site")
        try:
            films.make_long(folder / "site")
            add_long(site, folder / "site")
            self.capture = CaptureHost(folder, RealTools(folder / "tools", ytdlp, site)).start()
            self.library.start()
            urls = {"film": TIKTOK, "sound": site("/long.mp3"), "pdf": site("/guide.pdf")}
            ids = {name: self.capture.add(url, username="ana") for name, url in urls.items()}
            self.rows = {name: self.capture.wait_for(identifier, "completed") for name, identifier in ids.items()}
            wait_until(lambda: {row["archive"] for row in self.rows.values()} <= set(self.library.ids()), "the library knows them")
        except BaseException:
            self.close()
            raise
        finally:
            site.close()

    def close(self):
        if self.capture:
            self.capture.stop()
        self.library.stop()


def add_long(site, folder):
    """The long film at the site, also as TikTok's plugin finds it, with subtitles and a poster."""
    for name in ("long.mp4", "long.mp3", "long.en.vtt"):
        site.contents[f"/{name}"] = (folder / name).read_bytes()
    site.add_data(TIKTOK.rpartition("/")[2], {
        "title": "Three minutes of the ferry", "uploader": "ana.quay", "description": "Red, green and blue",
        "duration": films.LONG_SECONDS, "thumbnail": site("/poster.jpg"),
        "formats": [{"format_id": "mp4", "url": site("/long.mp4"), "ext": "mp4", "width": 320, "height": 180,
            "vcodec": "avc1.42c01f", "acodec": "mp4a.40.2"}],
        "subtitles": {"en": [{"url": site("/long.en.vtt"), "ext": "vtt"}]}})


@pytest.fixture(scope="module")
def playwright():
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def saved(tmp_path_factory, ytdlp):
    folder = tmp_path_factory.mktemp("replayed")
    (folder / "site").mkdir()
    saved = Saved(folder, ytdlp)
    try:
        yield saved
    finally:
        saved.close()


@pytest.fixture
def browser(playwright, tmp_path):
    """Chromium with an empty profile. Nothing may leave this computer."""
    browser = Browser(playwright, tmp_path / "profile")
    try:
        yield browser
        browser.check()
    finally:
        browser.close()


def open_archive(saved, browser, name, mode):
    browser.page.goto(f"{saved.library.home}/?archive=/archives/{saved.rows[name]['archive']}.wacz&replay={mode}")
    return Viewer(browser.page)


def expect_to_seek(medium, places):
    wait_until(lambda: medium.evaluate("medium => medium.readyState") >= 1, "the medium says how long it is", SECONDS)
    assert abs(medium.evaluate("medium => medium.duration") - films.LONG_SECONDS) < 1
    for time in places:
        assert medium.evaluate("medium => medium.error") is None
        came = medium.evaluate(SEEK, time)
        assert abs(came["time"] - time) < 0.5 and came["state"] >= 2 and came["error"] is None, came
        yield time


@MODES
def test_film_is_replayed(saved, browser, mode):
    """Its poster and subtitles are there. The end, the middle and the start show the pictures of that time."""
    viewer = open_archive(saved, browser, "film", mode)
    expect(viewer.read("h1")).to_have_text("Three minutes of the ferry")
    expect(viewer.read("body")).to_contain_text(f"ana.quay · Saved from {TIKTOK}")
    film = viewer.read("video")
    assert film.evaluate(POSTER) == 320
    assert film.evaluate(CUES) == [2, "en", [f"Minute {minute} of the ferry" for minute in (1, 2, 3)]]
    end, middle, start = films.LONG_SECONDS - 1, films.LONG_SECONDS / 2, 1
    for time in expect_to_seek(film, [end, middle, start]):
        colour = films.COLOURS[int(time * len(films.COLOURS) / films.LONG_SECONDS)]
        wait_until(lambda expected=colour: film.evaluate(COLOUR) == expected, f"{colour} is shown at {time} s")
    assert film.evaluate("film => [film.videoWidth, film.videoHeight]") == [320, 180]
    # It also plays up to its end.
    film.evaluate("async (film, time) => { film.muted = true; film.currentTime = time; await film.play(); }", end)
    wait_until(lambda: film.evaluate("film => film.ended"), "the film ends", SECONDS)


@MODES
def test_sound_is_replayed(saved, browser, mode):
    viewer = open_archive(saved, browser, "sound", mode)
    # The browser's own player
    sound = viewer.read("video")
    assert len(list(expect_to_seek(sound, [films.LONG_SECONDS - 1, films.LONG_SECONDS / 2, 1]))) == 3


@MODES
def test_pdf_is_replayed(saved, browser, mode):
    viewer = open_archive(saved, browser, "pdf", mode)
    expect(viewer.address).to_have_value(saved.rows["pdf"]["url"])
    expect(browser.page.locator(".pdf-panel iframe")).to_be_visible()
    wait_until(lambda: pdf_title(browser.page) == "Harbour guide", "the PDF is in the browser's PDF viewer")


def pdf_title(page):
    """The PDF's title in the browser's PDF viewer, which is an extension of the browser."""
    page.wait_for_timeout(10)
    reader = next((frame for frame in page.frames if frame.url.startswith("chrome-extension:")), None)
    return reader and reader.evaluate("document.title")


def test_film_plays_in_a_tab(saved, browser):
    """As the page's Play opens it. Its policy stops scripts, so only its picture tells."""
    browser.page.goto(f"{saved.capture.started['address']}/download/{saved.rows['film']['download_id']}/file")
    wait_until(lambda: is_red(middle(browser.page)), "the film's first minute is shown")


def middle(page):
    """The red, green and blue in the middle of the page."""
    command = ["ffmpeg", "-v", "error", "-i", "-", "-vf", "crop=2:2,scale=1:1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return tuple(subprocess.run(command, input=page.screenshot(), capture_output=True, check=True, timeout=SECONDS).stdout)


def is_red(colour):
    red, green, blue = colour
    return red > 150 and green < 90 and blue < 90


@pytest.mark.skipif(not pywb_server.is_installed(), reason="pywb isn't installed; `Scripts/bench 20-pywb-answers` installs it")
@pytest.mark.parametrize("name", ["film", "pdf"])
def test_pywb_replays_it(saved, browser, tmp_path, name):
    """The film's page in Chromium, ranges of its file, and the PDF."""
    row = saved.rows[name]
    wacz = tmp_path / f"{name}.wacz"
    wacz.write_bytes(saved.capture.request("GET", f"/download/{row['download_id']}/archive")[2])
    (tmp_path / "pywb").mkdir()
    pywb = pywb_server.PywbServer(tmp_path / "pywb", wacz)
    try:
        if name == "pdf":
            status, head, body = pywb.get(f"/saved/2id_/{row['url']}")
            assert (status, head.get_content_type(), body) == (200, "application/pdf", saved.capture.file(row).read_bytes())
            return
        base = f"https://replayhost.invalid/{row['download_id']}/"
        status, head, body = pywb.get(f"/saved/2mp_/{base}")
        assert (status, head.get_content_type()) == (200, "text/html") and b"<h1>Three minutes of the ferry</h1>" in body
        path = f"/saved/2id_/{base}media.mp4"
        film = saved.capture.file(row).read_bytes()
        for field, part in (("bytes=0-99", film[:100]), (f"bytes={len(film) - 1000}-", film[-1000:]),
                (f"bytes={len(film) // 2}-{len(film) // 2 + 999}", film[len(film) // 2:len(film) // 2 + 1000])):
            status, head, body = pywb.get(path, Range=field)
            assert (status, head.get_content_type(), body) == (206, "video/mp4", part), (field, status, head.items())
        browser.page.goto(f"http://127.0.0.1:{pywb.port}/saved/2/{base}")
        film = browser.page.frame_locator("#replay_iframe").locator("video")
        assert film.evaluate(CUES)[0] == 2 and film.evaluate(POSTER) == 320
        assert len(list(expect_to_seek(film, [films.LONG_SECONDS - 1, films.LONG_SECONDS / 2]))) == 2
    finally:
        pywb.close()
