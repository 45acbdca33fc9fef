"""The character encoding of pages: in replay as in a browser that gets them live."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest
from warcio.statusandheaders import StatusAndHeaders
from writers.captures import WARC
from writers.wacz import Package

from support.expecting import expect
from support.places import FIXTURES
from support.viewer import Viewer

pytestmark = pytest.mark.one_chromium

TIME, SITE = "2024-11-21T09:00:00Z", "http://letters.example"
LINES = [line.split("\t") for line in (FIXTURES / "encodings.tsv").read_text("utf-8").splitlines()[1:]]
# The engine, or the worker before it, converts these to UTF-8.
CONVERTED = ["utf-16le", "utf-16be", "iso-2022-jp"]


def body_of(text):
    """`\\xNN` is a byte, and `{N}` stands for `N` letters."""
    text = re.sub(r"\{(\d+)\}", lambda match: "x" * int(match[1]), text)
    return re.sub(r"\\x(..)", lambda match: chr(int(match[1], 16)), text).encode("latin-1")


DOCUMENTS = {f"/{number}": (name, kind, identified, body_of(body), encoding, text)
    for number, (name, kind, identified, body, encoding, text) in enumerate(LINES)}


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        _, kind, _, body, _, _ = DOCUMENTS[unquote(urlsplit(self.path).path)]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def live():
    """The documents on a website."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def archived(host, tmp_path):
    """The documents in an archive."""
    warc = WARC("letters.warc.gz", TIME)
    for path, (_, kind, identified, body, _, _) in DOCUMENTS.items():
        fields = {"WARC-Identified-Payload-Type": identified} if identified else {}
        head = StatusAndHeaders("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))], protocol="HTTP/1.1")
        warc.add("response", SITE + path, TIME, body, http=head, fields=fields)
    with Package(tmp_path / "letters.wacz", "Letters", created=TIME, main_page=(f"{SITE}/0", TIME)) as package:
        warc.add_to(package)
    host.add(tmp_path / "letters.wacz")
    return host


def test_table_is_what_chromium_shows_live(live, page):
    shown = {}
    for path, (name, _, identified, _, encoding, text) in DOCUMENTS.items():
        if identified:
            continue  # No server sends it.
        page.goto(live + path)
        shown[name] = page.evaluate("() => [document.characterSet.toLowerCase(), document.querySelector('p:last-of-type')?.textContent]")
    assert shown == {name: [encoding.strip("()"), text]
        for name, _, identified, _, encoding, text in DOCUMENTS.values() if not identified}


@pytest.mark.parametrize("mode", ["lookups", "ranges"])
def test_replay_names_the_declared_encoding(archived, page, mode):
    """And leaves the type as it is where the browser guesses. The worker's answers are read, which is quicker than to open each page."""
    page.goto(f"{archived.home}/?archive=/archives/letters.wacz&replay={mode}#url={SITE}/0&ts=")
    viewer = Viewer(page)
    expect(viewer.read("p")).to_have_text(DOCUMENTS["/0"][5])
    collection = archived.archive("letters")["replayCollection"]
    answers = viewer.agent_frame.evaluate("""async ([start, paths]) => {
        const read = async (path) => {
            const answer = await fetch(start + path, { mode: "same-origin" });
            const type = answer.headers.get("content-type");
            const named = /charset=([^;]*)/.exec(type)?.[1] ?? "";
            let decoder;
            try { decoder = new TextDecoder(named); } catch { return [type, "", ""]; } // a label that isn't known
            return [type, decoder.encoding, decoder.decode(await answer.arrayBuffer())];
        };
        return Promise.all(paths.map(read));
    }""", [f"/{collection}/20241121090000mp_/{SITE}", list(DOCUMENTS)])
    wrong = {}
    for (name, sent, _, _, encoding, text), (kind, named, shown) in zip(DOCUMENTS.values(), answers, strict=True):
        if encoding.startswith("("):
            is_right = kind == sent
        else:
            is_converted = named == "utf-8" and encoding in CONVERTED
            is_right = (named == encoding or is_converted) and f">{text}<" in shown
        if not is_right:
            wrong[name] = (kind, encoding, shown[-40:])
    assert wrong == {}
