"""Shapes of ``out``, compared with those of reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.sizes import Size, known_or_nan, shape_text

from ..indexing.output_rules import may_fit

Shape = tuple[Size, ...]


def check_output(
    target: Any, shape: Shape, reduced: Shape, axes: tuple[int, ...], combine: Callable[..., Any]
) -> None:
    """Refuse an output of another shape in NumPy's words: ``shape`` is the operand's."""
    if not isinstance(target, Collection):
        return
    out = target.node.shape
    if len(out) != len(reduced):
        has_name = isinstance(combine, np.ufunc) or combine.__name__ in ("fmin", "fmax")
        operation = combine.__name__ if has_name else "add"
        raise ValueError(
            f"output parameter for reduction operation {operation} has the wrong number of "
            f"dimensions: Found {len(out)} but expected {len(reduced)}"
        )
    if not may_fit(reduced, out):
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{shape_text(out)}->{_remapped(out, len(shape), axes)} {shape_text(shape)}"
        )


def _remapped(out: Shape, ndim: int, axes: tuple[int, ...]) -> str:
    """Return a shape with the reduced axes, of which NumPy leaves out the first ones."""
    lengths = map(str, map(known_or_nan, out))
    if len(out) == ndim:
        items = list(lengths)
    else:
        items = ["newaxis" if axis in axes else next(lengths) for axis in range(ndim)]
    while items[0] == "newaxis":
        del items[0]
    return f"({','.join(items)})"
