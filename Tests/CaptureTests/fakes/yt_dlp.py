"""A fake yt-dlp: does what the URL says. Understands the flags that decide where files go and what is printed.

    http://127.0.0.1:PORT/fake/SCRIPT?KEY=VALUE      a site with an extractor of its own
    http://127.0.0.1:PORT/generic/SCRIPT?KEY=VALUE   a site that only the generic extractor takes
    https://www.tiktok.com/…, instagram.com, youtube.com, youtu.be: the extractor of that name; `fake=SCRIPT` in the query

Every other URL is unsupported. Scripts are in `scripts.py`. The first argument is the folder of the fakes, which isn't yt-dlp's.
"""

import hashlib
import json
import os
import re
import signal
import sys
import time
from urllib.parse import parse_qs, urlsplit

import media
from arguments import Arguments
from scripts import SCRIPTS
from template import render, render_print

HOSTS = {"tiktok.com": "TikTok", "instagram.com": "Instagram", "youtube.com": "Youtube", "youtu.be": "Youtube",
    "youtube-nocookie.com": "Youtube"}
# Neither may reach an archive, a log, or an answer.
SECRET_COOKIE, SECRET_SIGNATURE = "sessionid=SECRETCOOKIE", "signature=SECRETSIGNATURE"


class Failure(Exception):
    """Ends with the line `ERROR: …` and code 1."""


