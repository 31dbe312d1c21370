# SPDX-License-Identifier: BSD-2-Clause
"""architecture_test.py SOURCES: docs/architecture.md names each file of src under its folder, and nothing else there."""
import collections
import pathlib
import re
import sys
import unittest

SOURCES = pathlib.Path(sys.argv.pop())
SUFFIXES = {".cpp", ".h", ".f90", ".c", ".inc"}


def named(page):
    """{folder: names without suffix}, of the items "* `folder`: `name` (what it holds), ..."."""
    items = re.findall(r"^\* `([^`]+)`: (.*(?:\n  .*)*)", page, re.MULTILINE)
    return {folder: set(re.findall(r"`([^`]+)`", text)) for folder, text in items}


def there():
    files = collections.defaultdict(set)
    for path in (SOURCES / "src").rglob("*"):
        if path.suffix in SUFFIXES:
            files[path.parent.relative_to(SOURCES / "src").as_posix()].add(path.stem)
    return files


class Architecture(unittest.TestCase):
    def test_the_page_names_each_file_under_its_folder(self):
        page, files = named((SOURCES / "docs/architecture.md").read_text()), there()
        self.assertGreater(len(files), 40)
        self.assertEqual(sorted(page), sorted(files))
        for folder, names in files.items():
            self.assertEqual(sorted(page[folder]), sorted(names), folder)


if __name__ == "__main__":
    unittest.main()
