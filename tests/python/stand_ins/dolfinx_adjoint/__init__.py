# SPDX-License-Identifier: BSD-2-Clause
"""A function of dolfinx-adjoint's, as far as it is kept and restored."""
import types

import numpy as np
from pyadjoint import OverloadedType

from .checkpointing import SnapshotCheckpoint, maybe_disk_checkpoint


class Function(OverloadedType):
    def __init__(self, space, name=None):
        self.function_space, self.name = space, name
        self.x = types.SimpleNamespace(array=np.zeros(space))

    def _ad_create_checkpoint(self):
        on_disk = maybe_disk_checkpoint(self)
        if on_disk is not None:
            return on_disk
        other = Function(self.function_space, self.name)
        other.x.array[:] = self.x.array
        return other

    def _ad_restore_at_checkpoint(self, checkpoint):
        return checkpoint.restore() if isinstance(checkpoint, SnapshotCheckpoint) else checkpoint

    @property
    def values(self):
        return self.x.array
