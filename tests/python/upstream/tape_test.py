# SPDX-License-Identifier: BSD-2-Clause
"""pyadjoint's own tape with schedules of this library: floats, and arrays that a store keeps."""
import gc
import importlib

import numpy as np
import pyadjoint
import pytest
from pyadjoint.tape import TapePackageData

import anadrome
from tape_schedules import ON_DISK, OPTIONS, made


class Nothing(TapePackageData):
    def clear(self):
        pass

    reset = checkpoint = copy = continue_checkpointing = pause_checkpointing = clear

    def restore_from_checkpoint(self, state):
        pass


def new_tape():
    tape = pyadjoint.Tape()
    pyadjoint.set_working_tape(tape)
    pyadjoint.continue_annotation()
    tape._package_data["nothing"] = Nothing()
    return tape


def of_floats(name, steps, again):
    tape = new_tape()
    if name is not None:
        tape.enable_checkpointing(made(name, steps))
    a, x, J = pyadjoint.AdjFloat(0.3), pyadjoint.AdjFloat(1.1), pyadjoint.AdjFloat(0)
    x_0 = x
    for _ in tape.timestepper(iter(range(steps))):
        x = x * a + x * x * 0.1
        J = J + x * x
    reduced = pyadjoint.ReducedFunctional(J, [pyadjoint.Control(a), pyadjoint.Control(x_0)])
    found = [reduced.derivative()]
    for _ in range(again):
        found.append([reduced([pyadjoint.AdjFloat(0.3), pyadjoint.AdjFloat(1.1)]), *reduced.derivative()])
    return [float(value) for values in found for value in values]


@pytest.mark.parametrize("steps", (1, 2, 5, 13, 40))
@pytest.mark.parametrize("name", OPTIONS)
def test_derivative_of_floats_is_that_without_a_schedule(name, steps):
    assert of_floats(name, steps, 2) == of_floats(None, steps, 2)


class StepBlock(pyadjoint.Block):
    """u <- u + 0.1 u (1 - u), of a function."""

    def recompute_component(self, inputs, block_variable, idx, prepared):
        return stepped(inputs[0])

    def evaluate_adj_component(self, inputs, adj_inputs, block_variable, idx, prepared=None):
        return adj_inputs[0] * (1 + 0.1 * (1 - 2 * inputs[0].values))


class SumBlock(pyadjoint.Block):
    """J = sum u^2 / 2."""

    def recompute_component(self, inputs, block_variable, idx, prepared):
        return pyadjoint.AdjFloat(float(np.sum(inputs[0].values**2) / 2))

    def evaluate_adj_component(self, inputs, adj_inputs, block_variable, idx, prepared=None):
        return adj_inputs[0] * inputs[0].values


def stepped(u):
    after = type(u)(u.function_space())
    after.values[:] = u.values + 0.1 * u.values * (1 - u.values)
    return after


def of_functions(name, steps, size, store):
    import firedrake  # the stand-in

    tape = new_tape()
    if store is not None:
        importlib.import_module("anadrome.firedrake").use(store)
        tape.enable_checkpointing(made(name, steps))
    u = control = firedrake.Function(size)
    u.values[:] = np.linspace(0, 1, size)
    for _ in tape.timestepper(iter(range(steps))):
        block = StepBlock()
        block.add_dependency(u)
        tape.add_block(block)
        u = stepped(u)
        block.add_output(u.create_block_variable())
    block = SumBlock()
    block.add_dependency(u)
    tape.add_block(block)
    J = pyadjoint.AdjFloat(float(np.sum(u.values**2) / 2))
    block.add_output(J.create_block_variable())
    kept = 0 if store is None else len(store)
    J.block_variable.adj_value = 1.0
    tape.evaluate_adj()
    return control.block_variable.adj_value, kept


@pytest.mark.parametrize("name", ON_DISK)
def test_arrays_of_a_tape_are_kept_in_a_store(name, tmp_path):
    from mpi4py import MPI

    expected, _ = of_functions(None, 40, 20000, None)
    with anadrome.Store(MPI.COMM_SELF, memory="256KiB", directory=tmp_path) as store:
        found, kept = of_functions(name, 40, 20000, store)
        assert np.array_equal(found, expected)
        assert kept > 1 and store.statistics().bytes_read > 0
        new_tape()
        gc.collect()
        store.sync()
        assert len(store) == 0
