"""Runs pytest where there is no network: `unshare -rn python -m support.no_network ARGUMENTS` (as root of its own)."""

import fcntl
import os
import socket
import struct
import sys


def raise_interface(name):
    """Sets IFF_UP, as `ip link set NAME up` does (netdevice(7))."""
    siocgifflags, siocsifflags, iff_up = 0x8913, 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", name.encode(), 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(control, siocgifflags, request))[1]
        fcntl.ioctl(control, siocsifflags, struct.pack("16sh22x", name.encode(), flags | iff_up))


def main():
    interfaces = [name for _, name in socket.if_nameindex()]
    if interfaces != ["lo"]:
        sys.exit(f"error: there is a network here: {', '.join(interfaces)}")
    raise_interface("lo")
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:]])


if __name__ == "__main__":
    main()
