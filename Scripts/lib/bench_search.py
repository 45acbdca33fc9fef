"""bench_search.py FOLDER: measures full-text search beside the sqlite3 shell.

Makes PAGES pages (default: 200,000) of generated text in five scripts, as two archives: one whose page list has the text, as
Browsertrix writes it, and one with HTML only. Indexes them, and puts the same text into an FTS5 table with the sqlite3 shell.
Since the shell's tokenizer doesn't split Japanese, its text has the pairs of characters that replayhost indexes. Then runs the
same QUERIES queries (default: 500) over HTTP and in the shell, 8 at once and one at a time, in turn. Prints times, sizes and
ratios.
"""

import http.client
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import bench_report
from serving import BINARY, import_file, percentile, resident, serve
from writers.generated import Capture, write

PAGES, QUERIES = int(os.environ.get("PAGES", 200_000)), int(os.environ.get("QUERIES", 500))
CLIENTS, ROUNDS = 8, 3
# The letters that words are made of. Real languages differ more, but fold and split as these do.
SCRIPTS = {
    "en": ("bcdfghklmnprstvw", "aeiou"), "de": ("bdfghklmnrstwzß", "aeiouäöü"), "ru": ("бвгдзклмнпрст", "аеиоуыя"),
    "el": ("βγδζκλμνπρστ", "αειοωάέ"), "ja": ("東京天気晴雨海山川人日本語学", "のをにはがでと"),
}


def words(language, chooser, count=20_000):
    """Returns words of a language, the most frequent first."""
    consonants, vowels = SCRIPTS[language]
    found = {}
    while len(found) < count:
        syllables = 1 + chooser.choice((0, 1, 1, 2, 2, 3))
        found["".join(chooser.choice(consonants) + chooser.choice(vowels) for _ in range(syllables))] = None
    return list(found)


class Texts:
    """Generated texts; the same for each seed. Frequencies follow Zipf's law."""

    def __init__(self, seed=1):
        self.chooser = random.Random(seed)
        self.words = {language: words(language, self.chooser) for language in SCRIPTS}
        self.weights = []
        total = 0
        for rank in range(20_000):
            total += 1 / (rank + 1)
            self.weights.append(total)

    def sentence(self, language, count):
        found = self.chooser.choices(self.words[language], cum_weights=self.weights, k=count)
        return ("" if language == "ja" else " ").join(found)

    def page(self, number):
        language = list(SCRIPTS)[number % 5 if number % 3 else 0]
        title = self.sentence(language, 4)
        paragraphs = [self.sentence(language, self.chooser.randint(20, 60)) for _ in range(self.chooser.randint(2, 6))]
        return language, f"http://site{number % 500}.example/{language}/{number}", title, paragraphs


def split(text):
    """Returns Japanese text as overlapping pairs of characters, which unicode61 can index; other text as it is."""
    def pairs(match):
        run = match[0]
        return " ".join(run[place:place + 2] for place in range(max(1, len(run) - 1)))

    return re.sub(r"[\u3040-\u9fff]+", pairs, text)


def write_archives(folder, texts):
    """Writes both archives, and the same texts as tab-separated lines for the shell. Returns the texts' size in bytes."""
    size, captures, listed, titles = 0, [], [], []
    with open(folder / "pages.tsv", "w", encoding="utf-8") as table:
        for number in range(PAGES):
            language, url, title, paragraphs = texts.page(number)
            text = " ".join(paragraphs)
            size += len((title + url + text).encode())
            table.write(f"{split(title)}\t{url}\t{split(text)}\n")
            body = f"<!doctype html><html lang={language}><title>{title}</title><h1>{title}</h1>" + "".join(
                f"<p>{paragraph}" for paragraph in paragraphs)
            host, _, rest = url[7:].partition("/")
            captures.append(Capture(
                url, ",".join(reversed(host.split("."))) + f")/{rest}", body.encode()))
            listed.append((url, title, text))
            titles.append((url, ""))
    captures.sort(key=lambda capture: capture.key)
    write(folder / "listed.wacz", "Generated pages with text", captures, listed, is_gzipped=True)
    write(folder / "html.wacz", "Generated pages", captures, titles, is_gzipped=True)
    return size


def index_archive(store):
    """Runs the jobs, of which another one verifies the archive. Returns the whole seconds that indexing took, and the peak memory
    of both in bytes.
    """
    process = subprocess.Popen([BINARY, "jobs", "run", "--store", str(store), "--quiet"])
    peak = 0
    while process.poll() is None:
        # The process's own peak: that of rusage includes this process's memory, of which it was a copy.
        peak = max(peak, peak_memory(process.pid))
        time.sleep(0.05)
    assert process.returncode == 0
    listed = subprocess.run(
        [BINARY, "jobs", "list", "--all", "--json", "--store", str(store)], check=True, capture_output=True, text=True)
    [job] = [job for job in map(json.loads, listed.stdout.splitlines()) if job["kind"] == "text"]
    began, ended = (datetime.fromisoformat(job[key].replace("Z", "+00:00")) for key in ("startedAt", "finishedAt"))
    assert job["state"] == "done"
    return (ended - began).total_seconds(), peak


def peak_memory(process):
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return 0
    found = re.search(r"Name:\s+replayhost.*VmHWM:\s+(\d+) kB", status, re.S)
    return int(found[1]) * 1024 if found else 0


def shell(database, commands):
    return subprocess.run(["sqlite3", str(database)], input=commands, text=True, capture_output=True, check=True).stdout


