"""Sizes of values: as Dask estimates them, without the global random generators."""

from __future__ import annotations

import random
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.sizeof import SimpleSizeof, sizeof
from scipy import sparse

from marsdask.scheduler.storage.sizes import size_of

Point = namedtuple("Point", "a b c d e f g h i j k l")  # noqa: PYI024 - any subclass of tuples
TEXTS = [f"text {number}" for number in range(1000)]


class ListWithSize(SimpleSizeof, list):  # type: ignore[type-arg]
    """A list that Dask is asked not to look into."""

    def __sizeof__(self) -> int:
        return 12345


VALUES: dict[str, Any] = {
    "list": TEXTS,
    "empty list": [],
    "lists": [[number] * number for number in range(300)],
    "tuple": tuple(TEXTS),
    "subclass of tuple": Point(*TEXTS[:12]),
    "set": set(TEXTS),
    "frozenset": frozenset(TEXTS),
    "dict": dict.fromkeys(TEXTS, 1.5),
    "ordered dict": OrderedDict.fromkeys(TEXTS, TEXTS),
    "measures itself": ListWithSize(TEXTS),
    "array": np.ones(1000),
    "array of objects": np.array(TEXTS, object),
    "series": pd.Series(range(1000)),
    "series of objects": pd.Series(TEXTS, dtype=object),
    "series of python strings": pd.Series(TEXTS, dtype=pd.StringDtype("python")),
    "series of text": pd.Series(TEXTS),
    "short series of objects": pd.Series(TEXTS[:5], dtype=object),
    "series of one object": pd.Series(TEXTS[:1] * 1000, dtype=object),
    "series of lists": pd.Series([TEXTS] * 20 + [[1]] * 20),
    "categories": pd.Series(TEXTS, dtype="category"),
    "frame": pd.DataFrame({"a": range(1000), "b": 1.5}),
    "frame without rows": pd.DataFrame({"a": pd.Series([], dtype=object)}),
    "frame without columns": pd.DataFrame(index=TEXTS),
    "frame of objects": pd.DataFrame({"a": 1, "b": pd.Series(TEXTS, dtype=object), "c": 2}),
    "frame labelled by objects": pd.DataFrame({"a": 1}, index=pd.Index(TEXTS, dtype=object)),
    "frame of many columns": pd.DataFrame(1, range(3), pd.Index(TEXTS, dtype=object)),
    "index": pd.RangeIndex(1000),
    "index of objects": pd.Index(TEXTS, dtype=object),
    "levels": pd.MultiIndex.from_product([pd.Index(TEXTS, dtype=object), [1, 2]]),
    "sparse": sparse.random(100, 100, 0.5, "csr", rng=0),
    "sparse by keys": sparse.dok_matrix(np.eye(100)),
    "arrow table": pa.table({"a": TEXTS}, metadata={text: text for text in TEXTS[:20]}),
    "arrow column": pa.chunked_array([TEXTS]),
    "in a list": [pd.Series(TEXTS, dtype=object)] * 3,
}


@pytest.mark.parametrize("name", VALUES)
def test_a_size_is_as_dask_estimates_and_draws_nothing(name: str) -> None:
    """Both global generators stay as they are, and a second measurement is equal."""
    value = VALUES[name]
    expected = sizeof(value)
    before = random.getstate(), repr(np.random.get_state())
    assert expected / 1.5 <= size_of(value) <= expected * 1.5
    assert size_of(value) == size_of(value)
    assert (random.getstate(), repr(np.random.get_state())) == before


def test_entries_that_alternate_are_all_counted() -> None:
    """The measured entries of a list follow no period."""
    for period in range(2, 12):
        entries = [b"x" * (10_000 if number % period else 0) for number in range(1000)]
        assert 0.5 < size_of(entries) / sum(map(len, entries)) < 1.5
