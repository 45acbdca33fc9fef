"""The engines that people have: Chromium, Firefox and WebKit, each behind the same few calls (`engine.Engine`)."""

from .chromium import Chromium
from .firefox import Firefox
from .webkit import WebKit

ENGINES = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}
