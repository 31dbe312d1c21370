# SPDX-License-Identifier: BSD-2-Clause
"""draw.py [FOLDER]: the pictures of docs/performance.md, from the CSV files beside this script, into FOLDER or docs/pictures/measured.
A bar is a median; the line across its end goes from the least to the largest."""
import math
import pathlib
import re
import sys
from html import escape

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench" / "driver"))
import pages

OURS, OTHERS, INK, PALE = "#0072b2", "#d9b98c", "#1c1c1c", "#dddddd"
WIDTH, LABELS, NUMBERS, ROW = 900, 330, 120, 24


def rows_of(name):
    return pages.read_csv(HERE / f"{name}.csv").rows[1:]


def numbers(cell):
    """Median, least and largest of "1.10 (1.07..1.11)"; "2 %" is 2."""
    found = [float(number) for number in re.findall(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", cell)]
    return found[:3] if ".." in cell else [found[0]] * 3


def text(x, y, words, anchor="start", weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}" '
            f'stroke="#ffffff" stroke-width="4" paint-order="stroke">{escape(words)}</text>')


def picture(title, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
                      f'font-family="sans-serif" font-size="13">', f"<title>{escape(title)}</title>",
                      f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', text(12, 22, title, weight="bold"),
                      *parts, "</svg>", ""])


def bars(title, groups, line_at=None):
    """groups: (heading or "", [(label, cell, is it ours?)])."""
    values = [numbers(cell) for _, rows in groups for _, cell, _ in rows]
    low, high = min(0, *(v[1] for v in values)), max(v[2] for v in values + ([[line_at] * 3] if line_at else []))
    at = lambda value: LABELS + (WIDTH - LABELS - NUMBERS) * (value - low) / (high - low)
    parts, y = [], 40
    top = y
    for heading, rows in groups:
        if heading:
            parts.append(text(12, y + 16, heading, weight="bold"))
            y += ROW
        for label, cell, ours in rows:
            median, least, largest = numbers(cell)
            left, right = sorted((at(0), at(median)))
            parts.append(text(LABELS - 8, y + 16, label, "end"))
            parts.append(f'<rect x="{left:.1f}" y="{y + 4}" width="{right - left:.1f}" height="{ROW - 8}" fill="{OURS if ours else OTHERS}"/>')
            parts.append(f'<line x1="{at(least):.1f}" x2="{at(largest):.1f}" y1="{y + ROW / 2:g}" y2="{y + ROW / 2:g}" '
                         f'stroke="{INK}" stroke-width="1.5"/>')
            parts.append(text(at(max(largest, 0)) + 8, y + 16, pages.MEDIAN_ALONE.sub("", cell)))
            y += ROW
    behind = [f'<line x1="{at(value):.1f}" x2="{at(value):.1f}" y1="{top}" y2="{y}" stroke="{INK}" stroke-dasharray="4 3"/>'
              for value in sorted({0, line_at} - {None})]
    return picture(title, y + 12, behind + parts)


