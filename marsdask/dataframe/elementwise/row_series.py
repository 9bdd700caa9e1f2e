"""The rows that a user's function is called with, whose values are found fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .exemplars import objects_of

#: Any series of pandas's own class.
PLAIN = pd.Series([], dtype=float)


class RowSeries(pd.Series):
    """A series that finds the values of its labels by a dict, in a third of pandas's time.

    What is made of it is a pandas.Series. It does what pandas does as soon as its index is
    another one, or a key is not a text.
    """

    _found_in: ClassVar[Any] = None
    """The index whose labels are in the dicts; of an instance, if it has one."""
    _items: ClassVar[dict[str, int]] = {}
    _attributes: ClassVar[dict[str, int]] = {}

    @classmethod
    def of(cls, row: pd.Series) -> RowSeries:
        """Return a row that finds labels by dicts, if they are distinct."""
        series = cls(row, copy=False)
        if not row.index.has_duplicates:
            items = {label: at for at, label in enumerate(row.index) if isinstance(label, str)}
            # pandas looks at labels only where nothing of its own has the name.
            own = {name for name in items if name.startswith("_") or hasattr(pd.Series, name)}
            series.__dict__.update(
                _found_in=series.index,
                _items=items,
                _attributes={name: at for name, at in items.items() if name not in own},
            )
        return series

    @property
    def _constructor(self) -> Callable[..., pd.Series]:
        return pd.Series

    def _constructor_from_mgr(self, mgr: Any, axes: Any) -> pd.Series:
        # Copies of rows are many: pandas would call the constructor for each.
        series: pd.Series = PLAIN._constructor_from_mgr(mgr, axes)  # type: ignore[operator]
        return series

    def __getattr__(self, name: str) -> Any:  # type: ignore[misc]
        place = self._attributes.get(name)
        if place is not None and self.index is self._found_in:
            return self._values[place]
        return super().__getattr__(name)

    def __getitem__(self, key: Any) -> Any:
        place = self._items.get(key) if type(key) is str else None
        if place is not None and self.index is self._found_in:
            return self._values[place]
        return super().__getitem__(key)

    def __reduce__(self) -> Any:
        return pd.Series(self).__reduce__()


# Messages of errors name the class.
RowSeries.__name__ = pd.Series.__name__


class FrameOfRows(pd.DataFrame):
    """A frame whose ``apply`` calls functions with such rows."""

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    @property
    def _constructor_sliced(self) -> Any:
        return _row


def _row(*args: Any, **kwargs: Any) -> RowSeries:
    return RowSeries.of(pd.Series(*args, **kwargs))


def apply_to_rows(frame: pd.DataFrame, func: Any, **options: Any) -> Any:
    """Return what ``frame.apply(func, **options)`` returns, which calls a function with rows."""
    result = FrameOfRows(frame, copy=False).apply(func, **options)
    return pd.Series(result, copy=False) if isinstance(result, RowSeries) else result


def apply_to_objects(block: pd.DataFrame, func: Any, *args: Any, **options: Any) -> Any:
    """Return what ``apply_to_rows`` returns; values stay the objects that the function returned."""
    results = []

    def kept(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        # pandas writes the next row into the one that a function may return.
        results.append(result.copy() if isinstance(result, pd.Series) else result)
        return result

    frame = apply_to_rows(block, kept, *args, **options)
    if len(results) != len(block):
        return frame
    if isinstance(frame, pd.Series):
        return pd.Series(objects_of(results, len(block)), block.index, object)
    if not all(row.index.equals(frame.columns) for row in results):
        return frame.astype(object)
    values = np.empty(frame.shape, object)
    for at, row in enumerate(results):
        values[at] = row.to_numpy(object)
    return pd.DataFrame(values, block.index, frame.columns, object)
