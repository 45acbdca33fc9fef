"""Kills imports and removals at random instants; called by Scripts/soak.d/20-killed-imports with an empty folder.

After each kill: every file in files/ is whole (its name is its SHA-256), no catalogued archive lacks its file; after the next
start nothing is left in incoming/, and catalog, files, sidecars and the sorted indexes of archives that need one agree. SEED= and
KILLS= repeat or lengthen a run.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import time

import large_wacz

BINARY = os.environ.get("REPLAYHOST_BINARY", ".build/release/replayhost")
SEED = int(os.environ.get("SEED", "20240101"))
KILLS = int(os.environ.get("KILLS", "60"))
# What is imported and removed: each takes its time for something else.
KINDS = ["small", "large", "unsorted"]


def run(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=True).stdout


def listed(store):
    return {json.loads(line)["sha256"]: json.loads(line) for line in run("list", "--json", "--store", store).splitlines()}


def names(folder, ending):
    return {name[: -len(ending)] for name in os.listdir(folder) if name.endswith(ending)}


def check_whole(store):
    """Right after a kill: whatever is there is whole."""
    for key in names(f"{store}/files", ".wacz"):
        with open(f"{store}/files/{key}.wacz", "rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == key, f"{key} is not whole"


def check_settled(store, bystander):
    """After the next start: nothing half done is left, and catalog, files and sidecars agree."""
    # A start that writes, but for `doctor`, which would make lost indexes anew.
    subprocess.run([BINARY, "remove", "--yes", "none", "--store", store], capture_output=True)
    assert os.listdir(f"{store}/incoming") == [], os.listdir(f"{store}/incoming")
    archives = listed(store)
    catalog, files, sidecars = set(archives), names(f"{store}/files", ".wacz"), names(f"{store}/files", ".json")
    assert catalog == files == sidecars, (catalog, files, sidecars)
    indexed = {key for key, archive in archives.items() if archive["lookups"] == "sidecar"}
    blocks, index = names(f"{store}/files", ".cdx.gz"), names(f"{store}/files", ".idx")
    assert indexed == blocks == index, (indexed, blocks, index)
    # Its exit code may be about the engine, which is not needed here.
    doctor = [BINARY, "doctor", "--store", store, "--port", "0", "--assets", "www"]
    told = subprocess.run(doctor, capture_output=True, text=True).stdout
    assert "lookups: captures of every archive can be searched" in told, told
    assert bystander in catalog, "an archive that nobody touched is gone"
    check_whole(store)
    return catalog


def kill_at(instant, *arguments):
    """Runs the program and kills it after so many seconds; whether it was still running."""
    process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(instant)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    return was_running


def seconds_of(*arguments):
    began = time.monotonic()
    run(*arguments)
    return time.monotonic() - began


def main(folder):
    store, chance = f"{folder}/store", random.Random(SEED)
    subjects = {}
    for name, size, bytes_each, is_sorted in [
        ("bystander", 100_000, 100_000, True), ("small", 300_000, 100_000, True), ("large", 300_000_000, 100_000, True),
        ("unsorted", 10_000_000, 500, False),
    ]:
        path = f"{folder}/{name}.wacz"
        large_wacz.write(path, size, bytes_each, is_sorted)
        with open(path, "rb") as file:
            subjects[name] = (path, hashlib.file_digest(file, "sha256").hexdigest())
    run("import", "--store", store, subjects["bystander"][0])
    durations = {}
    for name in KINDS:
        durations[name] = seconds_of("import", "--store", store, subjects[name][0])
        durations["remove " + name] = seconds_of("remove", "--yes", "--store", store, name)
    print(f"seed {SEED}; uninterrupted: " + ", ".join(f"{name} {value:.2f} s" for name, value in durations.items()))
    outcomes = {"killed, nothing there": 0, "killed, archive there": 0, "ended before the kill": 0}
    for number in range(KILLS):
        name = KINDS[number % len(KINDS)]
        path, key = subjects[name]
        running = kill_at(chance.uniform(0, 1.1 * durations[name]), "import", "--store", store, path)
        check_whole(store)
        is_there = key in check_settled(store, subjects["bystander"][1])
        outcome = "ended before the kill" if not running else f"killed, {'archive' if is_there else 'nothing'} there"
        outcomes[outcome] += 1
        if is_there:
            run("remove", "--yes", "--store", store, name)
    print(f"{KILLS} imports: {outcomes}")
    outcomes = {"killed, still there": 0, "killed, removed": 0, "ended before the kill": 0}
    for number in range(KILLS * 2 // 5):
        name = KINDS[number % len(KINDS)]
        path, key = subjects[name]
        run("import", "--store", store, path)
        running = kill_at(chance.uniform(0, 1.1 * durations["remove " + name]), "remove", "--yes", "--store", store, name)
        check_whole(store)
        is_there = key in check_settled(store, subjects["bystander"][1])
        outcomes["ended before the kill" if not running else f"killed, {'still there' if is_there else 'removed'}"] += 1
        if is_there:
            run("remove", "--yes", "--store", store, name)
    print(f"{KILLS * 2 // 5} removals: {outcomes}")


if __name__ == "__main__":
    main(sys.argv[1])
