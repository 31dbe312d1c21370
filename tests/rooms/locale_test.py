# SPDX-License-Identifier: BSD-2-Clause
"""locale_test.py PROGRAM TOOL: in German, whose point is a comma, the library prints points, and the command that the summary
ends with can be run."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop())
PROGRAM = os.path.abspath(sys.argv.pop())


class German(unittest.TestCase):
    def test_numbers_have_points(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], check=True)
            environment = {**os.environ, "LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"}
            environment.pop("ANADROME_OPTIONS", None)
            run = subprocess.run([PROGRAM, folder], env=environment, capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertNotIn("refused", run.stdout)
            self.assertNotIn("a comma was taken", run.stdout)
            self.assertNotRegex(run.stdout + run.stderr, r"\d,\d")
            self.assertRegex(run.stdout, r"\d\.\d")
            command = re.search(r"anadrome (plan --steps .*)", run.stdout)[1].split()
            plan = subprocess.run([TOOL, *command], env=environment, capture_output=True, text=True)
            self.assertEqual(plan.returncode, 0, plan.stderr)
            self.assertNotRegex(plan.stdout, r"\d,\d")


if __name__ == "__main__":
    unittest.main()
