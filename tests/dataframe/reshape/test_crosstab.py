"""Tables of counts equal pandas's."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, table

KEYS: dict[str, Any] = {
    "two": lambda d: (d.k, d.s),
    "three": lambda d: ([d.k, d.b], d.s),
    "the same": lambda d: (d.k, d.k),
    "categories": lambda d: (d.k, d.s.astype(pd.CategoricalDtype(["a", "bb", "ä", "z"]))),
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"margins": True, "margins_name": "T"},
    {"normalize": True},
    {"normalize": "index"},
    {"normalize": "columns", "margins": True},
    {"dropna": False},
]


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("rows", [3, 25])
def test_counts_equal_pandas(rows, keys):
    """With totals, as shares, and with values that are missing."""
    frame = table(rows, 3)
    lazy = md.DataFrame(frame, chunk_size=9)
    for options in OPTIONS:
        found = md.crosstab(*KEYS[keys](lazy), **options)
        equal(found, pd.crosstab(*KEYS[keys](frame), **options))


def test_rows_with_other_labels():
    """Rows that a column lacks do not count; columns without common rows keep their types."""
    one, other = pd.Series([1, 2, 3], [1, 2, 3]), pd.Series([4, 5, 6], [2, 3, 7])
    for labels in (other.index, [7, 8, 9]):
        two = other.set_axis(labels)
        lazy = md.Series(one, chunk_size=2), md.Series(two, chunk_size=2)
        for dropna in (True, False):
            equal(md.crosstab(*lazy, dropna=dropna), pd.crosstab(one, two, dropna=dropna))


def test_values_and_names():
    """Values are aggregated; the levels have the names that are given."""
    frame = table(25, 3)
    lazy: Any = md.DataFrame(frame, chunk_size=9)
    equal(
        md.crosstab(lazy.k, lazy.s, lazy.f, aggfunc="mean", rownames=["q"]),
        pd.crosstab(frame.k, frame.s, frame.f, aggfunc="mean", rownames=["q"]),
    )
    two, both = (lazy.k, lazy.s), (lazy.k, lazy.s, lazy.u, None, None, "sum")
    for kind, words, call in [
        (ValueError, "without values", lambda: md.crosstab(lazy.k, lazy.s, aggfunc="sum")),
        (ValueError, "without an aggfunc", lambda: md.crosstab(lazy.k, lazy.s, lazy.u)),
        (NotImplementedError, "Series", lambda: md.crosstab(lazy.k, frame.s)),
        (NotImplementedError, "pivot_table", lambda: md.crosstab(*both, margins=True)),
        (NotImplementedError, "=False", lambda: md.crosstab(*two, margins=True, dropna=False)),
    ]:
        with pytest.raises(kind, match=words):
            call()
