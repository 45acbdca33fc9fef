"""Puts the same questions to pywb and to our server, over the same archives, and writes a table of the answers.

    python3 -m venv pywb && pywb/bin/pip install pywb==2.10.0
    PYWB=pywb/bin pywb/bin/python Scripts/lib/compare_with_pywb.py sample=Fixtures/sample.wacz [small=FILE] [published=FILE]

`small` is an archive of the test site that the questions name, `published` one that Scoop wrote; questions to an archive that is
not given are left out.

Lines are compared in order by key, timestamp, URL, type, status, digest, offset and length; bodies by their bytes. A
difference that no words below explain is a fault and fails the run.
"""

import hashlib
import json
import re
import sys
import tempfile
from dataclasses import dataclass, field

import pywb_server
import serving

DROPPED = ["filename", "source", "source-coll", "access"]


@dataclass
class Request:
    archive: str
    path: str
    fields: dict = field(default_factory=dict)
    method: str = "GET"
    body: str = ""
    #: Why the answers may differ, and why ours is right.
    why: str = ""
    #: pywb's path where it is another one than ours.
    theirs: str = ""


def cdx(query, archive="small", why=""):
    return Request(archive, f"/cdx?{query}", why=why)


def at(path, archive="small", method="GET", why="", **fields):
    return Request(archive, f"/{path}", fields, method, why=why)


def gate(url, archive="sample", why="", **fields):
    """A request to a TimeGate. pywb's responds without its frame under `id_`, with content negotiation in place."""
    return Request(archive, f"/{url}", fields, why=why, theirs=f"/id_/{url}")


