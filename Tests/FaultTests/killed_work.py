"""Kills the program while it changes a store, and checks the store's consistency after each kill.

Covers imports (copied, moved, linked, replacing, multi-WACZ), removals, edits, collections, hashing, rebuilds and backups. A kill
happens at a random instant, or before a random call that changes the file system. After the next start, everything that users see
must be as before the work or as after it, without leftovers. Rounds whose work ended before the kill don't count. The same seed
repeats the same work in the same order, killed at the same fraction of its duration. WORK= limits the kinds of work.

With a power cut, only what was flushed to disk is left at that moment, or right after the work ended.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import zipfile
from collections import Counter

from power_cut import Disk
from program import sha256 as digest
from support.places import BINARY
from writers.generated import write_large

BYSTANDER = "file-1"
ALL = "import move link remove edit replace package collection change-collection dissolve hash rebuild backup"
WORK = os.environ.get("WORK", ALL).split()


class Failure(Exception):
    """The store isn't in an expected state."""


class Work:
    """A store, its expected contents, and the next change to make."""

    def __init__(self, folder, seed, shim, cuts_power):
        self.folder, self.chance, self.shim = folder, random.Random(seed), str(shim)
        self.store, self.backup = f"{folder}/store", f"{folder}/backup"
        self.number = self.resumed = 0
        self.paths = {}
        self.disk = Disk(folder, shim) if cuts_power else None
        os.makedirs(f"{folder}/in")
        os.makedirs(f"{folder}/elsewhere")

    # Running the program

    def run(self, *arguments, check=True):
        result = subprocess.run(
            [BINARY, *arguments, "--store", self.store], capture_output=True, text=True, errors="replace"
        )
        if check and result.returncode != 0:
            raise Failure(f"{arguments} ended with {result.returncode}: {result.stdout}{result.stderr}")
        return result

    def killed(self, arguments, instant=None, call=None):
        """Kills a command after some seconds, or before the given call that changes the file system.

        Returns the exit code if it ended earlier, its standard error, and the number of such calls.
        """
        counted = f"{self.folder}/calls"
        environment = dict(os.environ)
        if instant is None:
            environment.update(LD_PRELOAD=self.shim, KILL_COUNT=counted, KILL_AT=str(call))
        if self.disk:
            self.disk.flush()
            environment.update(self.disk.environment)
        process = subprocess.Popen(
            [BINARY, *arguments, "--store", self.store], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True, env=environment,
        )
        if instant is not None:
            time.sleep(instant)
            process.send_signal(signal.SIGKILL)
        errors = process.communicate()[1].decode(errors="replace")
        calls = None
        if os.path.exists(counted):
            with open(counted) as file:
                calls = int(file.read())
            os.remove(counted)
        if self.disk:
            # Linked files stay the same: another inode would be another file.
            self.disk.cut("store", "backup", "in")
        return (None if process.returncode < 0 else process.returncode), errors, calls

    # What users see

    def seen(self):
        archives, collections = {}, {}
        for line in self.run("list", "--json").stdout.splitlines():
            archive = json.loads(line)
            archives[archive["id"]] = {
                "sha256": archive.get("sha256"), "storage": archive["storage"], "title": archive["title"],
                "tags": archive["tags"], "notes": archive["notes"], "linkedPath": archive.get("linkedPath"),
                "name": archive["originalName"], "captures": archive["captureCount"],
                "imported": archive["importedAt"],
            }
        for line in self.run("collection", "list", "--json").stdout.splitlines():
            collection = json.loads(line)
            collections[collection["id"]] = {"title": collection["title"], "members": collection["members"]}
        return {"archives": archives, "collections": collections}

    # Files to work with

    def file(self, place="in"):
        self.number += 1
        name = f"file-{self.number}"
        path = f"{self.folder}/{place}/{name}.wacz"
        size, each, index = self.chance.choice([
            (60_000, 20_000, "zipnum"), (400_000, 400, "deflated-idx"), (800_000, 400, "unsorted"), (6_000_000, 500_000, "zipnum"),
        ])
        write_large(path, size, each, index, seed=self.chance.randrange(1 << 30))
        self.paths[path] = digest(path)
        return name, path

    def package(self):
        members = [self.file() for _ in range(self.chance.randint(2, 3))]
        self.number += 1
        name = f"package-{self.number}"
        path = f"{self.folder}/in/{name}.wacz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as outer:
            listed = []
            for member, inner in members:
                outer.write(inner, f"{member}.wacz")
                listed.append({"name": f"{member}.wacz", "path": f"{member}.wacz", "hash": "sha256:" + self.paths[inner]})
            outer.writestr("datapackage.json", json.dumps({"profile": "multi-wacz-package", "resources": listed}))
        self.paths[path] = digest(path)
        return name, path, members

    # The next change: the command, and all states that are allowed after it

    def next(self, kind, now):
        after = json.loads(json.dumps(now))
        archives, collections = after["archives"], after["collections"]
        ids = sorted(archives)
        # One archive never changes.
        others = [name for name in ids if name != BYSTANDER]
        some = self.chance.choice(others) if others else None

        def entry(path, name, storage="managed", like=None):
            return {
                "sha256": None if storage == "linked" else self.paths[path], "storage": storage,
                "title": like["title"] if like else "A large archive", "tags": like["tags"] if like else [],
                "notes": like["notes"] if like else "", "name": f"{name}.wacz",
                "linkedPath": os.path.realpath(path) if storage == "linked" else None,
            }

        if kind in ("import", "move", "link") or some is None:
            name, path = self.file("elsewhere" if kind == "link" else "in")
            archives[name] = entry(path, name, "linked" if kind == "link" else "managed")
            flags = {"move": ["--move"], "link": ["--link"]}.get(kind, [])
            return ["import", path, *flags], [after], path if kind == "move" else None
        if kind == "remove":
            del archives[some]
            for collection in collections.values():
                collection["members"] = [member for member in collection["members"] if member != some]
            return ["remove", "--yes", some], [after], None
        if kind == "edit":
            mark = f"t{self.chance.randrange(1000)}"
            archives[some].update(title=f"Title {mark}", notes=f"Notes {mark}")
            if mark not in archives[some]["tags"]:
                archives[some]["tags"] = archives[some]["tags"] + [mark]
            return ["edit", some, "--title", f"Title {mark}", "--notes", f"Notes {mark}", "--tag", mark], [after], None
        if kind == "replace":
            name, path = self.file()
            archives[some] = entry(path, name, like=archives[some])
            return ["import", path, "--replace", some], [after], None
        if kind == "package":
            name, path, members = self.package()
            states = []
            for count in range(len(members)):
                member, inner = members[count]
                archives[member] = entry(inner, member)
                states.append(json.loads(json.dumps(after)))
            collections[name] = {"title": name, "members": [member for member, _ in members]}
            return ["import", path], [*states, after], None
        if kind == "collection":
            self.number += 1
            chosen = self.chance.sample(ids, min(len(ids), 3))
            collections[f"collection-{self.number}"] = {"title": f"Collection {self.number}", "members": chosen}
            return ["collection", "create", f"Collection {self.number}", *chosen], [after], None
        if kind in ("change-collection", "dissolve"):
            if not collections:
                return self.next("collection", now)
            collection = self.chance.choice(sorted(collections))
            if kind == "dissolve":
                del collections[collection]
                return ["collection", "remove", "--yes", collection], [after], None
            members = collections[collection]["members"]
            if some in members:
                members.remove(some)
                return ["collection", "drop", collection, some], [after], None
            members.append(some)
            return ["collection", "add", collection, some], [after], None
        if kind == "hash":
            # Any number of files may have been hashed.
            return ["jobs", "run"], "hashed", None
        if kind == "rebuild":
            return ["doctor", "--rebuild", "--port", "0"], [after], None
        return ["backup", self.backup], [after], None

    # Checking

    @staticmethod
    def equal(one, other):
        """Whether two states are equal in all keys that both contain."""
        if set(one["archives"]) != set(other["archives"]) or one["collections"] != other["collections"]:
            return False
        for name, archive in one["archives"].items():
            twin = other["archives"][name]
            if any(archive[key] != twin[key] for key in archive if key in twin):
                return False
        return True

    def hashed(self, before, now):
        """Whether the states differ only in new, correct hashes of linked files."""
        known = json.loads(json.dumps(before))
        for name, archive in known["archives"].items():
            found = now["archives"].get(name, {}).get("sha256")
            if archive["sha256"] is None and found is not None:
                if found != self.paths[archive["linkedPath"]]:
                    raise Failure(f"{name} has the hash {found}, the file has {self.paths[archive['linkedPath']]}")
                archive["sha256"] = found
        return self.equal(known, now)

    def check_before_repair(self, before, touched):
        """Checks, before any repair, that all archives that weren't being changed are complete."""
        now = self.seen()
        for name in set(before["archives"]) - touched:
            if name not in now["archives"]:
                raise Failure(f"{name} wasn't changed, but is missing before any repair")
        for archive in now["archives"].values():
            if archive["storage"] == "managed":
                path = f"{self.store}/files/{archive['sha256']}.wacz"
                if not os.path.exists(path):
                    # The next start completes a removal or replacement that was killed after it deleted the file.
                    continue
                if digest(path) != archive["sha256"]:
                    raise Failure(f"{path} doesn't match the hash in its name")

    def check_after_repair(self):
        """Checks, after the next start, that catalog, files, sidecars and collections agree, without leftovers."""
        results = self.run("doctor", "--port", "0", check=False).stdout
        bad = [line for line in results.splitlines() if line.startswith("error ") and " engine:" not in line]
        if bad:
            raise Failure("doctor reports: " + "; ".join(bad))
        left = [name for name in os.listdir(f"{self.store}/incoming")]
        if left:
            raise Failure(f"left in incoming/: {left}")
        database = sqlite3.connect(f"file:{self.store}/catalog.sqlite?mode=ro", uri=True)
        rows = database.execute("SELECT key, id, sha256, storage, lookups FROM archive").fetchall()
        problems = database.execute("PRAGMA integrity_check").fetchall()
        counted = database.execute(
            "SELECT id FROM archive WHERE pageCount != (SELECT count(*) FROM page WHERE archiveKey = key)"
        ).fetchall()
        database.close()
        if problems != [("ok",)] or counted:
            raise Failure(f"the catalog: {problems}, pages of {counted}")
        expected = set()
        for key, name, sha256, storage, lookups in rows:
            expected.add(f"{key}.json")
            if storage == "managed":
                expected.add(f"{key}.wacz")
                if digest(f"{self.store}/files/{key}.wacz") != key or sha256 != key:
                    raise Failure(f"the file of {name} doesn't match the hash in its name")
            expected |= {f"{key}.{ending}" for ending in {"sorted-copy": ["cdx.gz", "idx"], "idx-copy": ["idx"]}.get(lookups, [])}
            with open(f"{self.store}/files/{key}.json") as file:
                if json.load(file)["id"] != name:
                    raise Failure(f"{key}.json doesn't belong to {name}")
        # An archive's index may have been counted already, and the file verified, or a part of it.
        derived = {f"{key}.{kind}.json" for key, *_ in rows for kind in ("counts", "verified", "verifying")}
        found = set(os.listdir(f"{self.store}/files")) - derived
        if found != expected:
            raise Failure(f"files/: too many {sorted(found - expected)}, too few {sorted(expected - found)}")
        now = self.seen()
        documents = {name[:-5] for name in os.listdir(f"{self.store}/collections")}
        if documents != set(now["collections"]):
            raise Failure(f"collections/ has {documents}, the catalog {set(now['collections'])}")
        for path, sha256 in self.paths.items():
            if "/elsewhere/" in path and os.path.exists(path) and digest(path) != sha256:
                raise Failure(f"the linked file {path} was changed")
        return now

    def check_backup(self):
        """Checks that all files in the backup are complete."""
        manifest = f"{self.backup}/backup.json"
        if not os.path.exists(manifest):
            return
        with open(manifest) as file:
            text = file.read()
        json.loads(text)
        for name in os.listdir(f"{self.backup}/files"):
            if name.endswith(".wacz") and digest(f"{self.backup}/files/{name}") != name[:-5]:
                raise Failure(f"the backup's {name} doesn't match the hash in its name")

    def check_restore(self, now):
        """Checks that a new backup restores the same library."""
        self.run("backup", self.backup)
        target = f"{self.folder}/restored"
        shutil.rmtree(target, ignore_errors=True)
        own, self.store = self.store, target
        try:
            self.run("restore", self.backup)
            if not self.equal(now, self.seen()):
                raise Failure("the restored library differs from the original")
        finally:
            self.store = own
        shutil.rmtree(target)

    # A round

    def step(self, kind, share, durations, outcomes):
        before = self.seen()
        if kind == "remove" and len(before["archives"]) < 3:
            kind = "import"
        arguments, states, moved = self.next(kind, before)
        # Half of the kills happen at an instant, half before a file system change.
        usual = durations.setdefault(kind, {"seconds": 0.3, "calls": 60})
        if self.chance.random() < 0.5:
            code, errors, _ = self.killed(arguments, instant=share * usual["seconds"])
            # Adjusts the expected duration, depending on whether the work ended before the kill.
            usual["seconds"] *= 0.8 if code is not None else 1.05
        else:
            code, errors, calls = self.killed(arguments, call=max(1, int(share * usual["calls"])))
            usual["calls"] = calls or usual["calls"] * 1.1
        if code not in (None, 0) and not (kind in ("rebuild",) and code == 1):
            raise Failure(f"{arguments} ended with {code}: {errors}")
        touched = set(arguments)
        if kind != "rebuild":
            self.check_before_repair(before, touched)
        now = self.check_after_repair()
        allowed = [before, *states] if isinstance(states, list) else []
        if states == "hashed":
            is_right = self.hashed(before, now)
        elif code is None:
            is_right = any(self.equal(state, now) for state in allowed)
        else:
            is_right = self.equal(states[-1], now)
        if not is_right:
            raise Failure(
                f"after {arguments} ({'killed' if code is None else 'ended'}) the store is in neither the old nor the new state:\n"
                f"before {json.dumps(before)}\nafter  {json.dumps(states)}\nseen   {json.dumps(now)}"
            )
        if moved and not os.path.exists(moved) and os.path.basename(moved)[:-5] not in now["archives"]:
            raise Failure(f"{moved} is neither at its path nor in the store")
        if kind == "backup":
            self.check_backup()
        if code is None and isinstance(states, list):
            now = self.resume(arguments, states[-1], now)
        is_after = states != "hashed" and self.equal(states[-1], now) and not self.equal(before, now)
        outcomes[kind, "ended before the kill" if code is not None else "killed, done" if is_after else "killed"] += 1
        self.forget(now)

    def resume(self, arguments, after, now):
        """Repeats or cancels the job of a killed import, which is waiting."""
        jobs = [json.loads(line) for line in self.run("jobs", "--json").stdout.splitlines()]
        waiting = [str(job["id"]) for job in jobs if job["kind"] == "import"]
        if not waiting:
            return now
        if self.chance.random() < 0.5:
            self.run("jobs", "cancel", *waiting)
            return now
        self.run("jobs", "run")
        now = self.check_after_repair()
        if not self.hashed(after, now):
            raise Failure(
                f"{arguments} was killed and repeated, with a different result:\n"
                f"after {json.dumps(after)}\nseen  {json.dumps(now)}"
            )
        self.resumed += 1
        return now

    def forget(self, now):
        """Deletes unneeded files, and removes archives if there are too many."""
        kept = {archive["linkedPath"] for archive in now["archives"].values()}
        for path in list(self.paths):
            if path not in kept and os.path.realpath(path) not in kept and "/in/" in path and os.path.exists(path):
                os.remove(path)
        others = sorted(set(now["archives"]) - {BYSTANDER}, key=lambda name: int(name.rsplit("-", 1)[1]))
        for name in others[: max(0, len(others) - 8)]:
            self.run("remove", "--yes", name)


