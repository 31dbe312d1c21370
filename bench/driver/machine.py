# SPDX-License-Identifier: BSD-2-Clause
"""Running the programs: one at a time, never longer than a limit, and within what the machine has."""
import csv
import io
import os
import shutil
import subprocess
import sys

GIB = 1 << 30


def available_memory():
    with open("/proc/meminfo") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return GIB


def cores():
    return len(os.sched_getaffinity(0))


def output_of(command):
    """What `command` prints. Whatever ends this program ends the command too: asked, not killed, so
    that mpirun can take its ranks along."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            printed, _ = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode != 0:
        raise SystemExit(f"failed ({process.returncode}): {' '.join(command)}")
    return printed


class Bench:
    """Where programs and results are, and how long a benchmark may take."""

    def __init__(self, programs, out, quick):
        self.programs, self.out, self.quick = programs, out, quick
        self.states = os.path.join(out, "states")
        self.last_command = ""
        self.clean()  # what was killed must not be gone on with
        os.makedirs(self.states, exist_ok=True)

    def choose(self, full, quick):
        return quick if self.quick else full

    def path(self, name):
        return os.path.join(self.out, name)

    def run(self, program, ranks, flags, save=None, limit=900):
        """Rows of the CSV that `program` prints; kept as `save`.csv. `flags`: by name, without --."""
        command = ["mpirun", "-n", str(ranks), os.path.join(self.programs, program)]
        for name, value in flags.items():
            command += [f"--{name}", str(value)]
        self.last_command = " ".join(command)
        printed = output_of(["timeout", "--kill-after=10", str(limit)] + command)
        if save:
            with open(self.path(save + ".csv"), "w") as file:
                file.write(printed)
        return read_rows(printed)

    def sweep(self, ranks, modes, save=None, **flags):
        flags = {name.replace("_", "-"): value for name, value in flags.items()}
        return self.run("bench_sweep", ranks, {"modes": ",".join(modes), "directory": self.states,
                                               **flags}, save)

    def fitting_steps(self, steps, state_bytes, ranks):
        """As many steps as leave half of the free memory when every state is kept."""
        return min(steps, available_memory() // (2 * state_bytes * ranks))

    def draw(self, name, text):
        """A gnuplot picture out/name.svg."""
        script = self.path(name + ".gp")
        with open(script, "w") as file:
            file.write('set terminal svg size 900,420 font "sans-serif,13" background "white"\n'
                       f'set output "{self.path(name)}.svg"\nset grid\n{text}')
        subprocess.run(["timeout", "60", "gnuplot", script], check=True)

    def write_rows(self, name, rows):
        """As CSV, out/name.csv: what is not in a table is not lost."""
        with open(self.path(name + ".csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def clean(self):
        shutil.rmtree(self.states, ignore_errors=True)


def number(text):
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def read_rows(text):
    rows = [{key: number(value) for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(text))]
    for row in rows:  # the hash is no number, even if it has digits only
        row.pop("gradient_hash", None)
    return rows


def say(text):
    print(text, file=sys.stderr, flush=True)
