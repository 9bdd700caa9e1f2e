"""The D rows of neighbouring rows, as polars's expressions: rows of SQL have no order."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

Answer = tuple[Any, ...]


def rolling(system: Any, path: str) -> Answer:
    """Average each value with those before it."""
    x = import_module("polars").col("x")
    return (system.scan(path).select(x.rolling_mean(100)).collect(),)


def shift(system: Any, path: str) -> Answer:
    """Sum the differences of neighbours."""
    v = import_module("polars").col("v")
    return (system.scan(path).select((v - v.shift(1)).abs().sum()).collect(),)


def set_index(system: Any, path: str) -> Answer:
    """Read the rows: polars has no labels."""
    return (system.scan(path).collect().select("x"),)


EXPRESSIONS: dict[str, Callable[..., Answer]] = {
    "D08a_rolling": rolling,
    "D08b_shift": shift,
    "D08c_set_index": set_index,
}
