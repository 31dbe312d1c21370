# SPDX-License-Identifier: BSD-2-Clause
"""The simulated tables of docs/scale.md are what simulation_scale prints: model seconds, the same on every machine.

    scale_test.py PROGRAM PAGE [--full] [--fill]     --full: the long rows, too; --fill: writes the tables
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

PROGRAM, PAGE = sys.argv[1], pathlib.Path(sys.argv[2])
FILL = "--fill" in sys.argv
FULL = FILL or "--full" in sys.argv
PHASES = ["open", "begin", "forward", "reverse", "close", "resume"]
RANKS = [1, 16, 256] + ([1000] if FULL else [])
FIXED = ["1", "2", "4", "8", "16", "32"]
CELLS = [(steps, write, slow) for steps in ((200, 400, 2000) if FULL else (400,)) for write in ("0.002", "0.03", "0.1")
         for slow in ("0", "3")]
ALIKE = 0.02  # what a page rounds


def seconds(**options):
    command = [PROGRAM] + [word for name, value in options.items() for word in ("--" + name, str(value))]
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    found = dict(re.findall(r"(\w+) ([\d.e+-]+)", done.stdout.splitlines()[-1]))
    return {phase: float(found[phase]) for phase in PHASES}


def row_of_ranks(ranks):
    of = seconds(ranks=ranks, kill="yes")
    return [f"{ranks:,}"] + [f"{of[phase]:.3g}" for phase in PHASES]


def row_of_cell(cell):
    steps, write, slow = cell
    took = {}
    for interval in ["auto"] + FIXED:
        of = seconds(ranks=4, coupled="yes", steps=steps, write=write, straggler=slow, interval=interval)
        took[interval] = of["forward"] + of["reverse"]
    best = min(FIXED, key=took.get)
    return [str(steps), f"{float(write) * 1000:g} ms", "one rank in turn four times as long" if slow != "0" else "alike",
            f"{took['auto']:.2f}", f"{took[best]:.2f} ({best})", f"{took['auto'] / took[best]:.2f}"]


def same(told, found):
    """As numbers, words as words."""
    numbers = [re.fullmatch(r"[\d.,]+(e-?\d+)?", text) for text in (told, found)]
    if not all(numbers):
        return told == found
    a, b = (float(text.replace(",", "")) for text in (told, found))
    return abs(a - b) <= ALIKE * max(a, b)


def compare(mark, heading, rows):
    text = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- begin {mark} -->\n", f"<!-- end {mark} -->"
    before, told, after = re.fullmatch(f"(.*{begin})(.*)({end}.*)", text, re.S).groups()
    if FILL:
        lines = [heading, ["---"] * len(heading)] + rows
        PAGE.write_text(before + "".join("| " + " | ".join(line) + " |\n" for line in lines) + after, encoding="utf-8")
        return []
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in told.splitlines()]
    wrong = []
    for row in rows:
        print(mark, *row, sep=" | ", flush=True)
        page = [line for line in table if line[:3 if mark == "intervals" else 1] == row[:3 if mark == "intervals" else 1]]
        if len(page) != 1 or not all(map(same, page[0], row)):
            wrong.append(f"{PAGE.name} says {page}, simulated {row}")
    return wrong


with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as two:
    ranks, cells = list(two.map(row_of_ranks, RANKS)), list(two.map(row_of_cell, CELLS))
WRONG = compare("simulated", ["ranks"] + PHASES, ranks)
WRONG += compare("intervals", ["steps", "a write", "steps of 10 ms", "auto, s", "best, s (interval)", "auto / best"], cells)
sys.exit("\n".join(WRONG + ["scripts/test --full; tests/simulation/scale_test.py --fill writes it"]) if WRONG else 0)
