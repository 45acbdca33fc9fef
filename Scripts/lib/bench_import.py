"""Compares the import of a 4.5 GB file with `cp` and `openssl dgst -sha256` of the same file, in turn.

    PYTHONPATH=Fixtures python3 Scripts/lib/bench_import.py FOLDER [GIGABYTES] [ROUNDS]

An import can't be faster than the slower of the two, since it writes a copy and hashes it. It also flushes the copy to the disk,
so `cp` is measured with `sync`, too.
"""

import os
import shutil
import statistics
import sys

from serving import BINARY, measured
from writers.generated import write_large



def main():
    folder = sys.argv[1]
    size = int(float(sys.argv[2] if len(sys.argv) > 2 else 4.5) * 1e9)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    source, copy, store = f"{folder}/source.wacz", f"{folder}/copy", f"{folder}/store"
    write_large(source, size)
    commands = {
        "cp": ["cp", source, copy],
        "cp, sync": ["sh", "-c", f"cp '{source}' '{copy}' && sync '{copy}'"],
        "openssl dgst -sha256": ["openssl", "dgst", "-sha256", source],
        "replayhost import": [BINARY, "import", "--store", store, "--quiet", source],
    }
    results = {name: [] for name in commands}
    os.sync()
    for number in range(rounds):
        for name, command in commands.items():
            results[name].append(measured(command))
            if os.path.exists(copy):
                os.remove(copy)
            shutil.rmtree(store, ignore_errors=True)
            os.sync()
    print(f"{os.path.getsize(source)} bytes, {rounds} rounds, in turn; {os.cpu_count()} processors")
    print(f"{'':22}{'wall s':>10}{'CPU s':>10}{'peak MB':>10}   each wall s")
    for name, values in results.items():
        wall, processor, peak = (statistics.median(value[index] for value in values) for index in range(3))
        each = " ".join(f"{value[0]:.1f}" for value in values)
        print(f"{name:22}{wall:10.1f}{processor:10.1f}{peak:10.1f}   {each}")
    own = statistics.median(value[0] for value in results["replayhost import"])
    for floors in [["cp", "openssl dgst -sha256"], ["cp, sync", "openssl dgst -sha256"]]:
        floor = max(statistics.median(value[0] for value in results[name]) for name in floors)
        print(f"import / slower of {' and '.join(floors)}: {own / floor:.2f}")


if __name__ == "__main__":
    main()
