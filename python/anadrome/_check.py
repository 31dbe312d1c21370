# SPDX-License-Identifier: BSD-2-Clause
"""What a check of a gradient found."""
from __future__ import annotations

import dataclasses
from typing import Any

from ._named import Named


class Verdict(Named):
    """What a test says."""

    NONE = 0
    """It was not made."""
    RIGHT = 1
    """The gradient is right."""
    WRONG = 2
    """It is not."""
    UNDECIDED = 3
    """Round-off, or a kink, hides the answer."""


class Mismatch(Named):
    """What a wrong gradient looks like."""

    NONE = 0
    """Nothing is wrong."""
    SIGN = 1
    """A wrong sign: the ratio is -1."""
    FACTOR = 2
    """A factor: the ratio is the same in every direction."""
    TERM = 3
    """A term that is missing or wrong: the ratio differs."""
    STATE = 4
    """The adjoint of a step reads another state than x_k."""
    NOT_FINITE = 5
    """A NaN or an infinity."""
    OBJECTIVE = 6
    """The same controls give another objective."""


@dataclasses.dataclass(frozen=True, slots=True)
class GradientCheck:
    """What `Run.check_gradient` found, the same on all ranks. The members are those of
    ``anadrome_gradient_check``."""

    verdict: Verdict
    """Of both tests. RIGHT if neither is WRONG and the Taylor test is
    RIGHT."""
    taylor_verdict: Verdict
    """Of the Taylor tests."""
    product_verdict: Verdict
    """Of the dot products."""
    mismatch: Mismatch
    """What a wrong gradient looks like."""
    objective: float
    """J(m)."""
    seeds: int
    """Directions that were tested."""
    derivative: tuple[float, ...]
    """By seed (the first one at 0): what ``derivative`` returned."""
    ratio: tuple[float, ...]
    """By seed: that over the derivative by differences of J; 1 if right."""
    slope: tuple[float, ...]
    """By seed: ``d log |J(m + e dm) - J(m) - e dJ| / d log e``, for the smallest e whose remainder
    is not round-off: 2, or more, if the gradient is right, 1 if it is wrong; 0: every remainder
    is round-off, or none is finite."""
    first_slope: tuple[float, ...]
    """By seed: the same of ``|J(m + e dm) - J(m)|``: 1, or 2 at an optimum."""
    resolution: float
    """The Taylor tests would have seen a relative error as small as that."""
    products: int
    """Steps whose dot products were tested."""
    failing_products: int
    """How many of them failed."""
    failing_step: int
    """The first of them; -1: none."""
    product_mismatch: float
    """``|<w, F' v> - <F'^T w, v>|`` over their size: of the failing step, or the largest of any."""
    forward_product: float
    """Of the failing step: ``<w, F' v>``."""
    adjoint_product: float
    """Of the failing step: ``<F'^T w, v>``."""
    message: str
    """What was found, in a sentence."""

    @classmethod
    def _of(cls, members: dict[str, Any]) -> GradientCheck:
        for name in ("verdict", "taylor_verdict", "product_verdict"):
            members[name] = Verdict(members[name])
        members["mismatch"] = Mismatch(members["mismatch"])
        for name in ("derivative", "ratio", "slope", "first_slope"):
            members[name] = tuple(members[name])
        return cls(**members)
