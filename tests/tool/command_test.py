"""The command as such: help, version, wrong words, output that cannot be written."""
import re
import subprocess
import unittest

import tool

QUESTIONS = ("objects", "double", "least_memory", "join", "offload", "uneven_tapes", "graph")
UNTYPED = r"-h,--help|--json|--actions|--cores-busy"


class Command(tool.Case):
    def test_version(self):
        process = tool.run("--version")
        self.assertEqual(process.returncode, 0)
        self.assertRegex(process.stdout, r"^anadrome \d+\.\d+\.\d+\n$")

    def test_help(self):
        process = tool.run("--help")
        self.assertEqual(process.returncode, 0)
        subcommands = ("plan", "count", "solve", "inspect", "verify", "clean", "timeline")
        for subcommand in subcommands:
            self.assertIn(subcommand, process.stdout)
        for words in (*((subcommand,) for subcommand in subcommands),
                      *(("solve", question) for question in QUESTIONS)):
            process = tool.run(*words, "--help")
            self.assertEqual((process.returncode, process.stderr), (0, ""), words)
        for subcommand in ("plan", "count"):
            self.assertIn("store_all, revolve, async", tool.run(subcommand, "--help").stdout)

    def test_every_option_has_a_unit_and_an_example(self):
        for words in (("plan",), ("count",), *(("solve", question) for question in QUESTIONS)):
            text = tool.run(*words, "--help").stdout
            self.assertIn(f"Example: anadrome {' '.join(words)} ", text)
            # An option's words may begin in the line below it.
            options = re.findall(r"^  (-.*(?:\n {10,}.*)?)$", text, re.MULTILINE)
            typed = [option for option in options if not re.match(UNTYPED, option)]
            self.assertGreater(len(typed), 2)
            for option in typed:
                self.assertRegex(option, r"(?s)^--\S+ [-A-Z0-9a-z|/.,]+\s.*; for example \S", words)

    def test_spellings_of_plan_that_moved_are_errors_that_name_the_new_ones(self):
        for command, *words in (
                ("count", "--abstract", "--schedule", "revolve", "--steps", 3, "--slots", 3),
                ("count", "--abstract", "--schedule=best"), ("count", "--steps", 3, "--slots=3"),
                ("solve objects", "--objects", "tape", "--steps", 60, "--slots", 8),
                ("solve double", "--double", "--steps", 60),
                ("solve least_memory", "--single-recompute", "--sizes", "x"),
                ("solve least_memory", "--abstract", "--schedule", "least_memory", "--sizes", "x"),
                ("solve offload", "--costs", "x", "--fast-memory", 9),
                ("solve offload", "--abstract", "--schedule", "offload"),
                ("solve uneven_tapes", "--costs", "x", "--memory", 9),
                ("solve join", "--branches", "20,20", "--slots", 4, "--objective", "reducible"),
                ("solve graph", "--schedule", "graph"), ("solve graph", "--graph=x")):
            self.assertIn(f"anadrome {command}", self.refuse("plan", *words).replace(
                "count uneven, solve offload or ", ""), words)

    def test_wrong_words(self):
        self.refuse()
        self.assertIn("paln", self.refuse("paln"))
        self.assertIn("--stpes", self.refuse("plan", "--stpes", "3"))
        self.assertIn("extra", self.refuse("plan", "--steps", "3", "extra"))
        self.assertIn("--steps needs a value", self.refuse("plan", "--steps"))
        self.assertIn("see anadrome plan --help", self.refuse("plan", "--stpes", "3"))

    def test_output_that_cannot_be_written(self):
        words = ("count", "revolve", "--steps", "10000", "--slots", "3")
        for more in ((), ("--actions",), ("--json",)):
            with open("/dev/full", "w") as full:
                command = [tool.os.environ["ANADROME_TEST_TOOL"], *words, *more]
                process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True,
                                         timeout=60)
            self.assertEqual(process.returncode, 3)
            self.assertIn("No space left", process.stderr)


if __name__ == "__main__":
    unittest.main()
