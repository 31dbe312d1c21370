# SPDX-License-Identifier: BSD-2-Clause
"""The adapters for pyadjoint, Firedrake and dolfinx-adjoint, which Debian does not have: against the
rules by which these take schedules and checkpoints, written down in stand_ins."""
import gc
import importlib

import numpy as np
import pyadjoint
import pytest
from checkpoint_schedules import EndReverse, Reverse, StorageType

import anadrome
import anadrome.pyadjoint
from tape_schedules import ON_DISK, OPTIONS, made, options_of

SIZE = 2000


class Values(pyadjoint.OverloadedType):
    def __init__(self, values):
        self.values = values

    def _ad_create_checkpoint(self):
        return Values(self.values.copy())

    def _ad_restore_at_checkpoint(self, checkpoint):
        return checkpoint


def step(u, k):
    u.values[:] += 0.1 * u.values * (1 - u.values) + 1e-3 * k


def begin(u):
    u.values[:] = np.linspace(0, 1, u.values.size)
    return u


class Adjoint:
    def __init__(self):
        self.values = None

    def __call__(self, u, k):
        after = Values(u.values.copy())
        if self.values is None:
            step(after, k)
            self.values = after.values
        self.values = self.values * (1 + 0.1 * (1 - 2 * u.values))


def every_state_kept(steps, size=SIZE):
    u, states = begin(Values(np.empty(size))), []
    for k in range(steps):
        states.append(u._ad_create_checkpoint())
        step(u, k)
    adjoint = Adjoint()
    for k in reversed(range(steps)):
        adjoint(states[k], k)
    return adjoint.values


@pytest.fixture
def tape():
    pyadjoint.set_working_tape(pyadjoint.Tape())
    return pyadjoint.get_working_tape()


class Package:
    def continue_checkpointing(self):
        pass

    pause_checkpointing = continue_checkpointing


@pytest.mark.parametrize("steps", (1, 2, 7, 61))
@pytest.mark.parametrize("name", OPTIONS)
def test_schedule_gives_the_gradient_by_the_rules_of_pyadjoint(tape, name, steps):
    tape._package_data["any"] = Package()
    manager = pyadjoint.Manager(made(name, steps), tape)
    stream = anadrome.schedule(name, steps=steps, record=True, **options_of(name, steps))
    planned = sum(action.last - action.first for action in stream if isinstance(action, anadrome.Advance))
    for again in range(1, 3):
        manager.record(begin(Values(np.empty(SIZE))), step)
        manager.evaluate_adjoint(adjoint := Adjoint())
        assert manager.forward_steps == again * planned
        assert np.array_equal(adjoint.values, every_state_kept(steps))
        assert not manager.kept
    limits = OPTIONS[name]
    assert manager.most[StorageType.RAM] <= limits["slots"]
    assert manager.most[StorageType.DISK] <= limits.get("disk_slots", steps)
    assert manager.most[StorageType.DISK] == 0 or manager.schedule.uses_storage_type(StorageType.DISK)


def test_schedule_knows_where_it_is():
    schedule = made("revolve", 9)
    assert (schedule.n, schedule.r, schedule.max_n, schedule.is_exhausted) == (0, 0, 9, False)
    for action in schedule:
        if isinstance(action, Reverse):
            assert (schedule.n, schedule.r) == (action.n1, 9 - action.n0)
        assert schedule.is_exhausted == isinstance(action, EndReverse)
    with pytest.raises(StopIteration):
        next(schedule)


def test_schedule_refuses_what_makes_no_sense(tape):
    for options, text in (({"schedule": "mixed", "slots": 3}, "schedule=mixed is none for pyadjoint"), ({"schedule": "revolve", "slots": 0}, "slots")):
        with pytest.raises(anadrome.Error, match=text):
            anadrome.pyadjoint.Schedule(10, **options)
    with pytest.raises(pyadjoint.CheckpointError):
        pyadjoint.Manager(made("async", 20), tape)
    pyadjoint.Manager(made("revolve", 20), tape)


@pytest.mark.parametrize("name", ON_DISK)
@pytest.mark.parametrize("module, adapter", [("firedrake", "anadrome.firedrake"),
                                             ("dolfinx_adjoint", "anadrome.dolfinx")])
def test_framework_keeps_its_checkpoints_in_the_store(comm, directory, tape, name, module, adapter):
    function = importlib.import_module(module).Function
    steps, size = 40, SIZE + comm.rank
    with anadrome.Store(comm, memory="256KiB", directory=directory) as store:
        importlib.import_module(adapter).use(store)
        manager = pyadjoint.Manager(made(name, steps), tape)
        for _ in range(3):
            manager.record(begin(function(10 * size)), step)
            assert len(store) == sum(where is StorageType.DISK for where, _ in manager.kept.values())
            assert len(store) > 0
            manager.evaluate_adjoint(adjoint := Adjoint())
            assert np.array_equal(adjoint.values, every_state_kept(steps, 10 * size))
            gc.collect()
            store.sync()  # a call, which drops what is not referred to
            assert len(store) == 0
        assert store.statistics().bytes_read > 0


def test_firedrake_keeps_name_and_count(comm, directory, tape):
    import firedrake
    from firedrake.adjoint_utils import checkpointing

    with anadrome.Store(comm, memory="256KiB", directory=directory) as store:
        importlib.import_module("anadrome.firedrake").use(store)
        function = begin(firedrake.Function(5, name="u"))
        checkpointing.continue_disk_checkpointing()
        checkpoint = function._ad_create_checkpoint()
        checkpointing.pause_disk_checkpointing()
        kept = begin(firedrake.Function(5)).values.copy()
        function.values[:] = 7
        restored = function._ad_restore_at_checkpoint(checkpoint)
        assert (restored.name(), restored.count()) == ("u", function.count())
        assert np.array_equal(restored.values, kept)


def test_other_tapes_keep_what_they_had(comm, directory, tape):
    import firedrake
    from firedrake.adjoint_utils import checkpointing

    with anadrome.Store(comm, memory="256KiB", directory=directory) as store:
        importlib.import_module("anadrome.firedrake").use(store)
        pyadjoint.set_working_tape(pyadjoint.Tape())
        checkpointing.continue_disk_checkpointing()
        with pytest.raises(ValueError, match="enable_disk_checkpointing"):
            firedrake.Function(5)._ad_create_checkpoint()
        checkpointing.pause_disk_checkpointing()
        assert len(store) == 0


def test_checkpoint_in_a_closed_store_is_a_clear_error(comm, directory, tape):
    import dolfinx_adjoint

    store = anadrome.Store(comm, memory="256KiB", directory=directory)
    importlib.import_module("anadrome.dolfinx").use(store)
    package = tape._package_data["dolfinx_adjoint"]
    package.continue_checkpointing()
    checkpoint = begin(dolfinx_adjoint.Function(5))._ad_create_checkpoint()
    store.close()
    with pytest.raises((anadrome.Error, KeyError)):
        checkpoint.restore()
    del checkpoint  # after close: nothing happens