EDGE, DOCS = "http://edge.test", "http://docs.python.test"
CDX = [
    # match types and wildcards
    cdx(f"url={EDGE}/"),
    cdx("url=edge.test/"),
    cdx("url=https://www.edge.test"),
    cdx("url=EDGE.test/GZ"),
    cdx(f"url={EDGE}/q%3Fb%3D2%26a%3D1"),
    cdx(f"url={EDGE}/never"),
    cdx("url=never.test/*"),
    cdx(f"url={EDGE}/q&matchType=prefix"),
    cdx(f"url={EDGE}/*"),
    cdx("url=docs.python.test/_static/*"),
    cdx("url=python.test&matchType=host"),
    cdx("url=docs.python.test&matchType=host"),
    cdx("url=python.test&matchType=domain"),
    cdx("url=*.python.test"),
    cdx("url=*.test"),
    cdx("url=test&matchType=domain"),
    cdx("url=edge.test/page/path&matchType=host"),
    cdx("url=fieldguide.example&matchType=domain", archive="sample"),
    cdx("url=fieldguide.example&matchType=host", archive="sample"),
    cdx("url=http://example.com/", archive="published"),
    cdx("url=*.com", archive="published"),
    # time
    cdx(f"url={EDGE}/&from=2026&to=2026"),
    cdx(f"url={EDGE}/*&from=20261120233040"),
    cdx(f"url={EDGE}/*&to=20261120232735"),
    cdx(f"url={EDGE}/*&from=202611202330&to=202611202330"),
    cdx("url=fieldguide.example/*&from=202405&to=202406", archive="sample"),
    cdx("url=fieldguide.example/*&to=2024", archive="sample"),
    cdx(f"url={EDGE}/*&from=2030"),
    cdx(f"url={EDGE}/*&from=yesterday"),
    # limit and order
    cdx(f"url={EDGE}/*&limit=3"),
    cdx(f"url={EDGE}/*&limit=0"),
    cdx(f"url={EDGE}/*&limit=-1"),
    cdx(f"url={EDGE}/*&limit=many"),
    cdx(f"url={EDGE}/time&sort=reverse"),
    cdx(f"url={EDGE}/*&sort=reverse&limit=5"),
    cdx(f"url={EDGE}/*&reverse=true&limit=1"),
    cdx(f"url={EDGE}/time&closest=20261120233041&limit=1"),
    cdx(f"url={EDGE}/time&closest=20261120233041"),
    cdx(f"url={EDGE}/gz&closest=20261120233041"),
    cdx(f"url={EDGE}/gz&closest=20261120&sort=closest&limit=2"),
    cdx("url=fieldguide.example/&closest=202408&limit=1", archive="sample"),
    cdx("url=fieldguide.example/&closest=19990101000000", archive="sample"),
    cdx("url=fieldguide.example/&sort=upwards", archive="sample"),
    # filters
    cdx(f"url={EDGE}/*&filter=status:404"),
    cdx(f"url={EDGE}/*&filter=%3Dstatus:200&limit=10"),
    cdx(f"url={EDGE}/*&filter=!status:200"),
    cdx(f"url={EDGE}/*&filter=!%3Dstatus:200"),
    cdx(f"url={EDGE}/*&filter=~status:[45]..&filter=mime:html"),
    cdx(f"url={EDGE}/*&filter=~mime:(text|image)/(css|svg)"),
    cdx(f"url={EDGE}/*&filter=!~mime:text/.*"),
    cdx(f"url={EDGE}/*&filter=~url:.*[.](js|css)$"),
    cdx(f"url={EDGE}/*&filter=%3Dmime:warc/revisit"),
    cdx(f"url={EDGE}/*&filter=%3Dstatuscode:301"),
    cdx(f"url={EDGE}/*&filter=%3Dmimetype:text/css"),
    cdx(f"url={EDGE}/*&filter=nothing:x"),
    cdx(f"url={EDGE}/*&filter=revisit"),
    cdx(f"url={EDGE}/*&filter=~status:["),
    # fields and outputs
    cdx(f"url={EDGE}/gz&fl=urlkey,timestamp,status"),
    cdx(f"url={EDGE}/gz&fields=url,timestamp&output=json"),
    cdx(f"url={EDGE}/gz&fl=timestamp,status,mime&output=text"),
    cdx(f"url={EDGE}/gz&fl=timestamp,wrong&output=text"),
    cdx(f"url={EDGE}/gz&output=json"),
    cdx(f"url={EDGE}/gz&output=cdxj"),
    cdx(f"url={EDGE}/gz&output=link"),
    cdx(f"url={EDGE}/gz&output=text"),
    cdx(f"url={EDGE}/gz&output=xml"),
    # pages
    cdx(f"url={EDGE}/*&showNumPages=true"),
    cdx(f"url={EDGE}/*&showNumPages=true&pageSize=1"),
    cdx(f"url={EDGE}/*&page=0&pageSize=1"),
    cdx(f"url={EDGE}/*&page=1"),
    cdx(f"url={EDGE}/*&page=x"),
    # collapse, bad values, POST, non-ASCII, other schemes
    cdx(f"url={EDGE}/gz&collapse=digest"),
    cdx(f"url={EDGE}/*&collapseTime=8"),
    cdx(f"url={EDGE}/gz&resolveRevisits=true"),
    cdx("output=json"),
    cdx("url="),
    cdx("url=%20"),
    cdx(f"url={EDGE}/&matchType=fuzzy"),
    cdx(f"url={EDGE}/post%3F__wb_method%3DPOST%26q%3Done"),
    cdx(f"url={EDGE}/post*"),
    cdx(f"url={EDGE}/post"),
    cdx(f"url={EDGE}/thing"),
    cdx(f"url={EDGE}/caf%C3%A9"),
    cdx(f"url={EDGE}/caf%25C3%25A9/%E6%97%A5%E6%9C%AC"),
    cdx("url=https://fieldguide.example/w%C3%B6rter/fl%C3%BCgelschnecke.html", archive="sample"),
    cdx(f"url=urn:pageinfo:{EDGE}/"),
    cdx("url=file:///screenshot.png", archive="published"),
]
SPRING = "Sat, 01 Jun 2024 12:00:00 GMT"
MEMENTO = [
    at(f"timemap/link/{EDGE}/gz"),
    at(f"timemap/json/{EDGE}/gz"),
    at(f"timemap/cdxj/{EDGE}/gz"),
    at(f"timemap/link/{EDGE}/never"),
    at(f"timemap/json/{EDGE}/never"),
    at("timemap/link/https://fieldguide.example/", archive="sample"),
    at(f"timemap/xml/{EDGE}/gz"),
    gate(f"{EDGE}/time", archive="small"),
    gate("https://fieldguide.example/"),
    gate("https://fieldguide.example/", Accept_Datetime="Mon, 01 Jan 2001 00:00:00 GMT"),
    gate("https://fieldguide.example/", Accept_Datetime="Fri, 03 May 2024 10:15:00 GMT"),
    gate("https://fieldguide.example/", Accept_Datetime=SPRING),
    gate("https://fieldguide.example/", Accept_Datetime="Wed, 21 Aug 2024 12:00:00 GMT"),
    gate("https://fieldguide.example/", Accept_Datetime="Tue, 01 Jan 2030 00:00:00 GMT"),
    gate("https://fieldguide.example/", Accept_Datetime="last week"),
    gate("https://fieldguide.example/guide.css", Accept_Datetime="Tue, 01 Jan 2030 00:00:00 GMT"),
    gate(f"{EDGE}/never", archive="small", Accept_Datetime=SPRING),
    at(f"20261120232735id_/{EDGE}/never"),
    at(f"20261120232735id_/{EDGE}/", Accept_Encoding="identity"),
    at(f"20261120232735id_/{EDGE}/gz"),
    at(f"20261120232735id_/{EDGE}/gz", Accept_Encoding="gzip"),
    at(f"20261120232735id_/{EDGE}/br"),
    at(f"20261120232735id_/{EDGE}/br", Accept_Encoding="gzip, br"),
    at(f"20261120232735id_/{EDGE}/zstd"),
    at(f"20261120232735id_/{EDGE}/zstd", Accept_Encoding="zstd"),
    at(f"20261120232735id_/{EDGE}/deflate"),
    at(f"20261120232735id_/{EDGE}/chunked"),
    at(f"20261120232735id_/{EDGE}/gz-chunked"),
    at(f"20261120232735id_/{EDGE}/r301"),
    at(f"20261120232735id_/{EDGE}/r302"),
    at(f"20261120232735id_/{EDGE}/redirect-relative"),
    at(f"20261120232735id_/{EDGE}/404"),
    at(f"20261120232735id_/{EDGE}/500"),
    at(f"20261120233038id_/{EDGE}/204"),
    at(f"20261120233041id_/{EDGE}/gz"),
    at(f"20261120233042id_/{EDGE}/data.json?dedup=1"),
    at(f"20261120233040id_/{EDGE}/range.mp4"),
    at(f"20261120232736id_/{EDGE}/range.mp4"),
    at(f"20261120232736id_/{EDGE}/range.mp4", Range="bytes=10-19"),
    at(f"20261120232736id_/{EDGE}/range.mp4", Range="bytes=100-"),
    at(f"20261120232736id_/{EDGE}/range.mp4", Range="bytes=0-"),
    at(f"20261120232736id_/{EDGE}/range.mp4", Range="bytes=-10"),
    at(f"20261120232736id_/{EDGE}/range.mp4", Range="bytes=99999999-"),
    at(f"20261120232736id_/{EDGE}/range.mp4", Range="bytes=0-1,5-6"),
    at("20241121090047id_/https://media.fieldguide.example/waves.webm", archive="sample", Range="bytes=1000-1999"),
    at(f"20261120232735id_/{EDGE}/", method="HEAD"),
    at(f"20261120232735id_/{EDGE}/404", method="HEAD"),
    at(f"20261120233039id_/{EDGE}/post?__wb_method=POST&q=one"),
    Request("small", f"/20261120233039id_/{EDGE}/post", {"Content_Type": "application/x-www-form-urlencoded"}, "POST", "q=two"),
    at(f"20261120232736id_/{EDGE}/caf%C3%A9/%E6%97%A5%E6%9C%AC"),
    at(f"20261120233042id_/{EDGE}/resource.html"),
    at(f"20261120233042id_/urn:pageinfo:{EDGE}/"),
    at(f"20261120233041id_/{EDGE}/time"),
    at(f"20261120233039id_/{EDGE}/time"),
    at(f"2026id_/{EDGE}/time"),
    at("20241031154913id_/http://example.com/", archive="published"),
    at("20241031154914id_/file:///screenshot.png", archive="published"),
]
#: What explains a difference, by the query as it stands in the table.
FUZZY = "if nothing matches, pywb lists similar URLs; replayhost lists only captures of the requested URL"
BAD = "replayhost refuses an invalid value with a message, pywb ignores it"
PAGES = "pywb pages only ZipNum indexes and ignores the parameter otherwise; replayhost pages every index"
LOCATION = "pywb's `id_` redirects to the live web, replayhost to the capture of the target"
EXACT = "replayhost redirects to the URL with the exact time of the capture"
WHY = {
    f"/cdx?url={EDGE}/*&from=yesterday": BAD,
    f"/cdx?url={EDGE}/*&limit=-1": BAD,
    f"/cdx?url={EDGE}/*&limit=many": "500 means that the server failed; this request is wrong",
    f"/cdx?url={EDGE}/*&filter=~status:[": "500 means that the server failed; this request is wrong",
    f"/2026id_/{EDGE}/time": EXACT,
    f"/cdx?url={EDGE}/gz&closest=20261120233041": "of two equally close captures, replayhost lists the later first, pywb the earlier",
    "/cdx?url=fieldguide.example/&sort=upwards (sample)": BAD,
    f"/cdx?url={EDGE}/*&filter=nothing:x": FUZZY,
    f"/cdx?url={EDGE}/gz&output=link": "replayhost links to the captures, pywb to the live URLs",
    f"/cdx?url={EDGE}/gz&output=text": "pywb adds fields to some lines, so columns shift; replayhost always prints nine",
    f"/cdx?url={EDGE}/*&showNumPages=true": PAGES,
    f"/cdx?url={EDGE}/*&showNumPages=true&pageSize=1": PAGES,
    f"/cdx?url={EDGE}/*&page=1": PAGES,
    f"/cdx?url={EDGE}/*&page=x": PAGES,
    f"/cdx?url={EDGE}/gz&collapse=digest": "pywb ignores `collapse`; replayhost collapses as the Wayback CDX server does",
    f"/cdx?url={EDGE}/gz&resolveRevisits=true": "replayhost refuses this with a message; mementos resolve revisits",
    f"/cdx?url={EDGE}/post": FUZZY,
    f"/cdx?url={EDGE}/thing": "replayhost lists responses to all methods, pywb those with the plain key (the fourth is a PUT)",
    "/cdx?url=file:///screenshot.png (published)": "pywb searches for `com,file:///…` and misses the capture",
    "/20241031154914id_/file:///screenshot.png (published)": "pywb searches for `com,file:///…` and misses the capture",
    f"/timemap/link/{EDGE}/gz": "pywb links to its own frame (`mp_`) and adds the first time (`from`), which is optional",
    "/timemap/link/https://fieldguide.example/ (sample)":
        "pywb links to its own frame (`mp_`) and adds the first time (`from`), which is optional",
    f"/timemap/xml/{EDGE}/gz": "replayhost has no such URL",
    f"/20261120232735id_/{EDGE}/zstd": "pywb removes `Content-Encoding: zstd` without decoding; replayhost decodes",
    f"/20261120232735id_/{EDGE}/r301": LOCATION,
    f"/20261120232735id_/{EDGE}/r302": LOCATION,
    f"/20261120232735id_/{EDGE}/redirect-relative": LOCATION,
    f"/20261120232736id_/{EDGE}/range.mp4 Range: bytes=-10": "pywb sends the whole body for a suffix range; RFC 9110 §14.1.2",
    f"/20261120232736id_/{EDGE}/range.mp4 Range: bytes=0-1,5-6":
        "of several ranges, pywb sends the first; replayhost sends the whole body, RFC 9110 §14.2",
    f"/20261120233039id_/{EDGE}/time": EXACT,
}


