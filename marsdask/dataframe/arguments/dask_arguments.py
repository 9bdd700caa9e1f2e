"""Arguments of Dask about how to compute, which change no result: sizes decide here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)

#: How partial results are combined.
TREE = ("split_every",)
#: How partial results are combined, and in how many partitions the result is.
PARTS = ("split_every", "split_out", "shuffle_method")
#: How rows are moved.
SHUFFLE = ("shuffle_method", "npartitions")

REDUCTIONS = (
    *("all", "any", "count", "max", "mean", "min", "prod", "product", "sem", "std", "sum", "var"),
    *("skew", "kurt", "kurtosis", "mode", "idxmax", "idxmin", "nlargest", "nsmallest"),
    *("cov", "corr", "describe"),
)
GROUPED = (
    *("agg", "aggregate", "all", "any", "count", "first", "last", "max", "mean", "median", "min"),
    *("prod", "size", "std", "sum", "var", "nunique", "value_counts", "idxmax", "idxmin"),
    *("cov", "corr", "head", "tail"),
)
#: Methods of frames and series, and the arguments of Dask that change no result of theirs.
IGNORED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(REDUCTIONS, TREE),
    **dict.fromkeys(("drop_duplicates", "nunique", "unique", "value_counts"), PARTS),
    "head": ("npartitions",),
    "merge": (*SHUFFLE, "broadcast"),
    "join": SHUFFLE,
    "set_index": (*SHUFFLE, "sorted", "upsample", "partition_size"),
    "sort_values": (*SHUFFLE, "upsample", "partition_size"),
}
#: The same for methods of groups.
IGNORED_OF_GROUPS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(GROUPED, PARTS),
    **dict.fromkeys(("transform", "shift"), ("shuffle_method", "meta")),
    **dict.fromkeys(("apply", "ffill", "bfill"), ("shuffle_method",)),
}
#: Methods that Dask computes at once, unless it is told not to.
COMPUTING = ("head", "tail")


def without(*names: str) -> Callable[[F], F]:
    """Let a function take arguments that change no result."""

    def decorate(func: F) -> F:
        @wraps(func)
        def face(*args: Any, **kwargs: Any) -> Any:
            return func(*args, **{name: kwargs[name] for name in kwargs if name not in names})

        return face  # type: ignore[return-value]

    return decorate


def computing(func: F) -> F:
    """Let a function take ``compute=True``: its result is then computed."""

    @wraps(func)
    def face(*args: Any, compute: bool = False, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        return result.compute() if compute else result

    return face  # type: ignore[return-value]


def ignore_arguments(ignored: dict[str, tuple[str, ...]]) -> Callable[[T], T]:
    """Let the methods of a class take arguments of Dask that change no result."""

    def decorate(cls: T) -> T:
        faces: dict[Any, Any] = {}
        for name, arguments in ignored.items():
            func = vars(cls).get(name)
            if isinstance(func, FunctionType):
                # Two names of one method stay names of one method.
                setattr(cls, name, faces.setdefault(func, without(*arguments)(func)))
        for name in COMPUTING if ignored is IGNORED else ():
            if isinstance(func := vars(cls).get(name), FunctionType):
                setattr(cls, name, computing(func))
        return cls

    return decorate
