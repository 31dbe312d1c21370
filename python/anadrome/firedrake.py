# SPDX-License-Identifier: BSD-2-Clause
"""Disk checkpoints of Firedrake's adjoint in a store of this library. Needs Firedrake."""
from __future__ import annotations

from typing import Any, Optional

from firedrake.adjoint_utils import checkpointing as _theirs  # type: ignore[import]
from firedrake.adjoint_utils import function as _functions
from pyadjoint import OverloadedType, get_working_tape  # type: ignore[import]
from pyadjoint.tape import TapePackageData  # type: ignore[import]

from ._kept import drop_with, new_key
from ._store import Store

_of_firedrake = _theirs.CheckpointFunction


def use(store: Store, tape: Optional[Any] = None) -> None:
    """Keep in a store what a schedule keeps on disk.

    It takes the place of `firedrake.adjoint.enable_disk_checkpointing`, and like it comes before
    ``tape.enable_checkpointing``. Meshes need no `checkpointable_mesh`. On every rank; local. A
    checkpoint is dropped when the tape does not refer to it any more. The store must be open as long
    as the tape is used.

    Parameters
    ----------
    store : Store
        Opened on the ranks of the meshes.
    tape : pyadjoint.Tape, optional
        Otherwise the working tape. Other tapes keep what they had.

    Examples
    --------
    ::

        import anadrome.firedrake
        from anadrome.pyadjoint import Schedule

        with anadrome.Store(COMM_WORLD, memory="2GiB", directory="/local/job") as store:
            anadrome.firedrake.use(store)
            tape = get_working_tape()
            tape.enable_checkpointing(Schedule(steps, "hrevolve", slots=20, write=0.4, read=0.4))
            for step in tape.timestepper(iter(range(steps))):
                ...
    """
    if tape is None:
        tape = get_working_tape()
    tape._package_data["firedrake"] = _Package(store)
    # Both modules have a name for it.
    _theirs.CheckpointFunction = _functions.CheckpointFunction = _checkpoint


# Nothing is to be done where a tape is cleared, reset or copied: its checkpoints are its own.
class _Package(TapePackageData):  # type: ignore[misc]
    init_checkpoint_file = current_checkpoint_file = None

    def __init__(self, store: Store) -> None:
        self.store = store

    def clear(self) -> None:
        pass

    def reset(self) -> None:
        pass

    def checkpoint(self) -> None:
        pass

    def restore_from_checkpoint(self, state: None) -> None:
        pass

    def copy(self) -> _Package:
        return self

    def continue_checkpointing(self) -> None:
        _theirs.continue_disk_checkpointing()

    def pause_checkpointing(self) -> None:
        _theirs.pause_disk_checkpointing()


def _checkpoint(function: Any) -> Any:
    package = get_working_tape()._package_data.get("firedrake")
    if isinstance(package, _Package):
        return _Checkpoint(package.store, function)
    return _of_firedrake(function)


# Values of this rank without halos: Firedrake brings these up to date where they are read.
class _Checkpoint(_theirs.CheckpointBase, OverloadedType):  # type: ignore[misc]
    def __init__(self, store: Store, function: Any) -> None:
        self.count = function.count()
        self._class, self._space, self._name = (
            type(function), function.function_space(), function.name())
        self._store, self._key = store, new_key()
        with function.dat.vec_ro as values:
            store.put(self._key, values.getArray(readonly=True))
        drop_with(self, store, self._key)

    def restore(self) -> Any:
        """The function, of the same name and count."""
        function = self._class(self._space, name=self._name, count=self.count)
        with function.dat.vec_wo as values:
            self._store.get(self._key, values.getArray())
        return function

    def _ad_restore_at_checkpoint(self, checkpoint: Any) -> Any:
        return checkpoint.restore()
