"""Tables of inputs and results for functions of the web app. All run in one empty library."""

import re
from collections import defaultdict

import pytest

from support.browser import Browser
from support.host import Host
from support.modules import APP, closure, keys, later, message_files, modules, text

# A key of a message file, and its text as JSON.
PAIR = re.compile(r'^    "([^"]+)": ("(?:[^"\\]|\\.)*"),$', re.MULTILINE)
CALL = """async ([path, name, rows, messages]) => {
    await Promise.all(messages.map((file) => import(`/app/messages/en/${file}`)));
    const { [name]: call } = await import(`/app/${path}.js`);
    return rows.map((row) => call(...row) ?? null);
}"""


@pytest.fixture(scope="module")
def library(playwright, tmp_path_factory):
    """A page with an empty library."""
    folder = tmp_path_factory.mktemp("modules")
    host = Host(folder)
    browser = Browser(playwright, folder / "profile")
    try:
        browser.page.goto(host.start().home)
        yield browser.page
        browser.check()
    finally:
        browser.close()
        host.stop()


TABLES = {
    ("core/captures", "completeURL"): [
        ("example.com", "https://example.com/"),
        ("  example.com/a b ", "https://example.com/a b"),
        ("example.com:8080", "https://example.com:8080/"),
        ("example.com?q", "https://example.com?q"),
        ("//example.com/a", "https://example.com/a"),
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.com", "HTTPS://Example.com/"),
        ("http://example.com?q", "http://example.com?q"),
        (r"http:\\example.com\a?b=\c", r"http://example.com/a?b=\c"),
        (r"\\example.com\a#\b", r"https://example.com/a#\b"),
        ("ftp://example.com", "ftp://example.com"),
        ("file:///snapshot.html", "file:///snapshot.html"),
        ("urn:isbn:0451450523", "urn:isbn:0451450523"),
        ("mailto:a@example.com", "mailto:a@example.com"),
    ],
    ("core/captures", "encodedURL"): [
        ("https://example.com/café", "https://example.com/caf%C3%A9"),
        ("https://müller.example/", "https://xn--mller-kva.example/"),
        ("not a URL", "not a URL"),
    ],
    ("search/url-captures", "isURL"): [
        ("https://example.org/", True), ("example.org", True), ("example.org:8080/a?b", True), ("example.org/*", True),
        ("*.example.org", True), ("müller.example/a", True), ("file:///a.html", True), ("limpet", False), ("3.14", False),
        ("low tide", False), ("https://a.example and b", False), ("site:reef.example", False), ("limp*", False),
        ('"reef.example"', False), ("e.g.", False), ("", False),
    ],
    ("core/times", "timeOf"): [
        ("20240503101500", "2024-05-03T10:15:00Z"), ("20240503101500123", "2024-05-03T10:15:00Z"), ("2024", ""), ("", ""),
    ],
    ("core/routes", "searchURL"): [
        ({"words": "low tide"}, "/#search=low%20tide"), ({"words": ""}, "/#search="),
        ({"words": "a+b&c=#d%", "in": "x,y"}, "/#search=a%2Bb%26c%3D%23d%25&in=x%2Cy"),
        ({"words": "a", "type": "", "before": "2020"}, "/#search=a&before=2020"),
    ],
    ("core/i18n", "message"): [
        ("count.pages", {"n": 1}, "1 page"), ("count.pages", {"n": 0}, "0 pages"), ("count.pages", {"n": 2041}, "2,041 pages"),
        ("library.remove-filter", {"text": "{n} <b>x</b>"}, "Remove filter: {n} <b>x</b>"),
        ("library.empty-terminal", {}, "From a terminal: replayhost import crawl.wacz"),
        ("removal.linked", {"n": 2}, "2 linked files stay where they are. Their titles, tags and notes are deleted."),
    ],
    ("core/captures", "fragmentOf"): [
        ("https://example.com/#a#b", "#a#b"), ("https://example.com/#", ""), ("https://example.com/", ""),
    ],
    ("core/captures", "withoutFragment"): [
        ("https://example.com/?q#a\nb", "https://example.com/?q"), ("https://example.com/", "https://example.com/"),
    ],
    ("core/captures", "slashHint"): [
        ("https://a.example/b", "https://a.example/b/", "Showing https://a.example/b/ (the archive has it with a slash)."),
        ("https://a.example/b/", "http://a.example/b", "Showing http://a.example/b (the archive has it without a slash)."),
        ("https://a.example/b?q#f", "https://www.a.example/b/", ""),
        ("https://a.example/b", "https://a.example/b", ""),
        ("https://a.example", "https://a.example/", ""),
    ],
    ("core/hosts", "hostOf"): [
        ("https://a.example:8080/b", "a.example"), ("urn:isbn:0451450523", ""), ("not a URL", ""),
    ],
    ("core/captures", "isPDF"): [
        ({"mime": "application/pdf", "status": 200}, True), ({"mime": "application/pdf"}, True),
        ({"mime": "application/pdf", "status": 404}, False), ({"mime": "text/html", "status": 200}, False), (None, False),
        # The record counts.
        ({"mime": "application/pdf", "status": 200, "recorded": {"mime": "text/html"}}, False),
        ({"mime": "text/html", "status": 404, "recorded": {"mime": "application/pdf", "status": 200}}, True),
    ],
    ("core/captures", "sameDocument"): [
        ("https://a.example/#b", "https://a.example/#c", True), ("https://a.example/", "https://a.example/?q", False),
    ],
    ("core/captures", "decodeName"): [
        ("https://a.example/caf%C3%A9.pdf?q#f", "café.pdf"), ("https://a.example/b/", "b"),
        ("https://a.example/100%.pdf", "100%.pdf"),
    ],
    ("core/dom", "plain"): [
        ("  a\nb\tc\u0000d\u2028e ", "a b c d e"),
        ("a\u202eb\u200fc", "abc"),
        ("abcd", 3, "ab…"), ("abc", 3, "abc"), ("😀😀😀", 2, "😀…"),
        (None, ""), (12, "12"),
    ],
    ("core/text", "plainURL"): [
        ("https://a.example/\u200b\u202e b\u2800", "https://a.example/%E2%80%8B%E2%80%AE%20b%E2%A0%80"),
        ("https://a.example/é", "https://a.example/é"),
        ("https://a.example/caf%C3%A9%2F%20%c3%a9?q=%26", "https://a.example/café%2F%20é?q=%26"),
        ("https://a.example/%E4%FC/%E2%80%AE", "https://a.example/%E4%FC/%E2%80%AE"),
        ("abcd", 3, "ab…"),
    ],
    ("core/text", "exactURL"): [
        ("https://a.example/caf%C3%A9\u200b", "https://a.example/caf%C3%A9%E2%80%8B"),
    ],
    ("core/captures", "isWords"): [
        ("tides", True), ("reef tides", True), ("wörter", True), ("a.example", False), ("a.example/x y", False),
        ("https://tides", False), ("localhost:8080", False), ("mailto:a b", False), ("/tides", False),
    ],
    ("core/captures", "captureNote"): [
        ({"status": 200}, ""), ({"status": 404}, "The site answered 404."),
        ({"status": 200, "request": "https://a.example/?__wb_method=POST"}, "This is the answer to a form."),
        ({"status": 500, "request": "x"}, "This is the answer to a form. The site answered 500."), ({}, ""),
    ],
    ("core/text", "plainLines"): [
        (" a\r\nb\u202e\rc\n\n", "a\nb\nc"), ("a\nb\nc", 2, "a\nb"), (None, ""),
    ],
    ("core/format", "number"): [(1234567, "1,234,567")],
    ("core/format", "size"): [
        (0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (9949, "9.9 kB"), (9950, "10 kB"), (999_499, "999 kB"),
        (999_500, "1.0 MB"), (1_400_000_000, "1.4 GB"), (10**15, "1000 TB"),
    ],
    ("core/format", "day"): [("2026-11-21T01:27:35+02:00", "20 November 2026"), ("not a time", "not a time")],
    ("core/format", "moment"): [("2026-11-20T23:27:35Z", "20 November 2026, 23:27 UTC"), ("not a time", "not a time")],
    ("core/times", "exactMoment"): [("2026-11-20T23:27:35Z", "20 November 2026, 23:27:35 UTC"), ("not a time", "not a time")],
    ("core/times", "span"): [
        ("2024-02-01T00:00:00Z", "2024-02-01T23:59:59Z", "1 February 2024"),
        ("2024-02-01T00:00:00Z", "2024-02-02T00:00:00Z", "1 February 2024 – 2 February 2024"),
        ("2024-02-01T00:00:00Z", None, "1 February 2024"), (None, "2024-02-01T00:00:00Z", "1 February 2024"),
        (None, None, ""),
    ],
    ("core/routes", "mainURL"): [
        ({"kind": "archive", "id": "a"}, "/?archive=/archives/a.wacz"), ({"kind": "collection", "id": "g"}, "/?collection=g"),
        ({"kind": "archive", "id": "a b&c"}, "/?archive=/archives/a%20b%26c.wacz"),
    ],
    ("core/routes", "tabURL"): [
        ({"kind": "collection", "id": "g"}, "/?collection=g#view=overview"),
        ({"kind": "archive", "id": "a"}, "urls", {"q": "*.pdf", "type": ""}, "/?archive=/archives/a.wacz#view=urls&q=*.pdf"),
    ],
    ("core/routes", "pageURL"): [
        ({"kind": "collection", "id": "g"}, "https://a.example/?b&c#d", "2024",
         "/?collection=g#url=https%3A%2F%2Fa.example%2F%3Fb%26c%23d&ts=2024"),
        ({"kind": "collection", "id": "g"}, "urn:b", "/?collection=g#url=urn%3Ab&ts="),
    ],
    ("core/routes", "compareURL"): [
        ({"kind": "archive", "id": "a"}, "https://a.example/?b&c#d", {"a": "2023", "b": "20240503101500", "as": "source"},
         "/?archive=/archives/a.wacz#compare=https%3A%2F%2Fa.example%2F%3Fb%26c%23d&a=2023&b=20240503101500&as=source"),
        ({"kind": "collection", "id": "g"}, "urn:b", {}, "/?collection=g#compare=urn%3Ab&a=&b=&as=text"),
    ],
    ("core/search-words", "withWords"): [
        ("/?collection=g#url=urn%3Ab&ts=", 'a&b "c"', "/?collection=g#url=urn%3Ab&ts=&words=a%26b%20%22c%22"), ("/?archive=a", "", "/?archive=a"),
    ],
    ("core/routes", "libraryURL"): [
        ({"tag": ["a & b", "c"]}, "/#tag=a%20%26%20b&tag=c"), ({}, "/#"),
        ({"q": "x", "state": "issues,damaged", "sort": "-size", "as": "list", "year": ""},
         "/#q=x&state=issues%2Cdamaged&sort=-size&as=list"),
    ],
    ("replay/setup-texts", "stepText"): [
        ("engine", "Starting the replay engine…"), ("file", 12.4, "Checking the file… 12 %"),
        ("file", 0, "Checking the file…"), ("file", 100, "Checking the file…"), ("toString", ""),
    ],
}


@pytest.mark.parametrize("path, name", TABLES, ids=lambda part: part)
def test_function(library, path, name):
    """The last column is the expected result."""
    rows = TABLES[path, name]
    results = library.evaluate(CALL, [path, name, [row[:-1] for row in rows], [file.name for file in message_files()]])
    differences = [(row, result) for row, result in zip(rows, results, strict=True) if row[-1] != result]
    assert differences == []


SERVER = "http://localhost:8080"
ROUTES = [
    ("/", {"kind": "library", "filter": {"tag": []}}),
    ("/#tag=a%20b&tag=c&tag=&q=x&year=2024&other=y", {"kind": "library", "filter": {"tag": ["a b", "c"], "q": "x", "year": "2024"}}),
    ("/#activity", {"kind": "activity"}),
    ("/#settings=", {"kind": "settings"}),
    ("/#search=", {"kind": "search", "search": {"words": ""}}),
    ("/#search=low+tide%20%2B&in=a%2Cb&site=&before=2020&other=x",
     {"kind": "search", "search": {"words": "low tide +", "in": "a,b", "before": "2020"}}),
    ("/?archive=/archives/a.wacz", {"kind": "archive", "name": "a", "view": "main"}),
    ("/?archive=/archives/a.wacz#view=urls&q=%2A.pdf&match=pattern&status=",
     {"kind": "archive", "name": "a", "view": "urls", "filter": {"q": "*.pdf", "match": "pattern"}}),
    ("/?archive=/archives/a%2520b.wacz&replay=ranges", {"kind": "archive", "name": "a b", "view": "main"}),
    ("/?archive=http://127.0.0.1:8080/archives/a.wacz#view=pages", {"kind": "archive", "name": "a", "view": "pages", "filter": {}}),
    ("/?archive=/archives/a.wacz#url=http%3A%2F%2Fb.example%2F%23c&ts=2024-01",
     {"kind": "archive", "name": "a", "view": "page", "url": "http://b.example/#c", "timestamp": "202401"}),
    ("/?archive=/archives/a.wacz#url=urn%3Ab&ts=&words=a%26b%20%22c%22",
     {"kind": "archive", "name": "a", "view": "page", "url": "urn:b", "timestamp": "", "words": 'a&b "c"'}),
    ("/?archive=/archives/a.wacz#compare=http%3A%2F%2Fb.example%2F&a=2023-05&b=&as=pages",
     {"kind": "archive", "name": "a", "view": "compare", "url": "http://b.example/", "a": "202305", "b": "", "as": "pages"}),
    ("/?collection=g-1#compare=urn%3Ab&as=other",
     {"kind": "collection", "name": "g-1", "view": "compare", "url": "urn:b", "a": "", "b": "", "as": "text"}),
    ("/?collection=g-1#view=other", {"kind": "collection", "name": "g-1", "view": "main"}),
    ("/?group=g-1#view=pages", {"kind": "collection", "name": "g-1", "view": "pages", "filter": {}}),
    ("/?archive=", "no archive given"),
    ("/?archive=/archives/a.zip", "isn't the path of an archive"),
    ("/?archive=/archives/a/b.wacz", "isn't the path of an archive"),
    ("/?archive=/archives/a%25.wacz", "percent sign"),
    ("/?archive=http://[", "isn't a valid URL"),
    ("/?archive=http://a.example:8080/archives/a.wacz", "is on another host"),
    ("/?archive=http://localhost:8081/archives/a.wacz", "is on another host"),
    ("/?archive=https://localhost:8080/archives/a.wacz", "is on another host"),
    ("/?collection=A", "isn't a valid collection ID"),
]


def test_routes_are_read(library):
    routes = library.evaluate("""async (addresses) => {
        const { readRoute } = await import("/app/core/routes.js");
        return addresses.map((address) => readRoute(new URL(address)));
    }""", [SERVER + address for address, _ in ROUTES])
    for (address, expected), route in zip(ROUTES, routes, strict=True):
        if isinstance(expected, str):
            assert route["kind"] == "unknown" and expected in route["reason"], address
        else:
            assert route == expected, address


SLOTS = """async ([key, values]) => {
    await import("/app/messages/en/library-actions.js");
    const { messageParts } = await import("/app/core/i18n.js");
    const place = document.createElement("p");
    place.append(...messageParts(key, values));
    return place.innerHTML;
}"""


def test_values_of_messages_are_never_markup(library):
    assert library.evaluate(SLOTS, ["library.empty-terminal", {}]) == "From a terminal: <code>replayhost import crawl.wacz</code>"
    assert library.evaluate(SLOTS, ["library.none-match", {"words": "<b>{n}</b>"}]) == "No archives match “&lt;b&gt;{n}&lt;/b&gt;”."


def test_every_message_is_used_and_exists():
    """Keys are written out, or begin with a template's first part. Each is in one file, and a file is sorted."""
    files = message_files()
    known = [key for found in files.values() for key in found]
    assert len(known) == len(set(known)), "messages in two files"
    assert [path.name for path, found in files.items() if found != sorted(found)] == [], "files that aren't sorted"
    source = "".join(map(text, modules() + [path for path in (APP.parent / "capture").rglob("*") if path.suffix in (".js", ".html")]))
    assert set(known) - keys(source, set(known)) == set(), "unused messages"
    asked = set(re.findall(r'message(?:Parts)?\("([^"]+)"', source))
    assert asked - set(known) == set(), "messages that don't exist"


PAGES = [APP / "main.js", APP / "docs/library-docs.js", *(APP.parent / "capture" / name for name in ("main.js", "docs.js", "admin/main.js"))]


@pytest.mark.parametrize("entry", [*PAGES, *later()], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_module_loads_with_its_messages(entry):
    """Those of all views load with the app."""
    files = message_files()
    known = {key for found in files.values() for key in found}
    loaded = closure(entry) | (frozenset() if entry in PAGES else closure(APP / "main.js"))
    if any(path.name == "language.js" for path in loaded):
        # It loads the texts of one language before everything else.
        loaded |= {APP / "messages/en/capture.js"}
    there = {key for path in loaded for key in files.get(path, [])}
    missing = {path.name: keys(text(path), known) - there for path in closure(entry) if path not in files}
    assert {name: lacking for name, lacking in missing.items() if lacking} == {}


def test_each_text_of_the_page_to_save_urls_is_in_japanese():
    """With the values of the English one. Those of other pages aren't."""
    files = message_files()
    english = {path.name: dict(PAIR.findall(text(path))) for path in files}
    japanese = dict(PAIR.findall(text(APP / "messages/ja/capture.js")))
    expected = english["capture.js"] | english["dialogs.js"]
    assert list(japanese) == sorted(expected)
    # A number that only chooses between singular and plural can be missing, and the word that it chooses.
    values = {key: set(re.findall(r"\{(\w+)\}", re.sub(r"\{n, plural,.*?\}\}", "", words))) for key, words in expected.items()}
    assert [key for key, words in japanese.items() if values[key] - set(re.findall(r"\{(\w+)[,}]", words))] == []


def test_the_language_can_be_chosen(library):
    """Numbers and times follow, and later texts replace earlier ones. The library stays English."""
    written = library.evaluate("""async () => {
        const { addMessages, message, setLanguage } = await import("/app/core/i18n.js");
        const { moment } = await import("/app/core/format.js");
        const before = [message("count.pages", { n: 1 }), document.documentElement.lang];
        addMessages({ "count.pages": "{n, plural, other {#ページ}}" });
        setLanguage("ja");
        const written = [message("count.pages", { n: 1234 }), moment("2026-11-20T23:27:35Z"), document.documentElement.lang];
        addMessages({ "count.pages": "{n, plural, one {# page} other {# pages}}" });
        setLanguage("en");
        return [...before, ...written, message("count.pages", { n: 1 })];
    }""")
    assert written == ["1 page", "en", "1,234ページ", "2026年11月20日, 23:27 UTC", "ja", "1 page"]


def test_views_style_nothing_of_each_other():
    """A style sheet stays when another view is shown, so that none may have a selector of another view."""
    places = defaultdict(set)
    for path in sorted(APP.glob("*/*.css")):
        for selectors in re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", text(path), flags=re.DOTALL)):
            for selector in selectors.split(","):
                places[" ".join(selector.split())].add(path.parent.name)
    views = {path.parent.name for path in APP.glob("*/*.css")} - {"core"}
    shared = {selector: found for selector, found in places.items() if len(found & views) > 1 and not selector.startswith("@")}
    assert places and not shared


def test_urls_keep_the_replay_mode(library):
    made = library.evaluate("""async () => {
        const { chosenMode, mainURL } = await import("/app/core/routes.js");
        const before = location.href;
        const made = ["ranges", "lookups", "other"].map((mode) => {
            history.replaceState(null, "", `/?replay=${mode}`);
            return [chosenMode(location), mainURL({ kind: "archive", id: "a" })];
        });
        history.replaceState(null, "", before);
        return made;
    }""")
    address = "/?archive=/archives/a.wacz"
    assert made == [["ranges", f"{address}&replay=ranges"], ["lookups", f"{address}&replay=lookups"], ["", address]]


def test_only_the_newest_value_waits(library):
    """While an action runs, and after ten actions in a row."""
    seen = library.evaluate("""async () => {
        const { newestOnly } = await import("/app/core/newest.js");
        const seen = [];
        const busy = newestOnly((value) => new Promise((done) => setTimeout(() => done(seen.push(value)))));
        for (const value of ["a", "b", "c"]) busy.add(value);
        seen.push(busy.waiting, busy.isSlow);
        await new Promise((done) => setTimeout(done, 100));
        busy.add("d");
        busy.add("e");
        busy.drop();
        await new Promise((done) => setTimeout(done, 100));

        const flood = newestOnly((value) => void seen.push(value));
        for (let value = 1; value <= 13; value += 1) {
            flood.add(value);
            await null;
            await null;
        }
        seen.push(flood.isSlow, flood.waiting);
        await new Promise((done) => setTimeout(done, 1500));
        return [...seen, flood.waiting];
    }""")
    assert seen == ["c", False, "a", "c", "d", *range(1, 11), True, 13, 13, None]


def test_answers_are_cached(library):
    """Up to a limit, and without failures."""
    fetched = library.evaluate("""async () => {
        const { createCache } = await import("/app/core/newest.js");
        const cache = createCache(2);
        const fetched = [];
        const get = (key) => cache.get(key, async () => {
            fetched.push(key);
            if (key === "failure") throw new Error(key);
            return key;
        }).catch(() => "failed");
        for (const key of ["a", "b", "a", "c", "a"]) await get(key);
        for (const key of ["failure", "failure"]) await get(key);
        cache.clear();
        await get("a");
        return fetched;
    }""")
    assert fetched == ["a", "b", "c", "a", "failure", "failure", "a"]


@pytest.mark.parametrize("code, origin, known, hint", [
    ("workers-refused", "http://a.replayhost.localhost:8080", "workers-refused",
     "Allow it for `[*.]replayhost.localhost` (in Firefox: for `http://replayhost.localhost:8080`)"),
    ("workers-refused", "http://localhost:8081", "workers-refused",
     "Allow it for `localhost` (in Firefox: for `http://localhost:8081`)"),
    ("archive-refused", "http://localhost:8081", "archive-refused", "run `replayhost info my-archive`"),
    ("toString", "http://localhost:8081", "worker-silent", "Reload this page."),
])
def test_setup_failure_texts(library, code, origin, known, hint):
    text = library.evaluate(CALL, ["replay/setup-texts", "failureText", [[code, origin, "my-archive"]], []])[0]
    assert text["code"] == known
    assert hint in text["hint"]
