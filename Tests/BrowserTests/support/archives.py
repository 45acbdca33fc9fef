"""Archives that a test writes for itself, with the writer of the fixtures."""

from pathlib import Path

from wacz_writer import WARC, index_lines, page_entry, page_list, write_wacz

TIME = "2024-11-21T09:00:00Z"


def write_archive(path, title, pages):
    """Writes a WACZ of HTML pages: `pages` is a dict of address to HTML; the first is the main page."""
    captures = [({"url": url}, html.encode()) for url, html in pages.items()]
    return write_captures(path, title, captures)


def write_captures(path, title, captures, seen=None):
    """Writes a WACZ of captures as the fixtures' writer takes them, each with its body; the first is the main page.

    Archives that get the same dict as `seen` can hold revisits of each other's captures.
    """
    name = f"{Path(path).stem}.warc.gz"
    warc = WARC(name, TIME)
    warc.seen = warc.seen if seen is None else seen
    captures = [({"time": TIME, **capture}, body) for capture, body in captures]
    for capture, body in captures:
        warc.add_capture(capture, body)
    index = b"".join(index_lines([(name, warc.bytes())]))
    entries = page_list([page_entry(capture, body) for capture, body in captures if "file" not in capture])
    main = captures[0][0]
    description = {
        "title": title, "description": "", "created": TIME, "mainPage": {"url": main["url"], "time": main["time"]}}
    write_wacz(path, description, [
        (f"archive/{name}", warc.bytes(), False), ("indexes/index.cdx", index, False),
        ("pages/pages.jsonl", entries, False)])
    return path
