# SPDX-License-Identifier: BSD-2-Clause
"""Runs PETSc's own tutorials, unchanged, with `-ts_trajectory_type basic` and with anadrome, and compares what
they print and the gradient to 16 digits.

  cases.py --tutorials FOLDER --programs FOLDER --plugin LIBRARY --mode MODE... [--match TEXT] [--ranks N] [--verbose]

The programs are the tutorials as PETSc compiles them; the type comes through PETSC_OPTIONS.
"""
import argparse
import csv
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Memory that is sure to be used is touched at once.
LITTLE = "-ts_trajectory_anadrome_memory 128MiB"
# Options of anadrome in each mode. `own`: what the tutorial's own arguments say of memory.
MODES = {
    "store_all": f"{LITTLE} -ts_trajectory_anadrome_schedule store_all",
    "recompute": f"{LITTLE} -ts_trajectory_max_cps_ram 4",
    "disk": f"{LITTLE} -ts_trajectory_anadrome_schedule async -ts_trajectory_anadrome_interval 3 "
            "-ts_trajectory_anadrome_checkpoints 2 -ts_trajectory_anadrome_compress lz4",
    "auto": "",
    "own": "",
}
# The number of steps is said: for tutorials with -ts_max_steps that take so many.
MODES["mixed"] = (f"{LITTLE} -ts_trajectory_anadrome_schedule mixed -ts_trajectory_anadrome_checkpoints 4 "
                  "-ts_trajectory_anadrome_steps {steps}")
# Of the trajectory options in a tutorial's own arguments: those that every type understands, and what is kept
# for anadrome besides.
GENERAL = ("reconstruction_order", "reconstruction_caching", "adjointmode")
SOLUTION_ONLY = ("solution_only",)
OWN = ("solution_only", "max_cps_ram", "max_cps_disk", "max_units_ram", "max_units_disk", "stride")


def rows(match, table, programs):
    """Those that match, of the tutorials that are there: some do without complex scalars or 64-bit indices."""
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            stem = Path(row["tutorial"]).stem
            name = f"{stem}.{row['suffix']}"
            if (match is None or re.fullmatch(match, name)) and Path(programs, stem).exists():
                yield name, row


def arguments(text, keep):
    """The tutorial's arguments without the trajectory options that are not in `keep`."""
    words, result, i = text.split(), [], 0
    while i < len(words):
        value = []
        if i + 1 < len(words) and not re.match(r"-[a-zA-Z]", words[i + 1]):
            value = [words[i + 1]]
        option = re.match(r"-ts_trajectory_(\w+)", words[i])
        if words[i].startswith("-") and (option is None or option.group(1) in keep):
            result += [words[i], *value]
        i += 1
    return result


class Bench:
    def __init__(self, tutorials, programs, plugin, verbose):
        self.tutorials, self.programs = Path(tutorials), Path(programs).resolve()
        self.plugin, self.verbose = Path(plugin).resolve(), verbose

    def run(self, row, ranks, own_arguments, options):
        """Exit code, standard output, gradient, errors."""
        source = self.tutorials / row["tutorial"]
        with tempfile.TemporaryDirectory(prefix="anadrome-petsc-") as folder:
            for data in list(source.parent.glob("*.bin")) + list(source.parent.glob("petscoptions")):
                shutil.copy(data, folder)
            command = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
            command += [str(self.programs / source.stem), *own_arguments,
                        "-options_left", "no", "-ts_adjoint_view_solution", "ascii:gradient.m:ascii_matlab"]
            environment = dict(os.environ, PETSC_OPTIONS=options)
            done = subprocess.run(command, cwd=folder, env=environment, timeout=300, text=True,
                                  capture_output=True, errors="replace")
            gradient = Path(folder, "gradient.m")
            text = gradient.read_text() if gradient.exists() else ""
            left = [p.name for p in Path(folder).iterdir() if re.match(r"TS-|petsc|anadrome", p.name)
                    and p.name != "petscoptions"]
        if self.verbose:
            print("   ", options, " ".join(command), "->", done.returncode)
        # Objects without a name are printed with their address, and one tutorial prints how long it took.
        output = re.sub(r"0x[0-9a-f]+", "0x", re.sub(r"(?m)^ *\d+\.\d{3} $", "", done.stdout))
        return done.returncode, output, re.sub(r"0x[0-9a-f]+", "0x", text), done.stderr, left

    def anadrome(self, mode, row):
        steps = re.search(r"-ts_max_steps (\d+)", row["arguments"])
        options = MODES[mode].format(steps=steps and steps[1])
        return f"-dll_append {self.plugin} -ts_trajectory_type anadrome {options}"


