# SPDX-License-Identifier: BSD-2-Clause
"""What a benchmark said goes to two places: every table as CSV to the folder data beside the document, whose README.md lists
them, with what was said about it in lines that begin with '#'; and a few rows to the document, between its marks."""
import csv
import io
import pathlib
import re

MEDIAN_ALONE = re.compile(r" \([^()]*\.\.[^()]*\)$")


class Table:
    """`about`: what stands above it. `rows`: its cells, the first row the heading."""

    def __init__(self, about, rows):
        self.about, self.rows = about, rows
        bold = re.search(r"(?m)^\*\*([^*]+)\*\*", about)
        self.caption = bold[1] if bold else ""

    def pick(self, *columns, where=None, medians=False):
        """The heading and the rows for which `where` holds, of these columns."""
        cells = [[row[column] for column in columns] for row in self.rows[1:] if where is None or where(row)]
        if medians:
            cells = [[MEDIAN_ALONE.sub("", cell) for cell in row] for row in cells]
        return [[self.rows[0][column] for column in columns], *cells]


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables_of(text):
    """The tables of a Markdown text, and what follows the last one."""
    tables, about, lines = [], [], text.strip().splitlines()
    while lines:
        line = lines.pop(0)
        if not line.startswith("|"):
            about.append(line)
            continue
        rows = [cells_of(line)]
        while lines and lines[0].startswith("|"):
            row = cells_of(lines.pop(0))
            if not all(set(cell) <= set("-:") and cell for cell in row):
                rows.append(row + [""] * (len(rows[0]) - len(row)))
        tables.append(Table("\n".join(about).strip(), rows))
        about = []
    return tables, "\n".join(about).strip()


def is_of_claims(table):
    return table.rows[0][:2] == ["claim", "asked"]


def file_names(name, tables):
    """One for each table: after its caption, or its number where there are several without."""
    several = sum(not is_of_claims(table) for table in tables) > 1
    for number, table in enumerate(tables, 1):
        word = re.sub(r"\W+", "-", table.caption.lower()).strip("-") or (str(number) if several else "")
        yield f"{name}-claims.csv" if is_of_claims(table) else f"{name}-{word}.csv" if word else f"{name}.csv"


def csv_text(table, after):
    out = io.StringIO()
    for line in (table.about + ("\n\n" + after if after else "")).splitlines():
        out.write(f"# {line}".rstrip() + "\n")
    csv.writer(out, lineterminator="\n").writerows(table.rows)
    return out.getvalue()


def read_csv(path):
    """The table that csv_text wrote."""
    lines = pathlib.Path(path).read_text().splitlines()
    about = [line[2:] for line in lines if line.startswith("#")]
    return Table("\n".join(about).strip(), list(csv.reader(line for line in lines if not line.startswith("#"))))


def markdown(rows):
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(row) + " |" for row in rows[1:]]
    return "\n".join(lines) + "\n"


# What the document shows of a benchmark's tables (those of claims are left out).

def of_overhead(tables):
    modes = ["revolve", "by_hand", "sync_disk", "async", "async_zero_copy"]
    rows = []
    for table in tables:
        ratio = {row[0]: MEDIAN_ALONE.sub("", row[2]) for row in table.rows[1:]}
        rows.append([table.caption, *(ratio[mode] for mode in modes)])
    return [["times as long as `ideal`", *(f"`{mode}`" for mode in modes)], *rows]


def of_compression(tables):
    rows = [["states of", "codec at 1e-6", "bytes: before over after", "error of the gradient", "stated"]]
    for table in tables:
        rows += [[table.caption, row[0], row[2], row[5], row[7]] for row in table.rows[1:] if row[:2] == ["round", "1e-06"]]
    return rows


def of_store(tables):
    rows = [["a write takes", *(f"`{row[0]}`" for row in tables[0].rows[1:])]]
    for table in tables:
        steps = re.search(r"A write takes (\S+) steps", table.about)[1]
        rows.append([f"{steps} steps", *(MEDIAN_ALONE.sub("", row[2]) for row in table.rows[1:])])
    return rows


