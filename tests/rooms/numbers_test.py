# SPDX-License-Identifier: BSD-2-Clause
"""numbers_test.py SOURCES: nothing in src prints or reads a fraction in a way that follows LC_NUMERIC, where the point may be a
comma: format_number, format_fixed and std::from_chars do not."""
import pathlib
import re
import sys
import unittest

SOURCES = pathlib.Path(sys.argv.pop())
# A conversion of printf's for floating point, and functions that read it.
PRINTS = re.compile(r'"[^"\n]*(?<!%)(?:%%)*%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?L?[aefgAEFG](?![a-zA-Z])[^"\n]*"')
READS = re.compile(r"\b(?:std::)?(?:strto(?:d|f|ld)|sto(?:d|f|ld)|atof|sscanf|fscanf|setlocale)\s*\(")


class Numbers(unittest.TestCase):
    def test_have_a_point_in_every_locale(self):
        found, files = [], 0
        for path in sorted(SOURCES.rglob("*")):
            if path.suffix not in (".cpp", ".h", ".c"):
                continue
            files += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line.split("//")[0] if not line.lstrip().startswith('"') else line
                if READS.search(code) or (PRINTS.search(code) and not code.lstrip().startswith("///")):
                    found.append(f"{path.relative_to(SOURCES)}:{number}: {line.strip()}")
        self.assertGreater(files, 300)
        self.assertEqual(found, [], "\n".join(found))

    def test_would_be_found(self):
        for line in ('snprintf(t, n, "%.3g s", x);', 'printf("%+.*f %%", 1, x);', '"took %8.2f and %d",', '"%e"'):
            self.assertTrue(PRINTS.search(line), line)
        for line in ('" %d files"', '"100 % free"', '"%lld steps, 5 %% more"', '"%s failed: %s"', '"%-5lld"'):
            self.assertFalse(PRINTS.search(line), line)


if __name__ == "__main__":
    unittest.main()
