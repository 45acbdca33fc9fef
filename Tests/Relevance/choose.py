"""Chooses search queries, with the pages that answer them, from the printed indexes of two sets of HTML documentation.

    choose.py PYTHON POSTGRESQL > queries.tsv

PYTHON is the `html` folder of Debian's package python3.11-doc, POSTGRESQL that of postgresql-doc-15.

The people who wrote an index decided which page answers which term, so neither the terms nor the answers are ours. The rule:

1. Take each main entry of the index. Its query is the entry as printed, without the characters ( ) and with single spaces.
   Its answers are the pages that the entry and its sub-entries link to. References to other entries of the index don't count,
   nor do sub-entries in parentheses: "(class in zipfile)" under "Path (class in pathlib)" is another Path, not another answer.
2. Unite entries whose queries differ only in case.
3. Keep queries of one to four words that contain a letter and have one to three answers.
4. Keep queries whose words all occur together on at least 5 pages, and on at most half of all pages: a query that only a few
   pages match can't test an order, and one that most pages match names nothing. Index pages don't count here. It doesn't
   matter whether the answers are among the pages that match.
5. Sort the remaining queries by their lower-case form and by code point, divide the list into 20 equal parts, and take the
   middle query of each.
"""

import html
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

COUNT, MOST_WORDS, MOST_ANSWERS, FEWEST_MATCHES = 20, 4, 3, 5
INDEX_PAGES = ("genindex", "py-modindex", "bookindex")


class Index(HTMLParser):
    """Reads an index page into `entries`, a list of printed terms and sets of linked files."""

    def __init__(self, start, parts, item):
        """`start` is the class of the element around the entries; `parts` and `item` are the names of a list and its items."""
        super().__init__()
        self.start, self.parts, self.item = start, parts, item
        self.inside, self.depth, self.link, self.entries = False, 0, None, []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if self.start in (attributes.get("class") or "").split():
            self.inside = True
        elif not self.inside:
            return
        elif tag == self.parts:
            self.depth += 1
        elif tag == self.item and self.depth == 1:
            self.entries.append(["", set()])
        elif tag == "a" and self.entries and self.depth and "href" in attributes:
            self.link = attributes["href"].partition("#")[0]

    def handle_endtag(self, tag):
        if self.inside and tag == self.parts:
            self.depth -= 1
        elif tag == "a":
            self.link = None

    def handle_data(self, data):
        if self.link and not (self.depth > 1 and data.startswith("(")):
            self.entries[-1][1].add(self.link)
        # In Sphinx's index, the term is the link. In DocBook's, it's before the links, which are the titles of pages.
        if self.depth == 1 and self.entries and (self.link is None or self.parts == "ul"):
            self.entries[-1][0] += data


def read_index(folder):
    sphinx = folder / "genindex-all.html"
    index = Index("indextable", "ul", "li") if sphinx.exists() else Index("index", "dl", "dt")
    index.feed((sphinx if sphinx.exists() else folder / "bookindex.html").read_text("utf-8"))
    queries = {}
    for term, links in index.entries:
        term = re.sub(r"(,\s*(\[\d+\])?)+\s*$", "", term.strip())  # the commas and numbers of further links
        query = " ".join(re.sub(r"[()]", " ", term).split())
        pages = {link for link in links if link and not link.startswith(("http:", "https:", *INDEX_PAGES))}
        queries.setdefault(query.lower(), (query, set()))[1].update(pages)
    return queries.values()


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def read_pages(folder):
    """Returns the words of each page, without tags, scripts and styles."""
    pages = {}
    for file in folder.rglob("*.html"):
        if not file.name.startswith(INDEX_PAGES):
            text = re.sub(r"(?s)<(script|style)\b.*?</\1>|<!--.*?-->", " ", file.read_text("utf-8"))
            text = re.sub(r"</?(a|b|code|em|i|span|strong|tt)\b[^>]*>", "", text)
            pages[file.relative_to(folder).as_posix()] = words(html.unescape(re.sub(r"</?\w[^>]*>", " ", text)))
    return pages


def choose(name, folder):
    pages, entries = read_pages(folder), read_index(folder)
    shaped = [(query, answers) for query, answers in entries
              if 1 <= len(query.split()) <= MOST_WORDS and re.search("[A-Za-z]", query) and 1 <= len(answers) <= MOST_ANSWERS]
    kept = []
    for query, answers in shaped:
        matches = sum(words(query) <= page for page in pages.values())
        if FEWEST_MATCHES <= matches <= len(pages) / 2:
            kept.append((query, answers))
    kept.sort(key=lambda entry: (entry[0].lower(), entry[0]))
    print(f"{name}: {len(pages)} pages, {len(entries)} entries, {len(shaped)} by shape, {len(kept)} kept", file=sys.stderr)
    for number in range(COUNT):
        query, answers = kept[(2 * number + 1) * len(kept) // (2 * COUNT)]
        assert answers <= pages.keys(), answers
        print(name, query, "|".join(sorted(answers)), sep="\t")


def main():
    print("corpus", "query", "expected", sep="\t")
    choose("python", Path(sys.argv[1]))
    choose("postgresql", Path(sys.argv[2]))


main()
