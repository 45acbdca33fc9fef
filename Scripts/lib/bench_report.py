"""Results of benchmarks: numbers as JSON, plots, and a section of docs/benchmarks.md. Called by `Scripts/bench`:

    bench_report.py begin             describes the machine in the file BENCH_RESULT, and says if it isn't quiet
    bench_report.py end               copies a part's output, adds it to the file at its end, and draws the plots
    bench_report.py docs FOLDER PAGE  renders a folder of results into a page, between its markers

A part's script calls `add` for each comparison. Without BENCH_RESULT it only prints.
"""

import html
import json
import math
import multiprocessing
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

# A busy loop gets less of a processor than this beside other programs.
QUIET = 0.95
MARKERS = "<!-- results of make bench -->", "<!-- end of the results -->"
# The metrics of a line that its table in the page has
SHOWN = {"captures": ["requests/s", "p99 ms", "processor ms"], "growth": ["p50 ms"], "": ["requests/s", "processor ms"]}
COLOURS = ["#2a7fb8", "#c77700", "#c2453a", "#4c9a3a", "#8a63b8", "#888888", "#00909a", "#d0559a", "#a08000"]


def spin(seconds):
    """Runs a busy loop; returns the share of a processor that it got, and its rounds for each second of processor time."""
    began, used, rounds = time.monotonic(), time.process_time(), 0
    while time.monotonic() - began < seconds:
        rounds += 1
    used = time.process_time() - used
    return used / (time.monotonic() - began), rounds / used


def condition():
    """Returns the load averages, and a busy loop's results on all processors at once."""
    load = [round(value, 2) for value in os.getloadavg()]
    with multiprocessing.Pool() as pool:
        loops = pool.map(spin, [1] * os.cpu_count(), chunksize=1)
    return {"load": load, "share": round(min(share for share, _ in loops), 3), "loops": round(min(rounds for _, rounds in loops))}


