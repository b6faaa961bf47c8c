"""Plants each kind of fault in a small book: `python3 test_check.py`."""

import tempfile
import unittest
from pathlib import Path

from check import check

BOOK = {
    "index.html": '<title>One</title><iframe src="toc.html"></iframe><h1 id="a">One</h1><img src="a.svg">',
    "toc.html": '<a href="index.html">One</a><a href="errors/two.html#b">Two</a>',
    "errors/two.html": '<title>Two - Book</title><h1 id="b">Two</h1><a href="../index.html#a">1</a><a href="#b">2</a>'
    '<a href="https://example.com/none">3</a><pre>&lt;a href="none.html"&gt;</pre>',
    "404.html": '<base href="/book/"><title>Not found</title><a href="errors/two.html">Two</a>',
    "a.svg": "<svg/>",
}

PLANTED = [
    ("errors/two.html", '<a href="../none.html">', "errors/two.html: ../none.html leads to no file"),
    ("errors/two.html", '<a href="one.md">', "errors/two.html: one.md leads to no file"),
    ("errors/two.html", '<a href="../index.html#b">', "errors/two.html: ../index.html#b leads to no anchor"),
    ("errors/two.html", '<a href="#c">', "errors/two.html: #c leads to no anchor"),
    ("errors/two.html", '<a href="../../README.md">', "errors/two.html: ../../README.md leads out of the book"),
    ("errors/two.html", '<a href="/etc/passwd">', "errors/two.html: /etc/passwd is an address outside the book"),
    ("errors/two.html", '<a href="file:///a">', "errors/two.html: file:///a is an address outside the book"),
    ("errors/two.html", '<img src="none.png">', "errors/two.html: none.png leads to no file"),
    ("index.html", '<script src="none.js"></script>', "index.html: none.js leads to no file"),
    ("lost.html", "<title>Lost</title>", "lost.html: no link leads here"),
    ("errors/three.html", '<title>Two</title><h1>Three</h1>', "errors/three.html: the heading is not the title"),
    ("404.html", '<a href="../errors/two.html">', "404.html: ../errors/two.html leads out of the book"),
]


class Faults(unittest.TestCase):
    def found(self, changes: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            book = Path(folder).resolve()
            for name, text in {**BOOK, **changes}.items():
                (book / name).parent.mkdir(exist_ok=True)
                (book / name).write_text(text)
            return check(book)[0]

    def test_a_healthy_book_has_none(self) -> None:
        self.assertEqual(self.found({}), [])

    def test_each_planted_fault_is_found(self) -> None:
        for name, text, fault in PLANTED:
            with self.subTest(fault):
                self.assertIn(fault, self.found({name: BOOK.get(name, "") + text}))

    def test_titles_are_unique(self) -> None:
        found = self.found({"index.html": BOOK["index.html"].replace("One", "Two - Book"), "404.html": "<h1>Lost</h1>"})
        expected = [f"{name}: another page has the title Two - Book" for name in ("errors/two.html", "index.html")]
        self.assertEqual(found, ["404.html: no title", *expected])


if __name__ == "__main__":
    unittest.main()
