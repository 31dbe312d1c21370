"""docs_test.py PAGE...: what a page for users shows works. Blocks after `<!-- file: NAME -->` become files; the commands
of ```console blocks ("$ ...") run one after the other in one shell, with an installed copy found as the page says, and print
at least the words of the lines that follow them, in this order. `<!-- after: PAGE -->`: that page's files and programs are there."""
import os
import re
import subprocess
import unittest

from staging import SOURCES, StagedCase

DOCS = SOURCES / "docs"
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def steps_of(page):
    """(file name, text) and (command, lines that it prints), in the page's order."""
    text = (DOCS / page).read_text()
    after = re.search(r"<!-- after: (\S+) -->", text)
    if after:
        yield from steps_of(after[1])
    for block in BLOCK.finditer(text):
        if block["file"]:
            yield block["file"], block["body"], None
        elif block["language"] == "console":
            for command in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                line, _, printed = command.partition("\n")
                yield None, line, printed.splitlines()


class Page(StagedCase):
    def follow(self, page):
        shell = subprocess.Popen(["bash"], cwd=self.folder, text=True, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 env={**os.environ, **self.environment})
        self.addCleanup(shell.communicate)
        self.addCleanup(shell.kill)
        commands = 0
        for name, body, printed in steps_of(page):
            if name:
                (self.folder / name).write_text(body)
                continue
            commands += 1
            # A program must not read the commands that follow.
            shell.stdin.write(f"{{ {body}\n}} </dev/null\necho \"end of command: $?\"\n")
            shell.stdin.flush()
            output = ""
            while not (end := re.search(r"^end of command: (\d+)$", output, re.MULTILINE)):
                line = shell.stdout.readline()
                self.assertTrue(line, f"the shell ended in: {body}\n{output}")
                output += line
            self.assertEqual(end[1], "0", f"{page}: {body}\n{output}")
            self.expect_words(printed, output, f"{page}: {body}\n{output}")
        return commands

    def expect_words(self, printed, output, message):
        lines = iter(output.splitlines())
        for expected in printed:
            words = expected.split()
            self.assertTrue(any(all(word in line for word in words) for line in lines),
                            f"not printed: {expected}\n{message}")

    def test_adoption_takes_twelve_lines(self):
        files = {name: body.splitlines() for name, body, printed in steps_of("adopt.md") if name}
        added = [line for line in files["after.c"] if line.strip() and line not in files["before.c"]]
        self.assertLessEqual(len(added) - 1, 13, "\n".join(added))  # the #include does not count

    def test_a_wrong_page_would_fail(self):
        with self.assertRaises(AssertionError):
            self.expect_words(["same bits"], "other\nbits\n", "")


def test_of(page):
    def test(self):
        self.assertGreater(self.follow(page), 0)
    return test


for found in DOCS.rglob("*.md"):  # as CMakeLists.txt finds them
    if re.search(r"^```console$", found.read_text(), re.MULTILINE):
        setattr(Page, f"test_{found.stem.replace('-', '_')}", test_of(found.relative_to(DOCS)))


class Links(unittest.TestCase):
    def test_files_that_pages_link_to_exist(self):
        seen = 0
        for page in [SOURCES / "README.md", *DOCS.rglob("*.md"), *SOURCES.glob("examples/*/README.md")]:
            text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" not in target:
                    seen += 1
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")
        self.assertGreater(seen, 15)


if __name__ == "__main__":
    unittest.main()
