"""Asks random questions about random libraries. Called by `Scripts/soak 52-lookups` with an empty folder.

Makes ARCHIVES (300) archives of a few random captures of URLs that several of them have, and asks QUESTIONS (10,000) at
`/c/all/`: captured URLs in other spellings, and URLs that weren't captured. The answers are compared with the captures that were
written, not with any index: the time must be the closest of all archives, and the archive must have a capture at that time. The
questions are asked while filters are made, between KILLS (50) `kill -9` while filters are made, with all of them, after
removals, after `doctor --rebuild`, and after imports, half of them while the server runs. SEED= makes other libraries.
"""

import bisect
import os
import random
import re
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

from serving import BINARY, get, serve
from writers import generated

ARCHIVES = int(os.environ.get("ARCHIVES", "300"))
QUESTIONS = int(os.environ.get("QUESTIONS", "10000"))
KILLS = int(os.environ.get("KILLS", "50"))
START = datetime(2015, 1, 1)
SECONDS = 9 * 365 * 86400

random.seed(int(os.environ.get("SEED", "1")))
HOSTS = ["reef.example", "harbour.example", "news.example", "a.b.tides.example"]
URLS = [f"{random.choice(HOSTS)}/{random.choice(['', 'p/', 'list?page='])}{number}" for number in range(400)]


def digits(moment):
    return (START + timedelta(seconds=moment)).strftime("%Y%m%d%H%M%S")


def key(url):
    host, _, path = url.partition("/")
    return f"{','.join(reversed(host.split('.')))})/{path}"


class Library:
    def __init__(self, folder):
        self.folder, self.store = folder, folder / "store"
        # The times of each URL's captures by archive, and those of all.
        self.archives = {}
        self.written = self.asked = 0

    def run(self, *arguments):
        subprocess.run([BINARY, *arguments, "--quiet", "--store", self.store], check=True)

    def write(self, count):
        """Writes archives, and returns their files."""
        files = []
        for _ in range(count):
            name = f"a{self.written:04}"
            self.written += 1
            own = {}
            for url in random.sample(URLS, random.randint(1, 12)):
                own[url] = sorted(random.sample(range(SECONDS), random.randint(1, 3)))
            # A copy of another archive's captures, at the same times.
            if self.archives and random.random() < 0.1:
                own = dict(self.archives[random.choice(list(self.archives))])
            captures = [generated.Capture(f"https://{url}", key(url), f"{url} {moment}".encode(), timestamp=digits(moment))
                for url, moments in own.items() for moment in moments]
            captures.sort(key=lambda capture: (capture.key, capture.timestamp))
            path = self.folder / f"{name}.wacz"
            generated.write(str(path), name, captures, [(captures[0].url, name)])
            self.archives[name] = own
            files.append(path)
        return files

    def ask(self, port, count, where):
        all_times = {}
        for name, own in self.archives.items():
            for url, moments in own.items():
                all_times.setdefault(url, []).extend((moment, name) for moment in moments)
        for times in all_times.values():
            times.sort()
        for _ in range(count):
            self.asked += 1
            url = random.choice(URLS)
            if random.random() < 0.25:
                url += random.choice(["x", "/none"])
            moment = random.randrange(SECONDS)
            spelling = random.choice(["http://", "https://", "https://www."]) + random.choice([url, url.replace("example", "EXAMPLE", 1)])
            status, headers, _ = get(port, f"/c/all/{digits(moment)}id_/{spelling}")
            times = all_times.get(url, [])
            if not times:
                assert status == 404, (where, spelling, status)
                continue
            place = bisect.bisect(times, (moment, ""))
            best = min(abs(one - moment) for one, _ in times[max(0, place - 1):place + 1])
            wanted = {(name, digits(one)) for one, name in times if abs(one - moment) == best}
            found = re.match(r".*/c/([^/]+)/(\d+)id_/", headers.get("Location") or "")
            assert status == 302 and found and found.groups() in wanted, (where, spelling, digits(moment), status, headers.get("Location"), wanted)
        print(f"  {where}: {count} answers are right", flush=True)


def main():
    library = Library(Path(sys.argv[1]))
    part = QUESTIONS // 6
    library.run("import", *library.write(ARCHIVES))
    with serve(library.store) as (_, port):
        library.ask(port, part, "while filters are made")
    for number in range(KILLS):
        process = subprocess.Popen([BINARY, "jobs", "run", "--quiet", "--store", library.store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.05, 0.6))
        process.kill()
        process.wait()
        if number % 10 == 9:
            with serve(library.store) as (_, port):
                library.ask(port, part // max(1, KILLS // 10), f"after {number + 1} kills")
    library.run("jobs", "run")
    with serve(library.store) as (_, port):
        library.ask(port, part, "with all filters")
        for name in random.sample(sorted(library.archives), ARCHIVES // 5):
            library.run("remove", name, "--yes")
            del library.archives[name]
        library.ask(port, part, "after removals")
        library.run("import", *library.write(ARCHIVES // 10))
        library.ask(port, part, "after imports")
    library.run("doctor", "--rebuild")
    with serve(library.store) as (_, port):
        library.ask(port, QUESTIONS - library.asked, "after a rebuild")
    print(f"{library.asked} questions, {KILLS} kills, {len(library.archives)} archives at the end")


if __name__ == "__main__":
    main()
