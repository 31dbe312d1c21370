# SPDX-License-Identifier: BSD-2-Clause
"""The way to disk and back against fio with O_DIRECT, in the same turns.

The library's pool lies in huge pages, of which the kernel makes fewer and larger requests; fio's
buffers do not, unless the C library is told to. Both are measured; the claims are against the faster.
A buffer of 8 MiB that is used again and again stays in a large processor's cache, which states do not:
for them fio also moves a state per call.

What copies and transfers that share a memory allow shows a store by hand, which does nothing else.
"""
import json
import os
from statistics import median

from machine import say
from table import markdown, pick, size, spread

MIB = 1 << 20
LARGEST_CALL = 8 * MIB  # of the library, and so of fio


def configurations(bench):
    """bytes of a state on a rank, ranks, bytes to write on all ranks, variants"""
    every = ["checksum", "zero_copy", "by_hand"]
    amount = bench.choose(512, 64) * MIB
    rows = [(bytes_each, 1, amount, ["checksum"]) for bytes_each in (24, 1024, 64 * 1024)]
    for mebibytes in (1, 8, 32):
        rows += [(mebibytes * MIB, ranks, max(amount, 6 * mebibytes * MIB), every)
                 for ranks in bench.choose((1, 2, 4), (1, 2) if mebibytes == 8 else (1,))]
    if not bench.quick:
        rows += [(128 * MIB, ranks, 8 * 128 * MIB * ranks, every) for ranks in (1, 2, 4)]
        rows += [(512 * MIB, 1, 2048 * MIB, ["checksum"])]
    return rows


HUGE_PAGES = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"
KINDS = {"plain": ("", ""), "huge": (HUGE_PAGES, "--mem_align=2097152"),
         "state": (HUGE_PAGES, "--mem_align=2097152")}


def kinds_for(state_bytes):
    return KINDS if state_bytes > LARGEST_CALL else ("plain", "huge")


