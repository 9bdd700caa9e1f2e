"""Positions in triangles of matrices, each from its place among them alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from marsdask.core.machine.costs import kernel

Shape = tuple[int, ...]


#: Of longer sides the places of elements do not fit in an integer.
LONGEST_SIDE = 2**30


class TriangleShape(NamedTuple):
    """The part of ``n`` rows and ``m`` columns at and above (or below) a diagonal, row by row."""

    n: int
    m: int
    k: int
    lower: bool

    @property
    def before(self) -> int:
        """How many rows there are before the first whose length differs from the next."""
        return min(max(-self.k, 0), self.n)

    @property
    def first(self) -> int:
        """The length of the first of the rows whose lengths differ by one."""
        if self.lower:
            return min(max(self.before + self.k + 1, 0), self.m)
        return max(self.m - max(self.before + self.k, 0), 0)

    @property
    def slanted(self) -> int:
        """How many rows there are whose lengths differ by one."""
        longest = self.m - self.first if self.lower else self.first
        return min(longest, self.n - self.before)

    def until(self, rows: Any) -> Any:
        """Return how many elements so many of the rows of different lengths have."""
        change = rows * (rows - 1) // 2
        return rows * self.first + (change if self.lower else -change)

    @property
    def size(self) -> int:
        """How many elements there are."""
        slanted = int(self.until(self.slanted))
        if self.lower:
            return slanted + (self.n - self.before - self.slanted) * self.m
        return self.before * self.m + slanted

    def places(self, order: Any) -> tuple[Any, Any]:
        """Return the rows and columns of elements by their order."""
        whole = max(self.m, 1)
        head = 0 if self.lower else self.before * self.m
        rest = order - head
        inner = np.clip(rest, 0, max(int(self.until(self.slanted)) - 1, 0))
        steps = self._slanted_row(inner)
        rows, columns = steps + self.before, inner - self.until(steps)
        if not self.lower:
            columns = columns + np.maximum(rows + self.k, 0)
            is_full, full = rest < 0, order
            after = 0
        else:
            full = rest - self.until(self.slanted)
            is_full, after = full >= 0, self.before + self.slanted
        return (
            np.where(is_full, full // whole + after, rows),
            np.where(is_full, full % whole, columns),
        )

    def _slanted_row(self, inner: Any) -> Any:
        """Return which of the rows of different lengths holds each of their elements."""
        sign = 1 if self.lower else -1
        twice = 2 * self.first - sign
        root = np.sqrt((twice * twice + sign * 8 * inner).astype(np.float64))
        rows = (sign * (root - twice) / 2).astype(np.int64)
        rows = np.where(self.until(rows) > inner, rows - 1, rows)  # roots are rounded
        return np.where(self.until(rows + 1) <= inner, rows + 1, rows)


@kernel(scratch=8.0)
def triangle_places(
    shape: Shape, starts: Shape, dtype: Any, triangle: TriangleShape, axis: int
) -> Any:
    """Return the positions along an axis of a block of a triangle's elements."""
    order = np.arange(starts[0], starts[0] + shape[0])
    return triangle.places(order)[axis].astype(dtype, copy=False)
