"""Rows, labels and functions in containers of all kinds, and what stands for a flag."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.test_lazy_arguments import (
    FRAME,
    ROWS,
    TRUTH,
    by_levels,
    change,
    check,
    module,
    result,
)


def rows_of(frame: Any, values: Any) -> Any:
    """Return pandas's rows for its frames, and lazy ones for ours."""
    return getattr(module(frame), type(values).__name__)(values)


def increment(value: Any) -> Any:
    """Add one."""
    return value + 1


#: Further calls, and what is given in place of a list.
CONTAINERS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "agg of a set": (lambda f, v: f.b.agg(v), {"max"}),
    "agg of an array": (lambda f, v: f[["a", "b"]].agg(v), np.array(["sum", "max"])),
    "agg of columns": (lambda f, v: f.agg({"a": v}), pd.Index(["sum", "max"])),
    "agg of an iterator": (lambda f, v: f.b.rolling(2).agg(v), iter(["sum", "max"])),
    "transform": (lambda f, v: f[["a", "b"]].transform(v), np.array(["cumsum", "abs"])),
    "drop_duplicates": (lambda f, v: f.drop_duplicates(subset=v), {"a", "s"}),
    "drop_duplicates, array": (lambda f, v: f.drop_duplicates(subset=v), np.array(["a", "s"])),
    "duplicated": (lambda f, v: f.duplicated(subset=v), pd.Index(["a", "s"])),
    "groupby()[]": (lambda f, v: f.groupby("a")[v].count(), np.array(["b", "s"])),
    "drop": (lambda f, v: f.drop(v), frozenset({1, 3})),
    "drop, dict": (lambda f, v: f.drop(v), {1: "x"}),
    "index.drop": (lambda f, v: f.index.drop(v), {1, 3}),
    "where": (lambda f, v: f.a.where(v, 0), tuple(TRUTH)),
    "where, index": (lambda f, v: f.a.where(v, 0), pd.Index(TRUTH)),
    "where(other)": (lambda f, v: f.a.where(f.a > 1, v), range(4)),
    "index.where": (lambda f, v: f.index.where(v, 0), tuple(TRUTH)),
    "clip": (lambda f, v: f.a.clip(v, 3), range(4)),
    "clip, index": (lambda f, v: f.a.clip(v, 3), pd.Index([0, 1, 3, 2])),
    "case_when": (lambda f, v: f.a.case_when([(f.a > 1, v)]), tuple(ROWS)),
    "between": (lambda f, v: f.a.between(v, 3), (1, 1, 4, 0)),
    "between, array": (lambda f, v: f.a.between(1, v), np.array([1, 1, 4, 0])),
    "+": (lambda f, v: f.a + v, range(4)),
    "==": (lambda f, v: f.a == v, range(4)),
    "add of rows": (lambda f, v: f[["a", "b"]].add(v, axis=0), range(4)),
    "set_index of rows": (lambda f, v: f.set_index(v), map(abs, ROWS)),
    "loc of a deque": (lambda f, v: f.loc[v], deque([1, 3])),
    "assign of a deque": (lambda f, v: f.assign(n=v), deque(ROWS)),
    "sort_values(ascending=)": (lambda f, v: f.index.sort_values(ascending=v), ""),
    "sort_values(return_indexer=)": (
        lambda f, v: f.index.sort_values(ascending=v, return_indexer=True)[1],
        False,
    ),
    "max(skipna=)": (lambda f, v: f.index.max(skipna=v), "x"),
    "rename(inplace=)": (
        lambda f, v: change(f.index, lambda o: o.rename(name="q", inplace=v)),
        True,
    ),
    "intersection(sort=)": (lambda f, v: f.index[::-1].intersection([3, 1], sort=v), None),
    "union(sort=)": (lambda f, v: f.index[::-1].union([9, 7], sort=v), np.False_),
    "take(allow_fill=)": (lambda f, v: f.index.take([1, 3], allow_fill=v), False),
    "concat(sort=)": (lambda f, v: module(f).concat([f[["b"]], f[["a"]]], sort=v), np.True_),
    "concat(sort=None)": (lambda f, v: module(f).concat([f, f], sort=v), None),
    "stack(sort=None)": (lambda f, v: f[["a"]].stack(sort=v), None),
    "rolling(method=)": (lambda f, v: f.a.rolling(2, method=v).sum(), "x"),
    "expanding(min_periods=)": (lambda f, v: f.b.expanding(v).sum(), None),
    "apply of several": (lambda f, v: f.a.apply(v), ("sum", "max")),
    "apply of a dict": (lambda f, v: f.a.apply(v), {"p": "sum", "q": "min"}),
    "apply of a set": (lambda f, v: f.a.apply(v), {"max"}),
    "apply across columns": (lambda f, v: f[["a", "b"]].apply(v, axis=1), ["sum", "max"]),
    "agg across columns": (lambda f, v: f[["a", "b"]].agg(v, axis=1), ("mean", sum)),
    "agg of integers across": (lambda f, v: f[["a"]].agg(v, axis=1), ["max", "min"]),
    "clip of one row": (lambda f, v: f[["a", "b"]].clip(v), np.array([[2.0, 5.0]])),
    "clip by both": (lambda f, v: f[["a", "b"]].clip(v, 7), np.array([[2.0, 5.0]])),
    "add of lists": (lambda f, v: f[["a", "b"]].add(v), [(5, 2)] * 4),
    "sort_values of a tuple": (lambda f, v: f.sort_values(v), ("a", "s")),
    "apply of functions": (lambda f, v: f.a.apply(v), [np.sqrt, abs, increment]),
    "apply of a frame": (lambda f, v: f[["a", "b"]].apply(v), (np.sqrt, increment)),
    "agg of a frame": (lambda f, v: f[["a", "b"]].agg(v), ["abs", "cumsum"]),
    "apply of changes": (lambda f, v: f.a.apply(v), ["abs", np.sqrt]),
    "agg of changes": (lambda f, v: f.b.agg(v), ["abs", "cumsum"]),
    "apply of both": (lambda f, v: f.b.apply(v), ["abs", "sum"]),
    "filter of rows": (lambda f, v: f.a.filter(items=v), [3, 9, 1]),
    "filter of no rows": (lambda f, v: f.a.filter(items=v), []),
    "filter of a frame's rows": (lambda f, v: f.filter(items=v, axis=0), (3, 1, 3)),
    "filter of equal rows": (lambda f, v: f.set_index("a").b.filter(items=v), [1]),
    "sort_index, no flag": (lambda f, v: f.sort_index(ascending=v), []),
    "sort_index, no flag, others": (lambda f, v: f.set_index("a").sort_index(ascending=v), []),
    "sort_index, a flag": (lambda f, v: f.sort_index(ascending=v), [False]),
    "sort_index down, a flag": (lambda f, v: f[::-1].sort_index(ascending=v), (False,)),
    "sort_index, flags": (lambda f, v: f.a[::-1].sort_index(ascending=v), [False, True]),
    "isin(level=)": (lambda f, v: f.index.isin([1, 3], level=v), 0),
    "isin(level=name)": (lambda f, v: by_levels(f).index.isin([1], level=v), "a"),
    "isin(level=), none": (lambda f, v: f.index.isin([1, 3], level=v), 1),
    "isin(level=), no name": (lambda f, v: f.index.isin([1, 3], level=v), "q"),
    "merge of a tuple": (lambda f, v: f.merge(f, on=v), ("a", "s")),
    "merge of tuples": (lambda f, v: f.merge(f, left_on=v, right_on=list(v)), ("a", "s")),
    "merge of a set": (lambda f, v: f.merge(f, on=v), {"a", "s"}),
    "join of a tuple": (lambda f, v: f[["a", "t"]].join(by_levels(f), on=v), ("a", "t")),
    "groupby(level=)": (lambda f, v: by_levels(f).b.groupby(level=v).sum(), pd.array(["t"])),
    "groupby(level=), array": (lambda f, v: f.b.groupby(level=v).sum(), np.array([0])),
    "ascending of an iterator": (lambda f, v: f.index.sort_values(ascending=iter(v)), [False]),
    "sample of a list": (lambda f, v: f.sample(1, weights=v, random_state=3), [0, 1, 0, 2]),
    "sample of an array": (
        lambda f, v: f.a.sample(5, replace=True, weights=v, random_state=3),
        pd.array([0, 1, None, 2]),
    ),
    "sample of a series": (
        lambda f, v: f.a.sample(2, weights=rows_of(f, v), random_state=3),
        pd.Series([4, 4, 3, 5], index=[3, 1, 2, 7]),
    ),
    "sample of labels": (
        lambda f, v: f.sample(2, weights=rows_of(f, v), random_state=3),
        pd.Index([4, 4, 3, 5]),
    ),
    "sample of a column": (lambda f, v: f.sample(2, weights=v, random_state=3), "a"),
    "sample of no column": (lambda f, v: f.sample(2, weights=v, random_state=3), "q"),
    "sample of a name": (lambda f, v: f.a.sample(2, weights=v, random_state=3), "a"),
    "sample of too few": (lambda f, v: f.a.sample(2, weights=v, random_state=3), [1, 2]),
    "sample of less than none": (lambda f, v: f.a.sample(1, weights=v), [1, 2, -1, 3]),
    "sample of columns": (
        lambda f, v: f.sample(2, weights=v, axis=1, random_state=3),
        [1, 1, 2, 0],
    ),
    "sample(ignore_index=)": (
        lambda f, v: f.sample(3, axis=1, random_state=3, ignore_index=v),
        True,
    ),
    "where of one value": (lambda f, v: f[["a", "b"]].where(f[["a", "b"]] > 2, v), (5,)),
    "mask of one value": (lambda f, v: f[["a", "b"]].mask(f[["a", "b"]] > 2, v, axis=1), [5]),
    "clip of a set": (lambda f, v: f.a.clip(v), {1, 2, 3, 4}),
    "add of a set": (lambda f, v: f[["a", "b"]].add(v, axis=0), {1, 2, 3, 4}),
    "iloc of a set": (lambda f, v: f.iloc[v], {1, 2}),
    "loc[:, a] = a set": (
        lambda f, v: change(f, lambda o: o.loc.__setitem__((slice(None), "a"), v)),
        frozenset(ROWS),
    ),
    "sample of a set": (lambda f, v: f.sample(1, weights=v), {1, 2, 3, 4}),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_and_flags(name: str) -> None:
    """Whatever holds rows, labels or functions, and what stands for a flag, is as in pandas."""
    call, value = CONTAINERS[name]
    given = list(value) if isinstance(value, Iterator) else None
    results = [
        result(call, data, value if given is None else iter(given))
        for data in (FRAME, md.DataFrame(FRAME, chunk_size=3))
    ]
    if isinstance(results[0], Exception):
        assert isinstance(results[1], type(results[0]))
    else:
        assert not isinstance(results[1], Exception), results
        check(results[1], results[0])
