"""The methods and functions that only Mars's frames have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.compat import dataframe as old
from marsdask.compat.frames import methods as frame_methods

RAW = pd.DataFrame({"a": [1.0, 2.0, 2.0], "b": [1, 1, 2]})


@pytest.fixture(autouse=True)
def offered() -> Iterator[Any]:
    old.offer()
    yield md.DataFrame(RAW, chunk_size=2)
    old.withdraw()
    for kind, methods in frame_methods.METHODS.items():
        assert not methods.keys() & vars(kind).keys()


def test_of_tensors(offered: Any) -> None:
    """Frames and series of tensors, by functions and by methods."""
    raw = np.arange(6).reshape(3, 2)
    lazy = mt.tensor(raw, chunk_size=2)
    expected = pd.DataFrame(raw, columns=["x", "y"])
    for made in (
        old.dataframe_from_tensor(lazy, columns=["x", "y"]),
        offered.from_tensor(lazy, columns=["x", "y"]),
    ):
        pd.testing.assert_frame_equal(made.compute(), expected)
    for made in (
        old.series_from_tensor(lazy[:, 0], name="x"),
        offered["a"].from_tensor(lazy[:, 0], name="x"),
    ):
        pd.testing.assert_series_equal(made.compute(), expected["x"])
    labels = md.Index([3, 1])
    pd.testing.assert_series_equal(
        old.series_from_index(labels, name="n").compute(), pd.Index([3, 1]).to_series(name="n")
    )
    with pytest.raises(NotImplementedError, match="frames in a GPU or sparse"):
        old.dataframe_from_tensor(lazy, sparse=True)


def test_facts(offered: Any) -> None:
    """Sizes of chunks, whether values rise, aggregates of labels and of groups."""
    assert len(offered.execute().fetch_infos(["memory_size"])["memory_size"]) >= 1
    a: Any = offered["a"]
    assert a.check_monotonic().compute()
    assert not a.check_monotonic(strict=True).compute()
    assert not a.check_monotonic(decreasing=True).compute()
    assert offered.index.agg("max").compute() == 2
    groups: Any = RAW.groupby("b")
    pd.testing.assert_frame_equal(offered.groupby("b").kurtosis().compute(), groups.kurt())


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda frame: frame.fetch_log(), "frames have no log"),
        (lambda frame: frame.to_gpu(), "frames in a GPU"),
        (lambda frame: frame.to_vineyard(), "vineyard is not supported"),
        (old.read_ray_dataset, "Ray is not supported"),
    ],
)
def test_refusals(offered: Any, refused: Any, words: str) -> None:
    """What means nothing here says what to use."""
    with pytest.raises(NotImplementedError, match=words):
        refused(offered)


def test_groups_say_what_they_are() -> None:
    """Of a frame or of a column, and by what."""
    frame: Any = md.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert repr(frame.groupby(["a", "b"]).execute()) == "DataFrameGroupBy <by=['a', 'b']>"
    assert repr(frame.groupby("a")["b"]) == "SeriesGroupBy <by=['a']>"
