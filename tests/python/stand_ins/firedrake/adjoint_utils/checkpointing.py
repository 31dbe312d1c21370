# SPDX-License-Identifier: BSD-2-Clause
"""The names of Firedrake's module of this name that others use."""
from pyadjoint import OverloadedType

_on_disk = [False]


def disk_checkpointing():
    return _on_disk[0]


def continue_disk_checkpointing():
    _on_disk[0] = True


def pause_disk_checkpointing():
    _on_disk[0] = False


class CheckpointBase:
    pass


class CheckpointFunction(CheckpointBase, OverloadedType):
    def __init__(self, function):
        raise ValueError("No current checkpoint file. Call enable_disk_checkpointing().")
