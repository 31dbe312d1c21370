# SPDX-License-Identifier: BSD-2-Clause
"""What commits, audits and the first sweep cost: the long step of `overhead`, in a sweep of several commits."""
from statistics import median

from machine import cores, say
from overhead import memory_for, work_for
from table import markdown, pick, ratios, size, spread

MODES = ["async", "async_resume", "async_commits"]
FIRST = ["async_no_audit", "async"]
AUDITED = ["revolve_no_audit", "revolve", "async_no_audit", "async"]
SLOTS = 8
PERIOD = 60  # seconds: the default of checkpoint_interval


def commits_in(row, milliseconds):
    """One is begun at the first anchor after the last one's period."""
    return max(1, int(row["seconds"] / (1e-3 * milliseconds + row["step"])))


def per_commit(rows, milliseconds):
    """Seconds that a commit adds, turn by turn."""
    of = lambda mode: [row for row in rows if row["mode"] == mode and row["round"] > 0]
    return [(with_commits["seconds"] - without["seconds"]) / commits_in(with_commits, milliseconds)
            for with_commits, without in zip(of("async_commits"), of("async_resume"))]


def shares(rows, mode, below):
    return [1 - 1 / ratio for ratio in ratios(rows, "seconds", mode, below)]


def measure(bench, ranks):
    grid = (1024, bench.choose(1024, 256))
    state_bytes = grid[0] * grid[1] * 8 // ranks
    flags = {"cells_x": grid[0], "cells_y": grid[1],
             "work": work_for(bench, ranks, grid, SLOTS, 2.5), "steps": bench.choose(200, 40),
             "memory": memory_for(SLOTS, state_bytes), "rounds": bench.choose(5, 2),
             "commit_milliseconds": bench.choose(500, 100)}
    rows = bench.sweep(ranks, [*MODES, *AUDITED[:3]], f"safety_{ranks}", **flags)
    turns = dict(flags, rounds=bench.choose(13, 2))  # three steps more of some 400: less than turns differ
    first_sweeps = bench.sweep(ranks, FIRST, f"first_{ranks}", fresh=1, **turns)
    return flags, rows, first_sweeps


def run(bench, claims):
    text = ""
    percent = lambda values: spread(values, "{:.1f} %", 100)
    for ranks in (1, 2):
        say(f"  safety: {ranks} rank(s)")
        flags, rows, first_sweeps = measure(bench, ranks)
        milliseconds = flags["commit_milliseconds"]
        each = per_commit(rows, milliseconds)
        count = median(commits_in(row, milliseconds) for row in rows
                       if row["mode"] == "async_commits")
        busy = ranks >= cores()
        text += (f"\n**{ranks} rank{'s' if ranks > 1 else ''}, "
                 f"{'every core busy' if busy else 'a core left free'}**: {flags['cells_x']}x"
                 f"{flags['cells_y']} cells, {flags['steps']} steps (`--work {flags['work']}`), a "
                 f"state of {size(rows[0]['state_bytes'])} and {size(flags['memory'])} of memory per "
                 f"rank. `async_commits` commits every {milliseconds} ms, about {count:g} times in a "
                 "sweep.\n\n")
        table = []
        for mode, below in zip(MODES, [None] + MODES):
            table.append([mode, spread(pick(rows, "seconds", mode=mode)),
                          percent(shares(rows, mode, below)) if below else "-",
                          size(median(pick(rows, "bytes_written", mode=mode))),
                          f"{median(pick(rows, 'interval', mode=mode)):g}",
                          f"{median(pick(rows, 'recompute_factor', mode=mode)):.2f}"])
        text += markdown(["mode", "seconds", "of them more than the mode above", "written",
                          "interval", "forward steps per step"], table)
        text += (f"\nA commit takes {spread(each, '{:.1f}', 1e3)} ms of the run: "
                 f"{spread(each, '{:.3f} %', 100 / PERIOD)} of it if there is one every {PERIOD} s.\n")
        audits = [shares(rows, mode, mode + "_no_audit") for mode in ("revolve", "async")]
        text += (f"\nAudits take {percent(audits[0])} of a run of `revolve` and {percent(audits[1])} of one "
                 "of `async`.\n")
        first = shares(first_sweeps, "async", "async_no_audit")
        text += f"\nPreflight, audits and spot checks take {percent(first)} of a run's first sweep.\n"
        if busy:
            continue
        where = "a core left free"
        for mode, share in zip(("revolve", "async"), audits):
            claims.at_most(f"{where}: audits of {mode}, share of the run", share, 0.01)
        claims.at_most(f"{where}: preflight, audits and spot checks, share of a run's first sweep", first, 0.02)
        claims.at_most(f"{where}: resume=on before a commit, share of the run",
                       shares(rows, "async_resume", "async"), 0.02)
        claims.at_most(f"{where}: a commit every {PERIOD} s, share of the run",
                       [seconds / PERIOD for seconds in each], 0.02, "{:.4f}")
    return text
