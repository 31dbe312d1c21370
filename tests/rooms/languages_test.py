# SPDX-License-Identifier: BSD-2-Clause
"""languages_test.py SOURCES: what anadrome.h declares, the Fortran module and anadrome.hpp have, with the same values, members
and order. Sizes alone would not show two members of one type that changed places."""
import pathlib
import re
import sys
import unittest

SOURCES = pathlib.Path(sys.argv.pop())
C_TYPES = {"size_t": "c_size_t", "int": "c_int", "int32_t": "c_int32_t", "int64_t": "c_int64_t", "double": "c_double",
           "char": "c_char", "anadrome_action_kind": "c_int", "anadrome_schedule_kind": "c_int",
           "anadrome_schedule_what": "c_int"}


def text_of(path):
    return (SOURCES / path).read_text()


HEADER = re.sub(r"/\*.*?\*/|//[^\n]*", "", "".join(text_of(f"include/anadrome/{name}.h")
                                                  for name in ("anadrome", "field", "gradient", "schedule", "sketch", "status", "store")), flags=re.DOTALL)
TYPES = re.sub(r"!.*", "", text_of("src/api/fortran/types.f90"))
C_INTERFACE = re.sub(r"!.*", "", text_of("src/api/fortran/c_interface.f90"))
FUNCTIONS = set(re.findall(r"ANADROME_API [^;(]*?(anadrome_\w+)\(", HEADER))


def members_in_c(name):
    """[(member, kind in Fortran, elements)]."""
    body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", HEADER, re.DOTALL)[1]
    return [(member, C_TYPES[kind], count or None)
            for kind, member, count in re.findall(r"(\w+) (\w+)(?:\[(\d+)\])?;", body)]


def members_in_fortran(text, name):
    body = re.search(rf"type, bind\(c\) :: {name}\n(.*?)end type", text, re.DOTALL)[1]
    return [(member, kind, count or None) for kind, members in re.findall(r"\((?:kind=)?(\w+)\) :: ([^\n=]+)", body)
            for member, count in re.findall(r"(\w+)(?:\((\d+)\))?", members)]


class Languages(unittest.TestCase):
    def test_constants_have_the_same_values(self):
        in_c = re.findall(r"\b(ANADROME_[A-Z0-9_]+)(?: =|,)\s+(\d+)", HEADER)
        in_fortran = re.findall(r"enumerator :: (ANADROME_\w+) = (\d+)", TYPES)
        self.assertGreater(len(in_c), 30)
        self.assertEqual(sorted(in_c), sorted(in_fortran))

    def test_structures_have_the_same_members(self):
        for text, in_c, in_fortran in ((TYPES, "anadrome_stats", "anadrome_stats"),
                                       (TYPES, "anadrome_gradient_check", "anadrome_gradient_check"),
                                       (TYPES, "anadrome_store_stats", "anadrome_store_stats"),
                                       (C_INTERFACE, "anadrome_action", "c_action"),
                                       (C_INTERFACE, "anadrome_schedule_action", "c_schedule_action")):
            with self.subTest(in_c):
                self.assertGreater(len(members_in_c(in_c)), 6)
                self.assertEqual(members_in_c(in_c), members_in_fortran(text, in_fortran))

    def test_callbacks_have_the_same_places(self):
        body = re.search(r"typedef struct anadrome_model {(.*?)} anadrome_model;", HEADER, re.DOTALL)[1]
        in_c = re.findall(r"\(\*(\w+)\)", body)
        self.assertEqual(len(in_c), 7)
        self.assertEqual(["context", *in_c], [member for member, *_ in members_in_fortran(C_INTERFACE, "c_model")][1:])

    def test_functions_of_a_gradient_have_the_same_places(self):
        body = re.search(r"typedef struct anadrome_gradient {(.*?)} anadrome_gradient;", HEADER, re.DOTALL)[1]
        in_c = re.findall(r"\b(\w+)\)?(?:\([^;]*\))?;", body)
        self.assertEqual(len(in_c), 11)
        self.assertEqual(in_c, [member for member, *_ in members_in_fortran(C_INTERFACE, "c_gradient")])

    def test_fortran_has_every_function_and_constant(self):
        module = TYPES + "".join(line for path in (SOURCES / "src/api/fortran").rglob("*.*") for line in re.findall(r"public :: .*\n", path.read_text()))
        names = FUNCTIONS | set(re.findall(r"\b(ANADROME_\w+)(?: =|, \d)", HEADER))
        self.assertGreater(len(names), 45)
        self.assertEqual([name for name in sorted(names) if not re.search(rf"\b{name}\b", module)], [])

    def test_cxx_has_every_function(self):
        header = re.sub(r"//[^\n]*", "", "".join(text_of(f"include/anadrome/{name}.hpp") for name in ("anadrome", "error", "schedule", "sketch", "store")))
        unused = {name for name in FUNCTIONS if f"{name}(" not in header}
        self.assertLessEqual(unused, {"anadrome_version", "anadrome_store_parts"})


if __name__ == "__main__":
    unittest.main()
