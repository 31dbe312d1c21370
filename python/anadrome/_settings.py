# SPDX-License-Identifier: BSD-2-Clause
"""Options as Python has them."""
from __future__ import annotations

import os
from typing import Union

Setting = Union[str, int, float, bool, "os.PathLike[str]"]


def text_of(value: Setting) -> str:
    """The text that the C interface takes."""
    return ("off", "on")[value] if isinstance(value, bool) else str(value)
