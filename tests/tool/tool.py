# SPDX-License-Identifier: BSD-2-Clause
"""Starts the `anadrome` command under test."""
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import unittest


def run(*words, seconds=60, **how):
    """Runs to the end and returns the CompletedProcess, with text in stdout and stderr."""
    command = [os.environ["ANADROME_TEST_TOOL"]] + [str(word) for word in words]
    return subprocess.run(command, timeout=seconds, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def said(process):
    return f"exit code {process.returncode}\n{process.stdout}\n{process.stderr}"


def reference_rows(name):
    """Rows of a table of tests/reference as dictionaries."""
    path = pathlib.Path(os.environ["ANADROME_TEST_REFERENCE"]) / name
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


class Case(unittest.TestCase):
    def answer(self, *words, **how):
        """Of a command that must succeed: its JSON."""
        process = run(*words, **how)
        self.assertEqual(process.returncode, 0, f"{words}: {said(process)}")
        self.assertEqual(process.stderr, "")
        return json.loads(process.stdout)

    def count(self, schedule, steps, slots, *words, **how):
        """Of `anadrome count`; numbers that JSON cannot hold come as strings of digits."""
        answer = self.answer("count", schedule, "--json", "--steps", steps, "--slots", slots,
                             *words, **how)
        for key in ("steps", "slots", "advances", "writes", "reads"):
            answer[key] = int(answer[key])
        return answer

    def refuse(self, *words, **how):
        """Of a command that must be refused as wrong usage: its one line."""
        process = run(*words, **how)
        self.assertEqual(process.returncode, 2, f"{words}: {said(process)}")
        self.assertEqual(process.stdout, "")
        lines = process.stderr.splitlines()
        self.assertEqual(len(lines), 1, said(process))
        self.assertTrue(lines[0].startswith("anadrome: "), lines[0])
        return lines[0]

    def for_each(self, rows, check, at_least):
        """check(row) for all rows, two at a time; `at_least` so many must be there."""
        self.assertGreaterEqual(len(rows), at_least)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in pool.map(check, rows):
                pass
