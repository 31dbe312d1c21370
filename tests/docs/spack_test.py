# SPDX-License-Identifier: BSD-2-Clause
"""The Spack recipe, as far as it can be read without Spack: it is Python, and CMake knows what it sets."""
import ast
import re
import unittest

from staging import SOURCES

RECIPE = SOURCES / "packaging" / "spack" / "packages" / "anadrome" / "package.py"


class Recipe(unittest.TestCase):
    def test_it_sets_options_that_exist(self):
        text = RECIPE.read_text()
        ast.parse(text)
        options = set(re.findall(r"^option\((ANADROME_\w+)", (SOURCES / "CMakeLists.txt").read_text(), re.M))
        used = set(re.findall(r'"(ANADROME_\w+)"', text))
        self.assertGreaterEqual(len(used), 4)
        self.assertLessEqual(used, options)

    def test_it_asks_for_the_cmake_that_is_needed(self):
        needed = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", (SOURCES / "CMakeLists.txt").read_text())
        self.assertIn(f"cmake@{needed[1]}:", RECIPE.read_text())


if __name__ == "__main__":
    unittest.main()
