"""The command as such: help, version, wrong words, output that cannot be written."""
import subprocess
import unittest

import tool


class Command(tool.Case):
    def test_version(self):
        process = tool.run("--version")
        self.assertEqual(process.returncode, 0)
        self.assertRegex(process.stdout, r"^anadrome \d+\.\d+\.\d+\n$")

    def test_help(self):
        process = tool.run("--help")
        self.assertEqual(process.returncode, 0)
        self.assertIn("plan", process.stdout)
        process = tool.run("plan", "--help")
        self.assertEqual(process.returncode, 0)
        for word in ("--memory", "--abstract", "store_all, revolve, async"):
            self.assertIn(word, process.stdout)

    def test_wrong_words(self):
        self.refuse()
        self.assertIn("paln", self.refuse("paln"))
        self.assertIn("--stpes", self.refuse("plan", "--stpes", "3"))
        self.assertIn("extra", self.refuse("plan", "--steps", "3", "extra"))
        self.assertIn("--steps needs a value", self.refuse("plan", "--steps"))
        self.assertIn("see anadrome plan --help", self.refuse("plan", "--stpes", "3"))

    def test_output_that_cannot_be_written(self):
        words = ("plan", "--abstract", "--schedule", "revolve", "--steps", "10000", "--slots", "3")
        for more in ((), ("--actions",), ("--json",)):
            with open("/dev/full", "w") as full:
                command = [tool.os.environ["ANADROME_TEST_TOOL"], *words, *more]
                process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True,
                                         timeout=60)
            self.assertEqual(process.returncode, 3)
            self.assertIn("No space left", process.stderr)


if __name__ == "__main__":
    unittest.main()
