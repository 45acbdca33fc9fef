"""Films, sounds, documents and failures, saved with the real tools from a website on this computer. No real site is asked."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import decoders
import films
import pytest
from capture_host import FAST_RETRIES, CaptureHost
from contents import expect_nowhere, warc_records
from real_tools import InstalledTools, RealTools

TOOLS = Path(sys.executable).parent
TIKTOK = "https://www.tiktok.com/@ana.quay/video/7300000000000000001"
INSTAGRAM = "https://www.instagram.com/reel/CxQuayReel01/"
YOUTUBE = "https://www.youtube.com/watch?v=harbour0001"

# Name -> URL, options, genre, service, end of the file name, codecs, height, words by which the library's search finds it
VIDEO, AUDIO = ("h264", "aac"), "audio"
SAVED = {
    "mp4": ("/film-360.mp4", {}, "unknown", None, "film-360.mp4", VIDEO, 360, []),
    "hls": ("/film.m3u8", {}, "unknown", None, ".mp4", VIDEO, 720, ["nobbles"]),
    "dash": ("/film.mpd", {}, "unknown", None, ".mp4", VIDEO, 720, []),
    "webm": ("/film.webm", {}, "unknown", None, ".webm", ("vp8", "opus"), 180, []),
    "mp3": ("/sound.mp3", {}, "unknown", None, ".mp3", ("mp3",), None, []),
    "video-element": ("/video.html", {}, "unknown", None, "video-1_The_ferry_(1).mp4", VIDEO, 360, ["ferry", "nobbles"]),
    "open-graph": ("/og.html", {}, "unknown", None, "film-360_The_heron_&_the_ferry.mp4", VIDEO, 360, ["heron", '"birds of the quay"']),
    "tiktok": (TIKTOK, {}, "tiktok", "tiktok", "7300000000000000001_Ferry_dance_#harbour.mp4", VIDEO, 720,
        ["cormorant", "nobbles", "波止場", "ana.quay"]),
    "instagram": (INSTAGRAM, {}, "instagram", "instagram", "CxQuayReel01_Video_by_ana.quay.mp4", VIDEO, 720, ["puffins"]),
    "youtube": (YOUTUBE, {}, "youtube", "youtube", ".mp4", VIDEO, 720, ["guillemot", "灯台", '"Quay Television"']),
    "youtu.be": ("https://youtu.be/harbour0001?t=3", {}, "youtube", "youtube", ".mp4", VIDEO, 720, []),
    "shorts": ("https://www.youtube.com/shorts/harbour0001", {}, "youtube", "youtube", ".mp4", VIDEO, 720, []),
    # Options
    "height": (TIKTOK, {"height": 360}, "tiktok", "tiktok", ".mp4", VIDEO, 360, []),
    "height-between": ("/film.mpd", {"form": "video", "height": 240}, "unknown", None, ".mp4", VIDEO, 180, []),
    "mkv": (INSTAGRAM, {"container": "mkv"}, "instagram", "instagram", ".mkv", VIDEO, 720, []),
    "mp3-48k": ("/film-360.mp4", {"form": AUDIO, "container": "mp3", "audio_quality": "48k"}, "unknown", None, ".mp3",
        ("mp3", "48000"), None, []),
    # The source has 44.1 kHz and the same codec.
    "m4a-48k": ("/sound.m4a", {"form": AUDIO, "audio_quality": "48k"}, "unknown", None, ".m4a", ("aac", "48000"), None, []),
    "m4a-96k": (TIKTOK, {"form": AUDIO, "container": "m4a", "audio_quality": "96k"}, "tiktok", "tiktok", ".m4a", ("aac", "96000"),
        None, []),
    "flac": (YOUTUBE, {"form": AUDIO, "container": "flac", "audio_quality": "lossless"}, "youtube", "youtube", ".flac",
        ("flac", "44100"), None, []),
    "wav": ("/film.mpd", {"form": AUDIO, "container": "wav", "audio_quality": "lossless"}, "unknown", None, ".wav",
        ("pcm_s16le", "44100"), None, []),
    # Opus has no 44.1 kHz.
    "opus": (INSTAGRAM, {"form": AUDIO, "container": "opus", "audio_quality": "48k"}, "instagram", "instagram", ".opus",
        ("opus",), None, []),
    "pdf": ("/guide.pdf", {}, "pdf", None, ".pdf", None, None, []),
    "epub": ("/book.epub", {}, "ebook", None, ".epub", None, None, []),
    "feed": ("/feed.xml", {}, "unknown", None, ".xml", None, None, []),
}
# Name -> URL, error code, part of the message
FAILING = {
    "live-hls": ("/live.m3u8", "live", "live"), "live-youtube": ("https://www.youtube.com/watch?v=livenow0001", "live", "live"),
    "three-videos": ("/list.html", "playlist", "playlist"),
    "youtube-playlist": ("https://www.youtube.com/playlist?list=PLharbour", "playlist", "playlist"),
    "private": ("https://www.youtube.com/watch?v=private0001", "private", "Private video"),
    "log-in": ("https://www.youtube.com/watch?v=members0001", "login_required", "registered users"),
    "removed": ("https://www.youtube.com/watch?v=removed0001", "removed", "removed by the uploader"),
    "changed-site": ("https://www.youtube.com/watch?v=brokenn0001", "tool_failed", "Unable to extract the player"),
    "missing-film": ("/nothing.mp4", "not_found", ""), "missing-pdf": ("/nothing.pdf", "not_found", ""),
    "page": ("/plain.html", "page_unsupported", ""),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory, ytdlp, site):
    """All of them in one queue, in this order. Returns the server and the ids."""
    folder = tmp_path_factory.mktemp("saved")
    with CaptureHost(folder, RealTools(folder / "tools", ytdlp, site)) as host:
        ids = {name: host.add(full(site, url), username="real", options=options) for name, (url, options, *_) in SAVED.items()}
        ids |= {name: host.add(full(site, url), username="failing") for name, (url, *_) in FAILING.items()}
        yield host, ids


def full(site, url):
    return site(url) if url.startswith("/") else url


def probe(path):
    shown = subprocess.run(
        ["ffprobe", "-v", "error", "-of", "json", "-show_streams", "-show_format", path], check=True, capture_output=True).stdout
    return json.loads(shown)


def archive_of(host, row, folder):
    """The WACZ as a file."""
    status, _, data = host.request("GET", f"/download/{row['download_id']}/archive")
    assert status == 200
    path = folder / f"{row['archive']}.wacz"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", SAVED)
def test_is_saved(saved, site, name):
    host, ids = saved
    url, options, genre, service, ending, codecs, height, _ = SAVED[name]
    row = host.wait_for(ids[name], "completed", seconds=900)
    decoders.own_status(row)
    decoders.v2_status(row)
    assert (row["url"], row["genre"], row["service"]) == (full(site, url), genre, service or "127.0.0.1")
    assert row["file_path"].endswith(ending), row["file_path"]
    assert (row["quality_fallback"], row["error_code"]) == (False, None)
    assert (row["genre_detection_error"] is not None) == (genre == "unknown")
    path = host.file(row)
    assert path.stat().st_size == row["file_size"]
    if codecs is None:
        assert path.read_bytes() == site.contents[url]
        return
    shown = probe(path)
    streams = {stream["codec_type"]: stream for stream in shown["streams"] if not stream["disposition"].get("attached_pic")}
    assert abs(float(shown["format"]["duration"]) - films.SECONDS) < 0.6
    if height:
        assert (streams["video"]["codec_name"], streams["audio"]["codec_name"], streams["video"]["height"]) == (*codecs, height)
    else:
        assert "video" not in streams and streams["audio"]["codec_name"] == codecs[0]
        assert codecs[1:] in ((), (streams["audio"]["sample_rate"],)), streams["audio"]["sample_rate"]


@pytest.mark.parametrize("name", FAILING)
def test_fails_with_its_reason(saved, name):
    host, ids = saved
    _, code, part = FAILING[name]
    row = host.wait_for(ids[name], "failed", seconds=900)
    decoders.own_status(row)
    assert (row["error_code"], row["attempt"]) == (code, 1), row
    assert part.lower() in row["error_message"].lower()
    assert str(host.folder) not in row["error_message"]
    assert (row["file_path"], row["archive"]) == (None, None)


@pytest.mark.parametrize("name", SAVED)
def test_archive_passes_other_tools(saved, tmp_path, name):
    host, ids = saved
    row = host.wait_for(ids[name], "completed", seconds=900)
    path = archive_of(host, row, tmp_path)
    run = subprocess.run([TOOLS / "wacz", "validate", "-f", path], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    with zipfile.ZipFile(path) as package:
        warcs = [member for member in package.namelist() if member.endswith((".warc", ".warc.gz"))]
        package.extractall(tmp_path / "unpacked", warcs)
    assert warcs
    run = subprocess.run([TOOLS / "warcio", "check", "-v", *(tmp_path / "unpacked" / member for member in warcs)],
        capture_output=True, text=True)
    assert run.returncode == 0 and "digest failed" not in run.stdout, run.stdout + run.stderr
    report = host.replayhost("verify", row["archive"])[0]["report"]
    assert report["summary"]["code"] == "hashes-agree", report
    bad = [finding for finding in report["result"]["findings"] if finding["severity"] != "notice"]
    assert bad == []


# What isn't a film is a file, as its site sent it.
FILES = ["mp3", "pdf", "epub", "feed"]


@pytest.mark.parametrize("name", FILES)
def test_archive_has_what_the_site_sent(saved, site, tmp_path, name):
    host, ids = saved
    row = host.wait_for(ids[name], "completed", seconds=900)
    records = warc_records(archive_of(host, row, tmp_path).read_bytes())
    found = [record for record in records if record.rec_type == "response" and record.uri == row["url"]]
    assert [record.body for record in found] == [site.contents[SAVED[name][0]]]


@pytest.mark.parametrize("name", [name for name in SAVED if name not in FILES])
def test_archive_has_the_medium(saved, tmp_path, name):
    """As a resource below a URL that never resolves, uncompressed, beside subtitles, a poster and a page without script."""
    host, ids = saved
    row = host.wait_for(ids[name], "completed", seconds=900)
    path = archive_of(host, row, tmp_path)
    base = f"https://replayhost.invalid/{row['download_id']}/"
    resources = [record for record in warc_records(path.read_bytes()) if record.rec_type == "resource"]
    medium = host.file(row).read_bytes()
    assert sum(record.body == medium and record.uri.startswith(base) for record in resources) == 1
    viewer = next(record for record in resources if "text/html" in record.rec_headers.get_header("Content-Type"))
    assert viewer.uri.startswith(base) and b"<script" not in viewer.body.lower()
    if name == "tiktok":
        bodies = b"\n".join(record.body for record in resources)
        assert "灯台の波止場".encode() in bodies and b"nobbles" in bodies
        assert any(record.body.startswith(b"\xff\xd8") for record in resources), "the poster"


@pytest.mark.parametrize("name", [name for name, item in SAVED.items() if item[-1]])
def test_search_finds_it(saved, site, name):
    host, ids = saved
    row = host.wait_for(ids[name], "completed", seconds=900)
    for words in [*SAVED[name][-1], full(site, SAVED[name][0])]:
        assert row["archive"] in host.search(words), words
    archive = host.archives()[row["archive"]]
    assert set(archive["tags"]) == {"real", row["genre"]} - {"unknown"}


def test_each_is_there_once_and_holds_no_secret(saved):
    host, ids = saved
    rows = [host.wait_for(ids[name], seconds=900) for name in ids]
    host.expect_completed_once([row for row in rows if row["state"] == "completed"])
    host.expect_no_leftovers()
    expect_nowhere(b"SECRETSIGNATURE", host.store, host.downloads, host.log)


def test_site_that_limits_the_rate_is_asked_later(make_host, site):
    host = make_host(*FAST_RETRIES).start()
    identifier = host.add(site("/busy.mp4"))
    row = host.wait_for(identifier, condition=lambda row: row["waiting_for"] == "site" or row["state"] == "completed")
    assert (row["waiting_for"], row["error_code"]) == ("site", "rate_limited")
    assert host.wait_for(identifier, "completed")["attempt"] == 2


def test_killed_download_continues_with_its_part(make_host, site):
    host = make_host().start()
    identifier = host.add(site("/slow.mp4"))
    host.wait_for(identifier, condition=lambda row: row["progress"] and row["progress"]["bytes"] > 500_000)
    host.kill_9()
    host.expect_no_processes()
    host.start()
    row = host.wait_for(identifier, "completed")
    assert host.file(row).read_bytes() == site.contents["/film-720.mp4"]
    assert any(start > 0 for start in site.ranges["/slow.mp4"]), site.ranges
    host.expect_no_leftovers()


def test_stopped_site_fails_and_can_be_retried(make_host, tmp_path, ytdlp):
    """A URL whose server isn't there: tried four times, and once more when a person says so."""
    host = make_host(*FAST_RETRIES).start()
    host.allow("127.0.0.1:9")
    row = host.wait_for(host.add("http://127.0.0.1:9/film.mp4"), "failed")
    assert (row["error_code"], row["attempt"]) == ("network", 4)
    assert host.call("POST", f"/download/{row['download_id']}/retry", {})[0] == 200
    assert host.wait_for(row["download_id"], "failed")["error_code"] == "network"


