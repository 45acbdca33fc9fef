"""The tests proper. test_isolated.py runs them in a network of their own."""

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.archives import write_archive
from support.host import die_with_parent
from support.places import BINARY
from support.waiting import SECONDS

from .watched import URL, BareServer, QuietServer, WatchedNetwork, ordinary_command, write_wrapper

BROWSERS = ["chromium", "firefox"]

# What a page without a policy gets out of an ordinary profile.
LEAKS = {
    "fetch.test": "TCP", "fetch-address.test": "TCP", "2001:db8::7:80": "TCP", "img.test": "TCP", "frame.test": "TCP",
    "leaving-frame.test": "TCP", "socket.test": "TCP", "preconnect.test": "TCP", "dns-prefetch.test": "DNS",
    "stun-address.test": "UDP", "stun-name.test": "UDP", "turn-address.test": "TCP", "turn-name.test": "TCP", "peer-address.test": "UDP",
    "transport-address.test": "UDP", "top.test": "TCP",
}


@pytest.fixture(scope="module")
def network():
    network = WatchedNetwork()
    yield network
    network.close()


@pytest.fixture
def temporary_folder():
    """With a short path: browsers have sockets in it."""
    folder = Path(tempfile.mkdtemp(prefix="isolated-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(command, end_signal, code=None, **options):
    """Runs a program in a session of its own, and ends it. Checks the exit code, if one is given."""
    process = subprocess.Popen(
        [str(word) for word in command], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=die_with_parent, **options)
    try:
        yield process
        process.send_signal(end_signal)
        found = process.wait(SECONDS)
        assert code is None or found == code
    finally:
        if process.poll() is None:  # Something failed. It ends what it started when it is asked to.
            process.send_signal(end_signal)
            with suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS)
        with suppress(ProcessLookupError):  # Browsers may leave helpers.
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(SECONDS)


@contextmanager
def isolated(browser, folder, store, *options):
    """`open --isolated` of the archive, until the test has seen enough."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {
        **os.environ, **write_wrapper(browser, folder), "TMPDIR": str(temporary), "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state")}
    others = {"chromium": "FIREFOX", "firefox": "CHROMIUM"}
    environment.pop(others[browser], None)
    command = [BINARY, "open", "--isolated", "--store", store, *options]
    with open(folder / "open.log", "wb") as log, running(
            command, signal.SIGINT, 130, env=environment, stdout=log) as process:
        yield process
    assert list(temporary.iterdir()) == [], "something of the profile stays"


def add_archive(network, folder):
    """A store with an archive of the page. Returns the store."""
    file = write_archive(folder / "attempts.wacz", "Attempts", {URL: network.page()})
    store = folder / "store"
    added = subprocess.run([BINARY, "import", "--store", store, file], capture_output=True, text=True, timeout=SECONDS)
    assert added.returncode == 0, added.stderr
    return store


@pytest.mark.parametrize("browser", BROWSERS)
def test_an_ordinary_profile_lets_everything_out(network, browser, temporary_folder):
    """The control: each attempt is heard where nothing stops it."""
    page = network.page().encode()
    server = QuietServer(lambda path: page)
    network.begin()
    command = ordinary_command(browser, temporary_folder / "profile", server.address)
    environment = {**os.environ, "HOME": str(temporary_folder)}
    with open(temporary_folder / "log", "wb") as log, running(
            command, signal.SIGTERM, env=environment, stdout=log) as process:
        network.wait_for_page(process)
    server.close()
    heard = network.heard
    print(f"{browser}, ordinary profile: {heard}; other program: {network.other.heard}")
    assert {name: kind for name, kind in LEAKS.items() if kind not in heard.get(name, [])} == {}
    assert {"/fetch", "/address", "/socket"} <= set(network.other.heard)


@pytest.mark.parametrize("browser", BROWSERS)
def test_the_profile_alone_lets_nothing_out(network, browser, temporary_folder):
    """The same page without a policy, in place of the viewer."""
    store = add_archive(network, temporary_folder)
    server = BareServer(store, network.page())
    network.begin()
    with isolated(browser, temporary_folder, store, "attempts") as process:
        network.wait_for_page(process)
    server.close()
    heard = network.heard
    print(f"{browser}, isolated, bare page: {heard}; other program: {network.other.heard}")
    assert (heard, network.other.heard) == ({}, [])


@pytest.mark.parametrize("origins", ["auto", "ports"])
@pytest.mark.parametrize("browser", BROWSERS)
def test_a_replayed_page_gets_nothing_out(network, browser, origins, temporary_folder):
    """The page in the viewer. That it tells of its end shows that replay works."""
    store = add_archive(network, temporary_folder)
    command = [BINARY, "serve", "--store", store, "--port", "0", "--origins", origins, "--json"]
    with running(command, signal.SIGTERM, 0, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline()
        network.begin()
        with isolated(browser, temporary_folder, store, "attempts") as process:
            network.wait_for_page(process)
        server.stdout.close()
    heard = network.heard
    print(f"{browser}, isolated, replayed, {origins}: {heard}; other program: {network.other.heard}")
    assert (heard, network.other.heard) == ({}, [])
