# SPDX-License-Identifier: BSD-2-Clause
"""The package as a whole: types, examples in docstrings, and the names that it shares with the headers. On one rank."""
import ast
import dataclasses
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import anadrome
from anadrome import _core

SOURCES = Path(os.environ["ANADROME_TEST_SOURCES"])
HEADERS = re.sub(r"/\*.*?\*/", "", "".join((SOURCES / "include/anadrome" / name).read_text()
                                           for name in ("anadrome.h", "gradient.h", "schedule.h", "sketch.h", "status.h", "store.h")),
                 flags=re.DOTALL)
MODULES = [module.name for module in pkgutil.iter_modules(anadrome.__path__) if module.name != "_core"]


@pytest.mark.parametrize("name", ["anadrome", *(f"anadrome.{module}" for module in MODULES)])
def test_examples_of_docstrings_print_what_they_say(name, directory, monkeypatch):
    monkeypatch.chdir(directory)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_main_classes_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in (anadrome.Run, anadrome.Advance, anadrome.gradient, anadrome.check_gradient, anadrome.plan, anadrome.schedule, anadrome.Sketch):
        assert any(test.examples for test in finder.find(name, name.__name__))


def public():
    """Every public name, and those in public classes."""
    for name in anadrome.__all__:
        found = getattr(anadrome, name)
        yield name, found
        if inspect.isclass(found):
            yield from ((f"{name}.{member}", value) for member, value in vars(found).items()
                        if not member.startswith("_") and (callable(value) or isinstance(value, property)))


def test_every_public_name_has_a_docstring_and_is_in_the_reference():
    page = (SOURCES / "docs/python.md").read_text()
    found = dict(public())
    assert len(found) > 40
    for name, value in found.items():
        if name not in ("Action", "ScheduleAction"):
            assert value.__doc__ and not value.__doc__.startswith(f"{name}("), name
        if "." not in name:
            assert re.search(rf"\b{name}\b", page), name


def members_in_c(structure):
    body = re.search(rf"typedef struct {structure} {{(.*?)}} {structure};", HEADERS, re.DOTALL)[1]
    return [name for name in re.findall(r"\w+ (\w+)(?:\[\d+\])?;", body) if name not in ("size", "reserved_int")]


@pytest.mark.parametrize("kind, structure", [(anadrome.Statistics, "anadrome_stats"),
                                             (anadrome.StoreStatistics, "anadrome_store_stats"),
                                             (anadrome.GradientCheck, "anadrome_gradient_check")])
def test_structures_have_the_members_of_c(kind, structure):
    assert [field.name for field in dataclasses.fields(kind)] == members_in_c(structure)


@pytest.mark.parametrize("kind, prefix", [(anadrome.Status, "ANADROME_"), (anadrome.Phase, "ANADROME_PHASE_"),
                                          (anadrome.Verdict, "ANADROME_VERDICT_"),
                                          (anadrome.Mismatch, "ANADROME_MISMATCH_")])
def test_enumerations_have_the_values_of_c(kind, prefix):
    in_c = {name: int(value) for name, value in re.findall(rf"\b{prefix}([A-Z0-9_]+)(?: =|,) (\d+)", HEADERS)}
    in_c = {name: value for name, value in in_c.items() if prefix != "ANADROME_" or re.match("ERR_|OK|STOPPED", name)}
    assert {value.name: value.value for value in kind} == in_c


def test_every_function_of_c_is_reached():
    functions = set(re.findall(r"ANADROME_API [^;(]*?(anadrome_\w+)\(", HEADERS))
    code = "".join(path.read_text() for path in (SOURCES / "src/api/python").rglob("*.cpp"))
    # Memory that the library lends for longer than a call is not for Python; names of statuses are an enumeration there, and the
    # keys and parts of a store a dictionary.
    assert {name for name in functions if name not in code} == {
        "anadrome_add_exchanged", "anadrome_solve_pass", "anadrome_now", "anadrome_then", "anadrome_status_name", "anadrome_store_view",
        "anadrome_store_release", "anadrome_store_contains", "anadrome_store_keys", "anadrome_store_parts"}


def test_the_stub_has_what_the_extension_has():
    tree = ast.parse((SOURCES / "python/anadrome/_core.pyi").read_text())
    for stub in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        in_stub = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
        in_core = {name for name in vars(getattr(_core, stub.name)) if not name.startswith("_")}
        assert {name for name in in_stub if not name.startswith("_")} == in_core


def mypy(*words, cwd):
    # Later versions have narrower names for imports that are ignored.
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-warn-unused-ignores", "--cache-dir", cwd / "cache", *words], text=True,
                          capture_output=True, cwd=cwd, timeout=300, env={**os.environ, "MYPYPATH": os.environ["PYTHONPATH"].split(":")[0]})
    return done.stdout


def test_types_are_complete_and_those_of_programs_are_checked(directory):
    here = Path(__file__).parent
    assert "Success" in mypy("-p", "anadrome", cwd=directory)
    assert "Success" in mypy(here / "typed_program.py", cwd=directory)
    wrong, text = directory / "wrong.py", (here / "typed_program.py").read_text()
    mistakes = (("lam *= k", "lam *= action.first", '"Adjoint" has no attribute "first"'),
                ("run.sweep(10)", 'run.sweep("10")', "incompatible type"),
                ("        case Visit():\n            pass\n", "", "assert_never"))
    for right, bad, _ in mistakes:
        assert right in text
        text = text.replace(right, bad)
    wrong.write_text(text)
    said = mypy(wrong, cwd=directory)
    assert all(words in said for _, _, words in mistakes), said
