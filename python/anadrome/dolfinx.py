# SPDX-License-Identifier: BSD-2-Clause
"""Disk checkpoints of dolfinx-adjoint in a store of this library. Needs dolfinx_adjoint."""
from __future__ import annotations

import pathlib
from typing import Any, Optional

from dolfinx_adjoint import checkpointing as _theirs  # type: ignore[import]
from mpi4py import MPI
from pyadjoint.tape import get_working_tape  # type: ignore[import]

from ._kept import drop_with, new_key
from ._store import Store


def use(store: Store, tape: Optional[Any] = None) -> None:
    """Keep in a store what a schedule keeps on disk.

    It takes the place of `dolfinx_adjoint.enable_disk_checkpointing`, and like it comes before
    ``tape.enable_checkpointing``. On every rank; local. A checkpoint is dropped when the tape does
    not refer to it any more. The store must be open as long as the tape is used.

    Parameters
    ----------
    store : Store
        Opened on the ranks of the mesh.
    tape : pyadjoint.Tape, optional
        Otherwise the working tape. Other tapes keep what they had.

    Examples
    --------
    ::

        import anadrome.dolfinx
        from anadrome.pyadjoint import Schedule

        with anadrome.Store(MPI.COMM_WORLD, memory="2GiB", directory="/local/job") as store:
            anadrome.dolfinx.use(store)
            tape = get_working_tape()
            tape.enable_checkpointing(Schedule(steps, "hrevolve", slots=20, write=0.4, read=0.4))
            for step in tape.timestepper(iter(range(steps))):
                ...
    """
    if tape is None:
        tape = get_working_tape()
    tape._package_data[_theirs._PACKAGE_KEY] = _Checkpointer(store)


# Theirs, with a store in place of its file.
class _Checkpointer(_theirs._DiskCheckpointer):  # type: ignore[misc]
    def __init__(self, objects: Store) -> None:
        self._objects = objects
        super().__init__(pathlib.Path(), MPI.COMM_SELF, use_mpio=False, cleanup=False,
                         owns_directory=False)

    def _roll_to_new_file(self) -> _File:
        return _File(self._objects)

    def store(self, function: Any) -> Any:
        checkpoint = super().store(function)
        drop_with(checkpoint, self._objects, checkpoint._key)
        return checkpoint


# Values of this rank, with those of ghosts, so that nothing is communicated.
class _File:
    shared_file = False

    def __init__(self, objects: Store) -> None:
        self._objects = objects

    def next_key(self) -> Any:
        return new_key()

    def write(self, key: Any, values: Any, n_global: int, offset: int) -> None:
        self._objects.put(key, values)

    def read(self, key: Any, n_local: int, offset: int) -> Any:
        return self._objects[key]

    def track(self, key: Any, checkpoint: Any) -> None:
        pass

    def collect(self) -> int:
        return 0

    def close(self) -> None:
        pass
