"""What pandas returns as another object is another object: neither sees writes to the other."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode

_coalesce = one_mode.coalesce

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]})


def module(rows: Any) -> Any:
    """Return pandas for its objects, and our functions for ours."""
    return pd if isinstance(rows, pd.DataFrame | pd.Series) else md


#: What leaves frames and series as they are.
OF_BOTH: dict[str, Callable[[Any], Any]] = {
    "[:]": lambda x: x[:],
    "loc[:]": lambda x: x.loc[:],
    "loc[...]": lambda x: x.loc[...],
    "iloc[:]": lambda x: x.iloc[:],
    "iloc[...]": lambda x: x.iloc[...],
    "iloc[0:]": lambda x: x.iloc[0:],
    "copy": lambda x: x.copy(),
    "copy(deep=False)": lambda x: x.copy(deep=False),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pipe": lambda x: x.pipe(lambda same: same),
    "pipe by name": lambda x: x.pipe((lambda n, data: data, "data"), 1),
    "head": lambda x: x.head(9),
    "tail": lambda x: x.tail(9),
    "astype": lambda x: x.astype(x.dtypes.to_dict() if x.ndim == 2 else x.dtype),
    "reindex": lambda x: x.reindex([0, 1, 2]),
    "reindex_like": lambda x: x.reindex_like(x),
    "rename": lambda x: x.rename({}),
    "rename_axis": lambda x: x.rename_axis(None),
    "set_axis": lambda x: x.set_axis([0, 1, 2]),
    "drop": lambda x: x.drop([]),
    "dropna": lambda x: x.dropna(),
    "drop_duplicates": lambda x: x.drop_duplicates(),
    "fillna": lambda x: x.fillna(0),
    "ffill": lambda x: x.ffill(),
    "replace": lambda x: x.replace(99, 1),
    "where": lambda x: x.where(x > 0),
    "mask": lambda x: x.mask(x < 0),
    "round": lambda x: x.round(9),
    "abs": lambda x: x.abs(),
    "+": lambda x: +x,
    "shift": lambda x: x.shift(0),
    "sort_index": lambda x: x.sort_index(),
    "reset_index": lambda x: x.reset_index(drop=True),
    "truncate": lambda x: x.truncate(),
    "take": lambda x: x.take([0, 1, 2]),
    "align": lambda x: x.align(x)[0],
    "combine_first": lambda x: x.combine_first(x),
    "concat": lambda x: module(x).concat([x]),
    "squeeze": lambda x: x.squeeze(),
    "map": lambda x: x.map(lambda value: value),
    "infer_objects": lambda x: x.infer_objects(),
    "constructor": lambda x: (module(x).DataFrame if x.ndim == 2 else module(x).Series)(x),
}
OF_FRAMES: dict[str, Callable[[Any], Any]] = {
    "assign": lambda f: f.assign(),
    "T.T": lambda f: f.T.T,
    "columns": lambda f: f[["a", "b"]],
    "all labels": lambda f: f.loc[:, ["a", "b"]],
    "select_dtypes": lambda f: f.select_dtypes("number"),
    "query": lambda f: f.query("a > 0"),
    "add_prefix": lambda f: f.add_prefix(""),
    "drop(columns=)": lambda f: f.drop(columns=[]),
    "get": lambda f: f.get(["a", "b"]),
}
OF_SERIES: dict[str, Callable[[Any], Any]] = {
    "[...]": lambda s: s[...],
    "to_frame": lambda s: s.to_frame()["a"],
    "repeat": lambda s: s.repeat(1),
    "explode": lambda s: s.explode(),
    "rename": lambda s: s.rename("a"),
}

#: Writes.
TO_FRAMES: dict[str, Callable[[Any], Any]] = {
    "[a] =": lambda f: f.__setitem__("a", 0),
    "loc[0, a] =": lambda f: f.loc.__setitem__((0, "a"), 99),
    "pop": lambda f: f.pop("a"),
}
TO_SERIES: dict[str, Callable[[Any], Any]] = {
    "loc[0] =": lambda s: s.loc.__setitem__(0, 99),
    "[...] =": lambda s: s.__setitem__(..., 5),
}


def pair(rows: Any, call: Callable[[Any], Any], write: Callable[[Any], Any], to: int) -> Any:
    """Return an object and what a call made of it, after one of them was written to."""
    both = rows, call(rows)
    write(both[to])
    return both


def check(rows: Any, lazy: Any, call: Callable[[Any], Any], writes: dict[str, Any]) -> None:
    """Check that writes have the effects that they have in pandas."""
    equal: Any = pd.testing.assert_frame_equal if rows.ndim == 2 else pd.testing.assert_series_equal
    for write in writes.values():
        for to in (0, 1):
            wanted = pair(rows.copy(), call, write, to)
            for value, like in zip(pair(lazy.copy(), call, write, to), wanted, strict=True):
                equal(value.compute(), like)


@pytest.mark.parametrize("name", OF_BOTH | OF_FRAMES)
def test_frames(name: str) -> None:
    """A write to a frame, or to what leaves it as it is, is seen by that one."""
    check(FRAME, md.DataFrame(FRAME, chunk_size=2), (OF_BOTH | OF_FRAMES)[name], TO_FRAMES)


@pytest.mark.parametrize("name", OF_BOTH | OF_SERIES)
def test_series(name: str) -> None:
    """A write to a series, or to what leaves it as it is, is seen by that one."""
    check(FRAME.a, md.Series(FRAME.a, chunk_size=2), (OF_BOTH | OF_SERIES)[name], TO_SERIES)


@pytest.mark.parametrize("name", ["[:]", "copy", "head", "assign", "drop"])
def test_names_of_columns(name: str) -> None:
    """A name that is set on the labels of columns is theirs, and of no other frame."""
    call = (OF_BOTH | OF_FRAMES)[name]
    named = {"columns.name =": lambda f: setattr(f.columns, "name", "n")}
    check(FRAME, md.DataFrame(FRAME, chunk_size=2), call, named)


def test_names_of_earlier_columns() -> None:
    """A name that is set on labels that a frame had before changes nothing."""
    frame = md.DataFrame(FRAME)
    labels = frame.columns
    assert frame.columns is labels
    frame["c"] = 1
    labels.name = "n"
    assert frame.columns.name is None
    assert frame.compute().columns.name is None


@pytest.mark.parametrize("key", [..., (..., "a"), (0, ...), (..., slice(1, 2), "a"), (..., ...)])
def test_ellipsis(key: Any) -> None:
    """As in pandas, an ellipsis stands for all rows, or all columns, and is there once."""
    frame = md.DataFrame(FRAME, chunk_size=2)
    try:
        wanted = FRAME.loc[key]
    except pd.errors.IndexingError as error:
        with pytest.raises(pd.errors.IndexingError, match=str(error).split("'")[0]):
            frame.loc[key]
    else:
        assert frame.loc[key].compute().equals(wanted)
