# SPDX-License-Identifier: BSD-2-Clause
"""Options as Python has them."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Union

import numpy as np

from ._progress import Progress

Setting = Union[str, int, float, bool, "os.PathLike[str]", Callable[[Progress], object]]


def text_of(value: Setting) -> str:
    """The text that the C interface takes."""
    if callable(value):
        raise TypeError("only the option progress takes a function")
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    return "" if value is None else str(value)  # no file is called None
