# SPDX-License-Identifier: BSD-2-Clause
"""performance_test.py SOURCES: docs/performance.md is short, and its tables and pictures are those of docs/data."""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv.pop())
DATA = SOURCES / "docs/data"
sys.path[:0] = [str(SOURCES / "bench/driver"), str(DATA)]
import draw
import pages

PAGE = (SOURCES / "docs/performance.md").read_text()
LISTS = (DATA / "README.md").read_text()

MEASURED = """`scripts/bench growth` (7 s)

All in turns.

| steps | async | forward steps | interval | revolve | forward steps |
|---|---|---|---|---|---|
| 500 | 1.0 (0.9..1.1) | 2 | 3 | 4 (3..5) | 6 |
| 600 | 1.0 (0.9..1.1) | 2 | 3 | 4 (3..5) | 6 |

The median over the turns decides.

| claim | asked | measured | holds |
|---|---|---|---|
| it grows | <= 1 | 2 | **no** |
"""


def between(text, name):
    return re.search(rf"<!-- begin {name} -->\n(.*?)<!-- end {name} -->", text, re.DOTALL)[1]


def files_of(name):
    return re.findall(r"^\* \[([^\]]+)\]", between(LISTS, name), re.MULTILINE)


class Performance(unittest.TestCase):
    def test_the_page_is_short_and_begins_with_where_it_falls_short(self):
        self.assertLessEqual(PAGE.count("\n"), 250)
        self.assertEqual(re.findall(r"^## (.*)$", PAGE, re.MULTILINE)[0], "Where it falls short")

    def test_its_tables_are_those_of_the_files(self):
        names = re.findall(r"<!-- begin (\w+) -->", PAGE)
        self.assertEqual(sorted(names), sorted(pages.SHOWN))
        for name in set(names) - {"interval"}:  # not measured
            tables = [pages.read_csv(DATA / file) for file in files_of(name)]
            self.assertEqual(between(PAGE, name), pages.short(name, tables, tables[0].about.splitlines()[0]))
            self.assertEqual(between(LISTS, name), pages.listed(name, tables))

    def test_no_file_is_left_over(self):
        listed = [*re.findall(r"\]\(([^)/]+\.csv)\)", LISTS)]
        self.assertEqual(sorted(listed), sorted(path.name for path in DATA.glob("*.csv")))

    def test_its_pictures_are_drawn_from_the_files(self):
        self.assertEqual(sorted(each.__name__ for each in draw.PICTURES), sorted(re.findall(r"measured/(\w+)\.svg", PAGE)))
        for each in draw.PICTURES:
            drawn = (SOURCES / f"docs/pictures/measured/{each.__name__}.svg").read_text()
            self.assertEqual(each(), drawn, "python3 docs/data/draw.py")

    def test_a_benchmark_fills_page_and_files(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "data").mkdir()
        marks = "before\n<!-- begin growth -->\nold\n<!-- end growth -->\nafter\n"
        (folder / "page.md").write_text(marks)
        (folder / "data/README.md").write_text(marks)
        (folder / "data/growth-old.csv").write_text("")
        pages.publish(folder / "page.md", "growth", MEASURED)
        self.assertEqual((folder / "page.md").read_text(), """before
<!-- begin growth -->
`scripts/bench growth` (7 s) · [all rows](data/README.md#growth) · 0 of 1 claims hold.

| steps | async | revolve |
|---|---|---|
| 500 | 1.0 (0.9..1.1) | 4 (3..5) |
<!-- end growth -->
after
""")
        self.assertEqual(sorted(path.name for path in (folder / "data").glob("*.csv")), ["growth-claims.csv", "growth.csv"])
        kept = pages.read_csv(folder / "data/growth.csv")
        self.assertEqual(kept.rows[2], ["600", "1.0 (0.9..1.1)", "2", "3", "4 (3..5)", "6"])
        self.assertIn("All in turns.", kept.about)

    def test_a_document_without_marks_is_refused_and_one_of_another_benchmark_has_all(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "page.md").write_text("<!-- begin scale -->\n<!-- end scale -->\n")
        pages.publish(folder / "page.md", "scale", MEASURED)
        self.assertIn(MEASURED, (folder / "page.md").read_text())
        (folder / "page.md").write_text("no marks\n")
        with self.assertRaises(SystemExit):
            pages.publish(folder / "page.md", "growth", MEASURED)


if __name__ == "__main__":
    unittest.main()
