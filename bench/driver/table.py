# SPDX-License-Identifier: BSD-2-Clause
"""Medians with spread, Markdown tables, and claims that hold or do not."""
from statistics import median


def pick(rows, column, **wanted):
    """The column of the measured rounds; round 0 warms up."""
    return [row[column] for row in rows
            if row.get("round", 1) > 0 and all(row[key] == value for key, value in wanted.items())]


def ratios(rows, column, above, below, key="mode"):
    """One turn's time over that of the same turn: what drifts from turn to turn drops out."""
    return [a / b for a, b in zip(pick(rows, column, **{key: above}),
                                  pick(rows, column, **{key: below}))]


def spread(values, form="{:.3g}", scale=1.0):
    """median (least..largest)"""
    if not values:
        return "-"
    text = [form.format(value * scale) for value in (median(values), min(values), max(values))]
    return f"{text[0]} ({text[1]}..{text[2]})" if len(values) > 1 else text[0]


def size(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def markdown(heading, rows):
    lines = ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


class Claims:
    """What is to be shown, against what was measured: the median decides."""

    def __init__(self):
        self.rows = []

    def at_most(self, what, values, limit, form="{:.3f}"):
        self._add(what, values, limit, "<=", form, lambda m: m <= limit)

    def at_least(self, what, values, limit, form="{:.3f}"):
        self._add(what, values, limit, ">=", form, lambda m: m >= limit)

    def _add(self, what, values, limit, sign, form, holds):
        if values:
            self.rows.append([what, f"{sign} {form.format(limit)}", spread(values, form),
                              "yes" if holds(median(values)) else "**no**"])

    def table(self):
        if not self.rows:
            return ""
        return "\nThe median over the turns decides.\n\n" + markdown(["claim", "asked", "measured: median (least..largest)", "holds"], self.rows)
