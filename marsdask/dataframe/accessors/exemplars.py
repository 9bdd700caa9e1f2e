"""A value of each kind among all rows: with them pandas finds the types of all rows in a chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.compilation.costs import FunctionWrapper, kernel

from ..elementwise.rowwise import Unsettled, rowwise
from ..reduction.fold import FrameFold
from ..schemas.dtypes import OneType
from ..schemas.samples import sample, without_rows


def by_values(func: Callable[..., Any], rows: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``func`` of rows; from objects and categories pandas finds its types in the values.

    Every chunk gets exemplars of all rows then, which costs a look at them.
    """
    node = rows.node
    dtype = node.meta.dtype
    by_type = not (isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_object_dtype(dtype))
    if by_type or (len(node.chunks[0]) == 1 and node.settled):
        return rowwise(func, rows, *args, **kwargs)
    rows = rows if node.settled else type(rows)(OneType(node))
    steps = (exemplars_of, join_exemplars, as_scalar)
    exemplars = FrameFold(np.empty((), object), None, False, "exemplars", rows.node, steps)
    return rowwise(WithExemplars(func), rows, wrap(exemplars), *args, **kwargs)


@kernel(scratch=1.0)
def exemplars_of(block: Any) -> tuple[Any, ...]:
    """Return a value of each kind in a chunk; of texts and lists also the longest."""
    return _exemplars(np.asarray(block, object))


def join_exemplars(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the exemplars of two chunks."""
    values = np.empty(len(a) + len(b), object)
    values[:] = [*a, *b]
    return _exemplars(values)


def as_scalar(exemplars: Any) -> Any:
    """Return exemplars as they are passed to every chunk."""
    scalar = np.empty((), object)
    scalar[()] = exemplars
    return scalar


def _exemplars(values: Any) -> tuple[Any, ...]:
    missing = pd.isna(values)
    present = values[~missing]
    exemplars = [*_of_kinds(values[missing]), *_of_kinds(present)]
    sized = [value for value in exemplars if hasattr(type(value), "__len__")]
    kinds = list(map(type, present)) if sized else []
    for value in sized:
        alike = (one for one, kind in zip(present, kinds, strict=True) if kind is type(value))
        longest = max(alike, key=len)
        if len(longest) > len(value):
            exemplars.append(longest)
    return tuple(exemplars)


def _of_kinds(values: Any) -> Iterable[Any]:
    """Return the first value of each class."""
    return dict(zip(map(type, values[::-1]), values[::-1], strict=True)).values()


@dataclass(frozen=True)
class WithExemplars(FunctionWrapper, Unsettled):
    """Calls a function of rows with exemplars behind them, whose results are dropped."""

    def general(self, found: Any, *metas: Any, **kwargs: Any) -> Any:
        """Return the types that a sample of rows has."""
        block, _, *args = metas
        try:
            return without_rows(self.func(sample(block), *args, **kwargs), found)
        except (TypeError, ValueError, AttributeError):
            return found  # the sample may be invalid input

    def __call__(self, block: Any, exemplars: Any, *args: Any, **kwargs: Any) -> Any:
        behind = exemplars.item()
        if not len(block) or not isinstance(behind, tuple):
            return self.func(block, *args, **kwargs)
        dtype = block.dtype if isinstance(block.dtype, pd.CategoricalDtype) else object
        rows = _extended(block.astype(dtype), pd.Series(behind, dtype=dtype))
        args = tuple(
            _extended(arg, arg.iloc[[0] * len(behind)]) if isinstance(arg, pd.Series) else arg
            for arg in args
        )
        found = self.func(rows, *args, **kwargs)
        return found.iloc[: len(block)].set_axis(block.index)


def _extended(block: Any, behind: Any) -> Any:
    return pd.concat([block, behind], ignore_index=True).rename(block.name)