def of_safety(tables):
    rows = [["more than the one above", *(f"`{row[0]}`" for row in tables[0].rows[2:])]]
    return rows + [[table.caption, *(row[2] for row in table.rows[2:])] for table in tables]


SHOWN = {
    "overhead": of_overhead,
    "growth": lambda tables: tables[0].pick(0, 1, 4, where=lambda row: row[0] in ("500", "4000", "16000")),
    "throughput": None,  # where it falls short has it
    "agreement": lambda tables: tables[0].pick(0, 1, 2, 3, where=lambda row: not row[4]),
    "micro": lambda tables: tables[0].pick(0, 1, 2, where=lambda row: "/1000000" in row[0] and "store" not in row[0]),
    "petsc": lambda tables: tables[0].pick(0, 1, 2),
    "safety": of_safety,
    "interval": None,
    "advice": lambda tables: tables[0].pick(0, 1, 3, 4, 5, where=lambda row: row[1] == "8.5 MiB" and "interval" not in row[0]),
    "store": of_store,
    "adolc": lambda tables: tables[0].pick(0, 3, 4, 5, 6),
    "compression": lambda tables: of_compression(tables[:5]),
    "sketch": lambda tables: tables[0].pick(0, 1, 2, 3),
    "instead": lambda tables: tables[0].pick(0, 1, 3, 4, 6, where=lambda row: row[1] != "`anadrome`" and row[5] != "RAM"),
    "directories": lambda tables: tables[0].pick(0, 1, 2, 3, 4, 8, 9, where=lambda row: row[0] != "4" and row[1:3] == ["4", "0.125"]),
}


def short(name, tables, command):
    """What stands between the document's marks."""
    claims = [table for table in tables if is_of_claims(table)]
    parts = [command]
    if tables:
        parts.append(f"[all rows](data/README.md#{name})")
    if claims:
        rows = claims[0].rows[1:]
        parts.append(f"{sum(row[3] == 'yes' for row in rows)} of {len(rows)} claims hold")
    rows = SHOWN[name]([table for table in tables if not is_of_claims(table)]) if SHOWN.get(name) and tables else None
    return wrapped(" · ".join(parts) + ".") + ("\n" + markdown(rows) if rows else "")


def listed(name, tables):
    """What stands between the marks of the list of files."""
    if not tables:
        return "No table.\n"
    what = lambda table: "the claims" if is_of_claims(table) else table.caption or ", ".join(table.rows[0][:4])
    return "".join(wrapped(f"* [{file}]({file}): {what(table)}", "  ") for file, table in zip(file_names(name, tables), tables))


def wrapped(text, margin="", columns=120):
    """Breaks at blanks, but not in code."""
    lines = [""]
    for word in re.findall(r"(?:`[^`]*`|[^\s`])+", text):
        if lines[-1].strip() and len(lines[-1]) + 1 + len(word) > columns:
            lines.append(margin + word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines) + "\n"


def put(document, name, text):
    """Between the document's marks for `name`."""
    before = document.read_text()
    marks = f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
    after, found = re.subn(marks, lambda mark: mark[1] + text + mark[2], before, flags=re.DOTALL)
    if not found:
        raise SystemExit(f"{document} has no place for {name}")
    document.write_text(after)


def publish(document, name, text):
    """Writes the tables of `text` beside `document`, and those that it shows between its marks for `name`."""
    document = pathlib.Path(document)
    if name not in SHOWN:  # all there is, on a page of its own
        own = document if f"<!-- begin {name} -->" in document.read_text() else document.with_name(f"{name}.md")
        put(own, name, text.strip() + "\n")
        return
    tables, after = tables_of(text)
    command = text.strip().splitlines()[0].rstrip(".")
    put(document, name, short(name, tables, command))
    data = document.parent / "data"
    put(data / "README.md", name, listed(name, tables))
    for old in [*data.glob(f"{name}.csv"), *data.glob(f"{name}-*.csv")]:
        old.unlink()
    for number, (file, table) in enumerate(zip(file_names(name, tables), tables), 1):
        (data / file).write_text(csv_text(table, after if number == len(tables) else ""))
