"""Archives that a test writes for itself, with the writer of the fixtures."""

from pathlib import Path

from wacz_writer import WARC, index_lines, page_entry, page_list, write_wacz

TIME = "2024-11-21T09:00:00Z"


def write_archive(path, title, pages):
    """Writes a WACZ of HTML pages: `pages` is a dict of address to HTML; the first is the main page."""
    name = f"{Path(path).stem}.warc.gz"
    warc = WARC(name, TIME)
    captures = [({"url": url, "time": TIME}, html.encode()) for url, html in pages.items()]
    for capture, body in captures:
        warc.add_capture(capture, body)
    index = b"".join(index_lines([(name, warc.bytes())]))
    entries = page_list([page_entry(capture, body) for capture, body in captures])
    description = {
        "title": title, "description": "", "created": TIME, "mainPage": {"url": next(iter(pages)), "time": TIME}}
    write_wacz(path, description, [
        (f"archive/{name}", warc.bytes(), False), ("indexes/index.cdx", index, False),
        ("pages/pages.jsonl", entries, False)])
    return path
