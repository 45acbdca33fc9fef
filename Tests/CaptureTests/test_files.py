"""Documents, fetched by curl from a website on this computer."""

import gzip
import io
import shutil
import time
import zipfile
from urllib.parse import urlencode

import contents
import decoders
import pytest
from capture_host import FAST_RETRIES, CaptureHost
from fake_tools import FakeTools
from website import EPUB, LARGE_PDF, PDF


def expect_saved(host, url, genre, data, ending, username="files"):
    """The URL becomes a file with this content, and an archive with its head and body as received. Returns the row."""
    row = host.wait_for(host.add(url, username=username), "completed")
    decoders.own_status(row)
    assert (row["genre"], row["status"], row["file_size"]) == (genre, "completed", len(data)), row
    assert row["file_path"].endswith(ending) and "/" not in row["file_path"]
    path = host.downloads / username / genre / row["file_path"]
    assert path.read_bytes() == data
    records = warc_records(host, row)
    responses = [record for record in records if record.rec_type == "response"]
    assert sum(record.body == data for record in responses) == 1, [(record.uri, len(record.body)) for record in responses]
    assert {record.uri for record in records if record.rec_type == "request"} == {record.uri for record in responses}
    return row


def warc_records(host, row):
    status, _, data = host.request("GET", f"/download/{row['download_id']}/archive")
    assert status == 200
    return contents.warc_records(data)


def ordinary(website, name, kind, body):
    return website(f"/ordinary/{name}?{urlencode({'type': kind, 'body': body.decode('latin-1')})}")


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(("name", "kind", "body", "ending"), [
    ("lamp.png", "image/png", b"\x89PNG\r\n", ".png"), ("photo.php", "image/jpeg", b"\xff\xd8", ".jpg"),
    ("notes.md", "text/plain; charset=utf-8", b"# Tides", ".md"), ("readme", "text/plain", b"Tides", ".txt"),
    ("tides.json", "application/json", b'{"a": 1}', ".json"), ("api", "application/json", b"[]", ".json"),
    ("tides.csv", "text/csv", b"a,b", ".csv"), ("charts.zip", "application/zip", b"PK\x05\x06" + b"\0" * 18, ".zip"),
    ("letter.docx", DOCX, b"PK", ".docx"), ("letter", DOCX, b"PK", ".docx"), ("waves.mp3", "audio/mpeg", b"ID3", ".mp3"),
    ("disk.iso", "application/octet-stream", b"CD001", ".iso"), ("lamp.svg", "image/svg+xml", b"<svg/>", ".svg"),
    ("feed.xml", "application/xml", b"<a/>", ".xml"), ("page.html", "text/plain", b"<!doctype html>", ".txt"),
])
def test_ordinary_files_are_saved_by_their_type(shared, website, name, kind, body, ending):
    """As they are, in a folder of their own, and without a genre."""
    row = shared.wait_for(shared.add(ordinary(website, name, kind, body), username="ordinary"), "completed")
    decoders.own_status(row)
    assert (row["genre"], row["status"], row["incomplete"]) == ("unknown", "completed", None), row
    assert kind.partition(";")[0] in row["genre_detection_error"] and row["file_path"].endswith(ending)
    assert (shared.downloads / "ordinary" / "files" / row["file_path"]).read_bytes() == body
    assert [record.body for record in warc_records(shared, row) if record.rec_type == "response"] == [body]
    assert shared.request("GET", f"/download/{row['download_id']}/file")[2] == body


def test_same_names_of_ordinary_files_get_numbers(shared, website):
    urls = [ordinary(website, "same.csv", "text/csv", body) for body in (b"1", b"2")]
    rows = [shared.wait_for(shared.add(url, username="same"), "completed") for url in urls]
    folder = shared.downloads / "same" / "files"
    assert sorted(folder.iterdir()) == sorted(folder / row["file_path"] for row in rows)
    assert {path.read_bytes() for path in folder.iterdir()} == {b"1", b"2"}


@pytest.mark.parametrize(("kind", "body", "code"), [
    # A page in disguise, as of a log-in; nothing at all.
    ("image/png", b"<!DOCTYPE html><title>Log in</title>", "damaged"), ("image/png", b"", "no_file"),
])
def test_files_that_lie_about_their_type(shared, website, kind, body, code):
    row = shared.wait_for(shared.add(ordinary(website, "liar", kind, body)), "failed")
    assert row["error_code"] == code


def test_converted_recording_is_not_an_ordinary_file(shared, website):
    """yt-dlp is asked for what options name. The fake one doesn't know this site."""
    url = ordinary(website, "waves.mp3", "audio/mpeg", b"ID3")
    row = shared.wait_for(shared.add(url, options={"container": "flac"}), "failed")
    assert row["error_code"] == "unsupported"
    assert any(call["arguments"][-1] == url and "flac" in call["arguments"] for call in shared.tools.calls())


