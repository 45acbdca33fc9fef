"""The queue of the page to save URLs: its rules as tables, with a clock and a server of the test, in a page of the capture server."""

import json

import pytest
from capture_host import CaptureHost
from fake_tools import FakeTools

pytestmark = pytest.mark.one_chromium

MINUTE = 60


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queue")
    with CaptureHost(folder, FakeTools(folder / "tools")) as host:
        yield host


@pytest.fixture
def blank(capture, browser):
    """A document of the capture server without the page's own scripts."""
    browser.allow("Content Security Policy|status of 4|status of 5|ERR_")
    browser.page.goto(f"{capture.started['address']}/openapi.json")
    return browser.page


# Sends a queue in memory at each of the times, in seconds. The outcomes are those of the attempts in turn; the last one stays.
SEND = """async ({ urls, outcomes, times, found = {} }) => {
    const { createSender } = await import("/capture/sender.js");
    let now = 0;
    const queue = urls.map((url, order) => ({ order, id: `id-${order}`, url, status: "pending", attemptCount: 0, notBefore: 0, why: "", ...found[url] }));
    const posts = [];
    const pauses = [];
    const results = [];
    const shares = {
        tidy: async () => queue.forEach((share) => { if (share.status === "uploading") share.status = "pending"; }),
        all: async () => queue.map((share) => ({ ...share })),
        change: async (id, changes) => void Object.assign(queue.find((share) => share.id === id), changes),
        refuse: async ({ id }) => void queue.splice(queue.findIndex((share) => share.id === id), 1),
    };
    const post = async (share) => {
        posts.push([now, share.url, share.id]);
        return outcomes.length > 1 ? outcomes.shift() : outcomes[0];
    };
    const send = createSender({ shares, post, settings: () => ({ maxRetries: 10, clearConfirmedAfter: 86400 }), now: () => now * 1000,
        pause: async (milliseconds) => { pauses.push(milliseconds); now += milliseconds / 1000; } });
    for (const time of times) {
        const [at, isReachable] = [time].flat();
        now = Math.max(now, at);
        results.push((await send(isReachable === true)).kind);
    }
    return { posts, pauses, results, queue: queue.map(({ url, status, attemptCount, why }) => [url, status, attemptCount, why]) };
}"""
UNREACHABLE, CONFIRMED = {"kind": "unreachable"}, {"kind": "confirmed", "downloadID": "1"}


def send(blank, urls, outcomes, times, **found):
    return blank.evaluate(SEND, {"urls": urls, "outcomes": outcomes, "times": times, "found": found})


def test_waits_are_0_30_s_2_min_5_min_and_there_are_10_attempts(blank):
    """As published. Then only a person retries."""
    found = send(blank, ["a"], [UNREACHABLE], list(range(0, 3600 * 3, 10)))
    gaps = [later[0] - earlier[0] for earlier, later in zip(found["posts"], found["posts"][1:])]
    assert found["posts"][0][0] == 0
    assert gaps == [30, 2 * MINUTE, *[5 * MINUTE] * 7]
    assert found["queue"] == [["a", "failed", 10, "unreachable"]]


def test_queue_is_sent_in_order_one_second_apart(blank):
    found = send(blank, ["a", "b", "c"], [CONFIRMED], [0])
    assert [url for _, url, _ in found["posts"]] == ["a", "b", "c"]
    assert found["pauses"] == [1000, 1000]
    assert [row[1] for row in found["queue"]] == ["confirmed"] * 3


def test_nothing_overtakes_what_waits_for_the_server(blank):
    """The others cost no attempt, however often the page starts. When the server responds again, nothing waits any more."""
    found = send(blank, ["a", "b"], [UNREACHABLE, CONFIRMED], [0, 1, 2, 29, [29, True]])
    assert [(time, url) for time, url, _ in found["posts"]] == [(0, "a"), (29, "a"), (30, "b")]
    assert found["posts"][0][2] == found["posts"][1][2] == "id-0"
    assert found["results"] == ["waiting"] * 4 + ["empty"]


def test_error_of_the_server_lets_the_others_pass(blank):
    found = send(blank, ["a", "b"], [{"kind": "failed", "seconds": 0, "message": "busy"}, CONFIRMED], [0])
    assert [url for _, url, _ in found["posts"]] == ["a", "b"]
    assert found["queue"] == [["a", "pending", 1, "failed"], ["b", "confirmed", 1, ""]]


def test_the_hundred_and_first_share_waits_without_an_attempt(blank):
    """429 with Retry-After. What comes after it waits, too."""
    found = send(blank, ["a", "b"], [{"kind": "wait", "seconds": 100, "message": "too many"}, CONFIRMED], [0, 50, [60, True], 99, 100])
    assert [(time, url) for time, url, _ in found["posts"]] == [(0, "a"), (100, "a"), (101, "b")]
    assert [row[2] for row in found["queue"]] == [1, 1]


