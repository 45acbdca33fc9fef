"""Measures where searches list the pages that answer them: those of queries.tsv, and the same as people type them.

    measure.py PROGRAM PYTHON POSTGRESQL [FOLDER]

PROGRAM is a `replayhost`; PYTHON and POSTGRESQL are the folders that choose.py reads. FOLDER keeps the archives and the library for the
next run. Prints, for each kind of query, how many have an answer as the first result, among the first 3 and the first 10, and the
mean of 1 / rank (MRR).

The kinds: `typed`: as printed in the index. `plural`: the last word of three letters or more gets an s. `error`: in the longest word, the
two letters in its middle are swapped. `question`: "how do I use …".
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BASES = {"python": "https://docs.python.example/3/", "postgresql": "https://www.postgresql.example/docs/15/"}
LIMIT = 50


def last_word(query, change):
    words = list(re.finditer(r"[A-Za-z]{3,}", query))
    return query[:words[-1].start()] + change(words[-1][0]) + query[words[-1].end():] if words else query


def swapped(query):
    word = max(re.findall(r"[A-Za-z]+", query), key=len)
    middle = len(word) // 2
    wrong = word[:middle - 1] + word[middle] + word[middle - 1] + word[middle + 1:]
    return query.replace(word, wrong, 1)


KINDS = {
    "typed": lambda query: query, "plural": lambda query: last_word(query, lambda word: word + "s"), "error": swapped,
    "question": lambda query: f"how do I use {query}",
}


def main():
    program, folders = sys.argv[1], dict(zip(BASES, map(Path, sys.argv[2:4])))
    folder = Path(sys.argv[4]) if len(sys.argv) > 4 else Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    store = folder / "store"

    def run(*arguments, words=()):
        command = [program, *arguments, "--store", store, "--quiet", *(["--", *words] if words else [])]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    for name, base in BASES.items():
        archive = folder / f"{name}.wacz"
        if not archive.exists():
            subprocess.run([sys.executable, HERE / "make-wacz.py", folders[name], base, archive], check=True)
        if not store.exists() or name not in run("list", "--json"):
            run("import", archive, "--id", name)
    run("jobs", "run")
    rows = [line.split("\t") for line in (HERE / "queries.tsv").read_text().splitlines()[1:]]
    print(f"{'':10}{'first':>7}{'in 3':>6}{'in 10':>7}{'MRR':>7}")
    for kind, change in KINDS.items():
        ranks = []
        for name, query, expected in rows:
            answers = {BASES[name] + page for page in expected.split("|")}
            found = run("search", "--json", "--in", name, "--limit", str(LIMIT), words=[change(query)]).splitlines()
            rank = next((place for place, hit in enumerate(found, 1) if json.loads(hit)["url"] in answers), None)
            ranks.append(rank)
            if "--each" in sys.argv:
                print(f"  {kind}\t{rank}\t{change(query)}")
        within = [sum(rank is not None and rank <= most for rank in ranks) for most in (1, 3, 10)]
        print(f"{kind:10}{within[0]:7}{within[1]:6}{within[2]:7}{sum(1 / rank for rank in ranks if rank) / len(ranks):7.3f}")


main()
