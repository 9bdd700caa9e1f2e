"""What users give to public functions."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.arguments import (
    in_memory,
    keeps_lazy,
    kept_lazy,
    plain_arguments,
    plain_values,
    planned_in_memory,
)


class NamedPair(NamedTuple):
    """Two items."""

    first: Any
    second: Any


def scalar(value: Any) -> Any:
    """Return a lazy scalar."""
    return mt.tensor(value).sum()


def test_iterators_become_lists() -> None:
    """At any depth, and dict views too: they change with their dict."""
    assert plain_values(iter([1, 2])) == [1, 2]
    assert plain_values(({"a": 1}.keys(), [iter("ab")])) == (["a"], [["a", "b"]])


def test_files_are_not_read() -> None:
    """A buffer is an iterator of lines, but is read by a reader."""
    file = io.StringIO("a\n1\n")
    assert plain_values(file) is file


def test_lazy_scalars_inside_are_computed() -> None:
    """In lists, dicts, slices and named tuples; other containers stay the same objects."""
    assert plain_values([scalar(1), [scalar(2)]]) == [1, [2]]
    assert plain_values({"a": scalar(1)}) == {"a": 1}
    assert plain_values(slice(scalar(1), None)) == slice(1, None)
    assert plain_values(NamedPair(scalar(1), 2)) == NamedPair(1, 2)
    assert type(plain_values(NamedPair(scalar(1), 2))) is NamedPair
    plain = [1, ["a"]]
    assert plain_values(plain) is plain
    assert plain_values([dask.delayed(3), da.ones(2).sum()]) == [3, 2.0]


def test_scalars_that_are_arguments() -> None:
    """They stay lazy, unless the function takes plain values."""
    lazy = scalar(1)
    assert plain_arguments((lazy,), {"a": lazy}) == ((lazy,), {"a": lazy})
    assert plain_arguments((lazy,), {"a": lazy}, scalars_stay=False) == ((1,), {"a": 1})


def test_what_a_function_keeps_lazy() -> None:
    """The mark is found on what a function wraps."""

    @keeps_lazy("items")
    def inner() -> None:
        """Do nothing."""

    def outer() -> None:
        """Do nothing."""

    outer.__wrapped__ = inner  # type: ignore[attr-defined]
    assert kept_lazy(outer) == "items"
    assert kept_lazy(scalar) is None


def test_labels_are_computed() -> None:
    """Lazy rows as labels are values in memory; those of other arguments stay lazy."""

    def choose(frame: Any, columns: Any, values: Any = None) -> Any:
        """Stand for a method."""
        return frame, columns, values

    labels = md.Index(["a", "b"])
    args, kwargs = planned_in_memory(choose, (labels, labels), {"values": labels})
    assert args[0] is labels
    assert args[1].equals(labels.compute())
    assert kwargs["values"] is labels
    assert in_memory({"a": mt.tensor(np.arange(2))}) == {"a": [0, 1]}
    assert in_memory(3) == 3