def test_genre_that_was_answered_stays(shared, website):
    """A file of another type at a URL that ends in .pdf."""
    status, answer = shared.post(ordinary(website, "chart.pdf", "image/png", b"\x89PNG"), username="stays")
    assert answer["genre"] == "pdf"
    row = shared.wait_for(answer["download_id"], "completed")
    assert (row["genre"], row["genre_detection_error"], row["file_path"][-4:]) == ("pdf", None, ".png")
    assert (shared.downloads / "stays" / "files" / row["file_path"]).exists()


@pytest.mark.parametrize(("path", "genre", "data", "ending"), [
    ("/guide.pdf", "pdf", PDF, ".pdf"), ("/book.epub", "ebook", EPUB, ".epub"), ("/chunked/notes.pdf", "pdf", PDF, ".pdf"),
    ("/slow.pdf?seconds=0.4", "pdf", LARGE_PDF, ".pdf"), ("/document", "pdf", PDF, ".pdf"), ("/named", "pdf", PDF, ".pdf"),
    ("/guide.pdf?download=1&x=%2F..%2F..#page=2", "pdf", PDF, ".pdf"),
])
def test_document_is_saved(shared, website, path, genre, data, ending):
    row = expect_saved(shared, website(path), genre, data, ending)
    assert row["genre_detection_error"] is None
    assert ".." not in row["file_path"]


def test_redirects_are_kept(shared, website):
    """One at a time, each with its own request and response."""
    row = expect_saved(shared, website("/moved/once.pdf"), "pdf", PDF, ".pdf")
    responses = {record.uri: record.status for record in warc_records(shared, row) if record.rec_type == "response"}
    assert responses == {website("/moved/once.pdf"): "301", website("/moved/twice.pdf"): "307", website("/guide.pdf"): "200"}
    # The library finds it by the URL that was shared.
    assert shared.replayhost("info", row["archive"])[0]["mainPage"]["url"] == website("/moved/once.pdf")


def test_head_is_kept_as_received_without_cookies_of_the_person(shared, website):
    row = expect_saved(shared, website("/guide.pdf?head=1"), "pdf", PDF, ".pdf")
    response = next(record for record in warc_records(shared, row) if record.rec_type == "response" and record.status == "200")
    assert response.http_headers.get_header("Last-Modified") == "Tue, 18 Nov 2025 02:30:00 GMT"
    assert response.http_headers.get_header("Content-Type") == "application/pdf"


@pytest.mark.parametrize(("path", "code"), [
    ("/nothing.pdf", "not_found"), ("/gone.pdf", {"not_found", "removed"}), ("/private.pdf", {"login_required", "private"}),
    ("/disguised.pdf", {"page_unsupported", "login_required", "damaged"}), ("/empty.pdf", {"no_file", "damaged"}),
    ("/cut.pdf", {"network", "damaged"}), ("/loop.pdf", {"network", "tool_failed", "not_found"}), ("/page.html", "page_unsupported"),
    ("/page", "page_unsupported"), ("/to.pdf?url=file:///etc/passwd", {"network", "tool_failed", "unsupported"}),
    ("/to.pdf?url=ftp://127.0.0.1/x.pdf", {"network", "tool_failed", "unsupported"}),
    ("/to.pdf?url=%2Fpage.html", {"page_unsupported", "damaged"}),
])
def test_document_that_fails(shared, website, path, code):
    row = shared.wait_for(shared.add(website(path), username="failing"), "failed")
    decoders.own_status(row)
    assert row["error_code"] in ({code} if isinstance(code, str) else code), row
    assert row["error_message"] and str(shared.folder) not in row["error_message"]
    assert (row["file_path"], row["archive"]) == (None, None)
    assert not (shared.downloads / "failing").exists() or not any(path.is_file() for path in (shared.downloads / "failing").rglob("*"))


def test_permanent_errors_are_not_tried_again(shared, website):
    row = shared.wait_for(shared.add(website("/nothing.pdf?once=1")), "failed")
    assert (row["attempt"], row["error_code"]) == (1, "not_found")
    assert website.asked["GET", "/nothing.pdf?once=1"] <= 2


def test_site_that_fails_for_a_while(shared, website):
    row = expect_saved(shared, website("/broken.pdf?times=2"), "pdf", PDF, ".pdf")
    assert row["attempt"] >= 2


