"""NumPy's functions of tensors (NEP 18): lazy, or computed at once into arrays in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, compute

from .protocols import module

#: Functions that change their first argument.
_IN_PLACE = {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}

#: Functions that return text.
_TEXTS = {np.array_repr, np.array_str, np.array2string}

#: Functions of ``numpy.char`` that have another name in ``numpy.strings``.
_CHAR = {getattr(np.char, name): name for name in ("join", "rsplit", "split", "splitlines")}


def array_function(self: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """Call the tensor function for a NumPy function."""
    if not all(issubclass(kind, Collection | np.ndarray) for kind in types):
        return NotImplemented
    if func in _TEXTS or (func in _IN_PLACE and isinstance(_first(args, kwargs), np.ndarray)):
        return _at_once(func, args, kwargs)
    if func is np.einsum_path:
        return _at_once(func, args, kwargs, _stand_in)
    lazy = _namesake(func)
    if isinstance(out := kwargs.get("out"), np.ndarray):
        return _filled(func, out, lazy(*args, **{**kwargs, "out": None}))
    return lazy(*args, **kwargs)


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


def _namesake(func: Callable[..., Any]) -> Any:
    """Return the tensor function of the same name, in the module of the same name."""
    place = module()
    within, name = func.__module__.split(".")[1:], func.__name__
    if func is np.lib.stride_tricks.sliding_window_view:
        within = []  # here it is a submodule's function
    elif func in _CHAR:
        within, name = ["char"], _CHAR[func]
    for step in (*within, name):
        place = getattr(place, step, None)
    if place is None or place is func:
        raise NotImplementedError(
            f"{func.__module__}.{func.__name__}() of tensors is not supported; use compute() first"
        )
    return place


def _filled(func: Callable[..., Any], out: np.ndarray[Any, Any], result: Any) -> Any:
    """Compute into an array in memory."""
    value = np.asarray(result.compute())
    if value.shape != out.shape:
        raise ValueError(
            f"output parameter for {func.__name__} has shape {out.shape}, not {value.shape}"
        )
    np.copyto(out, value)
    return out


def _at_once(
    func: Callable[..., Any], args: Any, kwargs: Any, value: Callable[[Any], Any] | None = None
) -> Any:
    """Call NumPy's function on the values of the tensors, or on the results of ``value``."""
    tensors: dict[int, Any] = {}
    _collect((args, list(kwargs.values())), tensors)
    values = compute(*tensors.values()) if value is None else map(value, tensors.values())
    table = dict(zip(tensors, values, strict=True))
    return func(*_replaced(args, table), **{k: _replaced(v, table) for k, v in kwargs.items()})


def _stand_in(tensor: Any) -> Any:
    """Return an array of a tensor's shape that takes no memory."""
    return np.broadcast_to(np.empty((), tensor.dtype), tensor.shape)


def _collect(item: Any, found: dict[int, Any]) -> None:
    if isinstance(item, Collection):
        found[id(item)] = item
    elif isinstance(item, list | tuple):
        for part in item:
            _collect(part, found)


def _replaced(item: Any, known: dict[int, Any]) -> Any:
    if isinstance(item, Collection):
        return known[id(item)]
    if type(item) in (list, tuple):
        return type(item)(_replaced(part, known) for part in item)
    return item