def run(folder, kills, seed, shim, cuts_power=False):
    work, outcomes, durations = Work(folder, seed, shim, cuts_power), Counter(), {}
    work.run("import", work.file()[1], work.file()[1])
    order, killed, checked = [], 0, 0
    while killed < kills:
        if not order:
            order = WORK[:]
            work.chance.shuffle(order)
        kind, share = order.pop(), work.chance.uniform(0.02, 1.1)
        try:
            work.step(kind, share, durations, outcomes)
            killed = sum(count for (_, outcome), count in outcomes.items() if outcome.startswith("killed"))
            if "backup" in WORK and (killed >= kills or killed - checked >= 50):
                checked = killed
                work.check_restore(work.seen())
        except Failure as failure:
            raise Failure(f"after {killed} kills of {kills}, {kind}, seed {seed}: {failure}") from None
    return outcomes, work


def report(outcomes, work):
    now = work.seen()
    for kind in WORK:
        parts = [f"{count} {outcome}" for (name, outcome), count in sorted(outcomes.items()) if name == kind]
        if parts:
            print(f"  {kind:10} {', '.join(parts)}")
    print(
        f"{sum(outcomes.values())} rounds, {work.resumed} imports repeated by their jobs: nothing lost, no leftovers; "
        f"{len(now['archives'])} archives, {len(now['collections'])} collections at the end"
    )
