"""The accessors of a series: ``.str``, ``.dt`` and ``.cat``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.arguments import in_memory, plain_arguments

from ..elementwise.exemplars import by_values
from ..elementwise.rowwise import Member, Method, rowwise
from ..nodes.categories import with_all_categories
from ..whole.calls import called_by_pandas
from ..whole.origin import Access, MadeOfRows
from . import all_rows

if TYPE_CHECKING:
    from ..series import Series


class Accessor(MadeOfRows):
    """An accessor of a series: ``.str``, ``.dt`` or ``.cat``."""

    __slots__ = ("_kind", "_meta", "_rows")
    #: ``[]`` takes any position, so iteration by it would not end.
    __iter__ = None

    def __init__(self, series: Any, kind: str) -> None:
        try:
            getattr(series.node.meta, kind)  # raises for other types at once, as in pandas
        except AttributeError:
            if series.node.settled:
                raise
            series = series.persist()  # only its rows tell its type
            getattr(series.node.meta, kind)
        self._rows = series
        self._meta = series.node.meta
        self._kind = kind

    def __getitem__(self, key: Any) -> Series:
        """Return characters by position. See pandas.Series.str.get."""
        (key,), _ = plain_arguments((key,), {}, scalars_stay=False)
        characters: Series = by_values(Method("__getitem__", self._kind), self._rows, key)
        return characters

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            setattr(getattr(self._meta, self._kind), name, value)  # raises what pandas does
            raise AttributeError(f"{name!r} of an accessor cannot be set")
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return dir(getattr(self._meta, self._kind))

    def __getattr__(self, name: str) -> Any:
        try:
            return self._attribute(name)
        except NotImplementedError as refusal:
            return called_by_pandas(self, Access(name), refusal)

    def _attribute(self, name: str) -> Any:
        if (self._kind, name) == ("cat", "categories"):
            return with_all_categories(self._rows).node.meta.cat.categories
        attribute = getattr(getattr(self._meta, self._kind), name)
        if callable(attribute):
            return partial(self._call, name)
        if computed := all_rows.PROPERTIES.get((self._kind, name)):
            return computed(self._rows)
        if not isinstance(attribute, pd.Series | pd.DataFrame):
            return attribute  # a fact of the type: the unit, the time zone, the categories
        return rowwise(Member(name, self._kind), self._rows)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        args = tuple(list(item) if isinstance(item, Iterator) else item for item in args)
        try:
            return self._called(name, *args, **kwargs)
        except NotImplementedError as refusal:
            return called_by_pandas(self, Access(name, args, kwargs), refusal)

    def _called(self, name: str, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = plain_arguments(args, kwargs, scalars_stay=False)
        if name != "cat":  # which takes rows
            args = tuple(map(in_memory, args))
            kwargs = {key: in_memory(item) for key, item in kwargs.items()}
        if method := all_rows.METHODS.get((self._kind, name)):
            return method(self._rows, *args, **kwargs)
        if self._kind == "str" and (wide := all_rows.WIDE.get(name)):
            return wide(self._rows, name, *args, **kwargs)
        if name == "tz_localize" and _is_by_neighbours(*args, **kwargs):
            raise NotImplementedError(
                "dt.tz_localize(ambiguous='infer') is not supported, since it looks at all rows; "
                "use ambiguous='NaT', True or False"
            )
        call = by_values if self._kind == "str" else rowwise
        return call(Method(name, self._kind), self._rows, *args, **kwargs)


def _is_by_neighbours(tz: Any = None, ambiguous: Any = "raise", **options: Any) -> bool:
    del tz, options
    return isinstance(ambiguous, str) and ambiguous == "infer"
