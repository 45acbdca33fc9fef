"""Compares explanations of uncaptured URLs with a search of all index lines by other code.

    Scripts/lib/check_explanations.py BINARY FOLDER

Imports the archives of a folder into a temporary store, and asks the server for explanations of up to 300 URLs that captured
pages link to and that the index of their archive doesn't list; then of 300 URLs that only other archives, other queries or
other request methods have. Finds the same facts by reading all index lines with Python, `surt` and `warcio`. Prints how often
each reason comes first, and each difference.
"""

import collections
import gzip
import hashlib
import html.parser
import io
import json
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

from surt import surt
from warcio.archiveiterator import ArchiveIterator

URLS_MAX = 300
INDEX_NAMES = ["index.html", "index.htm", "index.php", "default.htm"]
Line = collections.namedtuple("Line", "key url status method")


class Links(html.parser.HTMLParser):
    """Collects what a page links to and embeds."""

    def __init__(self):
        super().__init__()
        self.urls = []

    def handle_starttag(self, tag, attributes):
        self.urls += [value for name, value in attributes if name in ("href", "src") and value]


def key_of(url):
    try:
        return surt(url, with_scheme=False)
    except Exception:
        return url


def same(key):
    """A key without a trailing slash, which only some indexers drop."""
    path, mark, query = key.partition("?")
    return (path[:-1] if path.endswith("/") and not path.endswith(")/") else path) + mark + query


class Archive:
    """All index lines and pages of a WACZ. Without an index, the headers of the WARC records."""

    def __init__(self, identifier, path):
        self.id = identifier
        self.file = zipfile.ZipFile(path)
        self.warcs = [name for name in self.file.namelist() if name.startswith("archive/")]
        self.lines = [line for name in self.file.namelist()
            if re.match(r"indexes/.*\.cdxj?(\.gz)?$", name) for line in self.index(name)] or list(self.scanned())
        self.captures = collections.defaultdict(list)
        for line in self.lines:
            if line.method == "GET":
                self.captures[same(key_of(line.url))].append(line)

    def index(self, name):
        content = self.file.read(name)
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        for text in content.decode("utf-8", "replace").splitlines():
            match = re.match(r"(\S+) \d{4,17} ?(\{.*)", text)
            try:
                entry = json.loads(match[2]) if match else {}
            except ValueError:
                continue
            if not entry.get("url"):
                continue
            wanted = re.search(r"__wb_method=([a-z]+)", match[1], re.I)
            method = (entry.get("method") or (wanted and wanted[1]) or "GET").upper()
            status = str(entry.get("status", ""))
            yield Line(match[1], entry["url"], int(status) if status.isdigit() else None, method)

    def records(self):
        for name in self.warcs:
            try:
                yield from ArchiveIterator(io.BytesIO(self.file.read(name)))
            except Exception as error:
                print(f"{self.id}: {name}: {error}", file=sys.stderr)

    def scanned(self):
        for record in self.records():
            url = record.rec_headers.get_header("WARC-Target-URI")
            if record.rec_type in ("response", "revisit", "resource") and url:
                status = record.http_headers.get_statuscode() if record.http_headers else ""
                yield Line(key_of(url), url, int(status) if status.isdigit() else None, "GET")

    def has(self, url):
        return same(key_of(url)) in self.captures

    def good(self, url):
        """The captures of a URL that aren't error pages."""
        return [line for line in self.captures.get(same(key_of(url)), []) if (line.status or 0) < 400]

    def uncaptured_links(self):
        found = []
        for record in self.records():
            head = record.http_headers
            if record.rec_type != "response" or not head or "html" not in (head.get_header("Content-Type") or ""):
                continue
            base = record.rec_headers.get_header("WARC-Target-URI")
            links = Links()
            try:
                links.feed(record.content_stream().read().decode("utf-8", "replace"))
            except Exception as error:
                print(f"{self.id}: {base}: {error}", file=sys.stderr)
            for link in links.urls:
                try:
                    url = urllib.parse.urljoin(base, link.strip()).partition("#")[0]
                except ValueError:
                    continue
                if re.match(r"https?://[^/\s]+[^\s]*$", url) and not self.has(url) and url not in found:
                    found.append(url)
        return found


def forms(url):
    """The other forms of a URL, as docs/json.md describes them."""
    parts = urllib.parse.urlsplit(url)
    hosts = [parts.hostname, f"m.{parts.hostname}", f"www.{parts.hostname}"]
    for prefix in ("m.", "www."):
        if parts.hostname.startswith(prefix):
            rest = parts.hostname[len(prefix):]
            hosts = [parts.hostname, rest, f"m.{rest}", f"www.{rest}"]
    folder, _, name = (parts.path or "/").rpartition("/")
    paths = [parts.path or "/"]
    if name.lower() in INDEX_NAMES:
        paths.append(f"{folder}/")
    elif not name:
        paths += [f"{folder}/{each}" for each in INDEX_NAMES]
    ports = {f":{parts.port}" if parts.port else "", ""}
    return [urllib.parse.urlunsplit((parts.scheme, host + port, path, parts.query, ""))
        for host in hosts for port in ports for path in paths]