def normal_line(text):
    """A line without the names of WARC files and collections, which differ."""
    brace = text.find("{")
    if brace >= 0:
        try:
            entry = json.loads(text[brace:])
            # pywb gives numbers as its index has them; ours are strings always, as pywb's own indexer writes them.
            return text[:brace] + json.dumps({
                name: str(value) if isinstance(value, int) else value for name, value in entry.items() if name not in DROPPED})
        except ValueError:
            pass
    text = re.sub(r"http://localhost:\d+/(c/)?[^/]+/", "http://HOST/COLL/", text)
    text = re.sub(r'; collection="[^"]*"', "", text)
    return re.sub(r"\S+[.]warc([.]gz)?", "WARC", text)


@dataclass
class Response:
    status: int
    fields: dict
    body: bytes
    is_list: bool
    is_gate: bool

    @classmethod
    def of(cls, port, prefix, request, path):
        path = prefix + path
        status, fields, body = serving.get(port, path, request.method, body=request.body, **request.fields)
        is_list = request.path.startswith(("/cdx", "/timemap"))
        return cls(status, fields, body, is_list, bool(request.theirs))

    @property
    def lines(self):
        lines = [normal_line(line).rstrip(",") for line in self.body.decode(errors="replace").splitlines() if line]
        return lines if self.status < 400 else []

    @property
    def location(self):
        """The capture to which an answer leads, or where it is: timestamp and URL."""
        text = self.fields.get("Location") or self.is_gate and self.fields.get("Content-Location") or ""
        found = re.search(r"/(\d{4,17})(?:[a-z]{2}_)?/(.*)", text)
        return f"{found[1]} {found[2]}" if found else text

    def essence(self):
        if self.status >= 400 and "Memento-Datetime" not in self.fields:
            return (self.status,)
        if self.is_list:
            return (self.status, tuple(self.lines))
        if self.is_gate:
            return self.location
        if self.status == 416:
            return (self.status,)
        return (
            self.status, self.location, self.fields.get("Memento-Datetime"), self.fields.get("Content-Encoding"),
            self.fields.get("Content-Range"), self.body,
        )

    def summary(self):
        if self.status >= 400 and "Memento-Datetime" not in self.fields:
            return str(self.status)
        if self.is_list:
            count = len(self.lines)
            return f"{self.status}, {count} line{'s' * (count != 1)}"
        text = str(self.status)
        if self.location:
            text += f" to {self.location}"
        if self.fields.get("Content-Encoding"):
            text += f", {self.fields['Content-Encoding']}"
        if self.fields.get("Content-Range"):
            text += f", {self.fields['Content-Range']}"
        return f"{text}, {len(self.body):,} bytes {hashlib.md5(self.body).hexdigest()[:6]}"


