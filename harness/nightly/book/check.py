"""Follows every link of a built book: `python3 check.py BOOK`.

Each link leads to a file of the book and to an anchor that this file has, or to an `https` address, which is only counted. Each page
has a title of its own, and can be reached from the first page.
"""

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# The elements with a link, and its attribute.
LINKS = {"a": "href", "link": "href", "area": "href", "iframe": "src", "img": "src", "script": "src", "source": "src"}
# A server shows it for any address.
NOT_LINKED = "404.html"
# The menu, which other pages embed.
MENU = "toc.html"
# A book of this size is still unpacked and published in seconds.
MAX_BYTES = 40_000_000


class Page(HTMLParser):
    """The links, the anchors and the title of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.texts: dict[str, str] = {"title": "", "h1": ""}
        self.open: str | None = None
        self.based = False
        self.feed(text)
        self.close()
        self.title, self.heading = (" ".join(text.split()) for text in self.texts.values())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors.update(filter(None, [attributes.get("id"), attributes.get("name") if tag == "a" else None]))
        self.based |= tag == "base"
        link = attributes.get(LINKS.get(tag, ""))
        if link is not None:
            self.links.append(link)
        # The menu's heading and those in figures are not the page's.
        if tag in self.texts and not self.texts[tag] and attributes.get("class") != "menu-title":
            self.open = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self.open:
            self.open = None

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open] += data


def check(book: Path) -> tuple[list[str], Counter]:
    """Returns what is wrong in a book, and counts."""
    pages = {path.relative_to(book).as_posix(): Page(path.read_text()) for path in sorted(book.rglob("*.html"))}
    wrong, counts = [], Counter(pages=len(pages))
    targets: dict[str, set[str]] = {}
    for name, page in pages.items():
        targets[name] = set()
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "https":
                counts["addresses"] += 1
                continue
            counts["links"] += 1
            if parts.scheme or parts.netloc or parts.path.startswith("/"):
                wrong.append(f"{name}: {link} is an address outside the book")
                continue
            # A base is the folder of the book.
            folder = book if page.based else (book / name).parent
            file = (folder / unquote(parts.path)).resolve() if parts.path else book / name
            if not file.is_relative_to(book):
                wrong.append(f"{name}: {link} leads out of the book")
                continue
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                wrong.append(f"{name}: {link} leads to no file")
                continue
            target = file.relative_to(book).as_posix()
            targets[name].add(target)
            if parts.fragment and target in pages:
                counts["anchors"] += 1
                if unquote(parts.fragment) not in pages[target].anchors:
                    wrong.append(f"{name}: {link} leads to no anchor")
    wrong += of_titles({name: page for name, page in pages.items() if name != MENU})
    reached, next_ones = set(), {"index.html"}
    while next_ones:
        reached |= next_ones
        next_ones = {target for name in next_ones for target in targets.get(name, ())} - reached
    counts["bytes"] = sum(file.stat().st_size for file in book.rglob("*") if file.is_file())
    if counts["bytes"] > MAX_BYTES:
        wrong.append(f"the book has {counts['bytes']} bytes, more than {MAX_BYTES}")
    wrong += [f"{name}: no link leads here" for name in pages if name not in reached | {NOT_LINKED}]
    return wrong, counts


def of_titles(pages: dict[str, Page]) -> list[str]:
    """Returns what is wrong with the titles of pages. The title of an error is its text, and perhaps more."""
    times = Counter(page.title for page in pages.values())
    wrong = [f"{name}: no title" for name, page in pages.items() if not page.title]
    wrong += [f"{name}: another page has the title {page.title}" for name, page in pages.items() if times[page.title] > 1]
    errors = {name: page for name, page in pages.items() if re.match(r"errors/", name)}
    different = [name for name, page in errors.items() if not page.heading or not page.title.startswith(page.heading)]
    return wrong + [f"{name}: the heading is not the title" for name in different]


if __name__ == "__main__":
    faults, n = check(Path(sys.argv[1]).resolve())
    print(*faults, sep="\n", end="\n" if faults else "")
    print(
        f"{n['pages']} pages, {n['bytes']} bytes, {n['links']} links inside with {n['anchors']} anchors, "
        f"{n['addresses']} addresses; {len(faults)} faults"
    )
    sys.exit(bool(faults))