def test_what_the_server_can_never_accept_leaves_the_queue(blank):
    found = send(blank, ["a", "b"], [{"kind": "refused", "message": "Invalid URL format"}, CONFIRMED], [0])
    assert found["queue"] == [["b", "confirmed", 1, ""]]


@pytest.mark.parametrize("kind", ["key", "forbidden"])
def test_a_wrong_key_stops_everything_until_a_person_acts(blank, kind):
    found = send(blank, ["a", "b"], [{"kind": kind, "message": "?"}], [0, 1, [600, True]])
    assert found["results"] == ["stopped"] * 3
    assert len(found["posts"]) == 1
    assert found["queue"] == [["a", "pending", 0, kind], ["b", "pending", 0, ""]]


def test_share_of_a_page_that_ended_is_sent_again_with_the_same_key(blank):
    found = send(blank, ["a"], [CONFIRMED], [0], a={"status": "uploading", "attemptCount": 1})
    assert found["posts"] == [[0, "a", "id-0"]]
    assert found["queue"] == [["a", "confirmed", 2, ""]]


def error(code, message="?"):
    return json.dumps({"success": False, "status": "error", "error": code, "message": message, "request_id": "1", "detail": message})


ANSWERS = [
    (201, "application/json", '{"success": true, "download_id": "d1"}', {}, {"kind": "confirmed", "downloadID": "d1", "isSavedBefore": False}),
    (201, "application/json", '{"success": true, "download_id": "d1", "saved_before": "2025-11-18T02:30:00Z"}', {},
     {"kind": "confirmed", "downloadID": "d1", "isSavedBefore": True}),
    (200, "text/html", "<!doctype html><title>Router</title>", {}, {"kind": "foreign"}),
    (404, "text/html", "<h1>Not found</h1>", {}, {"kind": "foreign"}),
    (401, "text/html", "<h1>Log in</h1>", {}, {"kind": "foreign"}),
    (500, "text/plain", "", {}, {"kind": "foreign"}),
    (201, "application/json", '{"success": true, "downlo', {}, {"kind": "foreign"}),
    (201, "application/json", '{"success": true, "download_id": 7}', {}, {"kind": "foreign"}),
    (201, "application/json", "null", {}, {"kind": "foreign"}),
    (500, "application/json", error("internal_error", "an error"), {}, {"kind": "failed", "seconds": 0, "message": "an error"}),
    (503, "application/json", error("busy", "locked"), {"Retry-After": "7"}, {"kind": "failed", "seconds": 7, "message": "locked"}),
    (400, "application/json", error("invalid_parameter", "Invalid URL format"), {}, {"kind": "refused", "message": "Invalid URL format"}),
    (422, "application/json", error("invalid_parameter", "Unsupported"), {}, {"kind": "refused", "message": "Unsupported"}),
    (409, "application/json", error("conflict", "removed"), {}, {"kind": "refused", "message": "removed"}),
    (401, "application/json", error("unauthorized", "key"), {}, {"kind": "key", "message": "key"}),
    (403, "application/json", error("forbidden", "no"), {}, {"kind": "forbidden", "message": "no"}),
    (429, "application/json", error("rate_limited", "many"), {"Retry-After": "120"}, {"kind": "wait", "seconds": 120, "message": "many"}),
]
POST = """async (share) => (await import("/capture/post.js")).post(share, "a-key-of-this-device")"""
SHARE = {"id": "5e3b5a2e-0000-4000-8000-000000000001", "url": "https://quay.example/film", "request": {"options": {"height": 720}}}


def answering(status, kind, body, headers):
    return lambda route: route.fulfill(status=status, body=body, headers={**headers, "Content-Type": kind})


def test_each_answer_is_told_apart(blank):
    """Of the server, and of other programs that have its address now."""
    for status, kind, body, headers, expected in ANSWERS:
        blank.route("**/download", answering(status, kind, body, headers))
        with blank.expect_request("**/download") as sent:
            assert blank.evaluate(POST, SHARE) == expected, (status, body)
        assert sent.value.headers["idempotency-key"] == SHARE["id"]
        assert sent.value.headers["authorization"] == "Bearer a-key-of-this-device"
        assert sent.value.post_data_json == {"url": SHARE["url"], "options": {"height": 720}}
        blank.unroute("**/download")
    blank.route("**/download", lambda route: route.abort())
    assert blank.evaluate(POST, SHARE) == {"kind": "unreachable"}


