# SPDX-License-Identifier: BSD-2-Clause
"""A push and a correlation of a sketch against triads of the same size, in one run."""
import os

from machine import output_of, read_rows
from table import markdown, pick, ratios, spread


def run(bench, claims):
    command = [os.path.join(bench.programs, "bench_sketch"), "--count", "1000000", "--arrays", str(bench.choose(48, 8)),
               "--steps", str(bench.choose(200, 10)), "--rounds", str(bench.choose(15, 1))]
    text = output_of(["timeout", "600"] + command)
    with open(bench.path("sketch.csv"), "w") as file:
        file.write(text)
    rows = read_rows(text)
    table = []
    for part in ("push", "correlate"):
        over = ratios(rows, "seconds", part, f"{part}_triad")
        table.append([part, spread(pick(rows, "seconds", mode=part), "{:.2f}", 1e3),
                      spread(pick(rows, "seconds", mode=f"{part}_triad"), "{:.2f}", 1e3), spread(over, "{:.2f}")])
        claims.at_most(f"{part} of 10^6 points, kind count: triads", over, 1.5, "{:.2f}")
    return (f"\n`{' '.join(command)}`: doubles; a triad a = a + s b after each call, whose a is one of as many arrays.\n\n" +
            markdown(["call", "ms", "ms of a triad", "triads"], table))
