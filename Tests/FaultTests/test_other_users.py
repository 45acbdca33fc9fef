"""Other users of the computer can't read from a server, or prepare a store for another user."""

import json
import os
import pwd
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from program import SECONDS
from support.places import BINARY, CHECKOUT, FIXTURES
from support.waiting import wait_until

pytestmark = pytest.mark.needs("root", "setpriv")

OWNER, NOBODY, ROOT = 1234, pwd.getpwnam("nobody").pw_uid, 0
PAGE = "https://fieldguide.example/"


@pytest.fixture(scope="session")
def public():
    """A folder with the program that every user can access."""
    folder = Path(tempfile.mkdtemp(prefix="replayhost-users-"))
    folder.chmod(0o755)
    shutil.copy(BINARY, folder / "replayhost")
    shutil.copytree(CHECKOUT / "www", folder / "www")
    shutil.copy(FIXTURES / "sample.wacz", folder)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield folder
    shutil.rmtree(folder)


class Call:
    """A function that runs in another process and returns text."""

    def __init__(self, user, function, arguments):
        self.reader, writer = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                os.write(writer, function(*arguments).encode())
                code = 0
            finally:
                os._exit(code)
        os.close(writer)

    def result(self):
        with open(self.reader, encoding="utf-8") as pipe:
            text = pipe.read()
        assert os.waitpid(self.process, 0)[1] == 0
        return text


class User:
    def __init__(self, public, user):
        self.public, self.user = public, user
        self.home = Path(tempfile.mkdtemp(dir=public))
        os.chown(self.home, user, user)
        self.store = self.home / "store"

    def command(self, *words):
        user = f"{self.user}"
        return ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *map(str, words)]

    def environment(self, **more):
        own = {"HOME": self.home, "REPLAYHOST_STORE": self.store, "REPLAYHOST_ASSETS": self.public / "www"}
        return {"PATH": os.environ["PATH"], "NO_COLOR": "1", **{name: str(text) for name, text in {**own, **more}.items()}}

    def run(self, *arguments, **more):
        return subprocess.run(
            self.command(self.public / "replayhost", *arguments), env=self.environment(**more), cwd=self.public,
            capture_output=True, text=True, timeout=SECONDS * 5)

    def does(self, function, *arguments):
        """Calls a function as this user in a separate process."""
        return Call(self.user, function, arguments)

    def request(self, url, *arguments):
        """Sends a request with curl, and returns status, headers and body."""
        result = subprocess.run(
            self.command("curl", "-s", "-i", "--max-time", f"{SECONDS}", *arguments, url), capture_output=True)
        assert result.returncode == 0, f"{url}: curl ended with {result.returncode}"
        head, _, body = result.stdout.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        return int(lines[0].split()[1]), {name.lower(): text for name, text in (line.split(": ", 1) for line in lines[1:])}, body


