# SPDX-License-Identifier: BSD-2-Clause
"""The table of examples/petsc/README.md: what of PETSc's TS works with the trajectory, from runs of PETSc's own tutorials
and a program with a DMPlex, compared with its `basic` trajectory, bit for bit as far as they print.

  what_works.py --tutorials FOLDER --programs FOLDER --plugin LIBRARY
"""
import cases

FEATURES = [
    ("Crank-Nicolson, backward Euler, theta", ["ex20adj.1", "ex20adj.2", "ex20adj.22"]),
    ("theta and Runge-Kutta on a DMDA, 2 ranks", ["ex5adj.2", "ex5adj.5"]),
    ("adaptive Runge-Kutta (5dp)", ["ex5adj.5dp"]),
    ("integrals (TSCreateQuadratureTS)", ["ex9adj.1", "ex20td.1"]),
    ("integrals summed in the reverse sweep (PETSC_FALSE): cn, beuler, theta, rk",
     ["ex3sa.1", "ex3sa.beuler", "ex3sa.theta", "ex3sa.rk"]),
    ("events, undone in the adjoint", ["ex1adj.1"]),
    ("a right-hand side that is switched and not switched back, a DMComposite", ["ex9busadj.1", "ex9busadj.2"]),
    ("Runge-Kutta and Crank-Nicolson on a DMPlex, 2 ranks", ["plex_diffusion.rk", "plex_diffusion.cn"]),
    ("adaptive Runge-Kutta on a DMPlex", ["plex_diffusion.5dp"]),
    ("TAO", ["ex20opt_p.1", "ex20opt_p.3"]),
    ("second order (TAO bntr)", ["ex20opt_p.2", "ex20opt_p.4"]),
    ("matrix-free, coloured Jacobians", ["ex5adj_mf.1", "ex5adj.4"]),
    ("sell matrices, gamg, explicit transposes", ["ex5adj.sell6", "ex5adj.gamg1", "ex5adj.gamg2"]),
    ("records by number, out of order (TSTrajectoryGetVecs)", ["ex13.1", "ex13.2", "ex13.3"]),
    ("forward alone: arkimex, alpha, bdf, rk, dsp controllers, events", [f"ex40.{suffix}" for suffix in "abcdefghijko"]),
]
WAYS = {"auto": "memory to spare", "recompute": "4 checkpoints in memory", "disk": "disk and 2 checkpoints"}


def outcome(bench, names, mode):
    """What the rows of these names came to."""
    found = set()
    for name, row in cases.rows("|".join(names).replace(".", r"\."), cases.TABLE, bench.programs):
        ranks = int(row["ranks"])
        why, apart = cases.compare(bench, row, mode, ranks, cases.reference_of(bench, row, ranks))
        refused = row["note"].startswith("not recomputable") and mode != "auto"
        found.add(f"**wrong**: {name}: {why.splitlines()[0][:80]}" if why else
                  "refused" if refused else "same bits" if apart == 0 else f"{apart:.0e}")
    return ", ".join(sorted(found)) or "not built"


def main():
    bench = cases.bench_of(cases.parser_for(__doc__).parse_args())
    print("| of TS | tutorials | " + " | ".join(WAYS.values()) + " |")
    print("|---|---|" + "---|" * len(WAYS))
    for feature, names in FEATURES:
        cells = [outcome(bench, names, mode) for mode in WAYS]
        print(f"| {feature} | {', '.join(dict.fromkeys(name.split('.')[0] for name in names))} | {' | '.join(cells)} |",
              flush=True)


if __name__ == "__main__":
    main()
