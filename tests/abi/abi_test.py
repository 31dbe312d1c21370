# SPDX-License-Identifier: BSD-2-Clause
"""abi_test.py HEADERS GOLDEN ABIDIFF COMPILER [FLAG...]: a program that was compiled against the golden version's headers runs with the
library as it is now. Compared is a library of empty functions, made of the declarations: what the library exports is what
these declare (unit.exports), and its own types are nobody's concern."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HEADERS, GOLDEN = (pathlib.Path(word) for word in sys.argv[1:3])
ABIDIFF, *COMPILER = sys.argv[3:]
NAMES = ("anadrome.h", "gradient.h", "graph.h")
# These may grow at their ends: they say their sizes, and a caller says which one it knows.
GROW = ("anadrome_stats", "anadrome_model")


def declarations(headers):
    """Every exported function, in the order of the files."""
    for path in sorted(headers.glob("anadrome/*.h")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^ *#[^\n]*(\\\n[^\n]*)*", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        if path.name != "petsc.h":
            yield from re.findall(r"ANADROME_API ([^;{]*\));", text)


def without_growth(text):
    """A header's text without what its structures have after the last member that the golden version had."""
    for name in GROW:
        golden = re.search(rf"<class-decl name='{name}'.*?</class-decl>", GOLDEN.read_text(), re.DOTALL)[0]
        last = re.findall(r"<var-decl name='(\w+)'", golden)[-1]
        text = re.sub(rf"(\b{last}(?:\[\w+\]|\)\([^;]*\))?;)((?!typedef struct).)*(}} {name};)", r"\1\n\3", text, flags=re.DOTALL)
    return text


def library_of(headers, folder):
    source, library = folder / "declared.c", folder / "libanadrome.so.0"
    source.write_text("".join(f"#include <anadrome/{name}>\n" for name in NAMES) +
                      "".join(f"{declaration} {{ __builtin_trap(); }}\n" for declaration in declarations(headers)))
    subprocess.run([*COMPILER, f"-I{headers}", "-std=c11", "-g", "-O0", "-w", "-fPIC", "-shared",
                    f"-Wl,-soname,{library.name}", source, "-o", library], check=True)
    return library


class Abi(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, *changes):
        """abidiff's exit code and words, the headers having been changed so."""
        copy = self.folder / "include" / "anadrome"
        copy.mkdir(parents=True)
        for path in HEADERS.glob("anadrome/*.h"):
            (copy / path.name).write_text(path.read_text())
        for name, old, new in changes:
            text = (copy / name).read_text()
            self.assertIn(old, text)
            (copy / name).write_text(text.replace(old, new, 1))
        (copy / "anadrome.h").write_text(without_growth((copy / "anadrome.h").read_text()))
        library = library_of(copy.parent, self.folder)
        process = subprocess.run([ABIDIFF, "--no-added-syms", GOLDEN, library], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        return process.returncode, process.stdout

    def test_old_programs_run(self):
        code, words = self.compare()
        self.assertEqual(code, 0, words)

    def test_additions_are_no_change(self):
        code, words = self.compare(
            ("status.h", "ANADROME_API const char* anadrome_last_error(void);",
             "ANADROME_API const char* anadrome_last_error(void);\nANADROME_API int anadrome_new(int more);"),
            ("anadrome.h", "} anadrome_stats;", "  double seconds_new;\n} anadrome_stats;"),
            ("status.h", "X(ANADROME_ERR_INTERNAL, 12)", "X(ANADROME_ERR_INTERNAL, 12) X(ANADROME_ERR_NEW, 13)"))
        self.assertEqual(code, 0, words)

    def test_what_breaks_old_programs_is_found(self):
        for change in (("anadrome.h", "int64_t branch;", "int32_t branch;"),
                       ("anadrome.h", "  size_t size;", "  int64_t before;\n  size_t size;"),
                       ("field.h", "ANADROME_FLOAT64 = 1", "ANADROME_FLOAT64 = 9"),
                       ("status.h", "X(ANADROME_ERR_BUSY, 9)", "X(ANADROME_ERR_BUSY, 19)"),
                       ("anadrome.h", "anadrome_begin(anadrome_run* run, int64_t steps)",
                        "anadrome_begin(anadrome_run* run, int32_t steps)"),
                       ("graph.h", "anadrome_graph_free(anadrome_graph** graph)",
                        "anadrome_graph_delete(anadrome_graph** graph)")):
            with self.subTest(change):
                self.setUp()
                code, words = self.compare(change)
                self.assertNotEqual(code, 0, words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
