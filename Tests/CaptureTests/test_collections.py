"""`options.collection`: archives that are saved one by one replay together."""

import pytest
from described import ask

UNKNOWN = "There is no collection with this ID"


@pytest.fixture(scope="module")
def harbour(shared, website):
    """A collection of one archive. Its ID, and that of the archive."""
    row = shared.wait_for(shared.add(website.fake("ok", by="collections")), "completed")
    shared.replayhost("collection", "create", "The harbour", row["archive"], "--id", "harbour")
    return "harbour", row["archive"]


def members(host, collection):
    found = {one["id"]: one for one in host.replayhost("collection", "list")}
    return [member if isinstance(member, str) else member["id"] for member in found[collection]["members"]]


def save(host, url, collection):
    status, answer = ask(host, "POST", "/download", {"url": url, "options": {"collection": collection}})
    assert status == 201, answer
    return answer["download_id"]


def test_archive_is_added_to_the_collection(shared, website, harbour):
    collection, first = harbour
    row = shared.wait_for(save(shared, website("/guide.pdf"), collection), "completed")
    assert (row["options"], row["incomplete"]) == ({"collection": collection}, None)
    assert members(shared, collection) == [first, row["archive"]]
    # The same URL without it is another download.
    assert shared.add(website("/guide.pdf")) != row["download_id"]


@pytest.mark.parametrize("collection", ["none", "", "no such id", "../harbour", "all", "harbour\0", "x" * 64])
def test_unknown_collection_is_refused(shared, website, harbour, collection):
    body = {"url": website.fake("ok", by="unknown"), "options": {"collection": collection}}
    status, answer = ask(shared, "POST", "/download", body)
    assert (status, answer["detail"][0]["loc"], answer["message"]) == (400, ["body", "options", "collection"], UNKNOWN)


def test_archive_is_no_collection(shared, website, harbour):
    assert shared.post(website("/guide.pdf"), options={"collection": harbour[1]})[0] == 400


def test_collection_that_is_removed_meanwhile(shared, website, harbour, tmp_path):
    """The archive is in the library, and the row says where it isn't."""
    gate = tmp_path / "gate"
    shared.replayhost("collection", "create", "Removed", harbour[1], "--id", "removed")
    identifier = save(shared, website.fake("held", by="collections", gate=gate), "removed")
    shared.wait_for(identifier, "downloading")
    shared.replayhost("collection", "remove", "removed", "--yes")
    gate.touch()
    row = shared.wait_for(identifier, "completed")
    assert row["incomplete"] == "The archive isn't in the collection removed, which was removed meanwhile."
    assert row["archive"] in shared.archives()


def test_command(shared, website, harbour):
    added = shared.command("add", website("/book.epub"), "--collection", harbour[0], "--wait", "--json")
    assert added.returncode == 0, added.stderr
    assert len(members(shared, harbour[0])) == 3
    refused = shared.command("add", website("/book.epub"), "--collection", "none")
    assert refused.returncode == 2 and UNKNOWN in refused.stderr