def numbers(text):
    return [float(x) for x in re.findall(r"[-+]?\d+\.\d*(?:e[-+]?\d+)?", text)]


def difference(a, b):
    """Largest difference of two gradients, relative to the largest entry."""
    if a == b:
        return 0.0
    x, y = numbers(a), numbers(b)
    if not x or len(x) != len(y):
        return math.inf
    largest = max(map(abs, x)) or 1.0
    return max(abs(p - q) for p, q in zip(x, y)) / largest


def reference_of(bench, row, ranks):
    """`basic`, or every record kept where `basic` is known to be wrong (see the table's notes)."""
    options = "-ts_trajectory_type basic"
    if row["note"].startswith("second order"):
        options = bench.anadrome("store_all", row)
    return bench.run(row, ranks, arguments(row["arguments"], GENERAL), options)


def refused(bench, row, mode, ranks):
    """What is wrong if a program whose steps cannot be run again is not refused with a clear error."""
    code, output, _, errors, _ = bench.run(row, ranks, arguments(row["arguments"], GENERAL),
                                           bench.anadrome(mode, row))
    clear = "differs from the first time" in errors or "cannot be run again" in errors
    if code == 0 or not clear or "-ts_trajectory_anadrome_schedule store_all" not in errors:
        return f"exit {code}, and no clear refusal: {errors.strip()[:300]}"
    return None


def compare(bench, row, mode, ranks, reference):
    """What is wrong, or None; and the difference of the gradients."""
    if row["note"].startswith("not recomputable") and mode not in ("store_all", "auto"):
        return refused(bench, row, mode, ranks), 0.0
    keep = {"own": GENERAL + OWN, "mixed": GENERAL}.get(mode, GENERAL + SOLUTION_ONLY)
    code, output, gradient, errors, left = bench.run(
        row, ranks, arguments(row["arguments"], keep), bench.anadrome(mode, row))
    if code != reference[0]:
        return f"exit {code}, basic {reference[0]}: {errors.strip()[-900:]}", math.inf
    apart = difference(reference[2], gradient)
    if output != reference[1]:
        lines = [f"    basic:    {a}\n    anadrome: {b}" for a, b in
                 zip(reference[1].splitlines(), output.splitlines()) if a != b]
        return "prints something else:\n" + "\n".join(lines[:4]), apart
    if apart > 0:
        return f"gradient differs by {apart:.2e}", apart
    if left:
        return f"leaves {left}", apart
    return None, apart


TABLE = Path(__file__).with_name("cases.csv")


def parser_for(description):
    """For a script that runs rows of the table."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tutorials", required=True, help="PETSc's, their sources")
    parser.add_argument("--programs", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--verbose", action="store_true")
    return parser


def bench_of(options):
    return Bench(options.tutorials, options.programs, options.plugin, options.verbose)


def main():
    parser = parser_for(__doc__)
    parser.add_argument("--mode", required=True, nargs="+", choices=MODES)
    parser.add_argument("--table", default=TABLE)
    parser.add_argument("--match")
    parser.add_argument("--ranks", type=int)
    options = parser.parse_args()

    bench = bench_of(options)
    wrong = seen = 0
    for name, row in rows(options.match, options.table, options.programs):
        ranks = options.ranks or int(row["ranks"])
        reference = reference_of(bench, row, ranks)
        expected = {"56": 0}.get(row["stock_exit_code"], int(row["stock_exit_code"]))
        if reference[0] != expected:  # 56: `memory` with a limit; `basic` has none
            print(f"FAIL {name} np{ranks}: the reference ends with {reference[0]}: {reference[3][-600:]}")
            wrong += 1
            continue
        for mode in options.mode:
            why, apart = compare(bench, row, mode, ranks, reference)
            seen += 1
            wrong += why is not None
            print(f"{'ok  ' if why is None else 'FAIL'} {name} np{ranks} {mode}: gradient "
                  f"{'the same' if apart == 0 else f'{apart:.1e}'}{'' if why is None else '; ' + why}",
                  flush=True)
    print(f"{seen} cases, {wrong} wrong")
    return 0 if seen > 0 and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
