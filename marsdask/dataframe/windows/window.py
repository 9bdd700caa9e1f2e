"""Statistics by name, for rolling, expanding and exponentially weighted windows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol, Self
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from marsdask.core.collection import Collection
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_methods
from marsdask.core.snapshots.functions import function_name

from ..elementwise.rowwise import columns_at, rowwise
from ..nodes.frame_node import FrameNode, S, dtypes_of, is_row
from ..rows import labels_below
from ..whole.fallback import missing_attribute, with_fallback
from ..whole.origin import MadeOfRows

if TYPE_CHECKING:
    from ..frame import DataFrame


class WindowStatistic(Protocol):
    """A statistic of windows as a method."""

    def __get__(self, obj: Windows[S], owner: Any, /) -> Callable[..., S]: ...


#: Statistics of two columns.
OF_PAIRS = ("corr", "cov")

#: What windows tell of themselves.
SETTINGS = {
    *("adjust", "alpha", "center", "closed", "com", "halflife", "ignore_na", "method"),
    *("min_periods", "ndim", "on", "span", "step", "times", "win_type", "window"),
}

Options = tuple[tuple[str, Any], ...]


def check_method(name: str, method: Any) -> None:
    """Raise for what is no way to compute windows, and for that of all columns at once."""
    if method not in ("single", "table"):
        raise ValueError(f"method must be 'table' or 'single', not {method!r}")
    if method == "table":
        raise NotImplementedError(
            f"{name}(method='table') is not supported; use one column at a time"
        )


def statistic(name: str, kind: str = "Rolling") -> WindowStatistic:
    """Return the statistic of that name as a method."""

    def call(self: Any, *args: Any, **options: Any) -> Any:
        return self._statistic(name, args, options)

    call.__name__ = name
    call.__doc__ = f"Return the {name} of each row's window. See pandas.api.typing.{kind}.{name}."
    return typed("WindowStatistic", call)


@public_methods
@with_fallback
class Windows(MadeOfRows, Generic[S]):
    """The windows of rows that belong to each row; methods are statistics of them."""

    kind: ClassVar[str]
    """The name of the method of pandas that makes them."""
    _theirs: ClassVar[type]
    """The class of pandas."""
    narrows: ClassVar[bool] = True
    """Whether columns that are not asked for can be left out before."""

    def __init__(self, obj: S, how: Options, selection: Any = None) -> None:
        self._obj = obj
        self._how = how
        self._selection = selection

    def _node(self, source: Node, name: str, kwargs: Options) -> Node:
        """Return the statistics of windows; ``kwargs`` are those of :func:`window_values`."""
        raise NotImplementedError

    @property
    def _settings(self) -> Options:
        """The arguments that kernels pass to pandas."""
        return self._how

    @property
    def _meta(self) -> Any:
        return windows_of(self._obj.node.meta, self.kind, self._settings, self._selection)

    def __getitem__(self, key: Hashable | list[Any]) -> Self:
        """Return the windows of some columns."""
        selection = tuple(key) if isinstance(key, list | pd.Index) else key
        windows = type(self)(self._obj, self._how, selection)
        _ = windows._meta  # raises at once, as in pandas
        return windows

    def __iter__(self) -> NoReturn:
        raise NotImplementedError(
            f"iteration over the windows of {self.kind}() is not supported; use to_pandas() before "
            f"{self.kind}()"
        )

    def __getattr__(self, name: str) -> Any:
        if name in SETTINGS:
            theirs = self._meta
            if name in vars(theirs) or hasattr(type(theirs), name):  # not a column of that name
                return getattr(theirs, name)
        meta = self._obj.node.meta
        if isinstance(meta, pd.DataFrame) and name in meta.columns:
            return self[name]
        return missing_attribute(
            self, name, self._theirs, f"to_pandas() before {self.kind}(), or shift() and arithmetic"
        )

    def _statistic(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        for keyword in ("engine", "engine_kwargs"):
            if options.pop(keyword, None) is not None:
                raise NotImplementedError(
                    f"{self.kind}().{name}({keyword}=) is not supported; use its default"
                )
        if name in OF_PAIRS:
            return self._of_pairs(name, *args, **options)
        if self.narrows and (self._selection is not None or "numeric_only" in options):
            return self._narrowed(options)._statistic(name, args, options)
        kwargs = self._kwargs(name, self._selection, args, options)
        self._check_types(name, options)
        return self._stepped(self._made(self._node(self._source(), name, kwargs)))

    def _narrowed(self, options: dict[str, Any]) -> Self:
        """Return the windows of the chosen columns only."""
        columns = self._chosen()
        if options.pop("numeric_only", False) and columns.ndim == 2:
            columns = columns.select_dtypes("number", "timedelta")
        return type(self)(columns, self._how)

    def _kwargs(self, name: str, selection: Any, args: Any, options: dict[str, Any]) -> Options:
        values = (args, tuple(sorted(options.items())))
        keys = ("kind", "how", "selection", "name", "args", "options")
        return tuple(zip(keys, (self.kind, self._settings, selection, name, *values), strict=True))

    def _made(self, node: Node) -> Any:
        is_column = self._obj.ndim == 2 and isinstance(node.meta, pd.Series)
        return type(rowwise(first_column, self._obj) if is_column else self._obj)(node)

    def _stepped(self, values: Any) -> Any:
        """Return the values of those windows that are asked for."""
        return values

    def _source(self) -> Node:
        node: Node = self._obj.node
        return node

    def _check_types(self, name: str, options: dict[str, Any]) -> None:
        """Raise at once for types for which pandas raises if there are rows."""
        if name == "count" or options.get("numeric_only"):
            return
        rows = self._chosen().node
        if isinstance(rows, FrameNode) and rows.types_by_rows:
            return  # chunks tell
        meta = rows.meta
        times = dict(self._how).get("on")
        if meta.ndim == 2 and times is not None and times in meta.columns:
            meta = meta.drop(columns=times)
        for dtype in dtypes_of(meta):
            if isinstance(dtype, pd.CategoricalDtype) and is_numeric_dtype(dtype.categories.dtype):
                raise NotImplementedError(
                    f"{self.kind}() of categories is not supported; use "
                    "astype(column.cat.categories.dtype)"
                )
            # Objects may be numbers: chunks tell.
            if not is_numeric_dtype(dtype) and dtype != np.dtype(object):
                raise pd.errors.DataError(f"Cannot aggregate non-numeric type: {dtype}")

    def _of_pairs(self, name: str, other: Any = None, pairwise: Any = None, **options: Any) -> Any:
        """Return a statistic of two columns."""
        own = self._chosen()
        if not isinstance(other, Collection) or is_row(other.node) or own.ndim > 1:
            raise NotImplementedError(
                f"{self.kind}().{name}() of all pairs of columns is not supported; use "
                f"frame.a.{self.kind}(...).{name}(frame.b)"
            )
        del pairwise  # there is one pair
        rows: Any = other
        if rows.ndim > 1:
            columns = {label: self._of_pairs(name, rows[label], **options) for label in rows}
            return beside(list(columns.values()), pd.Index(list(columns)))
        pair = rowwise(joined_columns, own, other, columns=pd.RangeIndex(2))
        node = self._node(pair.node, name, self._kwargs(name, None, (), options))
        values = self._stepped(type(own)(node))
        return values.rename(own.name if own.name == rows.name else None)

    def _chosen(self) -> Any:
        key = self._selection
        if key is None:
            return self._obj
        return self._obj[list(key) if isinstance(key, tuple) else key]

    def agg(self, func: Any = None, *args: Any, **kwargs: Any) -> S | DataFrame:
        """Return one or several statistics of each row's window.

        See pandas.api.typing.Rolling.agg. Functions of the user get the values of a window.
        """
        result: S | DataFrame = self._aggregate(func, args, kwargs)
        return result

    aggregate = agg

    def _aggregate(self, func: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(func, str):
            return getattr(self, func)(*args, **kwargs)
        if callable(func):
            if dict(self._how).get("win_type") is not None:
                raise NotImplementedError("agg() of a function of weighted windows; use a name")
            return typed("Any", self).apply(func, args=args, kwargs=kwargs)
        if not isinstance(func, list | tuple | dict):
            raise TypeError(f"agg() expects a function, a list or a dict, got {func!r}")
        if dict(self._how).get("on") is not None:
            raise NotImplementedError(
                f"{self.kind}(on=).agg() of several is not supported; use set_index()"
            )
        columns = self._chosen()
        if isinstance(func, dict):
            return self._by_key(columns, func, args, kwargs)
        labels = [item if isinstance(item, str) else function_name(item) for item in func]
        if any(item in func[:at] for at, item in enumerate(func)):
            raise pd.errors.SpecificationError(
                "Function names must be unique if there is no new column names assigned"
            )
        if columns.ndim == 1:
            parts = [self._aggregate(item, args, kwargs) for item in func]
            return beside(parts, pd.Index(labels))
        check_labels(columns.columns)
        # Several columns may have one label.
        places = range(len(columns.columns))
        windows = [type(self)(columns_at(columns, at), self._how) for at in places]
        parts = [part._aggregate(list(func), args, kwargs) for part in windows]
        return below(parts, columns.columns)

    def _by_key(self, chosen: Any, func: dict[Any, Any], args: Any, kwargs: Any) -> Any:
        if chosen.ndim == 1:
            parts = [self._aggregate(item, args, kwargs) for item in func.values()]
            return beside(parts, pd.Index(list(func)))
        if missing := [name for name in func if name not in chosen.columns]:
            raise KeyError(f"Label(s) {missing} do not exist")
        if any(isinstance(item, list) for item in func.values()):
            func = {name: item if isinstance(item, list) else [item] for name, item in func.items()}
        check_labels(chosen.columns)
        # A tuple is one label, not a choice of several.
        windows = [self._of_label(chosen, name) for name in func]
        pairs = zip(windows, func.values(), strict=True)
        parts = [part._aggregate(item, args, kwargs) for part, item in pairs]
        labels = pd.Index(list(func)).set_names(chosen.columns.names)
        join = below if any(part.ndim == 2 for part in parts) else beside
        return join(parts, labels)

    def _of_label(self, chosen: Any, name: Any) -> Self:
        """Return the windows of one column."""
        return type(self)(chosen[name], self._how) if isinstance(name, tuple) else self[name]

    def pipe(
        self, func: Callable[..., Any] | tuple[Callable[..., Any], str], *args: Any, **kwargs: Any
    ) -> object:
        """Return what a function of the windows returns. See pandas.api.typing.Rolling.pipe."""
        if isinstance(func, tuple):
            call, name = func
            return call(*args, **{name: self}, **kwargs)
        return func(self, *args, **kwargs)


def beside(parts: list[Any], columns: pd.Index[Any]) -> DataFrame:
    """Return lazy columns of the same rows as one frame."""
    frame: DataFrame = rowwise(joined_columns, *parts, columns=columns)
    return frame


def check_labels(labels: pd.Index[Any]) -> None:
    """Raise pandas's error for tuples that are not labels of several levels."""
    if labels.nlevels == 1 and any(isinstance(label, tuple) for label in labels):
        raise ValueError("Length of names must match number of levels in MultiIndex.")


