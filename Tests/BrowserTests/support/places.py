"""Paths in the checkout."""

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
FIXTURES = CHECKOUT / "Fixtures"
WEB_INTERFACE = CHECKOUT / os.environ.get("REPLAYHOST_ASSETS", "www")
SCREENSHOTS = CHECKOUT / ".build" / "screenshots"
BINARY = CHECKOUT / os.environ.get("REPLAYHOST_BINARY", ".build/debug/replayhost")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# The origin mode of the servers under test: "auto", which means names in this browser, or "ports".
ORIGINS = os.environ.get("REPLAYHOST_ORIGINS", "auto")
EXAMPLE = BINARY.parent / "EmbeddedHost"
