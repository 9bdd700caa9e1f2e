"""Keywords that pandas 3 and scikit-learn lack: methods and functions take them, and warn.

A keyword that only had its default is left out, one that has another name is renamed, and one that
chose something else does that. What has no counterpart raises ``NotImplementedError``.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final, Protocol

import marsdask.dataframe as md
from marsdask.dataframe.keyed.groupby import GroupBy


@dataclass(frozen=True)
class LeftOut:
    """A keyword that means nothing with some values."""

    word: str
    values: tuple[Any, ...] = (None,)
    library: str = "pandas"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        if not any(value is default or value == default for default in self.values):
            raise NotImplementedError(f"{name}={value!r} is gone from {self.library}: {self.word}")
        return method(owner, *args, **kwargs)


@dataclass(frozen=True)
class Renamed:
    """A keyword that has another name today."""

    new: str

    @property
    def word(self) -> str:
        return f"use {self.new}="

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        return method(owner, *args, **{**kwargs, self.new: value})


@dataclass(frozen=True)
class Grouped:
    """The level of an index by whose labels to reduce."""

    word: str = "use groupby(level=)"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        if value is None:
            return method(owner, *args, **kwargs)
        axis = kwargs.pop("axis", 0)
        if args or axis not in (0, None, "index") or kwargs.pop("skipna", True) is not True:
            raise NotImplementedError(
                f"{name}= with axis= or skipna= is not supported: {self.word}"
            )
        return getattr(owner.groupby(level=value), method.__name__)(**kwargs)


@dataclass(frozen=True)
class Filled:
    """The way to fill missing values."""

    word: str = "use ffill() or bfill()"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        keywords = {key: item for key, item in kwargs.items() if item is not None}
        if value is None:
            return method(owner, *args, **kwargs)
        if "value" in keywords or any(argument is not None for argument in args):
            raise ValueError("Cannot specify both 'value' and 'method'.")
        if value not in _WAYS:
            raise ValueError(f"Invalid fill {name}: {value!r}; use one of {', '.join(_WAYS)}")
        return getattr(owner, _WAYS[value])(**keywords)


_WAYS: Final = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}


@dataclass(frozen=True)
class Ignored:
    """A keyword that changed nothing, whatever its value."""

    word: str = "it had no effect"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name, value
        return method(owner, *args, **kwargs)


class Keyword(Protocol):
    """The fate of an old keyword."""

    @property
    def word(self) -> str:
        """Advice on what to write today."""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        """Call a method whose first argument is ``owner``, without the keyword."""


_ANY: Final = (None, True, False, "raise", "ignore")
_ROWS: Final = LeftOut("transpose the frame", (0, None, "index"))
_REDUCTIONS = (
    "all", "any", "count", "kurt", "kurtosis", "max", "mean", "min", "prod", "product", "sem",
    "skew", "std", "sum", "var",
)  # fmt: skip

_ALIGNED: Final[dict[str, Keyword]] = {
    "method": LeftOut("fill afterwards, by ffill() or bfill()"),
    "limit": LeftOut("fill afterwards, by ffill(limit=)"),
    "fill_axis": LeftOut("fill afterwards", (0, None)),
    "broadcast_axis": LeftOut("use reindex()"),
}
_CHOICES: Final[dict[str, Keyword]] = {
    "errors": LeftOut("it had no effect", _ANY),
    "try_cast": LeftOut("it had no effect", _ANY),
}

#: What methods of frames and series took.
_FRAMES: Final[dict[str, dict[str, Keyword]]] = {
    **{name: {"level": Grouped()} for name in _REDUCTIONS},
    "align": _ALIGNED,
    "ffill": {"downcast": LeftOut("use astype()")},
    "bfill": {"downcast": LeftOut("use astype()")},
    "fillna": {"method": Filled(), "downcast": LeftOut("use astype()")},
    "where": _CHOICES,
    "mask": _CHOICES,
    "replace": {
        "method": LeftOut("use mask() and ffill()", (None, "pad")),
        "limit": LeftOut("use mask() and ffill(limit=)"),
    },
    "pct_change": {"limit": LeftOut("fill before, by ffill(limit=)")},
    "rolling": {"axis": _ROWS},
    "ewm": {"axis": _ROWS},
    "expanding": {"axis": _ROWS, "center": LeftOut("it had no effect", (None, False))},
    "set_axis": {"inplace": LeftOut("assign the result", (False, None))},
    "to_csv": {"line_terminator": Renamed("lineterminator")},
}

#: By class and method.
KEYWORDS: Final[dict[type, dict[str, dict[str, Keyword]]]] = {
    md.DataFrame: _FRAMES,
    md.Series: {
        **_FRAMES,
        "apply": {"convert_dtype": LeftOut("use astype(object)", (True, None))},
        "map": {"arg": Renamed("func")},
        "rename_axis": {"columns": LeftOut("a series has no columns")},
    },
    md.Index: {"fillna": {"downcast": LeftOut("use astype()")}},
    GroupBy: {name: {"axis": _ROWS} for name in ("cummax", "cummin", "cumprod", "cumsum")},
}


def taking(
    method: Callable[..., Any], title: str, old: Mapping[str, Keyword], library: str = "pandas"
) -> Callable[..., Any]:
    """Return a method that takes old keywords, one after the other."""
    first = next(iter(inspect.signature(method).parameters))

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [name for name in old if name in kwargs]
        if not given:
            return method(*args, **kwargs)
        for name in given:
            words = f"{title}({name}=) is gone from {library}"
            warnings.warn(f"{words}: {old[name].word}", DeprecationWarning, stacklevel=2)
        if not args and first in kwargs:
            args = (kwargs.pop(first),)
        return apply(given, *args, **kwargs)

    def apply(given: Sequence[str], self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not given:
            return method(self, *args, **kwargs)
        name, *rest = given
        value = kwargs.pop(name)
        following = wraps(method)(partial(apply, rest))
        return old[name].call(following, self, args, kwargs, name, value)

    return call


_REPLACED: dict[tuple[type, str], Any] = {}


def offer() -> None:
    """Let the methods take what they took."""
    for kind, methods in KEYWORDS.items():
        for name, old in methods.items():
            method = inspect.getattr_static(kind, name, None)
            if (kind, name) in _REPLACED or not inspect.isfunction(method):
                continue
            _REPLACED[kind, name] = vars(kind).get(name)
            setattr(kind, name, taking(method, f"{kind.__name__}.{name}", old))


def withdraw() -> None:
    """Give the classes their methods back."""
    for (kind, name), before in _REPLACED.items():
        if before is None:
            delattr(kind, name)
        else:
            setattr(kind, name, before)
    _REPLACED.clear()
