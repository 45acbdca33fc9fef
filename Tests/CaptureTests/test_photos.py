"""Posts of photos: their images, a file for the person, and their page."""

import zipfile

import pytest
from fakes.gallery_dl import image
from page_hosts import Saved, expect_valid, make_host

pytestmark = pytest.mark.needs("Chromium")


def with_gallery_dl(folder, **options):
    host = make_host(folder, **options)
    host.tools.give_gallery_dl()
    return host


@pytest.fixture(scope="module")
def host(site, tmp_path_factory):
    with with_gallery_dl(tmp_path_factory.mktemp("photos")) as host:
        yield host


def save(host, site, options=None, **query):
    return Saved(host, host.wait_for(host.add(site.fake("photos", **query), options=options or {}), "completed"))


def test_photos_are_saved_with_their_page(site, tmp_path):
    with with_gallery_dl(tmp_path, checks=True) as host:
        expect_photos(host, site, save(host, site, count=3))


def expect_photos(host, site, saved):
    row = saved.row
    assert (row["title"], row["genre"], row["incomplete"]) == ("Boats at low tide", "instagram", None)
    assert row["file_path"] == "Cx1_Boats_at_low_tide.zip" and row["file_size"] == host.file(row).stat().st_size
    with zipfile.ZipFile(host.file(row)) as package:
        assert package.testzip() is None
        assert {name: package.read(name) for name in package.namelist()} == {
            f"photo-0{number}.png": image(number) for number in (1, 2, 3)}
    base = f"https://replayhost.invalid/{row['download_id']}/"
    for number in (1, 2, 3):
        assert saved.of(f"{base}photo-0{number}.png", "resource").body == image(number)
    assert saved.of(site.fake("photos", count=3)).status == "200"
    # The page of the fake site has a text, and nothing else.
    assert row["replay_check"] == "Replays: 3 of 3 photos, same text, 1 of 1 files"
    expect_valid(host, saved)
    assert host.search("seen from the quay") == {row["archive"]}


def test_one_photo_is_the_file_itself(host, site):
    row = save(host, site, count=1, options={"mode": "media"}).row
    assert row["file_path"] == "Cx1_Boats_at_low_tide.png" and host.file(row).read_bytes() == image(1)


def test_only_images_in_the_folder_are_taken(host, site):
    row = save(host, site, count=2, bad=1, options={"mode": "media"}).row
    with zipfile.ZipFile(host.file(row)) as package:
        assert [package.read(name) for name in sorted(package.namelist())] == [image(1), image(2)]


def test_profile_is_limited(host, site):
    saved = save(host, site, count=300, options={"mode": "media"})
    assert saved.row["incomplete"] == "Only the first 100 photos are saved."
    assert len([record for record in saved.records if (record.uri or "").endswith(".png")]) == 100


def test_some_photos_are_missing(host, site):
    assert save(host, site, count=2, exit=4, options={"mode": "media"}).row["incomplete"] == "Some photos couldn't be fetched."


@pytest.mark.parametrize("query, incomplete", [
    ({"exit": 64}, None), ({"count": 0}, None),
    ({"exit": 1}, "The photos aren't saved: [instagram][error] HttpError: something went wrong.")])
def test_without_photos_the_page_is_saved(host, site, query, incomplete):
    row = save(host, site, **query).row
    assert (row["file_path"], row["incomplete"]) == (None, incomplete)


def test_log_in_is_required(host, site):
    row = host.wait_for(host.add(site.fake("photos", exit=16)), "failed")
    assert row["error_code"] == "login_required"


def test_neither_photos_nor_page_are_wanted(host, site):
    row = host.wait_for(host.add(site.fake("photos", count=0, only=1), options={"mode": "media"}), "failed")
    assert row["error_code"] == "no_video"
