# SPDX-License-Identifier: BSD-2-Clause
"""english_test.py SOURCES: the sentences of each page have at most 25 words in the mean and none has more than 50, and no
line of prose is longer than 120 columns. Code, tables, headings and remarks do not count; an item of a list ends a sentence, as a paragraph does."""
import pathlib
import re
import sys
import unittest

SOURCES = pathlib.Path(sys.argv.pop())
PAGES = [SOURCES / "README.md", SOURCES / "CONTRIBUTING.md", SOURCES / "SECURITY.md", *(SOURCES / "docs").rglob("*.md"),
         *(SOURCES / "examples").glob("*/README.md"), *(SOURCES / "tests").glob("*/README.md")]
MOST_WORDS, MOST_IN_ONE, MOST_COLUMNS = 25, 50, 120


def prose(text):
    """Paragraphs and items, a string each."""
    text = re.sub(r"^ *```.*?^ *```$|<!--.*?-->|^ *\|[^\n]*$|^#[^\n]*$|^ *\$\$.*?\$\$ *$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )|^    [^\n]*$", text, flags=re.MULTILINE):
        if block and block.strip():
            yield " ".join(block.split())


def sentences(text):
    for block in prose(text):
        block = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)  # what is read of a link
        block = re.sub(r"`[^`]*`|\$[^$]*\$", "code", block)
        for sentence in re.split(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[A-Zc])", block):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if words:
                yield words


def mean(text):
    lengths = [len(words) for words in sentences(text)]
    return sum(lengths) / len(lengths) if lengths else 0


def long_lines(text):
    text = re.sub(r"^ *```.*?^ *```$|^ *\|[^\n]*$|^    [^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [line for line in text.splitlines() if len(line) > MOST_COLUMNS]


class English(unittest.TestCase):
    def test_sentences_are_short(self):
        self.assertGreater(len(PAGES), 40)
        means = {page.relative_to(SOURCES).as_posix(): mean(page.read_text()) for page in PAGES}
        self.assertEqual({}, {page: round(words, 1) for page, words in means.items() if words > MOST_WORDS})

    def test_no_sentence_is_very_long(self):
        longest = {page: max(sentences(page.read_text()), key=len, default=[]) for page in PAGES}
        self.assertEqual({}, {page.relative_to(SOURCES).as_posix(): " ".join(words) for page, words in longest.items()
                              if len(words) > MOST_IN_ONE})

    def test_lines_are_short(self):
        self.assertEqual({}, {page.relative_to(SOURCES).as_posix(): lines for page in PAGES
                              if (lines := long_lines(page.read_text()))})

    def test_pages_use_the_words_of_the_glossary(self):
        """Of other names for the same those of several words: one word alone may mean something else."""
        rows = re.findall(r"^\| [^|]+ \| [^|]+ \| ([^|]+) \|$", (SOURCES / "docs/glossary.md").read_text(), re.MULTILINE)
        others = {name.strip() for row in rows for name in row.split(",") if " " in name.strip() and name != "also called"}
        self.assertGreater(len(others), 3)
        for page in set(PAGES) - {SOURCES / "docs/glossary.md"}:
            text = " ".join(prose(page.read_text()))
            self.assertEqual([], [name for name in others if name in text], page)

    def test_no_line_begins_a_list_by_chance(self):
        code = re.compile(r"^ *```.*?^ *```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
        self.assertEqual({}, {page.relative_to(SOURCES).as_posix(): lines for page in PAGES if (
            lines := re.findall(r"^ *(?:[-+]|\d+\)|0\.) .*$", code.sub("", page.read_text()), re.MULTILINE))})

    def test_words_are_counted(self):
        text = "# No words here\nOne two three. Four `five six`,\nseven eight.\n\n```c\nint nine;\n```\n* ten\n* [eleven](a/b.md) twelve\n"
        self.assertEqual([len(words) for words in sentences(text)], [3, 4, 1, 2])
        self.assertGreater(mean("word " * 26 + ".\n"), MOST_WORDS)
        self.assertEqual(long_lines("| " + "x" * 200 + " |\n" + "y" * 121 + "\n"), ["y" * 121])


if __name__ == "__main__":
    unittest.main()
