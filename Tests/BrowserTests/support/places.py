"""Paths in the checkout."""

import os
import shutil
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
FIXTURES = CHECKOUT / "Fixtures"
WEB_INTERFACE = CHECKOUT / os.environ.get("REPLAYHOST_ASSETS", "www")
# What browsers run: see Scripts/bundle.
IS_BUNDLED = (WEB_INTERFACE / "bundle").exists()
APP_SCRIPT = "**/bundle/app.js?*" if IS_BUNDLED else "**/app/main.js"
SCREENSHOTS = CHECKOUT / ".build" / "screenshots"
BINARY = CHECKOUT / os.environ.get("REPLAYHOST_BINARY", ".build/debug/replayhost")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
# Chromium without its own windows, for three quarters of the processor time. Ubuntu has none.
HEADLESS_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or CHROMIUM
# The origin mode of the servers under test: "auto", which means names in this browser, or "ports".
ORIGINS = os.environ.get("REPLAYHOST_ORIGINS", "auto")
EXAMPLE = BINARY.parent / "EmbeddedHost"
