#!/usr/bin/env python3
"""Generates random lookups of a URL at a time, with the results of pywb 2.10.0's index code.

    python capture_questions.py COUNT SEED > questions.json

Needs pywb 2.10.0. Fixtures/capture-questions.json is the output for `400 1`; `Scripts/soak 36-captures` uses 10,000.
"""

import json
import os
import random
import sys
import tempfile
from datetime import datetime

from pywb.utils.canonicalize import canonicalize
from pywb.warcserver.index.aggregator import SimpleAggregator
from pywb.warcserver.index.indexsource import FileIndexSource

ARCHIVES = 20
HOSTS = ["a.example", "www.a.example", "sub.a.example", "b.example:8080"]
PATHS = ["/", "/species", "/species/", "/Guide/Tides.html", "/a/b/c/", "/caf%C3%A9", "/q?b=2&a=1", "/q?a=1",
         "/page;jsessionid={}", "/list?PHPSESSID={}&x=1", "/list?x=1&sid={}", "/dir/?z=1&y=2"]


def session(chance):
    return "".join(chance.choice("0123456789abcdef") for _ in range(32))


def random_url(chance):
    path = chance.choice(PATHS).format(session(chance))
    return f"{chance.choice(['http', 'https'])}://{chance.choice(HOSTS)}{path}"


def spelled_otherwise(url, chance, fragments=False):
    scheme, rest = url.split("://", 1)
    host, path = rest.split("/", 1)
    path, _, query = path.partition("?")
    if chance.random() < .3:
        scheme = {"http": "https", "https": "http"}[scheme]
    if ":" not in host:
        if chance.random() < .3:
            host = host[4:] if host.startswith("www.") else f"www.{host}" if host == "a.example" else host
        if chance.random() < .2:
            host += {"http": ":80", "https": ":443"}[scheme]
    if chance.random() < .2:
        host = host.upper()
    if path and ";" not in path and chance.random() < .3:
        path = path[:-1] if path.endswith("/") else path + "/"
    if ";jsessionid=" in path and chance.random() < .5:
        path = path.split(";")[0] + chance.choice(["", f";jsessionid={session(chance)}"])
    arguments = query.split("&") if query else []
    for place, argument in enumerate(arguments):
        name = argument.split("=")[0]
        if name in ("PHPSESSID", "sid") and chance.random() < .5:
            arguments[place] = f"{name}={session(chance)}"
    if chance.random() < .3:
        chance.shuffle(arguments)
    fragment = f"#part{chance.randrange(9)}" if fragments and chance.random() < .15 else ""
    return f"{scheme}://{host}/{path}{'?' if arguments else ''}{'&'.join(arguments)}{fragment}"


def moment(chance, near=None):
    if near and chance.random() < .5:
        # The same second, or the one before or after.
        return near[:-1] + str(min(9, max(0, int(near[-1]) + chance.choice([-1, 0, 0, 1]))))
    return (f"{chance.randrange(1997, 2026)}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}"
            f"{chance.randrange(24):02}{chance.randrange(60):02}{chance.randrange(60):02}")


def captures(chance):
    """Returns the sorted captures of an archive: keys, times and URLs."""
    found = {}
    for _ in range(chance.randrange(3, 6)):
        url, time = random_url(chance), None
        for _ in range(chance.randrange(1, 5)):
            time = moment(chance, time)
            found[spelled_otherwise(url, chance) if chance.random() < .5 else url, time] = True
    return sorted((canonicalize(url), time, url) for url, time in found)


def between(one, other):
    """Returns the second halfway between two times."""
    one, other = (datetime.strptime(time, "%Y%m%d%H%M%S") for time in (one, other))
    return (one + (other - one) // 2).strftime("%Y%m%d%H%M%S")


def wanted_time(chance, times):
    kind = chance.randrange(7)
    if kind == 0:
        return ""
    if kind == 1:
        return chance.choice(["1996", "19960101000000", "2026", "20990101", "20991231235959"])
    time = chance.choice(times)
    if kind == 2:
        return time
    if kind == 6:
        return between(time, chance.choice(times))
    if kind == 3:
        return time[:chance.choice([4, 6, 8, 10, 12])]
    return moment(chance, time)


def answer(index, url, time):
    """Returns the time of the capture that pywb chooses, or None."""
    query = {"url": url, "closest": time or "99991231235959", "limit": "1"}
    lines, errors = index(query)
    assert not errors, errors
    found = [line["timestamp"] for line in lines]
    return found[0] if found else None


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(seed)
    archives = [captures(chance) for _ in range(ARCHIVES)]
    questions = []
    with tempfile.TemporaryDirectory() as folder:
        indexes = []
        for number, lines in enumerate(archives):
            path = os.path.join(folder, f"{number}.cdxj")
            with open(path, "w", encoding="utf-8") as file:
                for key, time, url in lines:
                    file.write(f"{key} {time} {json.dumps({'url': url, 'status': '200', 'filename': 'a', 'offset': '0'})}\n")
            indexes.append(SimpleAggregator({"a": FileIndexSource(path)}))
        for _ in range(count):
            number = chance.randrange(ARCHIVES)
            lines = archives[number]
            key, _, url = chance.choice(lines)
            time = wanted_time(chance, [time for other, time, _ in lines if other == key])
            url = spelled_otherwise(url if chance.random() < .9 else random_url(chance), chance, fragments=True)
            questions.append([number, url, time, answer(indexes[number], url, time)])
    print("{\"archives\": [")
    print(",\n".join(json.dumps(lines) for lines in archives))
    print("], \"questions\": [")
    print(",\n".join(json.dumps(question) for question in questions))
    print("]}")


if __name__ == "__main__":
    main()
