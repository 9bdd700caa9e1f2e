"""Programs of few rows run in the caller's thread, with the values and the errors of tasks."""

from __future__ import annotations

import gc
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from dask.callbacks import Callback
from hypothesis import given
from hypothesis import strategies as st

import marsdask
import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.machine.costs import kernel
from marsdask.core.session import Session
from marsdask.dataframe import small_programs
from marsdask.dataframe.nodes.frame_node import SameRows
from marsdask.session import get_default_session
from tests.dataframe.relations.programs import STEPS
from tests.dataframe.relations.test_planning import values
from tests.strategies import draws

FRAME = values(40, 0)

#: Steps that need no task, and no look.
PLAIN = sorted(
    {
        *("where of columns", "right", "left by text", "left by floats", "inner by two"),
        *("label and back", "labels sorted", "labels of two", "numbers as labels", "round"),
        *("sorted by labels", "replace", "query", "eval", "some rows", "upper text", "months"),
        *("text joined", "set", "merge with groups", "clip by columns"),
    }
)


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let programs run as users' do: plans that are checked have tasks."""
    plain = {"verify": False, "coalesce": True, "dataframe.kernels": "auto"}
    with option_context(plain), marsdask.new_session("threads", nthreads=1):
        yield


def direct(lazy: Any) -> Any:
    """Return what runs without tasks."""
    session = get_default_session()
    assert session is not None
    return small_programs.value_of(lazy.node, session)


@draws(12)
@given(steps=st.lists(st.sampled_from(PLAIN), min_size=1, max_size=5))
def test_values(steps):
    """They are those of pandas, and of tasks, in whatever order the steps come."""
    frame: Any = FRAME
    lazy: Any = md.DataFrame(frame)
    for name in steps:
        frame, lazy = STEPS[name](pd, frame), STEPS[name](md, lazy)
        if len(frame) > 400:
            break
    if (found := direct(lazy)) is not None:  # rows of unknown number are looked at
        pd.testing.assert_frame_equal(found, frame)
    pd.testing.assert_frame_equal(lazy.compute(), frame)
    with mock.patch.object(small_programs, "ROWS", -1):
        pd.testing.assert_frame_equal(lazy.compute(), frame)


def ten(d: Any, weights: Any) -> Any:
    """Return a program of ten operations."""
    d = d[d.f > -1]
    d = d.assign(z=d.f * d.u + 1).merge(weights, on="k")
    d = d[d.w < 0.9]
    d = d.assign(v=d.z * d.w).fillna({"v": 0.0})
    return d.groupby("s").agg({"v": "sum", "z": "mean"}).reset_index().sort_values("v").head(3)


def test_ten_operations():
    """Filters, a merge, groups, a sort and a head need no task; results are the caller's."""
    weights = pd.DataFrame({"k": range(5), "w": np.linspace(0, 1, 5)})
    lazy = ten(md.DataFrame(FRAME), md.DataFrame(weights))
    found = direct(lazy)
    pd.testing.assert_frame_equal(found, ten(FRAME, weights))
    pd.testing.assert_frame_equal(lazy.compute(), found)
    source = md.DataFrame(weights)
    for _ in range(2):
        results = source.rename(columns={"w": "x"}), source[["k", "w"]], source.sort_values("k")
        for own in [one.compute() for one in results]:
            own.iloc[0, 1] = 99.0
            own["k"] = 0
            pd.testing.assert_frame_equal(source.compute(), weights)
        source.execute()  # then of what a session holds
    pd.testing.assert_frame_equal(direct(source[source.k > 2]), weights[weights.k > 2])


@kernel(writes=True)
def negated(block: Any) -> Any:
    """Change the numbers of a block in place."""
    block.isetitem(1, -block.w)
    return block


@dataclass(frozen=True, eq=False)
class Negated(SameRows):
    """An operation whose kernel writes."""

    def runs_inline(self) -> bool:
        return True

    @property
    def meta(self) -> Any:
        return self.a.meta

    def tile(self, a: Any) -> Any:
        return self.mapped(negated, a)


