"""The test runs in a network of its own, in which every address is this computer."""

import pytest

pytest.register_assert_rewrite("capture_host")

import live_archives

# Before anything starts a thread
live_archives.enter_network()
