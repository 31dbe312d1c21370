# SPDX-License-Identifier: BSD-2-Clause
"""A tape of equal steps, and what a framework has on it."""
import abc


class TapePackageData(abc.ABC):
    for _name in ("clear", "reset", "checkpoint", "copy", "continue_checkpointing",
                  "pause_checkpointing"):
        locals()[_name] = abc.abstractmethod(lambda self: None)

    @abc.abstractmethod
    def restore_from_checkpoint(self, state):
        pass


class Tape:
    def __init__(self):
        self._package_data = {}


_working = [Tape()]


def get_working_tape():
    return _working[0]


def set_working_tape(tape):
    _working[0] = tape
