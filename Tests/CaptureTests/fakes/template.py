"""yt-dlp's output templates, as far as a program that starts yt-dlp needs them. README of yt-dlp, "OUTPUT TEMPLATE"."""

import json
import re

FIELD = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<format>[#0\-+ ]*\d*(?:\.\d+)?(?P<type>[diouxXeEfFgGcrsajqlhBUSD%]))")
# What may stand in `--print` without `%(…)s`.
BARE = re.compile(r"(?:[\w.:,]|-\d|\{(?:[\w.:,]|-\d)+\})+=?")


def render(template, values):
    return FIELD.sub(lambda match: _one(match, values), template)


def render_print(template, values):
    """The text that `--print TEMPLATE` prints."""
    if not BARE.fullmatch(template):
        return render(template, values)
    names = [template.rstrip("=")] if "{" in template else template.rstrip("=").split(",")
    label = "%s = " if template.endswith("=") else ""
    kind = "r" if label else "s"
    parts = [(label % name if label else "") + f"%({'.' if name.startswith('{') else ''}{name}){kind}" for name in names]
    return render("\n".join(parts), values)


def _one(match, values):
    kind = match["type"]
    if kind == "%":
        return "%"
    if match["key"] is None:
        return match[0]
    key, _, default = match["key"].partition("|")
    key, _, replacement = key.partition("&")
    key = key.partition(">")[0]
    value = None
    for name in [key] if "{" in key else key.split(","):
        value = _find(values, name)
        if value is not None:
            break
    if value is not None and replacement:
        value = replacement.replace("{}", str(value))
    if value is None:
        value = default if "|" in match["key"] else "NA"
        kind = kind if kind == "j" else "s"
    if kind == "j":
        return json.dumps(value, ensure_ascii="+" not in match["format"], indent=4 if "#" in match["format"] else None)
    if kind == "l":
        return ("\n" if "#" in match["format"] else ", ").join(map(str, value if isinstance(value, list) else [value]))
    if kind in "di" and isinstance(value, (int, float)):
        return f"%{match['format']}" % int(value)
    if kind in "eEfFgG" and isinstance(value, (int, float)):
        return f"%{match['format']}" % value
    if kind == "r":
        return repr(value)
    return str(value)


def _find(values, key):
    """A value by `name`, `name.inner.0`, `name.{a,b}` or the empty key, which means everything."""
    braces = re.search(r"\.?\{([^}]*)\}$", key)
    path = key[: braces.start()] if braces else key
    for part in filter(None, path.split(".")):
        if isinstance(values, dict):
            values = values.get(part)
        elif isinstance(values, list) and part.lstrip("-").isdigit() and -len(values) <= int(part) < len(values):
            values = values[int(part)]
        else:
            return None
    if not braces:
        return values
    found = {name: _find(values, name) for name in braces[1].split(",")} if isinstance(values, dict) else None
    return found and {name: value for name, value in found.items() if value is not None}
