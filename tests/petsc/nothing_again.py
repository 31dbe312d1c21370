# SPDX-License-Identifier: BSD-2-Clause
"""With memory for all records no step is run again, in every row of cases.csv that this PETSc takes.

  nothing_again.py --tutorials FOLDER --programs FOLDER --plugin LIBRARY [--match TEXT]
"""
import re
import sys

import cases


def main():
    parser = cases.parser_for(__doc__)
    parser.add_argument("--match")
    options = parser.parse_args()
    bench = cases.bench_of(options)
    rows = list(cases.rows(options.match, cases.TABLE, bench.programs))
    wrong, run = 0, set()
    for name, row in rows:
        words = cases.arguments(row["arguments"], cases.GENERAL + cases.SOLUTION_ONLY)
        if (row["tutorial"], *words) in run:  # without PETSc's own limits many rows are the same
            continue
        run.add((row["tutorial"], *words))
        code, output, _, errors, _ = bench.run(row, int(row["ranks"]), words,
                                               bench.anadrome("auto", row) + " -ts_trajectory_view")
        again = [int(steps) for steps in re.findall(r"(\d+) steps run again", output)]
        if code != 0 and code == cases.reference_of(bench, row, int(row["ranks"]))[0]:
            print(f"{name}: exit {code} with PETSc's own type, too")
            continue
        if code != 0 or any(again):
            wrong += 1
            print(f"FAIL {name}: exit {code}, steps run again {again[:5]}: {errors.strip()[-300:]}")
    print(f"{len(rows)} rows, {len(run)} of them different, {wrong} wrong")
    return 0 if rows and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
