"""Runs a program and measures it: seconds by the clock, seconds of processor, peak memory."""

import os
import subprocess
import time


def measured(command, **options):
    """(wall seconds, processor seconds, peak resident memory in MB); fails when the program does."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000
