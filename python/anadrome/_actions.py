# SPDX-License-Identifier: BSD-2-Clause
"""What a sweep asks for: the actions of the loop."""
from __future__ import annotations

import dataclasses
from typing import Union


@dataclasses.dataclass(frozen=True, slots=True)
class Advance:
    """Run steps ``first`` .. ``last - 1``: the arrays hold x_first on entry and x_last on exit.

    Examples
    --------
    >>> match Advance(0, 3):
    ...     case Advance(first, last):
    ...         print(list(range(first, last)))
    [0, 1, 2]
    """

    first: int
    """The first step."""
    last: int
    """One past the last step."""
    record: bool = False
    """Fill the tape fields in step ``last - 1``."""
    again: bool = False
    """These steps were run before: output and running costs were done then."""
    branch: int = 0
    """Whose steps these are; 0 but in a stream of branches."""


@dataclasses.dataclass(frozen=True, slots=True)
class Turn:
    """Evaluate the objective and set the adjoint variables: the arrays hold x_n, but in a pass."""

    steps: int
    """n, the number of steps that were run."""
    again: bool = False
    """The Turn of a pass; in a stream of branches not the first one of this branch."""
    branch: int = 0
    """Whose end this is; 0 but in a stream of branches."""


@dataclasses.dataclass(frozen=True, slots=True)
class Adjoint:
    """Carry out the adjoint of step ``step``: the arrays hold x_step, or that step's tape."""

    step: int
    """The step k, which takes x_k to x_{k+1}."""
    branch: int = 0
    """Whose step this is; 0 but in a stream of branches."""


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """Make x_0 of ``branch`` live; only in a stream of branches."""

    branch: int = 0
    """Whose x_0."""
    again: bool = False
    """Not the first Start of this branch; x_0 is the same."""


@dataclasses.dataclass(frozen=True, slots=True)
class Visit:
    """Step ``step`` is there, as at its `Adjoint`: the arrays hold x_step, or that step's tape. Leave
    them as they are; only in a pass forward."""

    step: int
    """The step k, which takes x_k to x_{k+1}."""


@dataclasses.dataclass(frozen=True, slots=True)
class Retreat:
    """Undo step ``step``, up to rounding: the arrays hold x_{k+1} on entry and about x_k on exit; only
    with ``schedule="undo"``, which adds what is missing."""

    step: int
    """The step k, which takes x_k to x_{k+1}."""


Action = Union[Advance, Turn, Adjoint, Visit, Retreat]
