# SPDX-License-Identifier: BSD-2-Clause
"""Schedules as streams in Python: a small program that does what they say. On one rank; no MPI is needed."""
import subprocess
import sys

import pytest

import anadrome
from anadrome import Adjoint, Advance, Drop, Error, Keep, Read, Restore, Start, Status, Turn, Write


class Program:
    """States are (branch, step); a tape is ("tape", step)."""

    def __init__(self, steps, slots, disk_slots, end=None):
        self.steps, self.most, self.end = steps, (slots, disk_slots), end
        self.live, self.tape, self.kept, self.adjoined = (0, 0), None, {}, []

    def carry_out(self, stream):
        for action in stream:
            match action:
                case Start(branch):
                    self.live = (branch, 0)
                case Advance(first, last, record=record, branch=branch):
                    assert self.live == (branch, first) and first < last
                    self.live, self.tape = (branch, last), last - 1 if record else None
                    if self.end is not None and last >= self.steps:
                        self.live, self.end = (branch, self.steps), None
                        stream.end(self.steps)
                case Turn(step):
                    assert step == self.steps and (self.live == (0, step) or self.live is None)
                    self.live = None
                case Keep(step, tier, slot, tape):
                    assert self.tape == step if tape else self.live == (0, step)
                    self.kept[tier, slot] = (tape, step)
                    assert sum(place[0] == tier for place in self.kept) <= self.most[tier]
                case Restore(step, tier, slot, tape):
                    assert self.kept[tier, slot] == (tape, step)
                    self.live, self.tape = (None, step) if tape else ((0, step), None)
                case Drop(step, tier, slot, tape):
                    assert self.kept.pop((tier, slot)) == (tape, step)
                case Adjoint(step):
                    assert self.tape == step or self.live == (0, step)
                    self.adjoined.append(step)
                    self.live = self.tape = None
                case _:
                    raise AssertionError(action)
        assert self.adjoined == list(reversed(range(self.steps)))


@pytest.mark.parametrize("name, slots, disk_slots, record, more", [
    ("revolve", 3, 0, True, {}), ("async", 3, 1000, False, {"interval": 7}), ("hrevolve", 3, 5, True, {"write": 2, "read": 2}),
    ("uneven", 4, 0, False, {"uf": [1, 2, 3] * 17})])
def test_a_program_that_does_what_the_stream_says_adjoins_every_step(name, slots, disk_slots, record, more):
    steps = 51
    stream = anadrome.schedule(name, steps=steps, slots=slots, disk_slots=disk_slots, record=record, **more)
    assert name in repr(stream)
    Program(steps, slots, disk_slots).carry_out(stream)
    assert list(stream) == []


def test_the_end_may_be_unknown_and_is_said_at_the_right_moment():
    stream = anadrome.schedule("online", steps=None, slots=5)
    with pytest.raises(Error):
        stream.end(0)
    Program(30, 5, 0, end=30).carry_out(stream)


def test_transfers_are_actions_of_their_own():
    actions = list(anadrome.schedule("overlapped", steps=30, slots=4, disk_slots=30, write=1, read=1))
    assert any(isinstance(action, Write) for action in actions) and any(isinstance(action, Read) for action in actions)
    assert hash(Keep(3, 0, 1)) == hash(Keep(3, 0, 1)) and Keep(3, 0, 1) != Restore(3, 0, 1)


@pytest.mark.parametrize("arguments, words", [({"name": "revolv"}, "revolve"), ({"slots": 0}, "slot"), ({"steps": -3}, "steps")])
def test_mistakes_are_errors(arguments, words):
    with pytest.raises(Error, match=words) as raised:
        anadrome.schedule(**{"name": "revolve", "steps": 10, "slots": 2, **arguments})
    assert raised.value.status == Status.ERR_ARGUMENT


def test_no_mpi_is_started(without_mpirun):
    text = ("import anadrome\nassert len(list(anadrome.schedule('revolve', steps=5, slots=2))) > 10\n"
            "import sys\nassert 'mpi4py.MPI' not in sys.modules")
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)
