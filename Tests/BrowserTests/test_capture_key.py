"""The capture server's page on a device that needs a key."""

import base64
import json

import pytest
from capture_host import CaptureHost
from fake_tools import FakeTools
from support.accessibility import violations
from support.expecting import expect

pytestmark = pytest.mark.one_chromium


@pytest.fixture
def capture(tmp_path):
    """A capture server on which every program needs a key."""
    host = CaptureHost(tmp_path, FakeTools(tmp_path / "tools"))
    host.configure("security:\n  require_key: always\n")
    with host:
        yield host


def test_device_connects_with_a_key(capture, browser):
    """Where each program needs one, as from the network. A revoked key is asked for again."""
    browser.allow("401")
    page = browser.page
    page.goto(capture.started["address"])
    key = json.loads(capture.command("keys add", "phone", "--json").stdout)["secret"]
    field = page.get_by_label("Key", exact=True)
    expect(field).to_be_visible()
    expect(page.get_by_label("URLs", exact=True)).to_be_hidden()
    field.fill("short")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_contain_text("This isn’t a key")
    assert violations(page) == []
    field.fill(key)
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_label("URLs", exact=True)).to_be_visible()
    expect(field).to_have_count(0)
    assert capture.command("keys revoke", "phone").returncode == 0
    expect(page.get_by_role("heading", name="This device’s key doesn’t work any more")).to_be_visible()
    other = json.loads(capture.command("keys add", "other phone", "--json").stdout)["secret"]
    # The link of the code for the camera has the key in its fragment.
    payload = json.dumps({"key": other, "lan": "a:1", "protocol": "http", "v": "2.0"}).encode()
    page.goto(f"{capture.started['address']}/#connect={base64.urlsafe_b64encode(payload).decode().rstrip('=')}")
    expect(page.get_by_label("URLs", exact=True)).to_be_visible()
    assert page.url == f"{capture.started['address']}/"
