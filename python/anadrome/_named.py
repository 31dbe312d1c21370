# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of the C interface that print as their names."""
from __future__ import annotations

import enum


class Named(enum.IntEnum):
    """``print(verdict)`` says RIGHT, in every version of Python."""

    def __str__(self) -> str:
        return self.name

    def __format__(self, format_spec: str) -> str:
        return format(self.name, format_spec)
