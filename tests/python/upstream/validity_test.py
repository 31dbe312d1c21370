# SPDX-License-Identifier: BSD-2-Clause
"""The validity test of checkpoint_schedules, on schedules of this library."""
import importlib.util
import os
from pathlib import Path

import pytest
from checkpoint_schedules import StorageType

from anadrome.pyadjoint import Schedule

PATH = Path(os.environ["CHECKPOINT_SCHEDULES"]) / "tests/test_validity.py"
spec = importlib.util.spec_from_file_location("their_validity", PATH)
theirs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(theirs)

# Name: options for n steps and s checkpoints, and how many may be in memory and on disk.
SCHEDULES = {
    "revolve": lambda n, s: ({"slots": s}, s, 0),
    "hrevolve": lambda n, s: (
        {"slots": max(1, s // 3), "disk_slots": s - s // 3, "write": 0.5, "read": 0.5},
        max(1, s // 3), s - s // 3),
    "disk_revolve": lambda n, s: ({"slots": s, "write": 1, "read": 1}, s, n),
    "async": lambda n, s: ({"slots": s + 1, "uf": 1, "ub": 2, "write": 2, "read": 2}, s + 1, n),
    "uneven": lambda n, s: ({"slots": s, "uf": [1 + k % 3 for k in range(n)]}, s, 0),
    "least_memory": lambda n, s: ({"slots": s + 20}, s + 20, 0),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("n, counts", [
    (1, (1,)), (2, (1,)), (3, (1, 2)), (5, (2,)), (10, range(2, 10)), (100, range(1, 100)),
    (250, range(25, 250, 25))])
def test_schedules_are_valid(name, n, counts):
    def made(n, s):
        options, memory, disk = SCHEDULES[name](n, s)
        return Schedule(n, name, **options), {StorageType.RAM: memory, StorageType.DISK: disk}, 1

    theirs.test_validity(made, n, counts)
