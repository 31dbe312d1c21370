# SPDX-License-Identifier: BSD-2-Clause
"""The command as such: help, version, wrong words, output that cannot be written."""
import os
import pathlib
import re
import subprocess
import unittest

import tool

COMMANDS = ("plan", "count", "solve", "inspect", "verify", "clean", "timeline", "options")
QUESTIONS = ("objects", "double", "least_memory", "join", "offload", "uneven_tapes", "graph")
UNTYPED = r"-h, *--help|--json|--actions|--cores-busy"


class Command(tool.Case):
    def test_version(self):
        process = tool.run("--version")
        self.assertEqual(process.returncode, 0)
        self.assertRegex(process.stdout, r"^anadrome \d+\.\d+\.\d+\n$")

    def test_help(self):
        process = tool.run("--help")
        self.assertEqual(process.returncode, 0)
        for subcommand in COMMANDS:
            self.assertIn(subcommand, process.stdout)
        for words in (*((subcommand,) for subcommand in COMMANDS),
                      *(("solve", question) for question in QUESTIONS)):
            process = tool.run(*words, "--help")
            self.assertEqual((process.returncode, process.stderr), (0, ""), words)
        for subcommand in ("plan", "count"):
            self.assertIn("store_all, revolve, async", tool.run(subcommand, "--help").stdout)

    def test_every_option_has_a_unit_and_an_example(self):
        for words in (("plan",), ("count",), *(("solve", question) for question in QUESTIONS)):
            text = tool.run(*words, "--help").stdout
            self.assertIn(f"Example: anadrome {' '.join(words)} ", text)
            # An option's words may begin in the line below it, and take several.
            options = re.findall(r"^ {2,10}(-.*(?:\n {11,}[^ -].*)*)$", text, re.MULTILINE)
            typed = [" ".join(option.split()) for option in options if not re.match(UNTYPED, option)]
            self.assertGreater(len(typed), 2)
            for option in typed:
                self.assertRegex(option, r"(?s)^--\S+ [-A-Z0-9a-z|/.,]+\s.*; for example \S", words)

    def test_completion_knows_what_help_lists(self):
        script = pathlib.Path(os.environ["ANADROME_TEST_SOURCES"], "src/tool/completion/anadrome")
        folder = pathlib.Path(os.environ["ANADROME_TEST_TOOL"]).parent
        for typed, completed in (
                ("p", ["plan"]), ("", list(COMMANDS)), ("solve ob", ["objects"]), ("solve", ["solve"]),
                ("plan --step", ["--steps", "--step-time"]), ("count revolve --sl", ["--slots"]),
                ("solve graph --fam", ["--family"]), ("clean /scr", []), ("nothing --st", [])):
            words = ["anadrome", *typed.split(" ")]
            ask = f"source {script}; COMP_WORDS=(\"$@\"); COMP_CWORD={len(words) - 1}; _anadrome; echo \"${{COMPREPLY[@]}}\""
            process = subprocess.run(["bash", "-c", ask, "bash", *words], capture_output=True, text=True, timeout=60,
                                     env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            self.assertEqual(process.stdout.split(), completed, f"{typed}: {process.stderr}")

    def test_options_says_what_an_option_is_and_what_is_refused(self):
        text = tool.run("options", "schedule").stdout
        self.assertTrue(text.startswith("schedule (default: auto)\n"), text)
        self.assertIn("schedule=revolv is refused: option schedule: 'revolv' is not one of auto", text)
        self.assertNotIn("`", text)
        self.assertIn(text, tool.run("options").stdout)
        self.assertLessEqual(max(map(len, tool.run("options").stdout.splitlines())), 78)
        self.assertIn("the nearest is 'memory'", self.refuse("options", "memry"))

    def test_wrong_words(self):
        for said, *words in (
                ("",), ("paln", "paln"), ("extra", "plan", "--steps", "3", "extra"), ("--steps needs a value", "plan", "--steps"),
                ("--steps is given twice", "plan", "--steps", "3", "--steps", "4"),
                ("see anadrome plan --help", "plan", "--stpes", "3"),
                ("'--stpes' is not known here; did you mean --steps?", "plan", "--stpes", "3"),
                ("'--step' is not known here; did you mean --steps or --step-time?", "plan", "--step", "3"),
                ("'--output' is not known here; did you mean", "timeline", "trace.json", "--output", "x.svg"),
                ("--json", "plan", "--json=7"), ("--cores-busy", "plan", "--cores-busy=7")):  # a flag has no value
            self.assertIn(said, self.refuse(*words))

    def test_output_that_cannot_be_written(self):
        words = ("count", "revolve", "--steps", "10000", "--slots", "3")
        for more in ((), ("--actions",), ("--json",)):
            with open("/dev/full", "w") as full:
                command = [os.environ["ANADROME_TEST_TOOL"], *words, *more]
                process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True,
                                         timeout=60)
            self.assertEqual(process.returncode, 3)
            self.assertIn("No space left", process.stderr)


if __name__ == "__main__":
    unittest.main()
