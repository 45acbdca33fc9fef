"""Measures requests per second with and without the user check (--allow-other-users), on kept and new connections, in turn.

Called by `Scripts/bench 50-users` with an empty folder. ROUNDS= (default: 5) and SECONDS_EACH= (4) change the duration.
"""

import contextlib
import os
import re
import subprocess
import sys

import serving

ROUNDS, SECONDS = int(os.environ.get("ROUNDS", "5")), os.environ.get("SECONDS_EACH", "4")


def rate(port, connection):
    """Returns the requests per second for 100 bytes of an archive."""
    command = ["wrk", "-t", "1", "-c", "8", "-d", f"{SECONDS}s", "-H", "Range: bytes=0-99", "-H", f"Connection: {connection}"]
    told = subprocess.run(
        [*command, f"http://127.0.0.1:{port}/archives/sample.wacz"], capture_output=True, text=True, check=True).stdout
    return re.search(r"Requests/sec: *([\d.]+)", told)[1]


def main(folder):
    with contextlib.ExitStack() as stack:
        ports = []
        for name, options in [("checked", []), ("unchecked", ["--allow-other-users"])]:
            serving.import_file(f"{folder}/{name}", "Fixtures/sample.wacz")
            ports.append(stack.enter_context(serving.serve(f"{folder}/{name}", *options))[1])
        for connection in ["keep-alive", "close"]:
            for port in ports:
                rate(port, connection)
            for _ in range(ROUNDS):
                checked, unchecked = (rate(port, connection) for port in ports)
                print(f"users: {connection}: checked {checked}, unchecked {unchecked}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
