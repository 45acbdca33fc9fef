"""What tests need that isn't on every system: `pytest.mark.needs("root", "certutil")`.

A need is one of NEEDS, or one of PROGRAMS. The browsers of BrowserTests aren't needs: without them, those tests fail.
"""

import ctypes
import functools
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

CHROMIUM = shutil.which(os.environ.get("CHROMIUM", "chromium"))
BUBBLEWRAP = shutil.which("bwrap")
IS_ROOT = os.geteuid() == 0


def works(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def has_landlock():
    """Whether the kernel has any version of Landlock. landlock_create_ruleset(2)"""
    create_ruleset, only_version = 444, 1
    return sys.platform == "linux" and ctypes.CDLL(None).syscall(create_ruleset, None, 0, only_version) > 0


def can_confine():
    """Whether bubblewrap can make namespaces."""
    return BUBBLEWRAP is not None and works(
        BUBBLEWRAP, "--unshare-user", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "true")


def can_mount():
    """Whether root may mount, which some containers forbid. The mount is gone with its namespace."""
    return IS_ROOT and works("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt")


# Each need: whether it's there, and the reason to skip if it isn't
NEEDS = {
    "root": (lambda: IS_ROOT, "only root can do this"),
    "mounts": (can_mount, "this user can't mount file systems"),
    "user namespaces": (lambda: works("unshare", "-rnm", "true"), "this system doesn't allow user namespaces (unshare -rnm)"),
    "network namespaces": (
        lambda: IS_ROOT and works("unshare", "-n", "true") and shutil.which("ip") is not None,
        "only root can make network namespaces, with ip (iproute2)"),
    "bubblewrap": (can_confine, "bubblewrap isn't installed, or can't make namespaces here"),
    "Landlock": (has_landlock, "this kernel lacks Landlock"),
    "Linux on x86-64 or ARM64": (
        lambda: sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"),
        "the sandboxes are for Linux on x86-64 and ARM64"),
    "Chromium": (lambda: CHROMIUM is not None, "Chromium isn't installed"),
    "published archives": (
        lambda: Path(os.environ.get("REPLAYHOST_FIXTURES") or "missing").is_dir(), "REPLAYHOST_FIXTURES isn't set to a folder"),
}
# Programs on the PATH
PROGRAMS = {
    "appstreamcli", "bash", "cc", "certutil", "dpkg-shlibdeps", "fish", "gio", "mandoc", "pdftotext", "setpriv", "systemd-analyze",
    "systemd-socket-activate", "update-desktop-database", "update-mime-database", "xdg-mime", "zsh",
}


@functools.cache
def lacking(need):
    """The reason to skip a test with this need; `None` if it's there."""
    if need in NEEDS:
        is_there, reason = NEEDS[need]
        return None if is_there() else reason
    if need not in PROGRAMS:
        raise ValueError(f"{need} is neither in NEEDS nor in PROGRAMS")
    return None if shutil.which(need) else f"{need} isn't installed"
