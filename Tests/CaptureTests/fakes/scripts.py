"""What the fake yt-dlp does: `script(download, Failure)`, which returns the exit code, or raises `Failure`."""

import contextlib
import json
import os
import signal
import subprocess
import time

import media


def ok(download, failure):
    download.complete(float(download.query.get("seconds", 0)))


def slow(download, failure):
    download.complete(float(download.query.get("seconds", 3)))


def held(download, failure):
    """Runs until the file `gate` exists, and always shows progress. Then it completes."""
    if download.start():
        while not os.path.exists(download.query["gate"]):
            download.progress(100_000, 200_000)
            time.sleep(0.05)
        download.fetch(media.content(download.url, download.info["filesize"], download.info["ext"]))
        download.finish()


def busy(download, failure):
    """Runs until it is stopped, and always shows progress."""
    if download.start():
        while True:
            download.progress(1000, 200_000)
            time.sleep(0.2)


def stall(download, failure):
    """Says nothing more after the first byte."""
    if download.start():
        download.progress(1000, 200_000)
        while True:
            time.sleep(3600)


def stubborn(download, failure):
    """Shows progress, ignores every signal that can be ignored, and has a child that does so too."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(name, signal.SIG_IGN)
    subprocess.Popen(["/bin/sleep", "3600"])
    while True:
        try:
            busy(download, failure)
        except OSError:  # Its reader is gone.
            time.sleep(0.2)


def greedy(download, failure):
    """Takes more and more memory."""
    kept = []
    if download.start():
        while True:
            kept.append(b"x" * 50_000_000)
            download.progress(1000, 200_000)
            time.sleep(0.05)


def fills(download, failure):
    """Fills the disk with what doesn't come from the network, as joining large parts does."""
    if download.start():
        with open(os.path.join(download.temp, "joined.mp4"), "wb") as file:
            while True:
                with contextlib.suppress(OSError):
                    file.write(b"x" * 4_000_000)
                    file.flush()
                download.progress(1000, 200_000)
                time.sleep(0.02)


def crash(download, failure):
    if download.start():
        download.progress(1000, 200_000)
        os.kill(os.getpid(), signal.SIGSEGV)


def traceback(download, failure):
    download.start()
    raise ValueError("the fake extractor has a bug")


def sound(download, failure):
    """Of a post of photos, yt-dlp finds the sound only."""
    if not download.arguments.has("-x", "--extract-audio"):
        download.info["ext"] = "mp3"
    download.complete()


def exit0_nofile(download, failure):
    """Ends as if all was well, and names a file that isn't there."""
    if download.start():
        download.progress(200_000, 200_000, "finished")
        download.moved(download.path)


def exit0_silent(download, failure):
    """Ends with 0, and neither a file nor a line."""


def too_large(download, failure):
    if download.start():
        download.screen("[download] File is larger than max-filesize (200000 bytes > 1000 bytes). Aborting.")


def empty(download, failure):
    if download.start():
        open(download.path, "wb").close()
        download.moved(download.path)