def facts(archives, archive, url):
    """What all index lines say about a URL that an archive doesn't have."""
    parts = urllib.parse.urlsplit(url)
    plain = same(key_of(urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))))
    queries = {line.url for key, lines in archive.captures.items() if key.partition("?")[0] == plain
        for line in lines if (line.status or 0) < 400}
    methods = [line for line in archive.lines if line.method != "GET"
        and same(key_of(re.sub(r"[?&]__wb_method=.*", "", line.url))) == same(key_of(url))]
    host = re.sub(r"^www\d*\.", "", parts.hostname)
    sites = {line.key for line in archive.lines if re.match(r"https?:", line.url)
        and re.sub(r"^www\d*\.", "", urllib.parse.urlsplit(line.url).hostname or "") == host}
    return {
        "other-archive": sorted(each.id for each in archives if each is not archive and each.good(url)),
        "other-form": sorted({line.url for form in forms(url) for line in archive.good(form)}),
        "other-query": sorted(queries),
        "post-only": len(methods),
        "site": len(sites),
    }


def differences(expected, explanation):
    reasons = {reason["code"]: reason for reason in explanation["reasons"]}
    if len(expected["other-archive"]) != reasons.get("other-archive", {}).get("total", 0):
        yield "other-archive", expected["other-archive"], reasons.get("other-archive")
    listed = [each["archive"] for each in reasons.get("other-archive", {}).get("archives", [])]
    if not set(listed) <= set(expected["other-archive"]):
        yield "other-archive", expected["other-archive"], listed
    if not set(reasons.get("other-form", {}).get("urls", [])) <= set(expected["other-form"]) or \
            ("other-form" in reasons) != bool(expected["other-form"]):
        yield "other-form", expected["other-form"], reasons.get("other-form")
    # A rule for fuzzy matches can find URLs with other paths.
    fuzzy = reasons.get("other-query", {}).get("fuzzyMatch")
    urls = set(expected["other-query"]) | ({fuzzy} if fuzzy else set())
    if len(urls) != reasons.get("other-query", {}).get("total", 0):
        yield "other-query", sorted(urls), reasons.get("other-query")
    if expected["post-only"] != reasons.get("post-only", {}).get("total", 0):
        yield "post-only", expected["post-only"], reasons.get("post-only")
    for code in ("never", "site-not-captured"):
        if code in reasons and reasons[code]["urls"] != expected["site"]:
            yield code, expected["site"], reasons[code]
    if not reasons.keys() & {"never", "site-not-captured"} and not reasons.keys() - {"redirect-lost"}:
        yield "none", expected, explanation


def captured_otherwise(archives, archive):
    """URLs of other archives, of captures without their query, and of other request methods."""
    urls = {line.url for each in archives for line in each.lines if line.method == "GET"}
    urls |= {line.url.partition("?")[0] for line in archive.lines}
    urls |= {re.sub(r"[?&]__wb_method=.*", "", line.url) for line in archive.lines if line.method != "GET"}
    found = [url for url in urls if re.match(r"https?://[^/\s]+[^\s#]*$", url) and not archive.has(url)]
    # In an order that has nothing to do with the URLs.
    return sorted(found, key=lambda url: hashlib.sha256(f"{archive.id} {url}".encode()).digest())


def chosen(lists):
    """Up to `URLS_MAX` URLs, taken from all archives in turn."""
    found = []
    while any(lists) and len(found) < URLS_MAX:
        for urls in lists:
            if urls and len(found) < URLS_MAX:
                found.append(urls.pop(0))
    return found


def check(binary, folder, store):
    subprocess.run([binary, "import", folder, "--store", store, "--quiet"], stderr=subprocess.DEVNULL, check=False)
    listed = subprocess.run([binary, "list", "--json", "--store", store], capture_output=True, check=True).stdout
    archives = []
    for text in listed.splitlines():
        archive = json.loads(text)
        archives.append(Archive(archive["id"], Path(store) / "files" / f"{archive['sha256']}.wacz"))
    server = subprocess.Popen([binary, "serve", "--store", store, "--port", "0", "--json"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    try:
        address = json.loads(server.stdout.readline())["address"]
        linked = chosen([[(archive, url) for url in archive.uncaptured_links()] for archive in archives])
        count = compare(address, archives, linked, "URLs that pages link to")
        others = chosen([[(archive, url) for url in captured_otherwise(archives, archive)] for archive in archives])
        return count + compare(address, archives, others, "URLs that were captured otherwise")
    finally:
        server.terminate()
        server.wait()


def compare(address, archives, urls, title):
    """Prints a table and returns the number of differences."""
    counts, count = collections.Counter(), 0
    for archive, url in urls:
        query = urllib.parse.urlencode({"url": url}, quote_via=urllib.parse.quote)
        with urllib.request.urlopen(f"{address}/api/archives/{archive.id}/explain?{query}") as answer:
            explanation = json.load(answer)
        counts[explanation["code"]] += 1
        for code, expected, found in differences(facts(archives, archive, url), explanation):
            count += 1
            print(f"{archive.id} {url}\n  {code}: expected {expected}\n  found {found}")
    print(f"{len(urls)} {title}, in {len(archives)} archives: {count} differences")
    for code, number in counts.most_common():
        print(f"{number:5} {code}")
    return count


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        sys.exit(1 if check(sys.argv[1], sys.argv[2], store) else 0)