def warn(found, when):
    if found["share"] < QUIET:
        print(f"bench: THE MACHINE ISN'T QUIET {when}: a busy loop got {found['share']:.0%} of a processor, "
              f"load average {found['load'][0]}. Times are too long, and ratios uncertain.", flush=True)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def begin(path):
    with open("/proc/cpuinfo") as file:
        model = next((row.partition(": ")[2].strip() for row in file if row.startswith("model name")), platform.machine())
    result = {
        "part": path.stem, "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": output_of("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        "machine": {
            "processors": os.cpu_count(), "model": model, "system": platform.platform(),
            "memory GB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        },
        "base": os.environ.get("BASE"), "before": condition(), "lines": [], "skipped": [],
    }
    warn(result["before"], "at the start")
    path.write_text(json.dumps(result, indent=1))


def end(path):
    rows = []
    for row in sys.stdin:
        print(row, end="", flush=True)
        rows.append(row.rstrip("\n"))
    result = json.loads(path.read_text())
    result |= {"output": rows, "after": condition()}
    warn(result["after"], "at the end")
    path.write_text(json.dumps(result, indent=1))
    for line in dict.fromkeys(entry["line"] for entry in result["lines"] if entry["size"]):
        picture = path.with_name(f"{path.stem}-{re.sub('[^a-z]+', '-', line)}.svg")
        picture.write_text(plot(line, [entry for entry in result["lines"] if entry["line"] == line and entry["size"]]))


def change(edit):
    if name := os.environ.get("BENCH_RESULT"):
        result = json.loads(Path(name).read_text())
        edit(result)
        Path(name).write_text(json.dumps(result, indent=1))


def skip(what, hint):
    """Names a peer that isn't installed."""
    print(f"  skipped: {what}, which isn't installed ({hint})", flush=True)
    change(lambda result: result.update(skipped=sorted({*result["skipped"], what})))


def add(line, work, runs, size=None):
    """Prints and saves a comparison. `runs` has for each program, replayhost first, a list of measurements: values by metric.

    A ratio is the median of replayhost's values divided by the other's of the same round. `size` places the medians in a plot.
    """
    ours, *others = runs
    medians = {name: {metric: statistics.median(run[metric] for run in found) for metric in found[0]} for name, found in runs.items()}
    ratios = {name: {} for name in others}
    for name in others:
        for metric in medians[name].keys() & medians[ours].keys():
            pairs = [(own[metric], other[metric]) for own, other in zip(runs[ours], runs[name]) if other[metric]]
            if pairs:
                ratios[name][metric] = statistics.median(own / other for own, other in pairs)
    print(f"{line}: {work}", flush=True)
    for name in runs:
        values = [f"{metric} {number(value)}{ratio(ratios, name, metric)}" for metric, value in medians[name].items()]
        print(f"  {name:20} {', '.join(values)}", flush=True)
    entry = {"line": line, "work": work, "size": size, "medians": medians, "ratios": ratios, "runs": runs}
    change(lambda result: result["lines"].append(entry))


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(ratios, name, metric):
    found = ratios.get(name, {}).get(metric)
    return "" if found is None else f" ({number(found)})"


def plot(title, entries):
    """Draws costs against sizes, both on logarithmic scales: a curve for each program, or for each metric of a single program.

    Of the metrics that all programs have, several programs are compared by the first.
    """
    programs = {name for entry in entries for name in entry["medians"]}
    found = [values for entry in entries for values in entry["medians"].values()]
    metrics = [metric for metric in found[0] if all(metric in values for values in found)]
    if len(programs) > 1:
        title, metrics = f"{title}: {metrics[0]}", metrics[:1]
    curves = {}
    for entry in entries:
        for program, values in entry["medians"].items():
            for metric in metrics:
                name = program if len(programs) > 1 else metric
                curves.setdefault(name, []).append((entry["size"], max(values[metric], 1e-6)))
    sizes = sorted({size for curve in curves.values() for size, _ in curve})
    costs = [cost for curve in curves.values() for _, cost in curve]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)) + 1e-9)
    width = max(1e-9, math.log10(sizes[-1] / sizes[0]))
    x = lambda size: 80 + 320 * math.log10(size / sizes[0]) / width
    y = lambda cost: 280 - 230 * (math.log10(cost) - low) / max(1, high - low)
    parts = [f'<text x="80" y="24" font-weight="600">{html.escape(title)}</text>']
    for power in range(low, high + 1):
        parts.append(f'<path class="grid" d="M80 {y(10 ** power):.0f}H400"/>'
                     f'<text x="74" y="{y(10 ** power) + 4:.0f}" text-anchor="end">{10.0 ** power:g}</text>')
    for size in sizes:
        parts.append(f'<path class="grid" d="M{x(size):.0f} 50V280"/>'
                     f'<text x="{x(size):.0f}" y="300" text-anchor="middle">{size:,}</text>')
    for index, (name, curve) in enumerate(curves.items()):
        colour, points = COLOURS[index % len(COLOURS)], " ".join(f"{x(size):.1f},{y(cost):.1f}" for size, cost in sorted(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<path d="M420 {60 + 20 * index}h18" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="446" y="{64 + 20 * index}">{html.escape(name)}</text>')
    style = ("svg{background:#fff}text{fill:#222}.grid{stroke:#ddd}"
             "@media(prefers-color-scheme:dark){svg{background:#181818}text{fill:#ddd}.grid{stroke:#444}}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 320" font-family="sans-serif" font-size="12">'
            f'<style>{style}</style>{"".join(parts)}</svg>\n')


def rendered(results):
    """Returns results as Markdown: a table for each line of a part."""
    text = []
    for result in results:
        machine, before, after = result["machine"], result["before"], result.get("after", result["before"])
        share = min(before["share"], after["share"])
        text.append(
            f"`Scripts/bench {result['part']}` on {result['date'][:10]}, commit {result['commit'][:12]}: {machine['processors']} processors "
            f"({machine['model']}), {machine['memory GB']:.0f} GB.\nThe machine was {'quiet' if share >= QUIET else '**busy**'}: a busy "
            f"loop got {share:.0%} of a processor, and the load average at the start was {before['load'][0]}."
            + (f"\nNot installed, so skipped: {', '.join(result['skipped'])}." if result["skipped"] else ""))
        for line in dict.fromkeys(entry["line"] for entry in result["lines"]):
            entries = [entry for entry in result["lines"] if entry["line"] == line]
            programs = list(dict.fromkeys(name for entry in entries for name in entry["medians"]))
            rows = [f"| {line} | {' | '.join(programs)} |", f"| --- |{' ---: |' * len(programs)}"]
            for entry in entries:
                metrics = dict.fromkeys(metric for values in entry["medians"].values() for metric in values)
                shown = SHOWN.get(line, SHOWN[""] if "requests/s" in metrics else metrics)
                for metric in shown:
                    cells = [
                        number(entry["medians"][name][metric]) + ratio(entry["ratios"], name, metric)
                        if metric in entry["medians"].get(name, {}) else "" for name in programs]
                    rows.append(f"| {entry['work']}: {metric} | {' | '.join(cells)} |")
            text.append("\n".join(rows))
    return "\n\n".join(text)


def docs(folder, page):
    """Replaces what is between the markers. A quick run's lines are shown if there is no whole run."""
    folder = Path(folder)
    parts = ["05-lines" if (folder / "05-lines.json").exists() else "quick", "40-import", "60-search", "92-pages"]
    results = [json.loads(path.read_text()) for path in (folder / f"{part}.json" for part in parts) if path.exists()]
    results = [result for result in results if result["lines"]]
    if not results:
        sys.exit(f"error: no results in {folder}; run: make bench ONLY=quick")
    page = Path(page)
    head, _, rest = page.read_text(encoding="utf-8").partition(MARKERS[0])
    _, found, tail = rest.partition(MARKERS[1])
    if not found:
        sys.exit(f"error: {page} lacks the lines “{MARKERS[0]}” and “{MARKERS[1]}”")
    page.write_text(f"{head}{MARKERS[0]}\n\n{rendered(results)}\n\n{MARKERS[1]}{tail}", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "docs":
        docs(*sys.argv[2:])
    else:
        {"begin": begin, "end": end}[sys.argv[1]](Path(os.environ["BENCH_RESULT"]))
