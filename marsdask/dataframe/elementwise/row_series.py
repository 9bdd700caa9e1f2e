"""The rows that a user's function is called with, whose values are found fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from marsdask.core.sizes import total

from ..reduction.fold import assembled
from ..schemas.samples import row
from .exemplars import objects_of
from .rowwise import AlongRows, rowwise

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
    for at, values_of_row in enumerate(results):
        values[at] = values_of_row.to_numpy(object)
    return pd.DataFrame(values, block.index, frame.columns, object)


def has_no_rows(obj: Any) -> bool:
    """Tell whether an object is known to have no rows: pandas then calls no function with them."""
    return total(obj.node.chunks[0]) == 0


def across_columns(frame: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Call named functions with each row, or those of a dict with the rows of its labels."""
    how = {"how": func, "args": args, "options": kwargs}
    if isinstance(func, str):
        return rowwise(RowTransform("transform"), frame, **how)
    if not isinstance(func, dict):
        raise NotImplementedError(
            "transform(axis=1) by a list of functions is not supported; use one at a time"
        )
    labels = pd.Index(list(func), name=frame.node.meta.index.name)
    sample = row(frame.node.meta).iloc[[0] * len(labels)].set_axis(labels)
    like = transformed_rows(sample, **how)
    return assembled(transformed_rows, [frame.loc[list(func)]], like, title="transform", **how)


class RowTransform(AlongRows):
    """Calls a function by its name with each row, which is a column to pandas."""

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        rows = block if len(block) else row(block)
        return transformed_rows(rows, *args, **kwargs).iloc[: len(block)].set_axis(block.index)


def transformed_rows(rows: Any, how: Any, args: Any, options: Any) -> Any:
    """Return what functions make of rows, which are columns to pandas."""
    return rows.transform(how, 1, *args, **options)
