# SPDX-License-Identifier: BSD-2-Clause
"""What grows with the number of ranks: counted on ranks that share the cores of this machine, and never timed.

    scripts/bench [--fill docs/scale.md] scale     the table of that page
    bench/driver/scale.py PROGRAM LAUNCHER... -- RANKS...     a test: fails where a count outgrows its promise
"""
import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile

BEFORE = pathlib.Path(__file__).resolve().parent.parent / "scale/before.csv"  # of the tree before any cure
WHERE = ("rank 0", "another rank", "all ranks")
NAMES = ("1", "log P", "P", "P^2")
ONE, LOG, LINEAR, SQUARE = range(4)

# What a count may grow as at rank 0 and at any other rank: as nothing, unless it is here. The heap of rank 0, which knows
# all ranks, may grow as P. That of all ranks together
# may grow as P, or as P times that of another rank.
PROMISES = {
    ("open", "message_bytes"): (LINEAR, LOG),
    ("begin", "read_bytes"): (LINEAR, ONE),
    ("begin", "written_bytes"): (LINEAR, ONE),
    ("begin", "message_bytes"): (LINEAR, ONE),
    ("segment", "read_bytes"): (LINEAR, ONE),
    ("segment", "written_bytes"): (LINEAR, ONE),
    ("resume (journal missing)", "open"): (LINEAR, ONE),
    ("resume (journal missing)", "stat"): (LINEAR, ONE),
    ("resume (journal missing)", "names"): (LINEAR, ONE),
    ("resume (journal missing)", "read_bytes"): (LINEAR, ONE),
    ("resume", "open"): (LINEAR, ONE),
    ("resume", "stat"): (LINEAR, ONE),
    ("resume", "names"): (LINEAR, ONE),
    ("resume", "read_bytes"): (LINEAR, ONE),
    ("resume", "message_bytes"): (LINEAR, ONE),
    ("begin (keep)", "read_bytes"): (LINEAR, ONE),
    ("begin (keep)", "written_bytes"): (LINEAR, ONE),
    ("begin (keep)", "message_bytes"): (LINEAR, ONE),
    ("close (keep)", "read_bytes"): (LINEAR, ONE),
    ("close (keep)", "written_bytes"): (LINEAR, ONE),
    ("close (keep)", "message_bytes"): (LINEAR, ONE),
    ("begin (watchdog)", "messages"): (LOG, LOG),
    ("begin (watchdog)", "message_bytes"): (LINEAR, ONE),
    ("DONE (trace)", "written_bytes"): (LINEAR, ONE),
    ("DONE (trace)", "messages"): (LINEAR, ONE),
    ("DONE (trace)", "message_bytes"): (LINEAR, ONE),
}

# What a doubling of the ranks may add without being growth: digits of a number, two pages of a file, and in memory,
# where transfers may not be over yet, theirs.
SLACK = {"heap": 400, "message_bytes": 16, "read_bytes": 8192, "written_bytes": 8192}
IN_FLIGHT = ("anchor", "segment", "TURN", "adjoint", "DONE", "close (layout=rank)")
SLACK_IN_FLIGHT = 5000


def promise(phase, quantity):
    rank_0, another = PROMISES.get((phase, quantity), (LINEAR if quantity == "heap" else ONE, ONE))
    return {"rank 0": rank_0, "another rank": another, "all ranks": LINEAR if another <= LOG else SQUARE}


def slack(phase, quantity, _where):
    return SLACK_IN_FLIGHT if quantity == "heap" and phase in IN_FLIGHT else SLACK.get(quantity, 1)


def counts_of(launcher, program, ranks, directory):
    """{(phase, quantity, where): count} of one job."""
    states, table = (os.path.join(directory, f"{what}-{ranks}") for what in ("run", "counts"))
    os.makedirs(states)
    command = launcher + [str(ranks), program, states, table]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(command)}\n{done.stdout}")
    with open(table) as rows:
        return {(row["phase"], row["quantity"], where): int(row[column]) for row in csv.DictReader(rows)
                for where, column in zip(WHERE, ("rank_0", "another", "all"))}


def counted(launcher, program, several):
    """{(phase, quantity, where): [count, ...]}, one for each number of ranks; without those that are zero."""
    with tempfile.TemporaryDirectory() as directory:
        jobs = [counts_of(launcher, program, ranks, directory) for ranks in several]
    return {key: row for key in jobs[-1] if any(row := [job.get(key, 0) for job in jobs])}


