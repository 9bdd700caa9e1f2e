"""Reductions of the user, as Mars has them: chunk by chunk, then partial results together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection

from ..schemas.samples import sample
from .fold import FrameFold
from .reductions import collection_of


class CustomReduction:
    """A reduction of columns, for ``agg``: define ``agg`` in a subclass.

    A chunk is prepared by ``pre`` and reduced by ``agg``; ``agg`` also reduces what it has
    returned for several chunks, two at a time, in their order; ``post`` finishes. A group's rows
    meet in one task, so that there ``agg`` is called once.

    Parameters
    ----------
    name : str, optional
        The label of the result; by default the class's.
    is_gpu : None
        Not supported.

    Examples
    --------
    >>> import marsdask.dataframe as md
    >>> class Range(md.CustomReduction):
    ...     def pre(self, value):
    ...         return value, value
    ...     def agg(self, low, high):
    ...         return low.min(), high.max()
    ...     def post(self, low, high):
    ...         return high - low
    >>> md.Series([3, 1, 8]).agg(Range()).execute().fetch()
    np.int64(7)
    """

    name: Any = None
    pre_with_agg: bool = False
    """Whether ``pre`` reduces as well, so that ``agg`` only joins what it has returned."""

    def __init__(self, name: str | None = None, is_gpu: bool | None = None) -> None:
        if is_gpu:
            raise NotImplementedError("CustomReduction(is_gpu=True) is not supported; leave it out")
        self.name = name or self.name or type(self).__name__

    @property
    def __name__(self) -> str:
        """The label of the result."""
        return str(self.name)

    def is_gpu(self) -> bool:
        """Return False: values are in memory.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> md.CustomReduction().is_gpu()
        False
        """
        return False

    def pre(self, value: Any) -> object:
        """Return what ``agg`` takes of a chunk: one value, or a tuple of them.

        Parameters
        ----------
        value : pandas.Series
            A column of a chunk.

        Returns
        -------
        object or tuple
            By default the chunk itself.

        Examples
        --------
        >>> md.CustomReduction().pre(3)
        3
        """
        return value

    def agg(self, *values: Any) -> object:
        """Reduce: one result for each value, of a chunk or of earlier results.

        Parameters
        ----------
        *values : pandas.Series
            What ``pre`` returned, or what ``agg`` returned for several chunks.

        Returns
        -------
        object or tuple
            A result for each value.

        Raises
        ------
        NotImplementedError
            Unless a subclass defines it.

        Examples
        --------
        >>> class Total(md.CustomReduction):
        ...     def agg(self, value):
        ...         return value.sum()
        """
        raise NotImplementedError(f"{type(self).__name__} does not define agg()")

    def post(self, *values: Any) -> object:
        """Return the value of the last results.

        Parameters
        ----------
        *values : object
            What ``agg`` returned.

        Returns
        -------
        object
            By default the only one.

        Raises
        ------
        TypeError
            If there are several, unless a subclass defines it.

        Examples
        --------
        >>> md.CustomReduction().post(3)
        3
        """
        if len(values) != 1:
            raise TypeError(f"{type(self).__name__} must define post() for {len(values)} results")
        return values[0]

    def __call__(self, value: Any) -> Any:
        """Return the reduction of a column in memory, or a lazy one of a lazy column."""
        if isinstance(value, Collection):
            return _lazily(value, self)
        return self.post(*PartialOf(self)(value))


class ReductionStep:
    """A step of a reduction of the user: what it does with a chunk, two results, or the last."""

    def __init__(self, reduction: CustomReduction) -> None:
        self.reduction = reduction


class PartialOf(ReductionStep):
    """Reduces a chunk."""

    def __call__(self, block: Any) -> tuple[Any, ...]:
        values = _as_tuple(self.reduction.pre(block))
        return values if self.reduction.pre_with_agg else _as_tuple(self.reduction.agg(*values))


class BothPartials(ReductionStep):
    """Reduces the results of two chunks, or of two runs of chunks."""

    def __call__(self, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
        partials = [_in_rows(*pair) for pair in zip(a, b, strict=True)]
        return _as_tuple(self.reduction.agg(*partials))


class LastPartial(ReductionStep):
    """Finishes; ``meta`` is the column where there are no rows."""

    def __call__(self, last: Any, *, meta: Any) -> Any:
        if last is None:
            return np.asarray(self.reduction(meta))[()]
        return np.asarray(self.reduction.post(*last))[()]


def _as_tuple(found: object) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _in_rows(a: Any, b: Any) -> Any:
    if isinstance(a, pd.Series | pd.DataFrame):
        return pd.concat([a, b])
    return pd.Series([a, b])


def _lazily(series: Any, reduction: CustomReduction) -> Any:
    """Return the lazy reduction of a series; a few rows show its type."""
    meta = series.node.meta
    rows = sample(meta)
    with np.errstate(all="ignore"):
        try:
            value = reduction(rows)
        except Exception:  # noqa: BLE001 - of missing values, which the column may not have
            value = reduction(rows.dropna())
    like = np.empty((), np.asarray(value).dtype)
    steps = (PartialOf(reduction), BothPartials(reduction), LastPartial(reduction))
    fold = FrameFold(like, None, False, reduction.__name__, series.node, steps, (("meta", meta),))
    return collection_of(fold)
