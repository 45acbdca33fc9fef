"""Kills the program at random instants of indexing, removal and re-import: search then agrees with an index made from nothing.

KILLS= and SEED= change the number of kills and the seed.
"""

import os
import random
import signal
import sqlite3
import time

from writers.generated import Capture, write

KILLS = int(os.environ.get("KILLS", "4"))
SEED = int(os.environ.get("SEED", "20261123"))
PAGES = 400

# What people can find, without numbers that depend on the order of the work.
CONTENTS = """
    SELECT archive.key, archive.state, archive.position, withText, reasons, capture.position, part, timestamp, url.key, url.url,
        host.name, title, type, language, hex(digest)
    FROM capture JOIN archive ON archive.number = capture.archive JOIN document ON document.number = capture.document
    JOIN url ON url.number = document.url JOIN host ON host.number = url.host LEFT JOIN text ON text.number = document.text
    ORDER BY 1, 6, 7
"""


def contents(store):
    """Returns the rows of the search index, the number of rows of each table, all words with their frequencies, and the vocabulary.

    Which lines are beside the content depends on the pages that were read since the last start, so columns aren't compared.
    """
    with sqlite3.connect(f"file:{store.root}/search.sqlite?mode=ro", uri=True) as database:
        rows = database.execute(CONTENTS).fetchall()
        counts = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in
                  ("archive", "host", "url", "text", "document", "capture")]
        database.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, word, row)")
        terms = database.execute("SELECT term, doc, cnt FROM terms ORDER BY term").fetchall()
        vocabulary = database.execute("SELECT * FROM vocabulary ORDER BY word").fetchall()
    return rows, counts, terms, vocabulary


def archive(folder, name, word):
    captures = [
        Capture(f"http://{word}.example/{number:04}", f"example,{word})/{number:04}",
                f"<title>{word} {number}</title><h1>Page</h1><p>{word} text {number} {number % 7} shared".encode())
        for number in range(PAGES)
    ]
    path = folder / f"{name}.wacz"
    write(path, name, captures, [(capture.url, capture.url) for capture in captures], is_gzipped=True)
    return path


def test_search_agrees_with_a_new_index_after_any_kill(store, tmp_path):
    chooser = random.Random(SEED)
    paths = [archive(tmp_path, name, word) for name, word in (("one", "reef"), ("two", "reef"), ("three", "tide"))]
    store.run_checked("import", *paths)
    killed = 0
    for number in range(KILLS):
        work = chooser.choice(["index", "index", "remove", "replace"])
        name = chooser.choice(["one", "two", "three"])
        if work == "index":
            for file in store.root.glob("search.sqlite*"):
                file.unlink()
            process = store.start("jobs", "run")
        elif work == "remove":
            process = store.start("remove", name, "--yes")
        else:
            # No two are the same file, which the library would refuse when the killed import goes on.
            process = store.start("import", archive(tmp_path, f"other-{number}", chooser.choice(["reef", "kelp"])), "--replace", name)
        # Any instant may come: the program may also have ended.
        time.sleep(chooser.random() * 0.8)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        store.run("import", *paths)
        # Jobs of the killed process start again, three times at most; one that failed is repeated here.
        for job in store.run("jobs", "--all", "--json").lines():
            if job["state"] == "failed" and job["kind"] == "text":
                store.run("jobs", "retry", job["id"])
        store.run_checked("jobs", "run")
        after = contents(store)
        for file in store.root.glob("search.sqlite*"):
            file.unlink()
        store.run_checked("jobs", "run")
        assert after == contents(store), f"after {work} of {name} was killed (SEED={SEED})"
    assert killed > 0
