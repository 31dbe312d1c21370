# SPDX-License-Identifier: BSD-2-Clause
"""What may be a field, what is said of the rest, and how long its memory is held. On one rank."""
import array
import gc
import weakref

import numpy as np
import pytest

import anadrome
from counting import carry_out


@pytest.fixture
def run(comm):
    with anadrome.Run(comm, schedule="revolve", checkpoints=3) as opened:
        yield opened


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8", "u1", "i1", "?"])
def test_an_array_of_any_type_of_fields_comes_back(run, dtype):
    states = [np.arange(6, dtype="i1").reshape(2, 3).astype(dtype), np.ones((2, 3), "i1").astype(dtype)]
    u = states[0].copy()
    run.state(u=u)
    seen = []
    for action in run.sweep(8):
        match action:
            case anadrome.Advance(first, last):
                u[...] = states[last % 2]
            case anadrome.Adjoint(k):
                seen.append((k, u.tobytes() == states[k % 2].tobytes()))
    assert seen == [(k, True) for k in range(7, -1, -1)]


@pytest.mark.parametrize("array, words", [
    (np.zeros(4, "f2"), "type float16"), (np.zeros(4, "u8"), "array.view"), (np.zeros(4, ">f8"), "type >f8"),
    (np.zeros(4, "g"), "type float128"), (np.zeros(4, "S1"), "type |S1"), (np.zeros(2, [("a", "f8"), ("b", "i4")]), "array.view"),
    (np.zeros(8)[::2], "not C-contiguous"), (np.zeros((3, 2)).T, "not C-contiguous"),
    (np.broadcast_to(0.0, 3), "read-only"), (b"bytes", "read-only"), ([1.0, 2.0], "type list"), (3.0, "type float")])
def test_other_arrays_are_a_type_error_that_names_the_field(run, array, words):
    with pytest.raises(TypeError, match="field 'wrong'") as raised:
        run.state(wrong=array)
    assert words in str(raised.value)
    run.state(wrong=np.zeros(2))  # the name is free


def test_anything_with_the_buffer_protocol_is_an_array(run):
    fields = {"bytes": bytearray(8), "array": array.array("d", [1, 2]), "view": memoryview(bytearray(4)),
              "scalar": np.zeros(()), "empty": np.zeros(0)}
    run.state(**fields)
    for action in run.sweep(2):
        if isinstance(action, anadrome.Advance):
            fields["bytes"][0] += action.last - action.first
    assert run.statistics().state_bytes >= 8 + 16 + 4 + 8
    assert fields["bytes"][0] == 0  # x_0


def test_memory_is_held_until_the_run_is_closed(comm):
    u = np.arange(100.0)
    gone = weakref.ref(u)
    with anadrome.Run(comm, schedule="store_all") as run:
        run.state(u=u)
        with pytest.raises(ValueError):
            u.resize(200)
        view = u[:1]
        del u
        gc.collect()
        for action in run.sweep(5):
            carry_out(action, view)
        assert view[0] == 0
        del view
        gc.collect()
        assert gone() is not None
    assert gone() is None


def test_a_field_of_varying_size_copies(run):
    """One of a fixed size, beside it."""
    model, mesh, sizes = {"value": 0}, bytearray(b""), set()

    def unpack(buffer):
        sizes.add(len(buffer))
        mesh[:] = buffer

    run.packed("model", 8, lambda buffer: buffer.cast("q").__setitem__(0, model["value"]),
               lambda buffer: model.update(value=buffer.cast("q")[0]))
    run.varying("mesh", 64, lambda: len(mesh), lambda buffer: buffer.__setitem__(slice(None), mesh), unpack)
    for action in run.sweep(9):
        match action:
            case anadrome.Advance(first, last):
                model["value"] += last - first
                mesh += bytes(range(first, last))
            case anadrome.Adjoint(k):
                assert model["value"] == k and mesh == bytes(range(k))
    assert len(sizes) > 3


lent = []


def no_part(buffer):
    lent.append(buffer)
    raise LookupError("no such part")


@pytest.mark.parametrize("pack, kind, words", [
    (no_part, LookupError, "no such part"),
    (lambda buffer, kept=[]: kept.append(np.frombuffer(buffer, "u1")), BufferError, "field 'model'.*kept the buffer")])
def test_what_pack_raises_or_keeps_ends_the_loop(comm, pack, kind, words):
    run = anadrome.Run(comm, schedule="store_all", audit="off")
    run.packed("model", 8, pack, lambda buffer: None)
    with pytest.raises(kind, match=words), run:
        for action in run.sweep(3):
            pass
    assert run.closed
    for buffer in lent:  # it was taken back
        with pytest.raises(ValueError, match="released"):
            buffer[0]


def test_a_kept_memoryview_is_released(comm):
    kept = []
    with anadrome.Run(comm, schedule="store_all") as run:
        run.packed("model", 8, kept.append, kept.append)
        for action in run.sweep(3):
            pass
    for buffer in kept:
        with pytest.raises(ValueError, match="released"):
            buffer[0]
