# SPDX-License-Identifier: BSD-2-Clause
"""reference_test.py DOXYFILE HEADER: every public name has a description, and one without is found."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

DOXYFILE, HEADER = (pathlib.Path(word) for word in sys.argv[1:3])


class Reference(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="anadrome-reference-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def doxygen(self, *lines):
        settings = "\n".join([DOXYFILE.read_text(), f"OUTPUT_DIRECTORY = {self.folder}", "GENERATE_HTML = NO", "GENERATE_XML = YES", *lines])
        return subprocess.run(["doxygen", "-"], input=settings, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)

    def test_every_public_name_is_documented(self):
        process = self.doxygen()
        self.assertEqual(process.returncode, 0, process.stdout)
        page = (self.folder / "xml" / "anadrome_8h.xml").read_text()
        names = set(re.findall(r"ANADROME_API [^;(]*?(anadrome_\w+)\(", HEADER.read_text()))
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIn(name, page)

    def test_an_undocumented_name_is_found(self):
        texts = {"new.h": "/** @file new.h\n * New. */\nint anadrome_new(void);\n",
                 "new.hpp": "namespace anadrome {\n/** New. */\nstruct New {\n  int member;\n};\n}\n",
                 "new.f90": "!> New.\nmodule new\n  integer :: member\nend module new\n"}
        for name, text in texts.items():
            (self.folder / name).write_text(text)
        process = self.doxygen(f"INPUT = {self.folder}")
        self.assertNotEqual(process.returncode, 0)
        for name in texts:
            self.assertRegex(process.stdout, rf"{name}:.*is not documented")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