def test_kernels_that_write():
    """They are given copies of what a session holds, and of what other operations read."""
    frame = pd.DataFrame({"k": range(5), "w": np.linspace(0, 1, 5)})
    for source in (md.DataFrame(frame), md.DataFrame(frame).execute()):
        found = type(source)(Negated(source.node, "negated"))
        pd.testing.assert_frame_equal(direct(found), frame.assign(w=-frame.w))
        both = direct(found.assign(w=found.w + source.w))
        pd.testing.assert_frame_equal(both, frame.assign(w=0.0))
        pd.testing.assert_frame_equal(source.compute(), frame)


def test_executed():
    """Results are kept with their types and lengths, and later programs read them."""
    weights = pd.DataFrame({"k": range(5), "w": np.linspace(0, 1, 5)})
    wanted = ten(FRAME, weights)
    lazy = ten(md.DataFrame(FRAME), md.DataFrame(weights))
    with mock.patch.object(Session, "compilation", side_effect=AssertionError):
        assert lazy.execute() is lazy
    assert len(lazy) == len(wanted)
    assert lazy.dtypes.equals(wanted.dtypes)
    pd.testing.assert_frame_equal(lazy.fetch(), wanted)
    pd.testing.assert_frame_equal((lazy[["v"]] + 1).execute().fetch(), wanted[["v"]] + 1)
    labels, column = lazy.set_index("s").index.execute(), lazy.v.execute()
    pd.testing.assert_index_equal(labels.fetch(), wanted.set_index("s").index)
    pd.testing.assert_series_equal(column.fetch(), wanted.v)
    with marsdask.new_session("threads", nthreads=1, default=False) as other:
        pd.testing.assert_frame_equal(lazy.compute(session=other), wanted)
    loaded = pickle.loads(pickle.dumps(lazy))
    pd.testing.assert_frame_equal(loaded.compute(), wanted)
    pd.testing.assert_frame_equal(direct(loaded[["v"]] + 1), wanted[["v"]] + 1)
    del lazy, labels, column
    gc.collect()
    session = get_default_session()
    assert session is not None
    assert not session.scheduler._engine.state.items  # type: ignore[attr-defined]


def double(value: Any) -> Any:
    """Return a value twice: a function of the user."""
    return value * 2


OTHERS: dict[str, Any] = {
    "a function": lambda d: d.u.map(double) + 1,
    "a function of groups": lambda d: d.groupby("k").u.agg(double).sort_index(),
    "a number": lambda d: d.u.sum(),
    "with a number": lambda d: d.u - d.u.mean(),
    "several chunks": lambda d: md.DataFrame(FRAME, chunk_size=9).u + 1,
    "many rows": lambda d: md.Series(np.arange(small_programs.ROWS + 1)) + 1,
    "the source": lambda d: d,
    "executed in chunks": lambda d: md.DataFrame(FRAME, chunk_size=9).execute().u * 2,
}


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_what_tasks_run(name):
    """Functions of the user, numbers of all rows, several chunks, and what is held."""
    assert direct(OTHERS[name](md.DataFrame(FRAME))) is None


def test_who_watches_sees_tasks():
    """Callbacks of Dask, checked plans, chunks that users see, and other schedulers."""
    lazy = md.DataFrame(FRAME).u + 1
    assert direct(lazy) is not None
    for options in ({"verify": True}, {"coalesce": False}):
        with option_context(options):
            assert direct(lazy) is None
    seen: list[Any] = []
    with Callback(pretask=lambda key, *_: seen.append(key)):
        lazy.compute()
    assert seen
    with marsdask.new_session("synchronous", default=False) as session:
        assert small_programs.value_of(lazy.node, session) is None


def test_errors_are_those_of_tasks():
    """They name the operation."""
    frame = pd.DataFrame({"a": ["1", "x"]})
    lazy = md.DataFrame(frame).a.astype("int64").to_frame()
    with pytest.raises(ValueError, match=re.escape("'x'")) as found:
        lazy.compute()
    with mock.patch.object(small_programs, "ROWS", -1), pytest.raises(ValueError) as wanted:  # noqa: PT011
        lazy.compute()
    assert str(found.value) == str(wanted.value)
    assert found.value.__notes__ == wanted.value.__notes__