def below(parts: list[Any], labels: pd.Index[Any]) -> DataFrame:
    """Return lazy frames of the same rows as one frame, each below a label."""
    return beside(parts, labels_below(labels, [part.columns for part in parts]))


def joined_columns(*blocks: Any, columns: Any) -> Any:
    """Return columns of the same rows side by side under other labels."""
    labels = blocks[0].index  # pandas does not find missing ones among those of several levels
    rows = [block.set_axis(labels, axis=0) for block in blocks]
    return pd.concat(rows, axis=1, keys=None).set_axis(columns, axis=1)


def first_column(block: Any) -> Any:
    """Return the first column."""
    return block.iloc[:, 0]


def windows_of(block: Any, kind: str, how: Options, selection: Any) -> Any:
    """Return the windows that pandas makes of some rows."""
    windows = getattr(block, kind)(**dict(how))
    if selection is None:
        return windows
    return windows[list(selection) if isinstance(selection, tuple) else selection]


def _without_rows(block: Any, kind: str, how: Options, *call: Any) -> Any:
    """Return a statistic of no rows: pandas leaves out a column of windows that is the labels."""
    is_time = block[dict(how)["on"]].dtype.kind not in "iufO"
    others = block.set_axis(pd.RangeIndex(0) if is_time else pd.DatetimeIndex([]))
    selection, name, args, options = call
    windows = windows_of(others, kind, how, selection)
    return getattr(windows, name)(*args, **dict(options)).set_axis(block.index)


@kernel(scratch=3.0)
def window_values(
    block: Any, kind: str, how: Options, selection: Any, name: str, args: Any, options: Options
) -> Any:
    """Return a statistic of the windows of some rows."""
    if not len(block) and dict(how).get("on") is not None:
        return _without_rows(block, kind, how, selection, name, args, options)
    if name not in OF_PAIRS:
        return getattr(windows_of(block, kind, how, selection), name)(*args, **dict(options))
    first, second = block.iloc[:, 0], block.iloc[:, 1]
    return getattr(windows_of(first, kind, how, None), name)(second, **dict(options))