def truncated(download, failure):
    """A file that ffprobe refuses."""
    if download.start():
        data = media.content(download.url, download.info["filesize"], download.info["ext"])
        with open(download.path, "wb") as file:
            file.write(data[: len(data) // 2])
        download.moved(download.path)


def not_media(download, failure):
    if download.start():
        with open(download.path, "wb") as file:
            file.write(b"<!doctype html><title>Please log in</title>" * 100)
        download.moved(download.path)


def print_1gb(download, failure):
    """A million lines of a kilobyte, then a good file."""
    download.start()
    block = (b"x" * 999 + b"\n") * 1000
    for _ in range(1000):
        os.write(1, block)
    download.fetch(media.content(download.url, 200_000, download.info["ext"]))
    download.finish()


def print_1gb_line(download, failure):
    """The same in one line, to both outputs."""
    download.start()
    block = b"x" * 500_000
    for _ in range(1000):
        os.write(1, block)
        os.write(2, block)
    download.fetch(media.content(download.url, 200_000, download.info["ext"]))
    download.finish()


def outside(download, failure):
    """Writes outside of its folder, and names that file as the result."""
    if download.start():
        path = os.path.join(download.home, "../../escape.mp4")
        with open(path, "wb") as file:
            file.write(media.content(download.url, 200_000, "mp4"))
        download.moved(path)


def nul_name(download, failure):
    """Names its file with a NUL, at which the system's functions stop reading."""
    if download.start():
        download.fetch(media.content(download.url, 200_000, download.info["ext"]))
        download.moved(download.path + "\0.mp4")


def link(download, failure):
    """The result is a symbolic link to a file of the person: `target`."""
    if download.start():
        os.symlink(download.query["target"], download.path)
        download.moved(download.path)


def folder(download, failure):
    if download.start():
        os.makedirs(download.path)
        download.moved(download.path)


def pipe(download, failure):
    """The result is a pipe: who opens it waits for ever."""
    if download.start():
        os.mkfifo(download.path)
        download.moved(download.path)


def bigtitle(download, failure):
    """A title of 1 MB that leads out of the folder. Control characters, and the marks that turn text around, are in it."""
    download.info["title"] = "../../\x00\x1b[31m\u202e/.." + "../é" * 250_000
    download.complete()


def bigid(download, failure):
    download.info["id"] = "../../" + "A/" * 1000
    download.complete()


def strange(download, failure):
    """Prints what no field should contain: numbers for text, lists, null, and floats beyond every integer."""
    download.info.update(title=None, uploader=["a", "b"], description=17, duration="long", height=1e300, width=-1,
        id=12345, filesize=None, thumbnail={"url": 1}, upload_date=20251118, is_live="no")
    if download.start():
        for done in (1e308, -5, 10**30):
            download.progress(done, 1)
        download.fetch(media.content(download.url, 200_000, download.info["ext"]))
        download.finish()


def invalid_utf8(download, failure):
    """Bytes that aren't UTF-8, NUL, and half an escape sequence on both outputs, then a good file."""
    if download.start():
        for output in (1, 2):
            os.write(output, b"\xff\xfe\x00 caf\xe9 \x1b[2J {\"broken\": \n")
        download.fetch(media.content(download.url, 200_000, download.info["ext"]))
        download.finish()


def live(download, failure):
    """A live stream: skipped if the caller's filter says so, else it doesn't end."""
    download.info.update(is_live=True, live_status="is_live", duration=None, filesize=None)
    download.print_at("pre_process")
    filters = " ".join(download.arguments.values("--match-filters", "--match-filter", "--break-match-filters"))
    if "live" in filters:
        download.screen(f"[download] {download.info['title']} does not pass filter ({filters}), skipping ..")
        return 101 if download.arguments.values("--break-match-filters") else 0
    busy(download, failure)


def playlist(download, failure):
    """Twelve videos. `--no-playlist` changes nothing about a page that is only a list."""
    listed = {"playlist": "Twelve ships", "playlist_title": "Twelve ships", "playlist_id": "PL12", "playlist_count": 12,
        "n_entries": 12, "playlist_index": 1, "playlist_autonumber": 1, "playlist_webpage_url": download.url}
    if download.arguments.has("--flat-playlist") or download.arguments.has("-J", "--dump-single-json"):
        download.out(json.dumps({"_type": "playlist", "id": "PL12", "title": "Twelve ships", "playlist_count": 12,
            "entries": [{**download.info, "_type": "url", "url": f"{download.url}#{number}"} for number in range(12)],
            "extractor": "fake:playlist", "extractor_key": "FakePlaylist", "webpage_url": download.url}))
        return 0
    chosen = download.arguments.value("-I", "--playlist-items", default="1:12")
    count = int(chosen.rpartition(":")[2] or 12)
    filters = " ".join(download.arguments.values("--match-filters", "--match-filter"))
    for number in range(1, count + 1):
        download.info.update(listed, playlist_index=number, n_entries=count, id=f"entry{number}")
        if "n_entries" in filters or "playlist" in filters:
            download.print_at("pre_process")
            download.screen(f"[download] {download.info['title']} does not pass filter ({filters}), skipping ..")
        else:
            download.complete()
    return 0


def prints_cookies(download, failure):
    """Shows its cookies in its output, as a traceback can."""
    path = download.arguments.value("--cookies")
    text = open(path, encoding="utf-8").read() if path else ""
    download.note("cookies", path=path, text=text)
    download.error(f"WARNING: [{download.extractor}] cookies:\n{text}")
    download.out(f"[debug] Cookie: {text}")
    raise failure(f"{download.prefix}HTTP Error 500: Internal Server Error {text}")


def transient_then_ok(download, failure):
    """Fails `times` times, then works."""
    if download.count() < int(download.query.get("times", 1)):
        download.start()
        raise failure(f"{download.prefix}Unable to download video data: <urlopen error [Errno 104] Connection reset by peer>")
    download.complete()


def http_429(download, failure):
    """Limits the rate the first `times` times."""
    if download.count() < int(download.query.get("times", 1)):
        text = "HTTP Error 429: Too Many Requests"
        if download.arguments.has("--print-traffic"):
            download.out(r"reply: 'HTTP/1.1 429 Too Many Requests\r\n'")
            if "after" in download.query:
                download.out(f"header: Retry-After: {download.query['after']}")
        raise failure(f"{download.prefix}Unable to download webpage: {text} (caused by <HTTPError 429: Too Many Requests>)")
    download.complete()


def quality(download, failure):
    """Works at the default quality only."""
    options = download.arguments.options
    text = " ".join(options)
    asked = "res:" in text or "height" in text or "asr:" in text or "abr:" in text or "--audio-format" in text
    download.note("quality", asked=asked)
    if asked:
        raise failure(f"{download.prefix}Requested format is not available. Use --list-formats for a list of available formats")
    download.complete()


def error(text):
    def fail(download, failure):
        download.screen(f"[{download.extractor.lower()}] {download.info['id']}: Downloading webpage")
        raise failure(text.format(prefix=download.prefix, url=download.url, host=download.parts.hostname))
    return fail


COOKIES = "Use --cookies-from-browser or --cookies for the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ"
SCRIPTS = {
    "ok": ok, "ok-200k": ok, "slow": slow, "held": held, "busy": busy, "stall": stall, "stubborn": stubborn, "crash": crash,
    "greedy": greedy, "fills": fills,
    "traceback": traceback, "sound": sound, "exit0-nofile": exit0_nofile, "exit0-silent": exit0_silent, "too-large": too_large, "empty": empty,
    "truncated": truncated, "not-media": not_media, "print-1gb": print_1gb, "print-1gb-line": print_1gb_line,
    "outside": outside, "nul-name": nul_name, "link": link, "folder": folder, "pipe": pipe, "bigtitle": bigtitle, "bigid": bigid, "strange": strange,
    "invalid-utf8": invalid_utf8, "live": live, "playlist": playlist, "prints-cookies": prints_cookies,
    "transient-then-ok": transient_then_ok, "http-429": http_429, "quality": quality,
    # The tool's own lines
    "not-found": error("{prefix}Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404: Not Found>)"),
    "private": error("{prefix}Private video. Sign in if you've been granted access to this video. " + COOKIES),
    "removed": error("{prefix}Video unavailable. This video has been removed by the uploader"),
    "login": error("{prefix}This content requires login. " + COOKIES),
    "rate-or-login": error("{prefix}Requested content is not available, rate-limit reached or login required. " + COOKIES),
    "geo": error("{prefix}This video is not available from your location due to geo restriction. "
        "You might want to use a VPN or a proxy server (with --proxy) to workaround."),
    "drm": error("[DRM] The requested site is known to use DRM protection. It will NOT be supported.\n"
        "       Please DO NOT open an issue, unless you have evidence that the video is not DRM protected"),
    "unsupported": error("Unsupported URL: {url}"),
    "photos": error("{prefix}There is no video in this post"),
    "network": error("{prefix}Unable to download webpage: [Errno -3] Temporary failure in name resolution "
        "(caused by TransportError(\"[Errno -3] Temporary failure in name resolution\"))"),
    "disk-full": error("unable to write data: [Errno 28] No space left on device"),
}