def shown(request):
    parts = [] if request.method == "GET" else [request.method]
    parts.append(request.path.replace("%3D", "=").replace("%3F", "?").replace("%26", "&"))
    parts += [f"{name.replace('_', '-')}: {value}" for name, value in request.fields.items()]
    if request.body:
        parts.append(f"body {request.body}")
    if request.archive != "small":
        parts.append(f"({request.archive})")
    return " ".join(parts)


def compare(requests, theirs, ours, archives):
    rows, faults = [], []
    for request in requests:
        if request.archive not in archives:
            continue
        left = Response.of(theirs, f"/{request.archive}", request, request.theirs or request.path)
        right = Response.of(ours, f"/c/{archives[request.archive]}", request, request.path)
        is_same = left.essence() == right.essence()
        why = "" if is_same else WHY.get(shown(request), request.why)
        if not is_same and not why:
            faults.append((request, left, right))
        cell = shown(request).replace("|", "\\|")
        rows.append(f"| `{cell}` | {left.summary()} | {right.summary()} | {'yes' if is_same else 'no'} | {why} |")
    return rows, faults


def main(files):
    with tempfile.TemporaryDirectory() as folder:
        archives = {}
        for name, path in (file.split("=", 1) for file in files):
            pywb_server.add(folder, name, path)
            archives[name] = serving.import_file(f"{folder}/store", path)[0]
        with pywb_server.serve(folder) as (_, theirs), serving.serve(f"{folder}/store") as (_, ours):
            tables = [(title, *compare(requests, theirs, ours, archives)) for title, requests in
                      [("Lists of captures", CDX), ("TimeMaps, TimeGates, mementos", MEMENTO)]]
    faults = []
    for title, rows, found in tables:
        same = sum(row.split(" | ")[-2] == "yes" for row in rows)
        print(f"## {title}\n\n{len(rows)} requests, {same} with the same response.\n")
        print("| request | pywb 2.10.0 | replayhost | same | difference |\n| --- | --- | --- | --- | --- |")
        print("\n".join(rows) + "\n")
        faults += found
    for request, left, right in faults:
        print(f"UNEXPLAINED: {shown(request)}", file=sys.stderr)
        for name, response in [("pywb", left), ("ours", right)]:
            print(f"  {name}: {response.summary()} {response.fields.get('Content-Type')}", file=sys.stderr)
            lines = response.lines if response.is_list and response.status < 400 else [response.body[:300].decode(errors="replace")]
            other = (right if response is left else left).lines
            for line in [line for line in lines if line not in other][:4] or lines[:3]:
                print(f"    {line[:300]}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