def fio_script(bench, name, bytes_per_rank, state_bytes, call_bytes, ranks):
    """A program that measures the disk and leaves JSON for a round."""
    path = bench.path(f"fio_{name}.sh")
    largest = max(state_bytes if "state" in kinds_for(state_bytes) else 0, call_bytes)
    total = max(bytes_per_rank // largest, 1) * largest
    with open(path, "w") as file:
        file.write("set -e\n")
        for direction in ("write", "read"):
            for kind in kinds_for(state_bytes):
                environment, flags = KINDS[kind]
                each = state_bytes if kind == "state" else call_bytes
                output = f"{bench.path('fio_' + name)}_{direction}_{kind}_$1.json"
                file.write(f"{environment} fio --name=disk --directory={bench.states} --direct=1 "
                           f"--ioengine=psync --bs={each} --size={total} --numjobs={ranks} "
                           f"--group_reporting --mem=malloc {flags} --rw={direction} "
                           f"--output-format=json --output={output} >/dev/null\n")
    return f"sh {path}"


def fio_rates(bench, name, state_bytes, turns):
    """Bytes per second by (direction, kind), over the turns but the first; by direction: the best."""
    rates, lines = {}, ["turn,direction,kind,bytes_per_second"]
    for direction in ("write", "read"):
        for kind in kinds_for(state_bytes):
            for turn in range(turns + 1):
                path = f"{bench.path('fio_' + name)}_{direction}_{kind}_{turn}.json"
                with open(path) as file:
                    text = file.read()
                job = json.loads(text[text.index("{"):])["jobs"][0][direction]
                os.remove(path)
                rate = job["io_bytes"] / (max(job["runtime"], 1) / 1e3)
                lines.append(f"{turn},{direction},{kind},{rate:.0f}")
                if turn > 0:
                    rates.setdefault((direction, kind), []).append(rate)
        rates[direction] = [max(each) for each in zip(*(rates[direction, kind]
                                                        for kind in kinds_for(state_bytes)))]
    with open(bench.path(f"fio_{name}.csv"), "w") as file:
        file.write("\n".join(lines) + "\n")
    return rates


def measure(bench, state_bytes, ranks, amount, variants, turns):
    name = f"{state_bytes}_{ranks}"
    small = state_bytes < MIB  # many of them in a write
    blocks = 5 if state_bytes >= 128 * MIB else 8
    memory = 64 * MIB if small else max(16 * MIB, blocks * (state_bytes + 8192))
    # What fits in memory at the end is not written.
    steps = amount // ranks // state_bytes + (memory // state_bytes if small else blocks - 2)
    if state_bytes == 24:
        steps = bench.choose(10_000_000, 4_000_000)
    call_bytes = LARGEST_CALL if small else min(LARGEST_CALL, state_bytes)
    command = fio_script(bench, name, amount // ranks, state_bytes, call_bytes, ranks)
    rows = bench.run("bench_throughput", ranks,
                     {"bytes": state_bytes, "steps": steps, "memory": memory, "rounds": turns,
                      "directory": bench.states, "variants": ",".join(variants),
                      "between": command}, f"throughput_{name}")
    fio = fio_rates(bench, name, state_bytes, turns)
    for job in range(ranks):
        os.remove(os.path.join(bench.states, f"disk.{job}.0"))
    return rows, fio


def rates(rows, fio, variant):
    """Per turn: written while writing, read while reading, and all bytes by the wall clock."""
    of = lambda column: pick(rows, column, variant=variant)
    write = [b / s for b, s in zip(of("bytes_written"), of("writing"))]
    read = [b / s for b, s in zip(of("bytes_read"), of("reading"))]
    whole, whole_fio = [], []
    for w, r, s, fw, fr in zip(of("bytes_written"), of("bytes_read"), of("seconds"), fio["write"],
                               fio["read"]):
        whole.append((w + r) / s)
        whole_fio.append((w + r) / (w / fw + r / fr))
    over = lambda values, base: [v / b for v, b in zip(values, base)]
    by_state = {f"{direction}_state": over(values, fio[direction, "state"])
                for direction, values in (("write", write), ("read", read))
                if (direction, "state") in fio}
    return by_state | {"write": write, "read": read, "whole": whole,
            "write_fio": over(write, fio["write"]), "read_fio": over(read, fio["read"]),
            "whole_fio": over(whole, whole_fio)}


def claim(claims, state_bytes, ranks, rows, r, variant, by_hand):
    where = f"{size(state_bytes)}, {ranks} rank{'s' if ranks > 1 else ''}, {variant}"
    if state_bytes == 24:
        per_step = [1e9 * s / n for s, n in zip(pick(rows, "seconds", variant=variant),
                                                pick(rows, "steps", variant=variant))]
        claims.at_most(f"{where}: ns per step on disk", per_step, 150, "{:.0f}")
    if state_bytes >= MIB and state_bytes != 8 * MIB and variant in ("checksum", "zero_copy"):
        least = 0.75 if state_bytes == MIB else 0.90
        claims.at_least(f"{where}: write, of fio's rate", r["write_fio"], least, "{:.2f}")
        claims.at_least(f"{where}: read, of fio's rate", r["read_fio"], least, "{:.2f}")
        for direction in ("write", "read"):
            if f"{direction}_state" in r:
                claims.at_least(f"{where}: {direction}, of fio's with a state per call",
                                r[f"{direction}_state"], least, "{:.2f}")
        if state_bytes >= 32 * MIB and by_hand:
            claims.at_least(f"{where}: both ways by the wall clock, of a store by hand",
                            [a / b for a, b in zip(r["whole"], by_hand)], 0.95, "{:.2f}")


def run(bench, claims):
    table, points = [], []
    gb = lambda values: spread(values, "{:.2f}", 1e-9)
    for state_bytes, ranks, amount, variants in configurations(bench):
        say(f"  throughput: states of {size(state_bytes)}, {ranks} rank(s)")
        rows, fio = measure(bench, state_bytes, ranks, amount, variants,
                            bench.choose(5 if ranks == 1 else 3, 2))
        by_hand = rates(rows, fio, "by_hand")["whole"] if "by_hand" in variants else None
        copies = pick(rows, "copies", variant=variants[0])
        for variant in variants:
            r = rates(rows, fio, variant)
            claim(claims, state_bytes, ranks, rows, r, variant, by_hand)
            per_step = [s / n for s, n in zip(pick(rows, "seconds", variant=variant),
                                              pick(rows, "steps", variant=variant))]
            of_fio = lambda direction: [
                gb(fio[direction, kind]) if (direction, kind) in fio else "" for kind in KINDS]
            table.append([size(state_bytes), ranks, variant, *of_fio("write"), gb(r["write"]),
                          spread(r["write_fio"], "{:.2f}"), *of_fio("read"), gb(r["read"]),
                          spread(r["read_fio"], "{:.2f}"), gb(r["whole"]),
                          spread(r["whole_fio"], "{:.2f}"),
                          f"{median(copies) / 1e9:.3g}", f"{1e6 * median(per_step):.3g}"])
            if ranks == 1 and variant == "checksum":
                points.append([state_bytes] + [median(v) for v in (fio["write"], r["write"],
                                                                  fio["read"], r["read"],
                                                                  r["whole"])])
    with open(bench.path("throughput.dat"), "w") as file:
        for point in points:
            file.write(" ".join(f"{value:.6g}" for value in point) + "\n")
    lines = [("fio write, the best", 2, "#888888", 5), ("written while writing", 3, "#2a6fbb", 7),
             ("fio read, the best", 4, "#bbbbbb", 5), ("read while reading", 5, "#b0305c", 7),
             ("both ways, by the wall clock", 6, "#e08a1e", 9)]
    plots = ", ".join(f'"{bench.path("throughput.dat")}" using 1:(${column}/1e9) with linespoints '
                      f'pt {point} lc rgb "{colour}" title "{label}"'
                      for label, column, colour, point in lines)
    bench.draw("throughput", f"""
set logscale x 2
set xlabel "bytes of a state"
set format x "2^{{%L}}"
set ylabel "GB/s, one rank, checksums on"
set yrange [0:*]
set key top left
plot {plots}
""")
    return "\n" + markdown(["state per rank", "ranks", "variant", "fio write, GB/s", "huge pages",
                            "a state per call", "written", "of the best fio",
                            "fio read, GB/s", "huge pages", "a state per call", "read",
                            "of the best fio", "both by the wall clock", "of the best fio",
                            "copies", "us per step"], table)