def growth(counts, slack):
    """What `counts` on 1, 2, 4, .. ranks, or 2, 4, 8, .., grow as, by the last three doublings: one adds nothing, the same each time, twice
    as much each time, or more. Where less than three add something, something else was larger before: P at most."""
    most = [max(counts[:place + 1]) for place in range(len(counts))]
    added = [after - before for before, after in zip(most, most[1:])][-3:]
    if len(added) < 2 or added[-1] <= max(slack, 0.03 * most[-1]):
        return ONE
    added = [more for more in added if more > slack]
    exponent = min([math.log2(after / before) for before, after in zip(added, added[1:])], default=1)
    return LOG if exponent < 0.5 else LINEAR if exponent < 1.5 or len(added) < 3 else SQUARE


def grown(table):
    """{(phase, quantity, where): class}"""
    return {key: growth(row, slack(*key)) for key, row in table.items()}


def broken(table):
    """A line for each promise that does not hold."""
    return [f"{phase}, {quantity}, {where}: grows as {NAMES[found]}, and {NAMES[promise(phase, quantity)[where]]} is promised: "
            + ", ".join(map(str, table[phase, quantity, where]))
            for (phase, quantity, where), found in grown(table).items() if found > promise(phase, quantity)[where]]


def surely_counted(launcher, program, several):
    """A rank that is late adds to a count, as where another has its watch for a while, and takes nothing off."""
    table = counted(launcher, program, several)
    if broken(table):
        again = counted(launcher, program, several)
        table = {key: list(map(min, row, again.get(key, [0] * len(row)))) for key, row in table.items()}
    return table


def write(path, several, table):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["phase", "quantity", "where", *several])
        rows.writerows([*key, *row] for key, row in table.items())


def read(path):
    with open(path) as file:
        heading, *rows = csv.reader(file)
    return [int(ranks) for ranks in heading[3:]], {tuple(row[:3]): [int(count) for count in row[3:]] for row in rows}


def cell(table, classes, key, column):
    if key not in table:
        return "0"
    usual = LINEAR if key[2] == WHERE[2] else ONE
    return f"{table[key][column]}" + (f" ({NAMES[classes[key]]})" if classes[key] > usual else "")


def tables(several, now):
    from table import markdown
    ranks_before, before = read(BEFORE)
    last = max(set(ranks_before) & set(several))
    columns = ranks_before.index(last), several.index(last)
    classes = grown(before), grown(now)
    rows = []
    for phase, quantity in dict.fromkeys(key[:2] for key in [*now, *before]):
        keys = [(phase, quantity, where) for where in WHERE]
        grows = any(classes[i].get(key, ONE) > (LINEAR if key[2] == WHERE[2] else ONE) for key in keys for i in (0, 1))
        same = all(before.get(key, [0] * 9)[columns[0]] == now.get(key, [0] * 9)[columns[1]] for key in keys)
        if not grows and same:
            continue
        if quantity == "heap" and phase != "open" and max(grew.get(keys[1], ONE) for grew in classes) == ONE:
            continue
        promised = promise(phase, quantity)
        rows.append([phase, quantity.replace("_", " "), f"{NAMES[promised[WHERE[0]]]} / {NAMES[promised[WHERE[1]]]}"] +
                    [" / ".join(cell(table, grew, key, column) for key in keys)
                     for table, grew, column in zip((before, now), classes, columns)])
    return markdown(["phase", "count", "promise: rank 0 / another", f"before, P = {last}: rank 0 / another / all", "now"], rows)


def run(bench, claims):
    several = bench.choose([1, 2, 4, 8, 16, 32, 64, 128, 256], [2, 4])
    now = surely_counted(["mpirun", "-n"], os.path.join(bench.programs, "scale", "scale_run"), several)
    write(bench.path("scale.csv"), several, now)
    claims.at_most("promises that do not hold", [len(broken(now))], 0, "{:.0f}")
    return f"\n{tables(several, now)}"


def test(arguments):
    split = arguments.index("--")
    several = [int(ranks) for ranks in arguments[split + 1:]]
    sys.exit("\n".join(broken(surely_counted(arguments[1:split], arguments[0], several))) or 0)


if __name__ == "__main__":
    test(sys.argv[1:])