def lines(title, x_label, series):
    """series: (label, colour, [(x, cell)]); x by its logarithm."""
    height, left, right, top, bottom = 360, 60, 720, 44, 310
    all_x = sorted({x for _, _, points in series for x, _ in points})
    most = max(numbers(cell)[2] for _, _, points in series for _, cell in points) * 1.05
    at_x = lambda x: left + (right - left) * math.log(x / all_x[0]) / math.log(all_x[-1] / all_x[0])
    at_y = lambda y: bottom - (bottom - top) * y / most
    parts = []
    for tick in range(int(most * 5) + 1):
        y = at_y(tick / 5)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{PALE}"/>')
        parts.append(text(left - 8, y + 4, f"{tick / 5:.1f}", "end"))
    parts += [text(at_x(x), bottom + 20, str(x), "middle") for x in all_x]
    parts.append(text((left + right) / 2, bottom + 42, x_label, "middle"))
    for label, colour, points in series:
        path = " ".join(f"{at_x(x):.1f},{at_y(numbers(cell)[0]):.1f}" for x, cell in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for x, cell in points:
            median, least, largest = numbers(cell)
            parts.append(f'<line x1="{at_x(x):.1f}" x2="{at_x(x):.1f}" y1="{at_y(least):.1f}" y2="{at_y(largest):.1f}" stroke="{INK}"/>')
            parts.append(f'<circle cx="{at_x(x):.1f}" cy="{at_y(median):.1f}" r="4" fill="{colour}"/>')
        parts.append(text(right + 12, at_y(numbers(points[-1][1])[0]) + 4, label))
    return picture(title, height, parts)


def chosen(name, label, cell, ours, only=None):
    """Bars of a file: `label` and `ours` are functions of a row, `cell` a column."""
    return [(label(row), row[cell], ours(row)) for row in rows_of(name) if only is None or only(row)]


def overhead():
    modes = ("ideal", "revolve", "by_hand", "sync_disk", "async", "async_zero_copy")
    kinds = (("long_step", "a step of 2.5 times the I/O of its state"), ("slow_disk", "a disk that limits"),
             ("fast_disk", "the disk as it is, the cheapest step"))
    return bars("Time over that with every state in memory, one rank", [
        (what, chosen(f"overhead-{kind}-1-rank", lambda row: row[0], 2, lambda row: row[0].startswith("async"),
                      lambda row: row[0] in modes)) for kind, what in kinds], 1)


def growth():
    of = lambda column: [(int(row[0]), row[column]) for row in rows_of("growth")]
    return lines("Milliseconds per step, forward and adjoint, in the same memory", "steps",
                 [("Revolve alone", OTHERS, of(4)), ("async", OURS, of(1))])


def throughput():
    return bars("States of 32 MiB: share of the fastest fio", [
        (f"{ranks} rank{'s' * (ranks > 1)}", [
            (what, row[column], row[2] != "by_hand") for row in rows_of("throughput") if row[:2] == ["32 MiB", str(ranks)]
            and row[2] in ("checksum", "by_hand")
            for what, column in ((f"{'anadrome' if row[2] == 'checksum' else 'by hand'}, writes", 7),
                                 (f"{'anadrome' if row[2] == 'checksum' else 'by hand'}, reads", 12))])
        for ranks in (1, 2, 4)], 1)


def agreement():
    return bars("Microseconds of an agreement, where each rank has a core", [
        (f"{row[0]} rank{'s' * (row[0] != '1')}", [("agreement", row[1], True), ("bare all-reduce", row[2], False),
                                                  ("barrier", row[3], False)])
        for row in rows_of("agreement-1") if not row[4]])


def micro():
    return bars("Nanoseconds of an action of Revolve", [
        ("", chosen("micro", lambda row: row[0].removeprefix("revolve/"), 2, lambda row: "anadrome" in row[0],
                    lambda row: row[0].startswith("revolve/")))])


def petsc():
    return bars("A program of PETSc's: time over that with every record in memory", [
        ("", chosen("petsc", lambda row: row[0].replace("`", ""), 2, lambda row: "anadrome" in row[0]))], 1)


def safety():
    return bars("More time than without, in %", [
        (what, chosen(name, lambda row: {"async": "checksums", "async_resume": "resume=on", "async_commits": "commits every 0.5 s"}[row[0]],
                      2, lambda row: True, lambda row: row[2] != "-"))
        for name, what in (("safety-1-rank-a-core-left-free", "a core left free"), ("safety-2-ranks-every-core-busy", "every core busy"))])


def advice():
    return bars("What the summary promises of twice the memory: off by, in %", [
        ("", chosen("advice", lambda row: f"{row[0].replace('`', '').replace('bandwidth_limit=15MB/s ', 'slow disk, ')}"[:52], 5,
                    lambda row: True, lambda row: row[1] == "8.5 MiB"))])


def store():
    return bars("Time over that with a list in memory, by way of storing", [
        (f"a write takes {steps} steps", chosen(f"store-{number}", lambda row: row[0], 2, lambda row: row[0] == "store"))
        for number, steps in ((1, "0.5"), (2, "1"), (3, "2"))], 1)


def adolc():
    return bars("Seconds of a gradient", [
        (row[0], [("ADOL-C", row[3], False), ("anadrome", row[4], True)]) for row in rows_of("adolc")])


def compression():
    names = ("wave", "shallow-water", "burgers", "lorenz-96", "vorticity")
    return bars("Bytes before over after, at a tolerance of 1e-6; without loss for lz4", [
        (pages.read_csv(HERE / f"compression-{name}.csv").caption, chosen(f"compression-{name}", lambda row: row[0], 2, lambda row: True,
                                        lambda row: row[0] == "lz4" or row[1] == "1e-06")) for name in names])


def sketch():
    return bars("Time of a call, in triads of as many points", [("", chosen("sketch", lambda row: row[0], 3, lambda row: True))], 1)


def directories():
    return bars("Time with two directories over that with one", [
        (f"{row[0]} rank{'s' * (row[0] != '1')}, fast {row[1]} times as fast, room for {row[2]} of the anchors",
         [("over the fast one alone", row[8], True), ("over home alone", row[9], True)])
        for row in rows_of("directories") if row[0] == "1"], 1)


def instead():
    parts = {}
    for row in rows_of("instead"):
        if row[1] != "`anadrome`":
            parts.setdefault(row[0], []).append((f"{row[1].replace('`', '').replace(', PETSc' + chr(39) + 's', '')}"
                                                 f"{' (beyond the memory)' if row[5] == 'RAM' else ''}"[:48], row[3], False))
    return bars("Seconds over those with anadrome, in one program; at equal memory where nothing else is said", list(parts.items()), 1)


PICTURES = [overhead, growth, throughput, agreement, micro, petsc, safety, advice, store, adolc, compression, sketch, directories, instead]

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "pictures" / "measured"
    for each in PICTURES:
        (folder / f"{each.__name__}.svg").write_text(each())
