"""Rows by position of frames of any size: the rest is never made, and labels stay right."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.compilation.passes import run_passes
from marsdask.core.config import option_context
from marsdask.core.errors import MemoryBudgetError, ResultsTooLarge
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.sizes import numbers, total
from marsdask.dataframe.labels import assignment, names
from tests.dataframe.tables import equal

#: Rows of more than a megabyte, and of far more than any machine has.
ROWS, MANY = 200_000, 10**12

#: Selections of a series of numbers, by both libraries.
SERIES = {
    "head": lambda s, _: s.head(),
    "head-but": lambda s, _: s.head(3 - len(s)),
    "tail": lambda s, _: s.tail(),
    "iloc-run": lambda s, n: s.iloc[n // 2 : n // 2 + 3],
    "iloc-steps": lambda s, n: s.iloc[7 :: n // 5],
    "iloc-reversed": lambda s, n: s.iloc[:: -n // 5],
    "iloc-of-iloc": lambda s, n: s.iloc[n // 2 :].iloc[::-2].iloc[1:4],
    "iloc-list": lambda s, n: s.iloc[[5, n - 1, -2, 5, 0]],
    "iloc-one": lambda s, n: s.iloc[n // 2 :].iloc[:1],
    "getitem": lambda s, n: s[:: n // 4],
    "loc-run": lambda s, _: s.loc[5:8],
    "loc-steps": lambda s, n: s.loc[n - 9 :: 3],
    "loc-reversed": lambda s, _: s.loc[8:3:-2],
    "loc-list": lambda s, n: s.loc[[5, n - 1, 3]],
    "loc-few-of-many": lambda s, n: s.loc[n - 2 : 2 * n],
    "sample": lambda s, _: s.sample(4, random_state=np.random.default_rng(3)),
    "arithmetic": lambda s, _: (s * 2 + 1).head(),
    "operands": lambda s, n: (s - s * 2).iloc[n // 3 : n // 3 + 4],
    "comparison": lambda s, _: (s > 3).iloc[2:6],
    "cast": lambda s, _: s.astype("f4").tail(2),
    "index": lambda s, _: s.index.to_series().iloc[3:6],
    "to_frame": lambda s, _: s.to_frame("a").assign(b=lambda d: d.a * 2).tail(3),
    "reset_index": lambda s, n: s.reset_index().iloc[n // 2 : n // 2 + 2],
    "renumbered": lambda s, n: s.iloc[2 : n - 5].reset_index(drop=True).tail(3),
    "shift": lambda s, _: s.shift(2).head(),
    "shift-up": lambda s, _: s.shift(-2).iloc[3:7:2],
    "diff": lambda s, _: s.diff().iloc[5:9],
    "cumsum": lambda s, _: s.cumsum().iloc[[4, 2]],
    "cummax": lambda s, _: s.cummax().head(3),
    "rolling": lambda s, _: s.rolling(3).sum().head(),
    "rolling-centered": lambda s, _: s.rolling(5, center=True).sum().head(),
    "expanding": lambda s, _: s.expanding().sum().iloc[3:5],
    "ewm": lambda s, _: s.ewm(2).mean().head(),
    "ffill": lambda s, _: s.astype(float).ffill().head(),
    "rename": lambda s, _: s.rename("q").head(2),
}
SERIES |= {
    "clip": lambda s, _: s.clip(3, 9).iloc[2:5],
    "where": lambda s, _: s.where(s > 5, 0).iloc[5:7],
    "mask": lambda s, _: s.mask(s > 5, 0).iloc[5:7],
    "fillna": lambda s, _: (s / 2).fillna(0).head(),
    "floordiv": lambda s, _: (s // 2).clip(1).iloc[1:5],
    "truncate": lambda s, n: s.truncate(n - 3),
    "drop": lambda s, n: s.drop([5, 0, n - 1, 5]).iloc[3:6],
    "iloc-set": lambda s, _: written(s, "iloc", 5).iloc[4:7],
    "iloc-set-list": lambda s, _: written(s, "iloc", [5, -1]).iloc[[4, 5, -1]],
    "iloc-set-steps": lambda s, _: written(s, "iloc", slice(5, None, 2)).iloc[4:8],
    "loc-set": lambda s, _: written(s, "loc", 5).iloc[4:7],
    "loc-set-list": lambda s, n: written(s, "loc", [5, n - 1]).iloc[[4, 5, -1]],
    "loc-set-run": lambda s, n: written(s, "loc", slice(5, n // 2)).iloc[[4, 5, n // 2, -1]],
}
SERIES |= {
    "map": lambda s, _: s.map(abs).iloc[5:7],
    "map-dict": lambda s, _: s.map({5: 1, 6: 2}).iloc[5:7],
    "apply": lambda s, _: s.apply(increased).iloc[5:7],
    "transform": lambda s, _: s.transform(increased).tail(2),
    "rows": lambda s, _: s.to_frame("a").map(increased).iloc[5:7],
    "combine": lambda s, _: s.combine(s, max).iloc[5:7],
    "replace": lambda s, _: s.replace(5, 0).iloc[5:7],
    "cut": lambda s, _: library(s).cut(s, [0, 5, 9]).iloc[5:7],
    "texts": lambda s, _: s.astype(str).str.len().tail(2),
    "to_datetime": lambda s, _: library(s).to_datetime(s).head(3),
}
SERIES["concat"] = lambda s, n: library(s).concat([s, s]).iloc[n - 2 : n + 2]
SERIES["concat-renumbered"] = lambda s, _: library(s).concat([s, s], ignore_index=True).tail(2)


def increased(value):
    """Add one."""
    return value + 1


def written(rows, indexer, key):
    """Return a series to which a number was written by ``loc`` or ``iloc``."""
    rows = rows.copy()
    getattr(rows, indexer)[key] = 7
    return rows


def library(rows):
    """Return the module that an object is of."""
    return pd if isinstance(rows, pd.Series) else md


def few(collection):
    """Check that a plan has few nodes and chunks, and return the collection."""
    nodes = run_passes(Graph([collection.node]), Plan(workers=2, budget=2**33)).nodes
    assert len(nodes) < 40
    assert sum(math.prod(map(len, node.chunks)) for node in nodes) < 200
    assert max(numbers([total(node.chunks[0]) for node in nodes if node.chunks])) < 1000
    return collection


@pytest.mark.parametrize("name", SERIES)
def test_selections_of_rows(name):
    """Values and labels are those of pandas, and nothing else is made of far more rows."""
    program = SERIES[name]
    want = program(pd.Series(np.arange(ROWS)), ROWS)
    with pytest.MonkeyPatch.context() as patch:
        for module in (assignment, names):
            patch.setattr(module, "MANY_ROWS", ROWS)
        equal(program(md.Series(mt.arange(ROWS, chunk_size=30_000)), ROWS), want)
    few(program(md.Series(mt.arange(MANY)), MANY)).compute()


def test_rows_of_wide_tensors():
    """Frames of tensors of two axes, and tensors of frames."""
    frame = md.DataFrame(mt.ones((MANY, 3)), columns=list("abc"))
    want = pd.DataFrame(np.ones((2, 3)), [MANY - 2, MANY - 1], list("abc"))
    equal(few(frame.tail(2)), want)
    equal(few(frame.loc[MANY - 2 :, ["c", "a"]]), want[["c", "a"]])
    assert frame.loc[5, "b"].compute() == 1
    assert (md.Series(mt.arange(MANY)) + 1).to_tensor()[5:7].compute().tolist() == [6, 7]
    with pytest.raises(KeyError):
        frame.loc[MANY]


@pytest.mark.parametrize("count", [10**12, 10**7])
def test_ranges_of_numbers_are_made_by_chunks(count):
    """A long range is no list of its numbers in the client."""
    given = range(7, 7 + 5 * count, 5)
    rows = md.Series(given, name="v").iloc[-2:]
    equal(rows, pd.Series(given[-2:], range(count)[-2:], name="v"))


REFUSED = {
    "compute": lambda s: s.compute(),
    "execute": lambda s: s.execute(),
    "items": lambda s: next(iter(s.items())),
    "list": lambda s: next(iter(s)),
    "sort": lambda s: s.sort_values(ascending=False).compute(),
    "sort-execute": lambda s: s.sort_values(ascending=False).execute(),
    "sort-head": lambda s: s.sort_values(ascending=False).head().compute(),
    "rank": lambda s: s.rank().sum().compute(),
    "merge": lambda s: s.to_frame("a").merge((s + 1).to_frame("a"), on="a").a.sum().compute(),
    "join": lambda s: s.to_frame("a").join((s + 1).to_frame("b")[::-1]).b.sum().compute(),
    "duplicated": lambda s: s.duplicated().sum().compute(),
    "tensor-sort": lambda s: mt.sort(mt.arange(len(s))[::-1]).execute(),
    "to_pandas": lambda s: s.to_pandas(),
    "to_numpy": lambda s: s.to_numpy(),
    "dates": lambda s: md.date_range("2000", periods=len(s), freq="us").compute(),
    "broadcast": lambda _: mt.broadcast_to(1, (10**7, 10**7)).compute(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_huge_results_are_refused_before_they_are_made(name):
    """The error names the size and the limit; the client has allocated little by then."""
    rows = md.Series(mt.arange(MANY))
    with option_context({"memory_limit": 2**31}):
        tracemalloc.start()
        try:
            with pytest.raises((MemoryBudgetError, ResultsTooLarge), match="GiB"):
                REFUSED[name](rows)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 100 * 2**20


def test_samples_of_many_rows_need_a_new_generator():
    """Old generators shuffle the positions of all rows."""
    rows = md.Series(mt.arange(MANY))
    with pytest.raises(NotImplementedError, match="default_rng"):
        rows.sample(3, random_state=0)
    with pytest.raises(ValueError, match="Please enter a value for"):
        rows.sample(3, frac=0.1, random_state=np.random.default_rng(0))
    with pytest.raises(NotImplementedError, match="one chunk"):
        rows.sample(frac=0.5, random_state=np.random.default_rng(0))
    assert len(rows.sample(3, replace=True, random_state=0).compute()) == 3
    assert len(rows.sample(3).compute()) == 3
