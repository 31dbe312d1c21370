# SPDX-License-Identifier: BSD-2-Clause
"""The schedules for tapes, with few checkpoints."""
from anadrome.pyadjoint import Schedule

OPTIONS = {
    "revolve": {"slots": 3},
    "hrevolve": {"slots": 2, "disk_slots": 3, "write": 0.3, "read": 0.3},
    "disk_revolve": {"slots": 2, "write": 1, "read": 1},
    "async": {"slots": 3, "interval": 4},
    "least_memory": {"slots": 12},
    "uneven": {"slots": 3},
}
ON_DISK = ("hrevolve", "disk_revolve", "async")


def options_of(name, steps):
    return {**OPTIONS[name], "uf": [1 + k % 3 for k in range(steps)]} if name == "uneven" else OPTIONS[name]


def made(name, steps):
    return Schedule(steps, name, **options_of(name, steps))
