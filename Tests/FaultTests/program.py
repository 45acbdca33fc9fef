"""The program under test, on a separate store."""

import hashlib
import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.places import BINARY, WEB_INTERFACE
from writers.generated import write_large

SECONDS = 60


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def processor_seconds(pid):
    """The processor time of a process."""
    used = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


class Result:
    def __init__(self, process):
        self.code, self.output, self.errors = process.returncode, process.stdout, process.stderr

    def lines(self):
        return [json.loads(line) for line in self.output.splitlines()]

    def error_codes(self):
        """The codes of the errors of a command with `--json`."""
        return [line["error"]["code"] for line in map(json.loads, self.errors.splitlines()) if "error" in line]


class Store:
    def __init__(self, root, folder, shim):
        self.root, self.folder, self.shim = Path(root), Path(folder), shim

    def environment(self, **faults):
        environment = {**os.environ, "NO_COLOR": "1", "REPLAYHOST_STORE": str(self.root)}
        environment["REPLAYHOST_ASSETS"] = str(WEB_INTERFACE)
        if faults:
            environment.update({name: str(value) for name, value in faults.items()}, LD_PRELOAD=str(self.shim))
        return environment

    def run(self, *arguments, **faults):
        """Runs a command, with disk faults if given."""
        return Result(
            subprocess.run(
                [BINARY, *map(str, arguments)], env=self.environment(**faults), cwd=self.folder, timeout=SECONDS * 5,
                capture_output=True, text=True, errors="replace",
            )
        )

    def run_checked(self, *arguments):
        """Runs a command that must succeed."""
        result = self.run(*arguments)
        assert result.code == 0, f"{arguments}: {result.output}{result.errors}"
        return result

    def start(self, *arguments, **faults):
        return subprocess.Popen(
            [BINARY, *map(str, arguments)], env=self.environment(**faults), cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )

    def listed(self):
        return {archive["id"]: archive for archive in self.run_checked("list", "--json").lines()}

    def everything(self):
        """Everything that users can see of the archives and collections."""
        archives = self.listed()
        with ThreadPoolExecutor() as pool:
            info = pool.map(lambda name: self.run_checked("info", name, "--json").lines(), archives)
            pages = pool.map(lambda name: self.run_checked("pages", name, "--json").lines(), archives)
            collections = self.run_checked("collection", "list", "--json").lines()
            return {"archives": archives, "info": dict(zip(archives, info)), "pages": dict(zip(archives, pages)), "collections": collections}

    def doctor_results(self, *arguments):
        """The results of `doctor` about the store, without engine, port and names."""
        lines = self.run("doctor", "--port", "0", "--json", *arguments).lines()
        return [line for line in lines if line["name"].split()[0] in ("store", "lookups", "linked", "server")]

    def expect_consistent(self):
        """Checks that the store is consistent, and contains no leftovers."""
        bad = [line for line in self.doctor_results() if line["verdict"] == "bad"]
        assert bad == []
        assert os.listdir(self.root / "incoming") == []
        files = os.listdir(self.root / "files")
        archives = self.listed()
        managed = {archive["sha256"] for archive in archives.values() if archive["storage"] == "managed"}
        assert {name[:-5] for name in files if name.endswith(".wacz")} == managed
        # `KEY.json`, and what was made from the archive since.
        derived = (".counts.json", ".verified.json", ".verifying.json")
        sidecars = {name.split(".")[0] for name in files if name.endswith(".json") and not name.endswith(derived)}
        assert len(sidecars) == len(archives)
        assert {name.split(".")[0] for name in files if name.endswith(derived)} <= sidecars
        assert [name for name in files if not name.endswith((".wacz", ".json", ".cdx.gz", ".idx"))] == []
        for key in managed:
            assert sha256(self.root / "files" / f"{key}.wacz") == key

    def file(self, name, size=200_000, each=20_000, index="zipnum", seed=1, folder=None):
        path = Path(folder or self.folder) / name
        write_large(str(path), size, each, index, seed=seed)
        return path


class Server:
    """`replayhost serve` on any free port."""

    def __init__(self, store, **faults):
        self.process = store.start("serve", "--port", "0", **faults)
        line = self.process.stdout.readline()
        match = re.search(r"http://localhost:(\d+)", line)
        assert match, f"{line}{self.process.stderr.read() if self.process.poll() is not None else ''}"
        self.port = int(match[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=SECONDS)

    def get(self, path, headers=None, seconds=SECONDS):
        """Returns status, headers and body."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers or {})
        if path.startswith("/api"):
            request.add_header("Host", f"localhost:{self.port}")
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()
