# SPDX-License-Identifier: BSD-2-Clause
"""Options as Python has them."""
from __future__ import annotations

import os
from typing import Union

import numpy as np

Setting = Union[str, int, float, bool, "os.PathLike[str]"]


def text_of(value: Setting) -> str:
    """The text that the C interface takes."""
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    return "" if value is None else str(value)  # no file is called None
