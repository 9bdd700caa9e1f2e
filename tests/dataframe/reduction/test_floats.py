"""Short floats of groups have pandas's types and digits, whatever chunks the rows lie in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

#: Values that 32 bits hold, that they round, and some that are missing.
VALUES: dict[str, Any] = {
    "exact": [0.5, 1, 2, 3.25, 7, 8],
    "rounded": [0.1, 0.2, 0.3, 0.7, 16777217, 5],
    "large": [16777216, 1, 16777217, 3, 8388608.3, 0.1],
    "gaps": [0.1, None, 0.3, 16777217, None, 2],
}
KEYS: dict[str, Any] = {"sorted": [1, 1, 1, 2, 2, 3], "any order": [1, 2, 1, 3, 3, 1]}
NAMES = ("sum", "prod", "mean", "var", "std", "sem", "median", "skew", "min", "first", "count")
CALLS: dict[str, Any] = {
    **{name: lambda g, name=name: getattr(g, name)() for name in NAMES},
    "several": lambda g: g.agg(["mean", "std", "max"]),
    "transform": lambda g: g.transform("mean"),
    "transformed": lambda g: g.transform("std"),
}


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("dtype", ["float32", "float16", "Float32"])
@pytest.mark.parametrize("name", CALLS)
def test_types_of_groups(name, dtype):
    """All groups decide together whether a column is short, as all rows do in pandas."""
    call = CALLS[name]
    for key, keys in KEYS.items():
        for kind, values in VALUES.items():
            if dtype == "float16" and (kind in ("large", "gaps") or name in ("sum", "prod")):
                continue  # which pandas adds up in 16 bits
            column = pd.Series(values, dtype="float32").clip(
                upper=4000 if dtype == "float16" else None
            )
            frame = pd.DataFrame({"k": keys, "v": column.astype(dtype), "w": np.arange(6) / 4})
            lazy = md.DataFrame(frame, chunk_size=2)
            wanted = call(frame.groupby("k").v)
            equal(call(lazy.groupby("k").v), wanted, rtol=1e-5, obj=f"{key} {kind}")
            if name == "mean":
                equal(call(lazy.groupby("k")), call(frame.groupby("k")), rtol=1e-5)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("dropna", [True, False])
def test_means_of_groups_in_order(sort, dropna):
    """Pandas computes them of doubles if the numbers of the groups never fall."""
    for keys in (
        [None, 1, 2, 2],
        [1, 2, None, None],
        [3, 1, 1, 2],
        [3, 1, 3, 2],
        [1, None, 2, 3],
        [None] * 4,
    ):
        frame = pd.DataFrame({"k": keys, "v": np.arange(4, dtype="float32")})
        how = {"sort": sort, "dropna": dropna}
        for size in (1, 3):
            found = md.DataFrame(frame, chunk_size=size).groupby("k", **how)[["v"]].mean()
            equal(found, frame.groupby("k", **how)[["v"]].mean())


def test_results_of_several_chunks_have_one_type():
    """One group that does not fit keeps the others wide."""
    frame = pd.DataFrame({"k": [3, 1, 2, 3], "v": np.array([0.1, 0.2, 9e7, 0.4], "float32")})
    for sort in (True, False):
        found, wanted = (
            one.groupby("k", sort=sort).v.std()
            for one in (md.DataFrame(frame, chunk_size=1), frame)
        )
        equal(found, wanted)
        found = md.DataFrame(frame, chunk_size=1).groupby("k", sort=sort).v.median()
        equal(found, frame.groupby("k", sort=sort).v.median())


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("keys", [[1, 1, 2, 2], [2, 1, 2, 1]], ids=["rising", "mixed"])
@pytest.mark.parametrize("name", ["mean", "std", "var", "median", "sum"])
def test_declared_types_hold_the_results(dtype, keys, name):
    """A tensor of the results has the declared type, to which they are cast without a loss."""
    frame = pd.DataFrame({"k": keys, "v": np.array([0.1, 0.2, 0.5, 0.7], dtype)})
    lazy = getattr(md.DataFrame(frame, chunk_size=2).groupby("k").v, name)()
    wanted = getattr(frame.groupby("k").v, name)()
    np.testing.assert_allclose(lazy.to_tensor().compute(), wanted, rtol=1e-3)
    assert np.can_cast(wanted.dtype, lazy.dtype)
