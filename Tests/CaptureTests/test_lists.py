"""`replayhost-capture add -`: a list of URLs, of which some are beyond the hourly limit, and one was saved before."""

import json


def test_list_is_kept_as_a_whole(host, website):
    host.configure("security:\n  rate_limit_per_client: 3\n")
    urls = [website.fake("ok", by=f"list-{number}") for number in range(5)]
    with host:
        first = host.wait_for(host.add(urls[0]), "completed")
        added = host.command("add", "-", "--json", input="\n".join(["", *urls, ""]))
        assert added.returncode == 0, added.stderr
        receipts = [json.loads(line) for line in added.stdout.splitlines()]
        assert [receipt["saved_before"] for receipt in receipts] == [first["completed_at"], None, None, None, None]
        assert [receipt["not_before"] is not None for receipt in receipts] == [False, False, True, True, True]
        for receipt in receipts[:2]:
            host.wait_for(receipt["download_id"], "completed")
        assert {host.status(receipt["download_id"])["waiting_for"] for receipt in receipts[2:]} == {"limit"}
        # Other requests are still refused.
        assert host.post(website.fake("ok", by="list-more"))[0] == 429
