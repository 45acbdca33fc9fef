"""Runs a command as on a kernel without Landlock, or in a container that forbids namespaces: python lacking.py WHAT... -- COMMAND.

Shares nothing with the program under test.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# The numbers of system calls, linux/audit.h and asm/unistd.h.
ARCHITECTURE, CLONE, UNSHARE, MOUNT = {
    "x86_64": (0xC000003E, 56, 272, 165), "aarch64": (0xC00000B7, 220, 97, 40)}.get(platform.machine(), (0, 0, 0, 0))
LANDLOCK, CLONE3 = 444, 435
# CLONE_NEWNS, NEWUSER, NEWPID and NEWNET. linux/sched.h
NAMESPACES = 0x00020000 | 0x10000000 | 0x20000000 | 0x40000000
LOAD, IF_EQUAL, IF_BITS, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER, FIRST_ARGUMENT = 0, 16


def refuse(number, error):
    return [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | error)]


def program(lacking):
    code = [(LOAD, 0, 0, NUMBER)]
    if "landlock" in lacking:
        code += refuse(LANDLOCK, errno.ENOSYS)
    if "namespaces" in lacking:
        # As container runtimes do, which can't look into the argument of clone3.
        code += refuse(CLONE3, errno.ENOSYS) + refuse(UNSHARE, errno.EPERM) + refuse(MOUNT, errno.EPERM)
        code += [(IF_EQUAL, 0, 3, CLONE), (LOAD, 0, 0, FIRST_ARGUMENT), (IF_BITS, 0, 1, NAMESPACES)]
        code += [(RETURN, 0, 0, REFUSE | errno.EPERM)]
    return code + [(RETURN, 0, 0, ALLOW)]


def restrict(lacking):
    code = program(lacking)
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in code))
    head = ctypes.create_string_buffer(struct.pack("HP", len(code), ctypes.addressof(instructions)))
    libc = ctypes.CDLL(None, use_errno=True)
    # PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP with SECCOMP_MODE_FILTER. prctl(2).
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, head, 0, 0):
        sys.exit(f"can't install a filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    end = sys.argv.index("--")
    restrict(sys.argv[1:end])
    os.execvp(sys.argv[end + 1], sys.argv[end + 1:])
