# SPDX-License-Identifier: BSD-2-Clause
"""The ten situations as the command `anadrome` sees them: nothing is measured."""
from situations import TEN, compared
from table import markdown


def run(bench, _claims):
    table = []
    for number, (name, situation) in enumerate(TEN, 1):
        costs = situation.planned(bench)
        table.append([number, name] + (compared(costs) if costs else ["-"] * 4))
    return "\n" + markdown(["", "situation", "wins", "revolve over it", "async over it",
                            "others over it"], table)
