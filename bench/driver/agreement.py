# SPDX-License-Identifier: BSD-2-Clause
"""What it costs that all ranks decide together, here and, by a model, on many ranks."""
import math
from statistics import median

from machine import cores, say
from overhead import memory_for
from table import markdown, pick, spread

TYPICAL_STAGE = 2e-6  # one message of a few bytes between two nodes of a usual cluster
MODEL_RANKS = [2, 16, 128, 1024, 8192, 100_000]
STEPS = [1e-3, 1e-2, 1e-1]


def microbenchmark(bench):
    table, by_ranks = [], {}
    for ranks in bench.choose((1, 2, 4, 8), (1, 2)):
        say(f"  agreement: {ranks} rank(s)")
        few = ranks > cores()  # ranks take turns on a core: the scheduler is what is measured
        rows = bench.run("bench_agreement", ranks,
                         {"count": 100 if few else 5000, "batches": 10 if few else 20},
                         f"agreement_{ranks}", limit=120)
        rows = [row for row in rows if row["batch"] > 0]
        by_ranks[ranks] = median(row["agreement"] for row in rows)
        us = lambda name: spread([row[name] for row in rows], "{:.2f}", 1e6)
        table.append([ranks, us("agreement"), us("allreduce"), us("barrier"),
                      "more ranks than cores: no measure" if few else ""])
    return by_ranks, markdown(["ranks", "agreement, us", "bare all-reduce, us", "barrier, us", ""],
                              table)


def in_a_sweep(bench):
    table = []
    for ranks in (1, 2):
        rows = bench.sweep(ranks, ["async"], f"agreement_sweep_{ranks}", cells_x=512,
                           cells_y=256 * ranks, steps=bench.choose(800, 200),
                           rounds=bench.choose(5, 2), memory=memory_for(8, 512 * 256 * 8))
        count, anchors, steps = (median(pick(rows, name)) for name in
                                 ("agreements", "anchors", "steps"))
        agreeing = [a / c for a, c in zip(pick(rows, "agreeing"), pick(rows, "agreements"))]
        share = [100 * a / s for a, s in zip(pick(rows, "agreeing"), pick(rows, "seconds"))]
        table.append([ranks, f"{median(pick(rows, 'interval')):g}", f"{count / anchors:.2f}",
                      f"{count / steps:.3f}", spread(agreeing, "{:.2f}", 1e6),
                      spread(share, "{:.2f}")])
    return count / anchors, markdown(["ranks", "interval", "agreements per anchor", "per step",
                                      "us each, waiting for others included", "% of the total"],
                                     table)


def run(bench, claims):
    by_ranks, measured = microbenchmark(bench)
    per_anchor, sweeps = in_a_sweep(bench)
    # Recursive doubling: log2 P stages. With two ranks there is one.
    here = max(by_ranks[2] - by_ranks[1], 1e-9)
    cost = lambda stage, ranks: by_ranks[1] + stage * math.ceil(math.log2(ranks))
    interval = 8
    rows = []
    with open(bench.path("agreement.dat"), "w") as file:
        for ranks in MODEL_RANKS:
            usual = cost(TYPICAL_STAGE, ranks)
            per_step = per_anchor * usual / interval
            rows.append([ranks, f"{1e6 * cost(here, ranks):.2f}", f"{1e6 * usual:.1f}",
                         f"{1e6 * per_step:.2f}"] + [f"{100 * per_step / s:.3f} %" for s in STEPS])
            file.write(f"{ranks} {cost(here, ranks)} {usual}\n")
    claims.at_most(f"model: agreeing on {MODEL_RANKS[-1]} ranks, share of a 10 ms step",
                   [per_anchor * cost(TYPICAL_STAGE, MODEL_RANKS[-1]) / interval / 1e-2], 0.01,
                   "{:.4f}")
    bench.draw("agreement", f"""
set logscale xy
set xlabel "ranks"
set ylabel "microseconds of one agreement (model)"
set key top left
plot "{bench.path('agreement.dat')}" using 1:($3*1e6) with linespoints pt 7 title "2 us a stage", \\
     "" using 1:($2*1e6) with linespoints pt 7 title "a stage as between two ranks here"
""")
    model = markdown(["ranks", f"stage of {1e6 * here:.2f} us (measured here), us",
                      f"stage of {1e6 * TYPICAL_STAGE:g} us, us", f"us per step at interval {interval}"]
                     + [f"of a step of {1e3 * s:g} ms" for s in STEPS], rows)
    return (f"\n{measured}\nIn a sweep, where ranks also wait for the slowest of them:\n\n{sweeps}\n"
            f"The model: the cost on one rank and a stage for each doubling of the ranks.\n\n{model}")
