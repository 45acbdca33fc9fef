"""The memory of a server after many connections."""

import re
import resource
import socket
from pathlib import Path

import pytest
from program import Server
from support.waiting import wait_until

CONNECTIONS = 1500


def own_megabytes(pid):
    """The memory that belongs to a process alone. proc(5), "smaps_rollup"."""
    return int(re.search(r"Anonymous:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text())[1]) / 1024


@pytest.mark.few()
def test_memory_of_closed_connections_is_returned_to_the_system(store):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], 4096), limits[1]))
    try:
        with Server(store) as server:
            before = own_megabytes(server.process.pid)
            request = f"GET /api/health HTTP/1.1\r\nHost: localhost:{server.port}\r\n\r\n".encode()
            connections = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CONNECTIONS)]
            for connection in connections:
                connection.sendall(request)
            for connection in connections:
                assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
            # 30 kB for each, or the test shows nothing.
            assert own_megabytes(server.process.pid) > before + 24
            for connection in connections:
                connection.close()
            wait_until(lambda: own_megabytes(server.process.pid) < before + 16, "the memory is returned", 120)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
