"""Compares the import of a 4.5 GB file with `cp` and `openssl dgst -sha256` of the same file, in turn.

    PYTHONPATH=Fixtures python3 Scripts/lib/bench_import.py FOLDER [GIGABYTES] [ROUNDS]

An import can't be faster than the slower of the two, since it writes a copy and hashes it. It also flushes the copy to the disk,
so `cp` is measured with `sync`, too.
"""

import os
import shutil
import sys

import bench_report
from serving import BINARY, measured
from writers.generated import write_large


def main():
    folder = sys.argv[1]
    size = int(float(sys.argv[2] if len(sys.argv) > 2 else 4.5) * 1e9)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    source, copy, store = f"{folder}/source.wacz", f"{folder}/copy", f"{folder}/store"
    write_large(source, size)
    commands = {
        "replayhost": [BINARY, "import", "--store", store, "--quiet", source],
        "cp": ["cp", source, copy],
        "cp, sync": ["sh", "-c", f"cp '{source}' '{copy}' && sync '{copy}'"],
        "openssl dgst -sha256": ["openssl", "dgst", "-sha256", source],
    }
    results = {name: [] for name in commands}
    os.sync()
    for number in range(rounds):
        for name, command in commands.items():
            results[name].append(dict(zip(["s", "processor s", "peak MB"], measured(command))))
            if os.path.exists(copy):
                os.remove(copy)
            shutil.rmtree(store, ignore_errors=True)
            os.sync()
    bench_report.add("import", f"{os.path.getsize(source):,} bytes", results)


if __name__ == "__main__":
    main()
