"""Frozen frames and series: schemas that many nodes share, which nobody can write to."""

from __future__ import annotations

from typing import Any, Never

import pandas as pd

_REFUSAL = "a schema is shared by all objects of its types, and cannot be changed; copy() it first"


def frozen(meta: Any) -> Any:
    """Return a frame or series without rows that refuses writes; other objects as they are.

    What pandas makes of it is an ordinary frame or series.
    """
    kind = _FROZEN.get(type(meta))
    if kind is None:
        return meta
    copy = meta.copy(deep=False)
    object.__setattr__(copy, "__class__", kind)
    return copy


def thawed(obj: Any) -> Any:
    """Return a frame or series that its owner may write to; other objects as they are."""
    return obj.copy(deep=False) if isinstance(obj, _Frozen) else obj


def _refuse(self: Any, *_args: Any, **_kwargs: Any) -> Never:
    """Refuse a write."""
    del self
    raise TypeError(_REFUSAL)


_Frame: Any = pd.DataFrame
_Series: Any = pd.Series


class _Frozen:
    """Refuses what changes the labels, the types or the values of a pandas object in place."""

    _mgr: Any
    _attrs: Any
    copy: Any
    _ordinary: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return an ordinary object: accessors of pandas make results by the type of their rows."""
        return cls._ordinary(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        # pandas consolidates blocks when it reads them: the types stay.
        if name != "_mgr" or not self._mgr.axes[0].identical(value.axes[0]):
            _refuse(self)
        object.__setattr__(self, name, value)

    __setitem__ = __delitem__ = _refuse
    _set_axis = _update_inplace = _refuse

    @property
    def index(self) -> pd.Index:
        """The row labels: a copy, whose names are the caller's."""
        labels: pd.Index = self._mgr.axes[-1].view()
        return labels

    @property
    def attrs(self) -> dict[Any, Any]:
        """The notes: a copy."""
        return dict(self._attrs)

    @property
    def iloc(self) -> Any:
        """Rows and columns by position, of a copy."""
        return self.copy(deep=False).iloc

    @property
    def loc(self) -> Any:
        """Rows and columns by label, of a copy."""
        return self.copy(deep=False).loc

    @property
    def at(self) -> Any:
        """A value by its labels, of a copy."""
        return self.copy(deep=False).at

    @property
    def iat(self) -> Any:
        """A value by its positions, of a copy."""
        return self.copy(deep=False).iat

    def __reduce_ex__(self, protocol: Any) -> Any:
        del protocol
        return frozen, (self.copy(deep=False),)


class FrozenFrame(_Frozen, _Frame):
    """A frame that refuses writes."""

    _ordinary = _Frame

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    @property
    def columns(self) -> pd.Index:
        """The column labels: a copy, whose name is the caller's."""
        labels: pd.Index = self._mgr.axes[0].view()
        return labels

    insert = isetitem = pop = update = _refuse


class FrozenSeries(_Frozen, _Series):
    """A series that refuses writes."""

    _ordinary = _Series

    @property
    def _constructor(self) -> Any:
        return pd.Series

    @property
    def _constructor_expanddim(self) -> Any:
        return pd.DataFrame


# Messages of pandas name the class.
FrozenFrame.__name__, FrozenSeries.__name__ = "DataFrame", "Series"

_FROZEN: dict[type, Any] = {pd.DataFrame: FrozenFrame, pd.Series: FrozenSeries}
