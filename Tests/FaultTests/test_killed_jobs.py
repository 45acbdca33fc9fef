"""A job that ends its process is tried once more, alone and last. After that, it runs only if a person retries it."""

import random
import signal
import time

import pytest
from program import SECONDS
from writers.generated import Capture, write

PAGES = 800


def slow_archive(folder):
    """An archive whose indexing takes some seconds."""
    chooser = random.Random(1)
    captures = [
        Capture(f"http://slow.example/{number:04}", f"example,slow)/{number:04}",
                f"<title>Slow {number}</title><p>{' '.join(str(chooser.getrandbits(40)) for _ in range(600))}".encode())
        for number in range(PAGES)
    ]
    path = folder / "slow.wacz"
    write(path, "slow", captures, [(capture.url, capture.url) for capture in captures], is_gzipped=True)
    return path


def small_archive(folder, name):
    path = folder / f"{name}.wacz"
    write(path, name, [Capture(f"http://{name}.example/", f"example,{name})/", b"<title>Small</title>text")], is_gzipped=True)
    return path


def job(store, kind="text", subject="slow.wacz"):
    jobs = [job for job in store.run_checked("jobs", "--all", "--json").lines() if (job["kind"], job["subject"]) == (kind, subject)]
    assert len(jobs) <= 1, "a job is queued once"
    return jobs[0] if jobs else None


def kill_while_running(store, *command):
    """Starts the program, and kills it while it indexes the slow archive."""
    process = store.start(*command)
    deadline = time.monotonic() + SECONDS * 5
    while (found := job(store)) is None or found["state"] != "running":
        assert process.poll() is None and time.monotonic() < deadline, f"not running: {found}"
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return found


@pytest.mark.parametrize("command", [("jobs", "run"), ("serve", "--port", "0")], ids=["jobs", "serve"])
def test_job_that_ends_its_process_runs_once_more_alone(store, tmp_path, command):
    store.run_checked("import", slow_archive(tmp_path))
    kill_while_running(store, *command)
    # It waits for others, which are imported later.
    store.run_checked("import", small_archive(tmp_path, "one"), small_archive(tmp_path, "two"))
    kill_while_running(store, *command)
    jobs = store.run_checked("jobs", "--all", "--json").lines()
    states = {(job["kind"], job["subject"]): job["state"] for job in jobs}
    others = {state for (_, subject), state in states.items() if subject != "slow.wacz"}
    # A server can begin before it has queued the others, which then wait.
    assert others <= ({"done"} if command[0] == "jobs" else {"done", "waiting"}), states
    # The next process sees that it ended a second time.
    store.run_checked("jobs", "run")
    failed = job(store)
    assert (failed["state"], failed["attempt"], failed["errorCode"]) == ("failed", 2, "interrupted")
    assert "killed or crashed again" in failed["reason"] and "retry" in failed["reason"]
    listed = store.run_checked("jobs", "--all")
    assert "only if you retry it" in " ".join((listed.output + listed.errors).split())
    store.run_checked("jobs", "run")
    assert job(store)["attempt"] == 2, "it doesn't run by itself"
    store.run_checked("jobs", "retry", str(failed["id"]))
    store.run_checked("jobs", "run")
    assert job(store)["state"] == "done"
    assert store.run_checked("search", "title:slow", "--json").lines()


def test_killed_export_leaves_nothing_for_long(store, tmp_path):
    store.run_checked("import", slow_archive(tmp_path))
    process = store.start("export", "slow", "--files", "files")
    deadline = time.monotonic() + SECONDS * 5
    while not list(tmp_path.glob("files.part-*")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert list(tmp_path.glob("*.part-*")) and not (tmp_path / "files").exists()
    store.run_checked("export", "slow", "--files", "others", "--type", "image")
    assert not list(tmp_path.glob("*.part-*"))
