# SPDX-License-Identifier: BSD-2-Clause
"""docs_test.py PAGE...: what a page shows works. Blocks after `<!-- file: NAME -->` become files; the commands of ```console
blocks ("$ ...") run one after the other in one shell, with an installed copy found as the page says, the examples in PATH and
their sources in examples. They print at least the words of the lines that follow them, in this order; after `<!-- times vary -->`
these lines, no more and no less, of which the first words count; "..." is what the page leaves out. `<!-- after: PAGE -->`: that page's files and programs are
there. Every other block with a command has a reason: `<!-- run by: WHAT -->` or `<!-- not run here: WHY -->`."""
import os
import re
import subprocess
import unittest

from staging import SOURCES, StagedCase

DOCS = SOURCES / "docs"
PAGES = [SOURCES / "README.md", SOURCES / "CONTRIBUTING.md", *DOCS.rglob("*.md"), *SOURCES.glob("examples/*/README.md")]
BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(\$ |anadrome (plan|count|solve|inspect|verify|clean|timeline)|scripts/|mpirun|srun|sbatch|cmake|apt|module|bench_|for \w+ in)",
                     re.MULTILINE)


# Smaller problems, in a tenth of the time, of what pages compute on: their programs and commands show the same.
SMALLER = {
    "undo": {"n, steps = 300, 600": "n, steps = 100, 200"},
    "past_memory": {"STEPS = 1000 }": "STEPS = 300 }"},
    "theory_sketches": {"wave_imaging --pictures": "wave_imaging --cells 64 --steps 2048 --pictures"},
    "lorenz": {"lorenz --schedule": "lorenz --steps 1000000 --schedule", "--memory 64MiB": "--memory 7MiB"},
    "heat_equation": {"--grid 1024x1024 --steps 500 --memory 64MiB": "--grid 512x512 --steps 250 --memory 16MiB"},
}


def labels(text):
    """The first words of its lines, but of those that begin with a number, and of warnings and others that are not always there."""
    words = [line.split()[0] for line in text.splitlines() if line.strip()]
    return [word for word in words if not word[0].isdigit() and word not in ("anadrome:", "predicted", "faults", "plan")]


def steps_of(page):
    """(file name, text, None) and (None, command, (what it prints, does that vary)), in the page's order."""
    text = (DOCS / page).read_text()
    for words, smaller in SMALLER.get(name_of(DOCS / page), {}).items():
        assert words in text, f"{page}: {words}"
        text = text.replace(words, smaller)
    after = re.search(r"<!-- after: (\S+) -->", text)
    if after:
        yield from steps_of(after[1])
    for block in BLOCK.finditer(text):
        mark = block["mark"] or ""
        if mark.startswith("file: "):
            yield mark[len("file: "):], block["body"], None
        elif block["language"] == "console":
            for command in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                line, printed = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", command, re.DOTALL).groups()
                yield None, line, (printed, mark == "times vary")


class Page(StagedCase):
    def follow(self, page):
        (self.folder / "examples").symlink_to(SOURCES / "examples")
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
            output = output[:end.start()]
            self.assertEqual(end[1], "0", f"{page}: {body}\n{output}")
            self.expect_shown(*printed, output, f"{page}: {body}\n{output}")
        return commands

    def expect_shown(self, printed, varies, output, message):
        if varies:
            self.assertEqual(labels(printed), labels(output), message)
            return
        lines = iter(output.splitlines())
        for line in printed.splitlines():
            words = line.replace("...", " ").split()  # what a page leaves out
            self.assertTrue(not words or any(all(word in line for word in words) for line in lines),
                            f"not printed: {' '.join(words)}\n{message}")

    def test_adoption_takes_thirteen_lines(self):
        files = {name: body.splitlines() for name, body, printed in steps_of("adopt.md") if name}
        added = [line for line in files["after.c"] if line.strip() and line not in files["before.c"]]
        self.assertLessEqual(len(added) - 1, 13, "\n".join(added))  # the #include does not count

    def test_a_wrong_page_would_fail(self):
        for printed, varies in (("same bits", False), ("bits 3 s", True), ("other 3 s\nbits\nbound", True)):
            with self.assertRaises(AssertionError):
                self.expect_shown(printed, varies, "other\nbits\n", "")


def test_of(page):
    def test(self):
        self.assertGreater(self.follow(page), 0)
    return test


def name_of(page):
    """As CMakeLists.txt names them."""
    return (page.parent.name if page.stem == "README" else page.stem).replace("-", "_")