def test_cookies_reach_the_site(make_host, site, tmp_path):
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tsessionid\tSECRETOFANA\n")
    host = make_host().start()
    assert host.command("cookies set", "--user", "ana", cookies).returncode == 0
    host.wait_for(host.add(site("/film-180.mp4?cookies=1"), username="ana"), "completed")
    host.wait_for(host.add(site("/film-180.mp4?cookies=2"), username="bert"), "completed")
    assert "SECRETOFANA" in str(site.cookies["/film-180.mp4?cookies=1"])
    assert "SECRETOFANA" not in str(site.cookies["/film-180.mp4?cookies=2"])
    host.stop()
    host.command("cookies remove", "--user", "ana")
    expect_nowhere(b"SECRETOFANA", host.store, host.downloads, host.log)


def test_confined_tools_save_a_film_and_a_document(tmp_path_factory, tmp_path, ytdlp, site):
    """With bubblewrap, and yt-dlp as it was installed."""
    folder = tmp_path_factory.mktemp("confined")
    tools = InstalledTools(folder / "path", ytdlp)
    with CaptureHost(folder, tools) as host:
        isolation = host.call("GET", "/health")[1]["isolation"]
        if not isolation["confined"]:
            pytest.skip(isolation["reason"])
        ids = [host.add(site(path)) for path in ("/film.m3u8", "/film-180.mp4", "/guide.pdf")]
        rows = [host.wait_for(identifier, "completed") for identifier in ids]
        host.expect_completed_once(rows)
        host.expect_no_leftovers()
