# SPDX-License-Identifier: BSD-2-Clause
"""The rules by which pyadjoint's CheckpointManager takes a schedule, for a state that steps.

They were read in its sources: what may come while the tape is recorded and after it, one kept set
for each step, in one place, and packages of frameworks that are switched on while something is put
on disk. What breaks a rule fails an assertion.
"""
from checkpoint_schedules import (Copy, EndForward, EndReverse, Forward, Move, Reverse,
                                  StorageType)

from .tape import Tape, get_working_tape, set_working_tape  # noqa: F401


class OverloadedType:
    pass


class CheckpointError(RuntimeError):
    pass


class Manager:
    """Takes a state through a schedule: ``step(u, k)`` and ``adjoint_step(u, k)`` change things in
    place, with ``u`` the state before step k."""

    def __init__(self, schedule, tape):
        if schedule.uses_storage_type(StorageType.DISK) and not tape._package_data:
            raise CheckpointError("The schedule needs a disk, and no package is configured.")
        self.schedule, self.tape = schedule, tape
        self.kept = {}  # step: storage, checkpoint
        self.most = {StorageType.RAM: 0, StorageType.DISK: 0}
        self.forward_steps = 0
        self.forward_actions, self.reverse_actions = [], []

    def record(self, u, step):
        """The forward sweep; later ones repeat the actions of the first."""
        self.state, self.step, self.at, self.tape_of = u, step, 0, None
        for action in list(self.forward_actions) or self._noted(self.forward_actions, EndForward):
            assert type(action) in (Forward, EndForward), action
            self._carry_out(action)
        assert self.at == self.schedule.max_n

    def evaluate_adjoint(self, adjoint_step):
        self.adjoint_step, self.left = adjoint_step, self.schedule.max_n
        for action in list(self.reverse_actions) or self._noted(self.reverse_actions, EndReverse):
            self._carry_out(action)
        assert self.left == 0 and self.schedule.is_exhausted

    def _noted(self, actions, last):
        for action in self.schedule:
            actions.append(action)
            yield action
            if isinstance(action, last):
                return
        assert False, f"no {last.__name__}"

    def _carry_out(self, action):
        if isinstance(action, Forward):
            self._forward(action)
        elif isinstance(action, (Copy, Move)):
            storage, checkpoint = self.kept[action.n]
            assert (storage, action.to_storage) == (action.from_storage, StorageType.WORK)
            if storage is StorageType.DISK and isinstance(checkpoint, OverloadedType):
                checkpoint = checkpoint._ad_restore_at_checkpoint(checkpoint)
            elif storage is StorageType.DISK:
                checkpoint = self.state._ad_restore_at_checkpoint(checkpoint)
            self.state, self.at = checkpoint._ad_create_checkpoint(), action.n
            if isinstance(action, Move):
                del self.kept[action.n]
        elif isinstance(action, Reverse):
            assert action.n1 == self.left == action.n0 + 1 and self.tape_of is not None
            number, before = self.tape_of
            assert number == action.n0
            self.adjoint_step(before, number)
            self.left = action.n0
            self.tape_of = self.at = None

    def _forward(self, action):
        assert self.at == action.n0 < action.n1
        if action.write_ics:
            assert action.n0 not in self.kept and not action.write_adj_deps
            self.kept[action.n0] = action.storage, self._checkpoint(action.storage)
            for storage in self.most:
                now = sum(storage is where for where, _ in self.kept.values())
                self.most[storage] = max(self.most[storage], now)
        else:
            assert action.storage is StorageType.WORK
        for k in range(action.n0, action.n1):
            if action.write_adj_deps:
                assert action.n1 == action.n0 + 1
                self.tape_of = k, self.state._ad_create_checkpoint()
            self.step(self.state, k)
            self.forward_steps += 1
        self.at = action.n1

    def _checkpoint(self, storage):
        packages = self.tape._package_data.values() if storage is StorageType.DISK else ()
        for package in packages:
            package.continue_checkpointing()
        checkpoint = self.state._ad_create_checkpoint()
        for package in packages:
            package.pause_checkpointing()
        return checkpoint
