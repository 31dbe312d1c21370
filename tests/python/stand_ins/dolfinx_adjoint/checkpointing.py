# SPDX-License-Identifier: BSD-2-Clause
"""The names of dolfinx-adjoint's module of this name that others use; its files are not here."""
from pyadjoint.tape import TapePackageData, get_working_tape

_PACKAGE_KEY = "dolfinx_adjoint"


class SnapshotCheckpoint:
    def __init__(self, file, key, function, n_local, offset):
        self._file, self._key, self._n_local, self._offset = file, key, n_local, offset
        self._kind, self._space, self._name = type(function), function.function_space, function.name

    def restore(self):
        function = self._kind(self._space, self._name)
        function.x.array[:] = self._file.read(self._key, self._n_local, self._offset)
        return function


class _DiskCheckpointer(TapePackageData):
    def __init__(self, directory, comm, use_mpio, cleanup, owns_directory):
        self.storing = False
        self._file = self._roll_to_new_file()

    def store(self, function):
        values = function.x.array
        key = self._file.next_key()
        self._file.write(key, values, values.size, 0)
        checkpoint = SnapshotCheckpoint(self._file, key, function, values.size, 0)
        self._file.track(key, checkpoint)
        return checkpoint

    def clear(self):
        self._file = self._roll_to_new_file()

    def reset(self):
        self.storing = False
        self._file.collect()

    def checkpoint(self):
        return self._file

    def restore_from_checkpoint(self, state):
        self._file = state

    def copy(self):
        return self

    def continue_checkpointing(self):
        self.storing = True

    def pause_checkpointing(self):
        self.storing = False


def maybe_disk_checkpoint(function):
    checkpointer = get_working_tape()._package_data.get(_PACKAGE_KEY)
    if not isinstance(checkpointer, _DiskCheckpointer) or not checkpointer.storing:
        return None
    return checkpointer.store(function)