def test_retry_after_is_obeyed(tmp_path, website):
    """It holds the site, not the queue; and nothing is asked before its time."""
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), *FAST_RETRIES) as host:
        busy, film = host.add(website("/busy.pdf?times=1&after=6")), host.add("https://www.tiktok.com/@user/video/9")
        begin = time.monotonic()
        row = host.wait_for(busy, condition=lambda row: row["waiting_for"] == "site")
        assert (row["state"], row["status"], row["error_code"]) == ("queued", "pending", "rate_limited")
        decoders.date(row["not_before"])
        host.wait_for(film, "completed")
        row = host.wait_for(busy, "completed")
        assert time.monotonic() - begin > 4.5
        assert host.file(row).read_bytes() == PDF


def test_cancelled_document_leaves_nothing(host, website):
    with host:
        identifier = host.add(website("/slow.pdf?seconds=600"))
        host.wait_for(identifier, condition=lambda row: row["stage"] == "fetching")
        host.cancel(identifier)
        host.wait_for(identifier, "cancelled")
        host.expect_no_leftovers()
        assert host.files() == [] and host.archives() == {}


def test_found_by_its_url_and_its_text(shared, website):
    url, film_url = website("/guide.pdf?found=1"), website.fake("ok", description="Herons at dawn", subtitles="The curlew calls")
    row = expect_saved(shared, url, "pdf", PDF, ".pdf", username="finder")
    film = shared.wait_for(shared.add(film_url, username="finder"), "completed")
    archive = shared.archives()[row["archive"]]
    assert set(archive["tags"]) >= {"finder", "pdf"} and archive["availability"] == "available"
    assert shared.archives()[film["archive"]]["title"] == film["title"]
    assert row["archive"] in shared.search(url)
    for words in (film_url, "herons dawn", "curlew", "Quay"):
        assert film["archive"] in shared.search(words), words
    if shutil.which("pdftotext"):
        assert row["archive"] in shared.search("lighthouse")


def test_without_media_file_only_the_archive_is_kept(tmp_path, website):
    with CaptureHost(tmp_path, FakeTools(tmp_path / "tools"), "--no-media-file") as host:
        rows = [host.wait_for(host.add(url), "completed") for url in (website("/guide.pdf"), website.fake("ok"))]
        assert host.files() == [] and sorted(row["archive"] for row in rows) == sorted(host.archives())
        for row in rows:
            assert row["file_path"] is None
            assert host.request("GET", f"/download/{row['download_id']}/file")[0] in (200, 404)
        host.expect_no_leftovers()


def test_same_name_twice_is_two_files(host, website):
    """Neither replaces the other, nor a file that the person put there."""
    with host:
        rows = [host.wait_for(host.add(website.fake("ok", id="same", title="Same", n=number)), "completed") for number in range(2)]
        assert len({row["file_path"] for row in rows}) == 2
        host.expect_completed_once(rows)
        guide = host.wait_for(host.add(website("/guide.pdf?a=1")), "completed")
        host.call("DELETE", f"/history/{guide['download_id']}")
        host.file(guide).write_bytes(b"the person's own notes")
        again = host.wait_for(host.add(website("/guide.pdf?a=1")), "completed")
        assert host.file(guide).read_bytes() == b"the person's own notes"
        assert again["file_path"] != guide["file_path"]
        assert host.file(again).read_bytes() == PDF


def test_media_archive_has_what_belongs_to_it(shared, website):
    """Video, subtitles, poster and a viewer page without script, below a URL that never resolves; the media uncompressed."""
    url = website.fake("ok", title="Lights of the quay", subtitles="A ship passes the mole")
    row = shared.wait_for(shared.add(url, username="viewer"), "completed")
    base = f"https://replayhost.invalid/{row['download_id']}/"
    records = warc_records(shared, row)
    resources = {record.uri: record for record in records if record.rec_type == "resource" and record.uri.startswith(base)}
    data = shared.file(row).read_bytes()
    assert sum(record.body == data for record in resources.values()) == 1
    assert any(b"A ship passes the mole" in record.body for record in resources.values())
    pages = [record for record in resources.values() if "text/html" in (record.rec_headers.get_header("Content-Type") or "")]
    assert len(pages) == 1 and b"<script" not in pages[0].body.lower() and b"Lights of the quay" in pages[0].body
    # What the program made has no real URL.
    assert all(record.uri is None or record.uri.startswith((base, "urn:", url)) for record in records), [record.uri for record in records]
    _, _, archive = shared.request("GET", f"/download/{row['download_id']}/archive")
    with zipfile.ZipFile(io.BytesIO(archive)) as package:
        plain = [name for name in package.namelist() if name.endswith(".warc")]
        assert len(plain) == 1 and package.getinfo(plain[0]).compress_type == zipfile.ZIP_STORED
        listed = package.read("pages/pages.jsonl")
        listed = gzip.decompress(listed) if listed.startswith(b"\x1f\x8b") else listed
        assert b"Lights of the quay" in listed and url.encode() in listed
    shared.replayhost("verify", row["archive"])
