# SPDX-License-Identifier: BSD-2-Clause
"""What anadrome plan says of a run, and rows of CSV as they come."""
import csv
import json
import shlex
import subprocess
import sys


def planned(report):
    """The row of async in the plan for which the summary gives the command."""
    with open(report) as file:
        command = [line for line in file if line.startswith("  anadrome plan")][-1]
    answer = subprocess.run([*shlex.split(command), "--json"], check=True, capture_output=True, text=True).stdout
    row, = (row for row in json.loads(answer)["schedules"] if row["schedule"] == "async")
    return row


def put_out(rows):
    table = None
    for row in rows:
        if table is None:
            table = csv.DictWriter(sys.stdout, row.keys())
            table.writeheader()
        table.writerow(row)
        sys.stdout.flush()
