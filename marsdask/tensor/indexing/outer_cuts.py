"""The elements along an axis that points need, as few ranges."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

#: Of more points no parts are made.
MOST_POINTS = 2**20

#: The most runs of neighbours among points of which parts are made.
MOST_RUNS = 64


class OuterCut(NamedTuple):
    """The elements of an axis that points need."""

    runs: list[range]
    """Their positions, ascending."""
    local: Any
    """For each point its position among them."""

    @property
    def length(self) -> int:
        """How many elements there are."""
        return sum(map(len, self.runs))


def outer_cut(positions: Any) -> OuterCut | None:
    """Return the elements of an axis that points need, ``None`` if they are too many runs."""
    if isinstance(positions, range) and positions:
        places = range(len(positions))
        descending = positions.step < 0
        turned = slice(None, None, -1 if descending else 1)
        return OuterCut([positions[turned]], places[turned])
    wanted, local = np.unique(positions, return_inverse=True)
    if not len(wanted):
        return OuterCut([range(1)], positions)
    gaps = np.diff(wanted)
    step = int(np.gcd.reduce(gaps)) if len(gaps) else 1
    first, last = int(wanted[0]), int(wanted[-1])
    whole = range(first, last + 1, step)
    if len(whole) <= 4 * len(wanted):
        return OuterCut([whole], (positions - first) // step)
    breaks = [0, *(np.flatnonzero(gaps > 1) + 1).tolist(), len(wanted)]
    if len(breaks) > MOST_RUNS:
        return None
    runs = [range(int(wanted[i]), int(wanted[j - 1]) + 1) for i, j in itertools.pairwise(breaks)]
    return OuterCut(runs, local.reshape(-1))
