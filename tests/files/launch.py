# SPDX-License-Identifier: BSD-2-Clause
"""Starts the programs under test. CTest says where they are: ANADROME_TEST_<PROGRAM>."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest


def path_of(program):
    return os.environ["ANADROME_TEST_" + program.upper()]


def ranks_command(ranks, program, *words):
    """The command line that runs `program` on `ranks` ranks."""
    launcher = [os.environ["ANADROME_TEST_MPIEXEC"], "-n", str(ranks)]
    return launcher + [path_of(program)] + [str(word) for word in words]


def run_command(command, environment=None, seconds=60, cwd="/"):
    """Runs to the end and returns the CompletedProcess, with text in stdout and stderr."""
    # When a rank fails, OpenMPI waits a second for those that have ended already.
    all_variables = {**os.environ, "OMPI_MCA_odls_base_sigkill_timeout": "0",
                     **(environment or {})}
    return subprocess.run(command, cwd=cwd, timeout=seconds, env=all_variables,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def run(ranks, program, *words, **how):
    return run_command(ranks_command(ranks, program, *words), **how)


def said(process):
    return f"exit code {process.returncode}\n{process.stdout}\n{process.stderr}"


@functools.lru_cache(maxsize=None)
def right_hash(grid, steps):
    """Of heat_equation's gradient with every stage of every step kept in an array, without anadrome."""
    process = run_command([path_of("heat_reference"), grid, str(steps), "euler"])
    if process.returncode != 0:
        raise AssertionError(said(process))
    return process.stdout.strip()


def errors_of(process):
    """Lines of heat_equation on stderr, without what mpirun adds when a rank fails."""
    return [line for line in process.stderr.splitlines() if line.startswith("heat_equation: ")]


class DirectoryCase(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        base = os.environ.get("ANADROME_TEST_DIRECTORY") or tempfile.gettempdir()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="anadrome-test-", dir=base))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def succeed(self, ranks, program, *words, **how):
        process = run(ranks, program, *words, **how)
        self.assertEqual(process.returncode, 0, said(process))
        return process

    def heat(self, ranks, *words, **how):
        """heat_equation in this directory: the process and what it wrote with --json, if it did."""
        results = self.directory / "results.json"
        results.unlink(missing_ok=True)
        process = run(ranks, "heat_equation", "--directory", self.directory, "--quiet", "--json",
                      results, *words, **how)
        text = results.read_text() if results.exists() else ""
        return process, json.loads(text) if text else None

    def right_heat(self, ranks, *words, **how):
        """heat_equation with --grid and --steps, which must end with the right gradient: its results."""
        process, results = self.heat(ranks, *words, **how)
        self.assertEqual(process.returncode, 0, said(process))
        value_of = dict(zip(words, words[1:]))  # the last one counts
        self.assertEqual(results["gradient_hash"], right_hash(value_of["--grid"], value_of["--steps"]))
        return results
