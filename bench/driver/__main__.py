# SPDX-License-Identifier: BSD-2-Clause
"""Runs benchmarks and writes tables.md, all that docs/performance.md quotes; see scripts/bench."""
import argparse
import os
import signal
import sys
import time

import adolc
import advice
import agreement
import bursts
import compression
import device
import directories
import growth
import instead
import interval
import micro
import overhead
import pages
import petsc
import safety
import scale
import sketch
import store
import throughput
import undo
from machine import Bench, cores, say
from table import Claims

ALL = {"overhead": overhead, "growth": growth, "throughput": throughput, "agreement": agreement,
       "micro": micro, "petsc": petsc, "safety": safety,
       "interval": interval, "bursts": bursts, "advice": advice, "store": store, "adolc": adolc, "compression": compression, "sketch": sketch,
       "directories": directories, "instead": instead, "scale": scale, "device": device,
       "undo": undo}


def processor():
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL) + " (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes: do the programs run?")
    parser.add_argument("--fill", metavar="FILE", help="also put the tables beside this document, and what it shows of them into it")
    parser.add_argument("--out", default="out/bench")
    parser.add_argument("--programs", default="build/release/bench")
    parser.add_argument("--checkpoint-schedules", default="", metavar="DIRECTORY", help="a checkout of it, for instead")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in ALL]
    if unknown:
        parser.error(f"no benchmark {unknown[0]}; there are {', '.join(ALL)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = Bench(arguments.programs, arguments.out, arguments.quick)
    bench.checkpoint_schedules = arguments.checkpoint_schedules and os.path.abspath(arguments.checkpoint_schedules)
    quick = " --quick" if arguments.quick else ""
    parts = {}
    try:
        for name in arguments.names or ALL:
            start, claims = time.monotonic(), Claims()
            text = ALL[name].run(bench, claims)
            seconds = time.monotonic() - start
            say(f"{name}: {seconds:.0f} s")
            parts[name] = (f"`scripts/bench{quick} {name}` ({seconds:.0f} s, {cores()} cores, {processor()})\n{text}" +
                           claims.table())
            print(f"\n## {name}\n{parts[name]}", flush=True)
    finally:
        bench.clean()
    with open(bench.path("tables.md"), "w") as file:
        file.write("\n".join(f"## {name}\n{part}" for name, part in parts.items()))
    if arguments.fill:
        for name, part in parts.items():
            pages.publish(arguments.fill, name, part)
    say(f"tables: {bench.path('tables.md')}; CSV files and pictures beside it")


main()
