"""Links 250, 500 and 1,000 files, twice each. Called by `Scripts/soak 50-many-files` with an empty folder.

Prints seconds and peak memory of the first import, of the second, unchanged one, and of the list.
"""

import os
import subprocess
import sys

from serving import BINARY, measured
from writers.generated import write_large



def main():
    folder, number = sys.argv[1], 0
    for count in [250, 500, 1000]:
        files, store = f"{folder}/files-{count}", f"{folder}/store-{count}"
        os.mkdir(files)
        for _ in range(count):
            number += 1
            write_large(f"{files}/file-{number}.wacz", 60_000, 3_000, seed=number)
        command = [BINARY, "import", "--link", "--store", store, "--quiet", files]
        for name, line in [
            ("first", command), ("again", command), ("list", [BINARY, "list", "--store", store, "--quiet"]),
        ]:
            wall, processor, peak = measured(line)
            print(f"{count:5} files, {name:6}: {wall:6.2f} s, {processor:6.2f} s of processor, peak {peak:6.1f} MB", flush=True)
        listed = subprocess.run([BINARY, "list", "--store", store, "--json"], capture_output=True, text=True, check=True)
        assert len(listed.stdout.splitlines()) == count


if __name__ == "__main__":
    main()
