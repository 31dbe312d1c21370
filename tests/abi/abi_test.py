# SPDX-License-Identifier: BSD-2-Clause
"""abi_test.py HEADERS GOLDEN... -- ABIDIFF COMPILER [FLAG...]: a program that was compiled against the headers of an earlier
version runs with the library as it is now. Compared is a library of empty functions (declared_library.py)."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from declared_library import library_of

HEADERS, *GOLDEN = (pathlib.Path(word) for word in sys.argv[1:sys.argv.index("--")])
ABIDIFF, *COMPILER = sys.argv[sys.argv.index("--") + 1:]
# These may grow at their ends: they say their sizes, and a caller says which one it knows.
GROW = {"anadrome_stats": "anadrome.h", "anadrome_model": "anadrome.h", "anadrome_gradient": "gradient.h",
        "anadrome_gradient_check": "gradient.h", "anadrome_store_stats": "store.h"}


def cut_growth(headers, golden):
    """Takes from the headers what their structures have after the last member that they had in the golden version."""
    for name, file in GROW.items():
        before = re.search(rf"<class-decl name='{name}'.*?</class-decl>", golden.read_text(), re.DOTALL)
        if before is None:  # no structure of that version
            continue
        last = re.findall(r"<var-decl name='(\w+)'", before[0])[-1]
        grown = rf"(\b{last}(?:\[\w+\]|\)\([^;]*\))?;)((?!typedef struct).)*(}} {name};)"
        text, count = re.subn(grown, r"\1\n\3", (headers / file).read_text(), flags=re.DOTALL)
        assert count == 1, f"{name} does not have {last} any more"
        (headers / file).write_text(text)


class Abi(unittest.TestCase):
    def compare(self, golden, *changes):
        """abidiff's exit code and words, the headers having been changed so."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            copy = folder / "include" / "anadrome"
            copy.mkdir(parents=True)
            for path in HEADERS.glob("anadrome/*.h"):
                (copy / path.name).write_text(path.read_text())
            for name, old, new in changes:
                text = (copy / name).read_text()
                self.assertIn(old, text)
                (copy / name).write_text(text.replace(old, new, 1))
            cut_growth(copy, golden)
            library = library_of(copy.parent, folder, COMPILER)
            process = subprocess.run([ABIDIFF, "--no-added-syms", golden, library], stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)
            return process.returncode, process.stdout

    def expect(self, runs, *changes):
        for golden in GOLDEN:
            with self.subTest(golden=golden.name, changes=changes):
                code, words = self.compare(golden, *changes)
                self.assertEqual(code == 0, runs, words)

    def test_old_programs_run(self):
        self.assertGreater(len(GOLDEN), 1)
        self.expect(True)

    def test_additions_are_no_change(self):
        self.expect(True,
                    ("status.h", "ANADROME_API const char* anadrome_last_error(void);",
                     "ANADROME_API const char* anadrome_last_error(void);\nANADROME_API int anadrome_new(int more);"),
                    ("anadrome.h", "} anadrome_stats;", "  double seconds_new;\n} anadrome_stats;"),
                    ("gradient.h", "} anadrome_gradient_check;", "  double seconds_new;\n} anadrome_gradient_check;"),
                    ("status.h", "X(ANADROME_ERR_INTERNAL, 12)", "X(ANADROME_ERR_INTERNAL, 12) X(ANADROME_ERR_NEW, 13)"))

    def test_what_breaks_old_programs_is_found(self):
        for change in (("anadrome.h", "int64_t branch;", "int32_t branch;"),
                       ("anadrome.h", "  size_t size;", "  int64_t before;\n  size_t size;"),
                       ("field.h", "ANADROME_FLOAT64 = 1", "ANADROME_FLOAT64 = 9"),
                       ("status.h", "X(ANADROME_ERR_BUSY, 9)", "X(ANADROME_ERR_BUSY, 19)"),
                       ("anadrome.h", "anadrome_begin(anadrome_run* run, int64_t steps)",
                        "anadrome_begin(anadrome_run* run, int32_t steps)"),
                       ("graph.h", "anadrome_graph_free(anadrome_graph** graph)",
                        "anadrome_graph_delete(anadrome_graph** graph)")):
            self.expect(False, change)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