LONG = "https://quay.example/" + "a" * 2028
TABLES = {
    ("waits", "retryAfter"): [("120", 0, 120), ("Thu, 01 Jan 1970 00:01:00 GMT", 10_000, 50), ("soon", 0, 0), (None, 0, 0), ("-5", 0, 0)],
    ("companions", "stepReached"): [(None, 0, 0), (0, 1.9, 0), (0, 2, 2), (2, 3.99, 2), (2, 4, 4), (4, 3, 4), (98, 100, 100), (6, None, 6)],
    ("preferences", "minutesOf"): [("5,8", [5, 8]), ("8, 5,5", [5, 8]), ("", []), ("x,0,-1,2.5", [2.5])],
    ("urls", "problemOf"): [
        ("https://quay.example/", "", ""), (LONG, "", "too-long"), (LONG[:-1], "", ""), ("https://ana@quay.example/", "", "user-info"),
        ("https://[quay", "", "malformed"), ("https://www.tiktok.com/@a/video/1", "tiktok.com", ""), ("https://tiktok.com/", "TikTok.com, x.com", ""),
        ("https://eviltiktok.com/", "tiktok.com", "domain"), ("https://tiktok.com.evil.example/", "tiktok.com", "domain"),
    ],
    ("connection", "readPayload"): [
        ('{"lan":"192.168.1.119:58443","wan":"68.186.221.57:58443","protocol":"http","key":"0123456789abcdef","v":"2.0"}',
         {"key": "0123456789abcdef", "lan": "192.168.1.119:58443", "wan": "68.186.221.57:58443", "protocol": "http", "fingerprint": ""}),
        ('{"lan":"a.local:8443","protocol":"https","v":"2.0","fp":"AB:CD"}',
         {"key": "", "lan": "a.local:8443", "wan": "", "protocol": "https", "fingerprint": "AB:CD"}),
        ('{"lan":"192.168.1.119:58443","protocol":"http","v":"3.0"}', {"problem": "later"}),
        ('{"protocol":"http","v":"2.0"}', {"problem": "no-lan"}), ('{"lan":"a/b","protocol":"http","v":"2.0"}', {"problem": "no-lan"}),
        ('{"lan":"a:1","protocol":"http","v":"2.0","key":"short"}', {"problem": "no-key"}),
        ('{"lan":"a:1","protocol":"javascript","v":"2.0"}', {"problem": "foreign"}), ("WIFI:T:WPA;S:home;P:secret;;", {"problem": "foreign"}),
        ("https://quay.example/", {"problem": "foreign"}), ("null", {"problem": "foreign"}), ("", {"problem": "foreign"}),
    ],
}


@pytest.mark.parametrize("path, name", TABLES, ids=lambda part: part)
def test_function(blank, path, name):
    """The last column is the expected result."""
    rows = TABLES[path, name]
    results = blank.evaluate("""async ([path, name, rows]) => {
        const { [name]: call } = await import(`/capture/${path}.js`);
        return rows.map((row) => call(...row));
    }""", [path, name, [row[:-1] for row in rows]])
    assert [(row, result) for row, result in zip(rows, results, strict=True) if row[-1] != result] == []


def test_a_link_for_a_device_is_read_again(blank):
    """The fragment of the code for the camera is base64url (RFC 4648 §5) without padding."""
    payload = {"key": "0123456789abcdef?~", "lan": "192.168.1.5:8443", "wan": "", "protocol": "https", "fingerprint": "AB"}
    link, again = blank.evaluate("""async (payload) => {
        const { linkFor, readPayload } = await import("/capture/connection.js");
        const link = linkFor(payload);
        return [link, readPayload(link)];
    }""", payload)
    assert link.startswith("https://192.168.1.5:8443/#connect=") and "=" not in link.partition("#connect=")[2]
    assert again == payload


@pytest.mark.parametrize("fields, allowed, expected", [
    ({"url": "https://quay.example/film"}, "", "https://quay.example/film"),
    ({"title": "Film", "text": "Look: https://quay.example/film. Fine!"}, "", "https://quay.example/film"),
    ({"title": "https://quay.example/t", "text": "no URL"}, "", "https://quay.example/t"),
    ({"text": "https://a.example/1 and https://b.example/2"}, "", "https://a.example/1"),
    ({"text": "https://a.example/1 and https://b.example/2"}, "b.example", ""),
    ({"text": "call me"}, "", ""), ({"url": "mailto:ana@quay.example"}, "", ""), ({"url": "javascript:alert(1)"}, "", ""),
    ({"url": LONG}, "", ""), ({}, "", ""), ({"text": "<b>https://quay.example/b</b>"}, "", "https://quay.example/b"),
])
def test_what_other_apps_share_is_read(blank, fields, allowed, expected):
    assert blank.evaluate("""async ([fields, allowed]) => (await import("/capture/urls.js")).sharedURL(new URLSearchParams(fields), allowed)""",
        [fields, allowed]) == expected


def test_days_have_names(blank):
    """Across the end of daylight saving time, too: noon of the day before is yesterday."""
    names = blank.evaluate("""async () => {
        await import("/app/messages/en/capture.js");
        const { dayName } = await import("/capture/days.js");
        const now = new Date(2026, 9, 25, 23, 30).getTime();
        return [[25, 0], [24, 23], [24, 0], [23, 23]].map(([day, hour]) => dayName(new Date(2026, 9, day, hour, 10).getTime(), now));
    }""")
    assert names[:3] == ["Today", "Yesterday", "Yesterday"]
    assert names[3].replace(",", "") == "Friday 23 October 2026"