class Download:
    """One run of the fake tool."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        loaded = arguments.value("--load-info-json")
        if loaded:
            with open(loaded, encoding="utf-8") as file:
                self.url = json.load(file)["webpage_url"]
        else:
            self.url = arguments.rest[0]
        self.parts = urlsplit(self.url)
        self.query = {name: values[-1] for name, values in parse_qs(self.parts.query).items()}
        self.home = self.temp = os.getcwd()
        for value in arguments.values("-P", "--paths"):
            kind, _, path = value.partition(":") if value.startswith(("home:", "temp:")) else ("home", "", value)
            setattr(self, kind, os.path.join(self.home if kind == "temp" else "", path))
        names = [name for name in arguments.values("-o", "--output") if not re.match(r"[a-z_]+:", name)]
        self.name = names[-1] if names else "%(title)s [%(id)s].%(ext)s"
        self.extractor, self.script = self.choose()
        self.info = self.describe()

    # Extractors

    def choose(self):
        """The extractor and the script of the URL."""
        host = (self.parts.hostname or "").lower()
        known = next((name for suffix, name in HOSTS.items() if f".{host}".endswith(f".{suffix}")), None)
        kind, _, script = self.parts.path.strip("/").partition("/")
        if known:
            extractor, script = known, self.query.get("fake", "ok")
        elif kind in ("fake", "generic") and script in SCRIPTS:
            extractor = "Fake" if kind == "fake" else "Generic"
        else:
            extractor, script = "Generic", "unsupported"
        allowed = ",".join(self.arguments.values("--use-extractors", "--ies")).lower().split(",")
        everything = allowed == [""] or "all" in allowed or "default" in allowed
        name = extractor.lower()
        if f"-{name}" in allowed or not (everything or name in allowed):
            raise Failure(f"No suitable extractor found for URL {self.url}")
        return extractor, script

    @property
    def prefix(self):
        return f"[{self.extractor}] {self.info['id']}: "

    def describe(self):
        """The info dictionary, with secrets as the real one has them."""
        query = self.query
        identifier = query.get("id", hashlib.sha256(self.url.encode()).hexdigest()[:11])
        is_audio = self.arguments.has("-x", "--extract-audio")
        wanted = self.arguments.value("--audio-format") if is_audio else (
            self.arguments.value("--recode-video") or self.arguments.value("--remux-video")
            or self.arguments.value("--merge-output-format"))
        final = re.split(r"[/>]", wanted)[0] if wanted and wanted != "best" else "m4a" if is_audio else "mp4"
        heights = [int(number) for number in re.findall(r"(?:res:~?|height[<=]+\??)(\d+)", " ".join(self.arguments.options))]
        height = min([1080, *heights])
        file_url = f"https://cdn.invalid/{identifier}.mp4?{SECRET_SIGNATURE}"
        return {
            "id": identifier, "title": query.get("title", f"Harbour {identifier}"), "ext": final,
            "extractor": self.extractor.lower(), "extractor_key": self.extractor, "webpage_url": self.url,
            "original_url": self.url, "webpage_url_domain": self.parts.hostname, "uploader": query.get("uploader", "Ana Quay"),
            "uploader_id": "@anaquay", "channel": "Ana Quay", "description": query.get("description", "Ships and a lighthouse."),
            "duration": 12.0, "width": height * 16 // 9, "height": height, "fps": 25, "upload_date": "20251118",
            "timestamp": 1763433000, "vcodec": "none" if is_audio else "avc1.64001f", "acodec": "mp4a.40.2",
            "format_id": "fake-1", "format": "fake-1 - 1080p", "protocol": "https", "url": file_url,
            "filesize": int(query.get("size", 200_000)), "thumbnail": f"https://cdn.invalid/{identifier}.jpg?{SECRET_SIGNATURE}",
            "thumbnails": [{"id": "0", "url": f"https://cdn.invalid/{identifier}.jpg?{SECRET_SIGNATURE}"}],
            "subtitles": {"en": [{"ext": "vtt", "url": f"https://cdn.invalid/{identifier}.vtt?{SECRET_SIGNATURE}"}]},
            "requested_subtitles": None, "automatic_captions": {}, "cookies": f"{SECRET_COOKIE}; Domain=.cdn.invalid",
            "http_headers": {"User-Agent": "Mozilla/5.0", "Cookie": SECRET_COOKIE},
            "formats": [{"format_id": "fake-1", "ext": "mp4", "url": file_url, "height": 1080, "cookies": SECRET_COOKIE}],
            "is_live": False, "was_live": False, "live_status": "not_live", "availability": "public", "age_limit": 0,
            "playlist": None, "playlist_id": None, "playlist_count": None, "playlist_index": None, "n_entries": None,
            "epoch": int(time.time()), "_type": "video", "_version": {"version": "2026.10.26", "repository": "yt-dlp/yt-dlp"},
        }

    # Output

    def out(self, text):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def error(self, text):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    @property
    def is_quiet(self):
        return self.arguments.has("-q", "--quiet") or bool(self.arguments.values("-O", "--print")) or self.dumps

    @property
    def dumps(self):
        return self.arguments.has("-j", "--dump-json", "-J", "--dump-single-json")

    def screen(self, text):
        if not self.is_quiet or self.arguments.has("--no-quiet"):
            self.out(text)

    def prints(self):
        return [(*self.split(value), None) for value in self.arguments.values("-O", "--print")] + [
            (*self.split(value), file) for value, file in self.arguments.pairs("--print-to-file")]

    @staticmethod
    def split(value):
        whens = "pre_process|after_filter|video|before_dl|post_process|after_move|after_video|playlist"
        match = re.fullmatch(rf"({whens}):(.*)", value, re.DOTALL)
        return (match[1], match[2]) if match else ("video", value)

    def print_at(self, when, **more):
        for each, template, file in self.prints():
            if each != when:
                continue
            text = render_print(template, {**self.info, **more})
            if file is None:
                self.out(text)
            else:
                with open(render(file, {**self.info, **more}), "a", encoding="utf-8") as opened:
                    opened.write(text + "\n")

    @property
    def is_simulated(self):
        if self.arguments.has("--no-simulate"):
            return False
        whens = {when for when, _, file in self.prints() if file is None}
        return self.arguments.has("-s", "--simulate") or self.dumps or bool(whens and whens <= {
            "pre_process", "after_filter", "video"})

    def progress(self, done, total, status="downloading", **more):
        values = {"status": status, "downloaded_bytes": done, "total_bytes": total, "total_bytes_estimate": None,
            "speed": 250_000.0, "eta": max(0, (total - done) // 250_000), "elapsed": 1.0, "filename": self.path,
            "tmpfilename": self.part, "_percent": 100 * done / total, "_percent_str": f"{100 * done / total:5.1f}%",
            "_total_bytes_str": f"{total}B", "_speed_str": "244.14KiB/s", "_eta_str": "00:01", **more}
        for value in self.arguments.values("--progress-template"):
            kind, colon, template = value.partition(":")
            if kind not in ("download", "download-title", "postprocess", "postprocess-title"):
                kind, template = "download", value
            if kind == ("postprocess" if "postprocessor" in more else "download"):
                self.out(render(template, {"progress": values, "info": self.info, **values}))

    # Files

    @property
    def path(self):
        return os.path.join(self.home, render(self.name, self.info))

    @property
    def part(self):
        return os.path.join(self.temp, render(self.name, self.info) + ".part")

    def start(self):
        """Everything before the first byte. False if nothing is to be downloaded."""
        self.note("started")
        self.screen(f"[{self.extractor.lower()}] {self.info['id']}: Downloading webpage")
        if self.arguments.has("--write-subs", "--write-sub", "--write-auto-subs"):
            self.info["requested_subtitles"] = {"en": {**self.info["subtitles"]["en"][0],
                "filepath": os.path.splitext(self.path)[0] + ".en.vtt"}}
        for when in ("pre_process", "after_filter", "video"):
            self.print_at(when)
        if self.dumps:
            self.out(json.dumps(self.info))
        if self.is_simulated:
            return False
        self.print_at("before_dl", filename=self.path, _filename=self.path)
        self.screen(f"[download] Destination: {self.path}")
        return True

    def fetch(self, data, seconds=0.0, limit=None):
        """Writes `data` to the part, a bit at a time, after what an earlier run left there."""
        os.makedirs(self.temp, exist_ok=True)
        have = min(os.path.getsize(self.part), len(data)) if os.path.exists(self.part) else 0
        if have:
            self.note("resumed", at=have)
            self.screen(f"[download] Resuming download at byte {have}")
        step = max(1, len(data) // max(4, int(seconds * 10)))
        with open(self.part, "ab") as file:
            while have < (len(data) if limit is None else limit):
                file.write(data[have:have + step])
                file.flush()
                have = min(have + step, len(data))
                self.progress(have, len(data))
                time.sleep(seconds * step / len(data))

    def finish(self):
        """The part gets its name, and the files beside it are written."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        size = os.path.getsize(self.part)
        os.replace(self.part, self.path)
        self.progress(size, size, "finished")
        self.progress(size, size, "started", postprocessor="Merger")
        self.progress(size, size, "finished", postprocessor="Merger")
        self.write_beside()
        self.moved(self.path)

    def write_beside(self):
        base = os.path.splitext(self.path)[0]
        if self.arguments.has("--write-info-json"):
            with open(f"{base}.info.json", "w", encoding="utf-8") as file:
                json.dump(self.info, file)
        if self.arguments.has("--write-subs", "--write-sub"):
            text = self.query.get("subtitles", "The lighthouse was built in 1874")
            with open(f"{base}.en.vtt", "w", encoding="utf-8") as file:
                file.write(f"WEBVTT\n\n00:00:00.000 --> 00:00:04.000\n{text}\n\n")
        if self.arguments.has("--write-thumbnail", "--write-all-thumbnails"):
            with open(f"{base}.jpg", "wb") as file:
                file.write(media.JPEG)

    def moved(self, path, **more):
        self.info["filepath"] = path
        self.print_at("post_process", filepath=path)
        self.print_at("after_move", filepath=path, filename=path, **more)
        self.print_at("after_video", filepath=path)
        self.note("finished")

    def complete(self, seconds=0.0):
        if self.start():
            self.fetch(media.content(self.url, self.info["filesize"], self.info["ext"]), seconds)
            self.finish()

    # What tests read

    def note(self, what, **more):
        line = json.dumps({"what": what, "tool": "yt-dlp", "url": self.url, "pid": os.getpid(), "time": time.time(), **more})
        note(self.folder, line)

    def count(self):
        """How often this was called for this URL, before this time."""
        with open(os.path.join(self.folder, "count-" + hashlib.sha256(self.url.encode()).hexdigest()), "a+b") as file:
            file.write(b"x")
            return file.tell() - 1


def note(folder, line):
    with open(os.path.join(folder, "calls.jsonl"), "a", encoding="utf-8") as file:
        file.write(line + "\n")


def main():
    folder, *given = sys.argv[1:]
    arguments = Arguments(given)
    if arguments.has("--version"):
        with open(os.path.join(folder, "yt-dlp-version"), encoding="utf-8") as file:
            print(file.read().strip())
        return 0
    note(folder, json.dumps({"what": "called", "tool": "yt-dlp", "arguments": given, "pid": os.getpid(), "folder": os.getcwd(),
        "time": time.time()}))
    if not arguments.rest and not arguments.value("--load-info-json"):
        print("Usage: yt-dlp [OPTIONS] URL [URL...]\n\nyt-dlp: error: You must provide at least one URL.", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        download = Download(arguments, folder)
        return SCRIPTS[download.script](download, Failure) or 0
    except Failure as failure:
        print(f"ERROR: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nERROR: Interrupted by user", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
