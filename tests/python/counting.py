# SPDX-License-Identifier: BSD-2-Clause
"""A model whose state is the number of its step: u holds k."""
from anadrome import Advance


def carry_out(action, u):
    if isinstance(action, Advance):
        u += action.last - action.first
