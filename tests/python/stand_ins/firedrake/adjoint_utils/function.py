# SPDX-License-Identifier: BSD-2-Clause
"""Where Firedrake's functions become checkpoints."""
from pyadjoint import OverloadedType

from .checkpointing import CheckpointBase, CheckpointFunction, disk_checkpointing


class FunctionMixin(OverloadedType):
    def _ad_create_checkpoint(self):
        return CheckpointFunction(self) if disk_checkpointing() else self.copy()

    def _ad_restore_at_checkpoint(self, checkpoint):
        return checkpoint.restore() if isinstance(checkpoint, CheckpointBase) else checkpoint