def queries(texts):
    """Returns queries of six kinds, as typed and as FTS5 expressions for the shell."""
    chooser = random.Random(2)
    found = []
    for number in range(QUERIES):
        language = chooser.choice(["en", "de", "ru", "el"])
        some = [texts.words[language][int(20_000 ** chooser.random())] for _ in range(3)]
        kind = number % 6
        if kind == 0:
            found.append(("one word", some[0], f'"{some[0]}"'))
        elif kind == 1:
            found.append(("three words", " ".join(some), " ".join(f'"{word}"' for word in some)))
        elif kind == 2:
            phrase = texts.sentence(language, 2)
            found.append(("phrase", f'"{phrase}"', f'"{phrase}"'))
        elif kind == 3:
            found.append(("prefix", some[0][:4] + "*", f'"{some[0][:4]}"*'))
        elif kind == 4:
            site = f"site{chooser.randrange(500)}"
            found.append(("site:", f"{some[0]} site:{site}.example", f'"{some[0]}" url:"{site} example"'))
        else:
            word = texts.words["ja"][int(20_000 ** chooser.random())][:3]
            found.append(("Japanese", word, f'"{split(word)}"{"*" if len(word) == 1 else ""}'))
    return found


def ask_shell(database, asked):
    """Returns the milliseconds of each query."""
    timed = shell(database, ".timer on\n" + "".join(
        f"SELECT rowid, snippet(t, 2, '', '', '', 20) FROM t WHERE t MATCH '{expression}' ORDER BY bm25(t, 10, 3, 1) LIMIT 20;\n"
        for _, _, expression in asked))
    times = [float(match) * 1000 for match in re.findall(r"Run Time: real ([\d.]+)", timed)]
    assert len(times) == len(asked)
    return times


def ask(port, paths, times):
    connection = http.client.HTTPConnection("localhost", port, timeout=600)
    for path in paths:
        began = time.perf_counter()
        connection.request("GET", path, headers={"Host": f"localhost:{port}"})
        answer = connection.getresponse()
        body = answer.read()
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status == 200, body
    connection.close()


def ask_part(port, paths, queue):
    times = []
    ask(port, paths, times)
    queue.put(times)


def measure(port, paths, clients):
    queue = multiprocessing.Queue()
    parts = [multiprocessing.Process(target=ask_part, args=(port, paths[number::clients], queue)) for number in range(clients)]
    for part in parts:
        part.start()
    times = [time for _ in parts for time in queue.get()]
    for part in parts:
        part.join()
    return sorted(times)


def show(name, times):
    print(f"  {name:32} p50 {percentile(times, 0.5):8.1f} ms   p95 {percentile(times, 0.95):8.1f} ms   "
          f"max {max(times):8.1f} ms   ({len(times)} queries)", flush=True)


def main():
    folder = Path(sys.argv[1])
    texts = Texts()
    size = write_archives(folder, texts)
    print(f"{PAGES} pages, {size / 1e6:.0f} MB of text", flush=True)

    database = folder / "shell.sqlite"
    began = time.monotonic()
    shell(database, "PRAGMA journal_mode = WAL;\nCREATE VIRTUAL TABLE t USING fts5(title, url, body);\n"
                    f".mode tabs\n.import '{folder / 'pages.tsv'}' t\n")
    inserts = {"s": time.monotonic() - began, "file / text": database.stat().st_size / size}
    for kind, name in (("HTML", "html"), ("text in the page list", "listed")):
        store = folder / name
        import_file(store, folder / f"{name}.wacz")
        seconds, peak = index_archive(store)
        disk = sum(file.stat().st_size for file in store.glob("search.sqlite*"))
        found = {"s": seconds, "file / text": disk / size, "peak MB": peak / 1e6}
        bench_report.add("search", f"{PAGES:,} pages, {kind}", {"replayhost": [found], "sqlite3, inserts": [inserts]})

    asked = queries(texts)
    with serve(store) as (process, port), multiprocessing.Pool(CLIENTS) as pool:
        paths = [f"/api/search?q={quote(typed)}" for _, typed, _ in asked]
        measure(port, paths[:20], 1)
        for clients in (CLIENTS, 1):
            runs = {"replayhost": [], "sqlite3": []}
            for _ in range(ROUNDS):
                parts = pool.starmap(ask_shell, [(database, asked[number::clients]) for number in range(clients)])
                alone, shell_times = measure(port, paths, clients), [spent for part in parts for spent in part]
                for name, times in zip(runs, (alone, shell_times)):
                    runs[name].append({"p50 ms": percentile(times, 0.5), "p95 ms": percentile(times, 0.95)})
            bench_report.add("search", f"{len(asked)} queries, {clients} at once", runs)
        print("the last round, by kind:")
        show("all", alone)
        show("shell", shell_times)
        for kind in dict.fromkeys(kind for kind, _, _ in asked):
            one = [f"/api/search?q={quote(typed)}" for name, typed, _ in asked if name == kind]
            show(f"HTTP, 1 client, {kind}", measure(port, one, 1))
            show(f"shell, {kind}", [spent for spent, (name, _, _) in zip(shell_times, asked) if name == kind])
        typed = [texts.sentence("en", 1)[:length] for length in (1, 2, 3, 4) for _ in range(25)]
        show("suggestions, 8 clients", measure(port, [f"/api/suggest?q={quote(text)}" for text in typed], CLIENTS))
        print(f"server: {resident(process.pid) / 1e6:.0f} MB resident", flush=True)


if __name__ == "__main__":
    main()