for found in PAGES:
    if re.search(r"^```console$", found.read_text(), re.MULTILINE):
        setattr(Page, f"test_{name_of(found)}", test_of(found))


# All states kept, by hand.
KEPT = """
states = [x_0.copy()]
for k in range(10000):
    states.append(states[-1].copy())
    step(states[-1], k)
lam = states[-1].copy()
for k in reversed(range(10000)):
    adjoint_step(states[k], lam, k)
print("the same bits" if np.array_equal(lam, gradient) else "wrong")
"""


class Readme(StagedCase):
    # The README has the part of a program that differs; here is the rest.
    PROGRAM = """#include <anadrome/anadrome.h>
#include <stdio.h>
enum {{ cells = 100, steps = 60 }};
static double u[cells], lambda[cells];
static void step(double* x, int64_t k) {{ for (int i = 0; i < cells; ++i) x[i] += 1e-2 * (double)k * x[i] * x[i]; }}
static void start_adjoint(const double* x) {{ for (int i = 0; i < cells; ++i) lambda[i] = x[i]; }}
static void adjoint_step(const double* x, int64_t k) {{ for (int i = 0; i < cells; ++i) lambda[i] *= 1 + 2e-2 * (double)k * x[i]; }}
int main(int argc, char** argv) {{
  MPI_Init(&argc, &argv);
  double all[steps + 1][cells];
  for (int i = 0; i < cells; ++i) u[i] = all[0][i] = 1e-4 * i;
  for (int k = 0; k < steps; ++k) {{ for (int i = 0; i < cells; ++i) all[k + 1][i] = all[k][i]; step(all[k + 1], k); }}
{block}
  double mine[cells];
  for (int i = 0; i < cells; ++i) {{ mine[i] = lambda[i]; lambda[i] = all[steps][i]; }}
  for (int k = steps - 1; k >= 0; --k) adjoint_step(all[k], k);
  int wrong = status != ANADROME_OK;
  for (int i = 0; i < cells; ++i) wrong |= mine[i] != lambda[i];
  printf(wrong ? "wrong\\n" : "the same bits\\n");
  MPI_Finalize();
  return wrong;
}}
"""

    @staticmethod
    def block(page, language):
        return re.search(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)[1]

    def test_its_lines_of_python_print_that_the_gradient_is_right(self):
        (self.folder / "readme.py").write_text(self.block(SOURCES / "README.md", "python") + KEPT)
        process = subprocess.run(["python3", "readme.py"], cwd=self.folder, capture_output=True, text=True, timeout=100,
                                 env={**os.environ, **self.environment})
        self.assertEqual((process.returncode, process.stdout), (0, "RIGHT\nthe same bits\n"), process.stderr)

    def test_its_loop_gives_the_gradient(self):
        block = self.block(SOURCES / "README.md", "c")
        for words in ("8GiB", "/scratch/me"):
            self.assertIn(words, block)
        block = block.replace("8GiB", "8KiB").replace("/scratch/me", ".")
        (self.folder / "readme.c").write_text(self.PROGRAM.format(block=block))
        build = "mpicc -O1 -ffp-contract=off -Wall -Werror readme.c -o readme $(pkg-config --cflags --libs anadrome) " \
                "-Wl,-rpath,$(pkg-config --variable=libdir anadrome) && mpirun -n 2 ./readme"
        process = subprocess.run(build, shell=True, cwd=self.folder, capture_output=True, text=True, timeout=100,
                                 env={**os.environ, **self.environment})
        self.assertEqual((process.returncode, process.stdout), (0, "the same bits\n" * 2), process.stderr)


MADE_FOR_THE_SITE = {("reference.md", "command.md"), ("reference.md", "fortran.md")}  # by docs/build-site


class Links(unittest.TestCase):
    def test_every_command_is_run_or_has_a_reason(self):
        for page in PAGES:
            for block in BLOCK.finditer(page.read_text()):
                mark = block["mark"] or ""
                if block["language"] != "console" and not mark.startswith("file: ") and COMMAND.search(block["body"]):
                    self.assertRegex(mark, r"^(run by|not run here): \w", f"{page}: {block['body']}")

    def test_files_that_pages_link_to_exist(self):
        seen = 0
        for page in PAGES:
            text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" not in target and (page.name, target) not in MADE_FOR_THE_SITE:
                    seen += 1
                    self.assertTrue((page.parent / target).exists(), f"{page}: {target}")
        self.assertGreater(seen, 15)


if __name__ == "__main__":
    unittest.main()
