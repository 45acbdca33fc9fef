"""The modules of the web app as files: what each imports, and which texts it uses."""

import re
from functools import cache
from pathlib import Path

from support.places import WEB_INTERFACE

APP = WEB_INTERFACE / "app"
STATIC = re.compile(r'^(?:import|export)\b[^;]*?"(\.[^"]+|/app/[^"]+)";', re.MULTILINE)
KEY = re.compile(r'^    "([^"]+)":', re.MULTILINE)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def modules() -> list[Path]:
    return [path for path in sorted(APP.rglob("*.js")) if "messages" not in path.parts]


def message_files() -> dict[Path, list[str]]:
    """The keys of each message file, in their order."""
    return {path: KEY.findall(text(path)) for path in sorted((APP / "messages/en").glob("*.js"))}


@cache
def closure(module: Path) -> frozenset[Path]:
    """The module, and all that it imports before it runs."""
    found, waiting = set(), [module]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for target in STATIC.findall(text(path)):
            waiting.append((WEB_INTERFACE / target.removeprefix("/") if target.startswith("/") else path.parent / target).resolve())
    return frozenset(found)


def later() -> list[Path]:
    """The modules that load when they're needed."""
    targets = {(path.parent / target).resolve() for path in modules()
               for target in re.findall(r'\bimport\("(\.[^"]+)"\)', re.sub(r"^\s*(/\*\*| \*).*$", "", text(path), flags=re.MULTILINE))}
    return sorted(targets)


def keys(source: str, known: set[str]) -> set[str]:
    """The keys of messages that are written out, and those that begin with a template's first part."""
    written = set(re.findall(r'"([a-z]+(?:\.[a-z0-9-]+)+)"', source)) & known
    starts = tuple(re.findall(r"`([a-z]+\.[a-z0-9.-]*)\$\{", source))
    return written | {key for key in known if starts and key.startswith(starts)}
