"""gallery-dl is asked whenever yt-dlp finds no video. Without Chromium, so that there are no pages."""

import zipfile

import pytest
from fakes.gallery_dl import image


@pytest.mark.parametrize(("path", "incomplete"), [
    # A site that yt-dlp doesn't know; one of which it finds only the sound; one whose extractor has a bug.
    ("/page?count=2", None), ("/fake/sound?count=2", "The sound isn't saved."), ("/fake/photos?count=2", None),
    ("/fake/exit0-silent?count=2", "The media isn't saved: yt-dlp ended without a file."),
])
@pytest.mark.parametrize("mode", ["auto", "media"])
def test_photos_are_saved(photo_host, website, path, incomplete, mode):
    url = website(f"{path}&mode={mode}")
    row = photo_host.wait_for(photo_host.add(url, options={"mode": mode}), "completed")
    assert (row["genre"], row["incomplete"]) == ("instagram", incomplete)
    with zipfile.ZipFile(photo_host.file(row)) as package:
        assert [package.read(name) for name in sorted(package.namelist())] == [image(1), image(2)]


def test_sound_that_was_asked_for_is_saved(photo_host, website):
    row = photo_host.wait_for(photo_host.add(website("/fake/sound?count=2"), options={"form": "audio"}), "completed")
    assert row["file_path"].endswith(".m4a")


@pytest.mark.parametrize(("path", "state", "ending"), [("/fake/sound?by=none", "completed", ".mp3"), ("/guide?by=none", "completed", ".pdf")])
def test_without_photos_all_is_as_before(photo_host, website, path, state, ending):
    row = photo_host.wait_for(photo_host.add(website(path)), state)
    assert row["file_path"].endswith(ending)


def test_only_single_works_are_fetched(photo_host, website):
    """The filter ends gallery-dl for anything else than a post, such as a user or a search; see `gallery_dl/extractor`."""
    url = website("/page?count=1&by=filter")
    photo_host.wait_for(photo_host.add(url), "completed")
    call = next(one for one in photo_host.tools.calls(what="gallery-dl") if one["url"] == url)
    condition = call["arguments"][call["arguments"].index("--filter") + 1]

    class Ended(Exception):
        pass

    def end():
        raise Ended

    def accepts(kind, extension):
        return bool(eval(condition, {"subcategory": kind, "extension": extension, "abort": end}))

    # TikTok and Danbooru, Pixiv, DeviantArt, Mastodon, ArtStation, reddit
    for kind in ("post", "work", "deviation", "status", "artwork", "submission"):
        assert accepts(kind, "jpg") and not accepts(kind, "mp4")
    # A user, a search, a feed; a direct link, whose kind is its site
    for kind in ("user", "search", "subreddit", "tag", "timeline", "127.0.0.1"):
        with pytest.raises(Ended):
            accepts(kind, "jpg")