class Server:
    def __init__(self, user, *arguments, prefix=(), **more):
        self.process = subprocess.Popen(
            user.command(*prefix, user.public / "replayhost", "serve", "--port", "0", *arguments),
            env=user.environment(**more), cwd=user.public, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        match = re.search(r"http://localhost:(\d+)", self.process.stdout.readline())
        assert match, self.process.communicate()[1]
        self.port = int(match[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.host = ["-H", f"Host: localhost:{self.port}"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGCONT)
        self.process.communicate(timeout=SECONDS)

    def status(self, user, *arguments):
        return user.request(f"{self.url}/api/archives", *self.host, *arguments)[0]


@pytest.fixture
def owner(public):
    user = User(public, OWNER)
    result = user.run("import", public / "sample.wacz")
    assert result.returncode == 0, result.stderr
    return user


@pytest.fixture
def nobody(public):
    return User(public, NOBODY)


@pytest.fixture
def root(public):
    return User(public, ROOT)


def open_port(server, user):
    """Opens the port of the archive as the web app does; returns the port and the token."""
    page = user.request(f"{server.url}/", *server.host)[2].decode()
    token = re.search(r"[0-9a-f]{64}", page)[0]
    status, _, body = user.request(
        f"{server.url}/api/archives/sample/origin", *server.host, "-X", "POST", "-H", f"Replayhost-Token: {token}", "-H",
        f"Origin: http://localhost:{server.port}")
    assert status == 200, body
    return int(json.loads(body)["replayOrigin"].rsplit(":", 1)[1]), token


@pytest.mark.parametrize("address", ["127.0.0.1", "[::1]"])
def test_another_user_gets_403_for_everything(owner, nobody, root, address):
    with Server(owner, "--origins", "ports") as server:
        port, token = open_port(server, owner)
        library, archive = (f"http://{address}:{number}" for number in (server.port, port))
        at_archive = ["-H", f"Host: localhost:{port}"]
        change = ["-X", "PATCH", "-d", '{"title": "changed"}', "-H", f"Replayhost-Token: {token}"]
        change += ["-H", f"Origin: http://localhost:{server.port}", "-H", "Content-Type: application/json"]
        requests = [
            (f"{library}/", server.host),
            (f"{library}/", []),
            (f"{library}/app/library/library.js", server.host),
            (f"{library}/api/health", server.host),
            (f"{library}/api/archives", server.host),
            (f"{library}/api/archives/sample", [*server.host, *change]),
            (f"{library}/api/events", server.host),
            (f"{library}/archives/sample.wacz", server.host),
            (f"{library}/archives/sample.wacz", ["-H", "Range: bytes=0-9", *server.host]),
            (f"{library}/archives/sample.wacz", ["-H", "Range: bytes=0-9"]),
            (f"{library}/c/sample/2024id_/{PAGE}", server.host),
            (f"{library}/stock", server.host),
            (f"{library}/nothing", server.host),
            (f"{library}/", ["-H", "Host: elsewhere.example"]),
            (f"{library}/", ["-H", "Host:"]),
            (f"{archive}/", at_archive),
            (f"{archive}/sw.js", at_archive),
            (f"{archive}/archives/sample.wacz", [*at_archive, "-H", "Range: bytes=0-9"]),
            (f"{archive}/archives/sample.wacz?view=replay", at_archive),
            (f"{archive}/c/2024id_/{PAGE}", at_archive),
        ]
        for url, arguments in requests:
            status, fields, body = nobody.request(url, *arguments)
            assert status == 403, (url, arguments)
            assert fields["connection"] == "close"
            assert "default-src 'none'" in fields["content-security-policy"]
            assert (fields["x-content-type-options"], fields["referrer-policy"]) == ("nosniff", "no-referrer")
            if "/api/" in url:
                error = json.loads(body)["error"]
                assert (fields["content-type"], error["code"]) == ("application/problem+json", "other-user")
                assert f"--allow-user {NOBODY}" in error["hint"]
            else:
                assert fields["content-type"] == "text/plain; charset=utf-8"
                assert b"403 Forbidden\n\nthis server belongs to another user of this computer\n" in body
            for known in [owner, root]:
                if url.endswith("/api/events") or "PATCH" in arguments:
                    continue
                assert known.request(url, *arguments)[0] != 403, (url, arguments)
        status, fields, body = nobody.request(f"{library}/", "--head", *server.host)
        assert (status, body) == (403, b"") and int(fields["content-length"]) > 0
        title = json.loads(owner.request(f"{library}/api/archives/sample", *server.host)[2])["title"]
        assert title == "Tidepool Field Guide"


def test_allowed_users_depend_on_the_owner(owner, nobody, root):
    for user, statuses in [(root, {ROOT: 200, NOBODY: 403, OWNER: 403}), (nobody, {ROOT: 200, NOBODY: 200, OWNER: 403})]:
        with Server(user) as server:
            assert {one.user: server.status(one) for one in (root, nobody, owner)} == statuses


@pytest.mark.parametrize(
    ("arguments", "variables", "statuses"),
    [
        (["--allow-user", "nobody"], {}, [200, 403]),
        (["--allow-user", f"{NOBODY}"], {}, [200, 403]),
        (["--allow-user", "4321", "--allow-user", "nobody"], {}, [200, 200]),
        (["--allow-other-users"], {}, [200, 200]),
        ([], {"SUDO_UID": NOBODY}, [200, 403]),
        ([], {"SUDO_UID": "everyone"}, [403, 403]),
    ],
)
def test_options_allow_other_users(public, owner, nobody, arguments, variables, statuses):
    third = User(public, 4321)
    with Server(owner, *arguments, **variables) as server:
        assert [server.status(nobody), server.status(third)] == statuses


def test_unknown_users_are_rejected(owner):
    for name in ["no-such-user", "-1", f"{2**32 - 1}"]:
        result = owner.run("serve", f"--allow-user={name}")
        assert result.returncode == 2
        assert f'no user "{name}" on this computer' in result.stderr


def test_open_passes_allowed_users_to_the_server(owner, nobody):
    opened = owner.run("open", "--no-browser", "--json", "--port", "0", "--allow-user", "nobody")
    assert opened.returncode == 0, opened.stderr
    try:
        port = json.loads(opened.stdout)["address"].rsplit(":", 1)[1]
        assert nobody.request(f"http://127.0.0.1:{port}/api/health", "-H", f"Host: localhost:{port}")[0] == 200
        again = owner.run("open", "--no-browser", "--allow-other-users")
        assert "--allow-other-users has no effect" in again.stderr
    finally:
        assert owner.run("stop").returncode == 0


def health(how, port):
    """Sends a request on a kind of socket, and returns the status."""
    address = {"v6": "::1", "mapped": "::ffff:127.0.0.1"}.get(how, "127.0.0.1")
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as client:
        client.settimeout(SECONDS)
        if how == "interface":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        if how == "other-address":
            client.bind(("127.0.0.77", 0))
        client.connect((address, port))
        client.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost:%d\r\nConnection: close\r\n\r\n" % port)
        if how == "half-closed":
            client.shutdown(socket.SHUT_WR)
        return client.recv(1 << 16).split()[1].decode()


@pytest.mark.parametrize("how", ["plain", "v6", "mapped", "interface", "other-address", "half-closed"])
def test_users_are_recognized_on_all_kinds_of_sockets(owner, nobody, how):
    with Server(owner) as server:
        assert [user.does(health, how, server.port).result() for user in (owner, nobody)] == ["200", "403"]


def test_half_closed_connections_get_responses_after_a_delay(owner, nobody):
    with Server(owner) as server:
        server.process.send_signal(signal.SIGSTOP)
        calls = [user.does(health, "half-closed", server.port) for user in (owner, nobody)]
        wait_until(lambda: half_closed(server.port) == 2, "both clients have sent their requests")
        server.process.send_signal(signal.SIGCONT)
        assert [call.result() for call in calls] == ["200", "403"]


def half_closed(port):
    """Returns the number of half-closed connections to a port. Sources: proc(5), states in net/tcp_states.h."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ends = [(line.split()[2].rsplit(":", 1)[1], line.split()[3]) for line in lines]
    return len([1 for remote, state in ends if int(remote, 16) == port and state in ("04", "05")])


def send_and_reset(port, request):
    """Sends a request and resets the connection. Returns the client's port, above those that systems assign automatically."""
    client = socket.socket()
    for own in random.sample(range(61_000, 65_536), 100):
        try:
            client.bind(("127.0.0.1", own))
            break
        except OSError:
            continue
    client.connect(("127.0.0.1", port))
    own = client.getsockname()[1]
    client.sendall(request)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    return f"{own}"


def health_from(own, port, connected):
    with socket.socket() as client:
        client.settimeout(SECONDS)
        client.bind(("127.0.0.1", own))
        client.connect(("127.0.0.1", port))
        os.write(connected, b".")
        client.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
        return client.recv(1 << 16).split()[1].decode()


def test_reset_connection_is_not_confused_with_a_new_one(owner, nobody):
    """Another user sends a change and resets the connection; then the owner connects from the same port."""
    with Server(owner, "--origins", "ports") as server:
        _, token = open_port(server, owner)
        body = b'{"title": "changed"}'
        change = (
            f"PATCH /api/archives/sample HTTP/1.1\r\nHost: localhost:{server.port}\r\nReplayhost-Token: {token}\r\n"
            f"Origin: http://localhost:{server.port}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        server.process.send_signal(signal.SIGSTOP)
        first = int(nobody.does(send_and_reset, server.port, change).result())
        reader, writer = os.pipe()
        call = owner.does(health_from, first, server.port, writer)
        os.close(writer)
        assert os.read(reader, 1) == b".", "the owner couldn't connect from that port"
        server.process.send_signal(signal.SIGCONT)
        assert call.result() == "200"
        os.close(reader)
        archive = json.loads(owner.request(f"{server.url}/api/archives/sample", *server.host)[2])
        assert archive["title"] == "Tidepool Field Guide"


def test_unmapped_users_of_a_namespace_are_refused(owner, nobody, root):
    """In a user namespace with only the owner, all other users have the ID of nobody."""
    prefix = ["unshare", "--user", "--map-current-user"]
    if subprocess.run(owner.command(*prefix, "true"), capture_output=True).returncode != 0:
        pytest.skip("users can't create user namespaces on this system")
    with Server(owner, "--allow-user", "nobody", prefix=prefix) as server:
        assert [server.status(user) for user in (owner, nobody, root)] == [200, 403, 403]
        assert b"unknown-user" in nobody.request(f"{server.url}/api/health", *server.host)[2]


def test_server_does_not_start_without_its_own_user_id(owner):
    prefix = ["unshare", "--user"]
    if subprocess.run(owner.command(*prefix, "true"), capture_output=True).returncode != 0:
        pytest.skip("users can't create user namespaces on this system")
    command = owner.command(*prefix, owner.public / "replayhost", "serve", "--port", "0")
    result = subprocess.run(command, env=owner.environment(), capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 1
    assert "this user namespace has no ID for your user" in result.stderr


SHIM = """
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
int socket(int family, int type, int protocol) {
    if (family == AF_NETLINK) { errno = EPERM; return -1; }
    return syscall(SYS_socket, family, type, protocol);
}
"""


def test_server_does_not_start_if_users_are_unknown(public, owner, nobody):
    (public / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", public / "shim.so", public / "shim.c"], check=True)
    result = owner.run("serve", "--port", "0", LD_PRELOAD=public / "shim.so")
    assert result.returncode == 1
    assert "can't determine which user a connection comes from" in result.stderr
    assert "add --allow-other-users" in result.stderr
    assert not (owner.store / "server.json").exists()
    with Server(owner, "--allow-other-users", LD_PRELOAD=public / "shim.so") as server:
        assert server.status(nobody) == 200


def test_store_of_another_user_is_refused(public, owner, nobody, root):
    theirs = nobody.home / "open-to-all"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    theirs.chmod(0o777)
    nobody.home.chmod(0o755)
    for user in [owner, root]:
        for command in [["import", public / "sample.wacz"], ["list"], ["serve", "--port", "0"], ["doctor", "--rebuild"]]:
            result = user.run(*command, "--store", theirs, SUDO_UID=NOBODY)
            text = result.stdout + result.stderr
            if command == ["list"]:
                assert result.returncode == 0 and "No archives yet." in text, text
            else:
                assert result.returncode == 5, text
                assert "this store belongs to another user (nobody)" in text
    assert os.listdir(theirs) == []
    assert nobody.run("import", public / "sample.wacz", "--store", theirs).returncode == 0
    # Now only its owner can read it.
    for user in [owner, root]:
        result = user.run("list", "--store", theirs)
        assert result.returncode == 5 and "belongs to another user (nobody)" in result.stdout + result.stderr, result
    assert nobody.run("list", "--store", theirs).returncode == 0


def test_read_only_store_can_belong_to_another_user(public, owner, nobody):
    """For example, a disc made by another person."""
    os.chmod(owner.home, 0o755)
    place = public / "disc"
    place.mkdir()
    subprocess.run(["mount", "--bind", owner.store, place], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
        subprocess.run(["chmod", "-R", "a+rX", owner.store], check=True)
        result = nobody.run("list", "--store", place)
        assert result.returncode == 0, result.stderr
        assert "sample" in result.stdout
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_files_of_another_user_are_not_written_to(public, owner, nobody):
    """The owner's folder was writable by all for a while."""
    victim = owner.home / "victim"
    victim.write_text("mine")
    os.chown(victim, OWNER, OWNER)
    file = owner.store / "server.json"
    for prepare in ["link", "file", "pipe"]:
        if prepare == "link":
            file.symlink_to(victim)
        elif prepare == "file":
            file.write_text("theirs")
            file.chmod(0o666)
        else:
            os.mkfifo(file, 0o666)
        os.chown(file, NOBODY, NOBODY, follow_symlinks=False)
        for command in [["serve", "--port", "0"], ["stop"]]:
            result = owner.run(*command)
            assert result.returncode == 5, result.stderr
            assert f"{file}" in result.stderr
        assert victim.read_text() == "mine"
        if prepare == "file":
            assert file.read_text() == "theirs"
        file.unlink()
    with Server(owner) as server:
        assert server.status(owner) == 200
