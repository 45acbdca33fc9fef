"""The administrator's page of the capture server."""

import json
import random

from support.expecting import expect
from support.host import is_free

# What Chromium reports about requests to a stopped server
UNREACHABLE = "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED"
SIGN_IN = "Link, or administrator’s key"


def shown(page):
    """The page, once all of it has been read."""
    expect(page.get_by_label("Text of the file")).to_be_enabled()
    expect(page.locator("#footer")).to_contain_text("Started")
    return page


def link(capture):
    made = capture.command("admin", "--json")
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)["link"]


def new_key(capture, name, *options):
    made = capture.command("keys add", name, *options, "--json")
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)["secret"]


def section(page, name):
    return page.get_by_role("region", name=name, exact=True)


def press(place, name):
    place.get_by_role("button", name=name, exact=isinstance(name, str)).click()


def config(capture):
    return capture.store / "capture" / "config.yaml"


def free_port():
    """A port that no other server has, and that isn't chosen for connections."""
    return next(port for port in iter(lambda: random.randrange(7000, 10_000), None) if is_free(port))


def with_key(key):
    return {"Authorization": f"Bearer {key}"}
