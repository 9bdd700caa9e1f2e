"""Rows of tensors and frames as the items of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import collect, compute
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.rows import check_lengths, held


class MarsDataset:
    """A map-style data set of PyTorch: item ``i`` is a tuple of row ``i`` of each operand.

    The operands are computed once and held in the session. A ``DataLoader`` asks for the rows of a
    batch at the same time, so that each batch is one computation.

    Parameters
    ----------
    *tileables : array_like or frame
        Operands of the same length: samples, targets.
    fetch_kwargs : dict, optional
        Accepted for Mars's sake; nothing is left to choose.

    Raises
    ------
    ValueError
        If there is no operand, or lengths differ.

    Examples
    --------
    >>> from marsdask.learn.contrib.pytorch import MarsDataset
    >>> data = MarsDataset(mt.arange(6).reshape(3, 2), mt.tensor([0, 1, 0]))
    >>> len(data), data[1]
    (3, (array([2, 3]), np.int64(1)))
    """

    def __init__(self, *tileables: Any, fetch_kwargs: Any = None) -> None:
        if not tileables:
            raise ValueError("MarsDataset() needs at least one tensor or frame")
        items = [adopted(item) for item in tileables]
        nodes = held(*(item.node for item in items if is_lazy(item)))
        values = iter(nodes)
        self._items = [collect(next(values)) if is_lazy(item) else _values(item) for item in items]
        check_lengths(*nodes)
        lengths = {int(item.shape[0]) for item in self._items}
        if len(lengths) > 1:
            raise ValueError(f"operands have different lengths: {sorted(lengths)}")
        (self._length,) = lengths

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        if not -self._length <= index < self._length:
            raise IndexError(f"index {index} is out of bounds for a data set of {self._length}")
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the items of a batch, which are computed together."""
        columns = self.get_batch(indices)
        return list(zip(*columns, strict=True))

    def get_batch(self, indices: Sequence[int]) -> list[Any]:
        """Return some rows of each operand as arrays.

        Parameters
        ----------
        indices : sequence of int
            The numbers of the rows.

        Returns
        -------
        list of array
            The rows of each operand, in the order of the numbers.

        Examples
        --------
        >>> from marsdask.learn.contrib.pytorch import MarsDataset
        >>> MarsDataset(mt.arange(6)).get_batch([4, 1])
        [array([4, 1])]
        """
        places = np.asarray(indices, np.int64)
        parts = [self.get_data(item, places) for item in self._items]
        computed = iter(compute(*(part for part in parts if is_lazy(part))))
        return [_values(next(computed) if is_lazy(part) else part) for part in parts]

    def get_data(self, t: Any, index: Any) -> Any:
        """Return rows of an operand, lazily if it is lazy.

        Parameters
        ----------
        t : array_like or frame
            The operand.
        index : int or sequence of int
            The numbers of the rows.

        Returns
        -------
        Tensor, frame or array
            The rows.

        Examples
        --------
        >>> from marsdask.learn.contrib.pytorch import MarsDataset
        >>> x = mt.arange(6)
        >>> MarsDataset(x).get_data(x, [4, 1]).compute()
        array([4, 1])
        """
        is_frame = isinstance(t.node.meta if is_lazy(t) else t, pd.DataFrame | pd.Series)
        return t.iloc[index] if is_frame else t[index]


def _values(item: Any) -> Any:
    return item.to_numpy() if isinstance(item, pd.DataFrame | pd.Series) else np.asarray(item)
