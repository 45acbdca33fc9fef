"""Compares the import of a million captures with pywb's, and that of a 4.5 GB file with `cp` and `openssl dgst -sha256`, in turn.

    PYTHONPATH=Fixtures python3 Scripts/lib/bench_import.py FOLDER [GIGABYTES] [ROUNDS]

An import can't be faster than the slower of `cp` and `openssl`, since it writes a copy and hashes it. It also flushes the copy to the
disk, so `cp` is measured with `sync`, too. COUNT= sets the number of captures.
"""

import os
import subprocess
import sys

import bench_report
import pywb_server
from serving import BINARY, measured
from writers.generated import write_large, write_million

COUNT = int(os.environ.get("COUNT", "1000000"))


def compare(work, commands, made, rounds):
    """Runs the commands in turn, and deletes the paths in `made` after each."""
    results = {name: [] for name in commands}
    os.sync()
    for _ in range(rounds):
        for name, command in commands.items():
            results[name].append(dict(zip(["s", "processor s", "peak MB"], measured(command))))
            subprocess.run(["rm", "-rf", *made], check=True)
            os.sync()
    bench_report.add("import", work, results)


def main():
    folder = sys.argv[1]
    size = int(float(sys.argv[2] if len(sys.argv) > 2 else 4.5) * 1e9)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    source, copy, store = f"{folder}/source.wacz", f"{folder}/copy", f"{folder}/store"
    ours = [BINARY, "import", "--store", store, "--quiet", source]

    write_million(source, COUNT)
    commands = {"replayhost": ours}
    if "PYWB" in os.environ:
        manager = pywb_server.PROGRAMS / "wb-manager"
        added = f"cd '{folder}' && '{manager}' init million && '{manager}' add --unpack-wacz million '{source}'"
        commands["pywb"] = ["sh", "-c", added]
    else:
        bench_report.skip("pywb", "pip install pywb==2.10.0")
    compare(f"{COUNT:,} captures", commands, [store, f"{folder}/collections", f"{folder}/static", f"{folder}/templates"], rounds)

    write_large(source, size)
    commands = {
        "replayhost": ours,
        "cp": ["cp", source, copy],
        "cp, sync": ["sh", "-c", f"cp '{source}' '{copy}' && sync '{copy}'"],
        "openssl dgst -sha256": ["openssl", "dgst", "-sha256", source],
    }
    compare(f"{os.path.getsize(source):,} bytes", commands, [copy, store], rounds)


if __name__ == "__main__":
    main()
