"""Tables and ways to cut them, for the tests of frames."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.machine import sizing
from marsdask.core.machine.plan import Plan
from tests.strategies import chunkings

#: What decides between one task and a shuffle, and values at which small tables are shuffled.
THRESHOLDS = {
    "keyed.group_aggregation": {"TREE_ROWS": 2, "SHUFFLED_ROWS": 2, "GROUPED_ROWS": 2},
    "ordered.sort_values": {"SORTED_ROWS": 2, "SORTED_BYTES": 64},
    "ordered.rank": {"SORTED_ROWS": 2, "SORTED_BYTES": 64},
    "keyed.merge": {"BROADCAST": 0, "SHUFFLED": 500},
}
#: The bytes of a memory in which small tables are far too large.
TIGHT = 6400


@contextmanager
def planned(mode: str) -> Iterator[None]:
    """Let the sizes as they are decide, make everything shuffle, or leave memory for few rows."""
    with ExitStack() as stack:
        if mode == "tight":
            plan: ContextVar[Plan] = ContextVar("plan")
            plan.set(Plan(budget=TIGHT))
            stack.enter_context(mock.patch.object(sizing, "current_plan", plan))
        if mode == "shuffled":
            for name, limits in THRESHOLDS.items():
                module = importlib.import_module(f"marsdask.dataframe.{name}")
                for limit, value in limits.items():
                    stack.enter_context(mock.patch.object(module, limit, value))
        yield


def table(rows: int, seed: int = 0, index: str = "range") -> pd.DataFrame:
    """Return a table with repeated keys, missing values and a unique column."""
    rng = np.random.default_rng(seed)
    texts: Any = ["a", "bb", "ä", None]
    frame = pd.DataFrame(
        {
            "k": rng.integers(-2, 3, rows),
            "f": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 9, rows) / 4),
            "s": pd.Series(rng.choice(texts, rows), dtype="str").array,
            "b": rng.random(rows) < 0.5,
            "u": rng.permutation(rows),
            "t": pd.to_datetime(rng.integers(0, 9, rows), unit="D"),
        }
    )
    if index == "labels":
        frame.index = pd.Index(rng.permutation(rows) * 2, name="row")
    elif index == "text":
        frame.index = pd.Index([f"r{i % 5}" for i in range(rows)], dtype="str")
    return frame


@st.composite
def tables(draw: Any, min_rows: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return a table and the same one lazily, cut somehow."""
    rows = draw(st.integers(min_rows, 12))
    frame = table(
        rows, draw(st.integers(0, 99)), draw(st.sampled_from(["range", "labels", "text"]))
    )
    (sizes,) = draw(chunkings((rows,)))
    return frame, md.DataFrame(frame, chunk_size=(sizes,))


def filtered(frame: Any) -> Any:
    """Return some rows; how many, only running tells."""
    return frame[(frame.k >= 0) | (frame.u < 3)]


def equal(lazy: Any, wanted: Any, **options: Any) -> None:
    """Check that a lazy object computes to a pandas one: values, types, labels and their order."""
    found = lazy.compute()
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted, **options)
    elif isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted, **options)
    elif isinstance(wanted, pd.Index):
        pd.testing.assert_index_equal(found, wanted, exact="equiv")
    elif pd.isna(wanted):
        assert pd.isna(found)
    else:
        assert (
            np.isclose(found, wanted)
            if isinstance(wanted, float | np.floating)
            else found == wanted
        )


def same(call: Any, lazy: Any, eager: Any, **options: Any) -> None:
    """Check that a call gives what it gives of a pandas object, or raises the same error."""
    try:
        wanted = call(eager)
    except (ValueError, TypeError, LookupError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            call(lazy).compute()
    else:
        equal(call(lazy), wanted, **options)
