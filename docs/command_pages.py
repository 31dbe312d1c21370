# SPDX-License-Identifier: BSD-2-Clause
"""command_pages.py PROGRAM man FOLDER VERSION | page FILE | options FILE: the command and its subcommands, as --help lists them:
manual pages by help2man, or one page of the site; and the options of a run, between the marks of docs/options.md."""
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
BEGIN, END = "<!-- begin options -->\n", "<!-- end options -->"
SEE_ALSO = "[see also]\nAll pages of the documentation: docs/index.md in the sources.\n"


def help_of(words):
    command = [PROGRAM, *words, "--help"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commands(words=()):
    """The words of each command, the shortest first, and its help."""
    text = help_of(words)
    yield words, text
    below = re.split(r"\nsubcommands:\n", text, flags=re.IGNORECASE)[1:]  # CLI11 2.6 has capitals
    for name in re.findall(r"^  ([a-z_]+)  ", "".join(below), re.MULTILINE):
        yield from commands((*words, name))


def write_man(folder, version):
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".h2m") as include:
        include.write(SEE_ALSO)
        include.flush()
        for words, text in commands():
            meaning = text.splitlines()[0].split(". ")[0].split(": ")[0].rstrip(".")
            page = folder / ("-".join(("anadrome", *words)) + ".1")
            subprocess.run(["help2man", "--no-info", "--section=1", f"--name={meaning}", f"--version-string={version}",
                            f"--include={include.name}", f"--output={page}", " ".join((PROGRAM, *words))], check=True)


def write_page(file):
    sections = ["# The command\n\nEvery subcommand prints this with `--help`; `man anadrome-plan` and so on are the same pages.\n"
                "How to plan a job: [plan](plan.md); states on disk: [inspect](inspect.md).\n"]
    for words, text in commands():
        sections.append(f"## {' '.join(('anadrome', *words))}\n```text\n{text.strip()}\n```\n")
    file.write_text("\n".join(sections))


def fill_options(file):
    sections = subprocess.run([PROGRAM, "options", "--page"], check=True, capture_output=True, text=True).stdout
    before, rest = file.read_text().split(BEGIN)
    file.write_text(before + BEGIN + sections + END + rest.split(END)[1])


if sys.argv[2] == "man":
    write_man(pathlib.Path(sys.argv[3]), sys.argv[4])
elif sys.argv[2] == "options":
    fill_options(pathlib.Path(sys.argv[3]))
else:
    write_page(pathlib.Path(sys.argv[3]))
