"""Users' functions see each partition, and what they return is checked."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(20)


def both() -> tuple[Any, Any]:
    """Return the table in five partitions, of either library."""
    return md.DataFrame(FRAME, chunk_size=4), dd.from_pandas(FRAME, npartitions=5)


def with_number(block: Any, partition_info: Any = None) -> Any:
    return block.assign(number=partition_info["number"])


#: What is called with a frame of either library, and gives the same.
CALLS: dict[str, Any] = {
    "frames": lambda f: f.map_partitions(lambda block: block[block.k > 0]),
    "scalars": lambda f: f.map_partitions(len),
    "series": lambda f: f.map_partitions(lambda block, n: block.u + n, n=3),
    "of a series": lambda f: f.u.map_partitions(lambda block: block.to_frame()),
    "declared": lambda f: f.map_partitions(lambda block: block[["u"]].max(), meta=("m", int)),
    "by types": lambda f: f.map_partitions(
        lambda block: block.assign(z=1.5)[["u", "z"]], meta={"u": int, "z": float}
    ),
    "two": lambda f: f.u.map_partitions(lambda p, q, n: p - q * n, f.u + 1, 2),
    "a reduction": lambda f: f.u.map_partitions(lambda p, s: p - s, f.u.sum()),
    "rows before": lambda f: f.u.map_overlap(lambda s: s.rolling(3).sum(), 2, 0),
    "rows after": lambda f: f[["u"]].map_overlap(lambda s: s.shift(-1), 0, 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_dask(name: str) -> None:
    """Values, labels and types, of frames and series."""
    lazy, theirs = map(CALLS[name], both())
    wanted = theirs.compute(scheduler="sync")
    if isinstance(wanted, pd.Series) and name in {"scalars", "declared"}:
        wanted = wanted.rename(None if name == "scalars" else "m")
        np.testing.assert_array_equal(lazy.compute(), wanted)
        return
    text = [one for one in getattr(wanted, "columns", []) if wanted[one].dtype == "string"]
    equal(lazy, wanted.astype(dict.fromkeys(text, "str")) if text else wanted)


def test_partitions_are_those_that_users_see() -> None:
    """Also of what is computed in larger ones, or was executed."""
    lazy, _ = both()
    for one in (lazy, lazy[["u"]] + 1, lazy.persist()):
        assert one.map_partitions(len).compute().tolist() == [4] * 5
    numbers = lazy.map_partitions(with_number).number.compute()
    assert numbers.tolist() == [i // 4 for i in range(20)]
    filtered = lazy[lazy.u > 9]
    assert sum(filtered.map_partitions(len).compute()) == 10


def test_rows_of_several_partitions() -> None:
    """A function may need more rows before than a partition has, where Dask refuses."""
    lazy, _ = both()
    equal(lazy.u.map_overlap(lambda s: s.rolling(9).sum(), 8, 0), FRAME.u.rolling(9).sum())


def test_mars_calls_it_map_chunk() -> None:
    """With the position of the chunk, and types in its words."""
    lazy, _ = both()
    found = lazy.map_chunk(
        lambda block, n, chunk_index: block.u * n + chunk_index[0], args=(2,), with_chunk_index=True
    )
    equal(found, (FRAME.u * 2 + np.arange(20) // 4).rename("u"))
    typed = lazy.map_chunk(lambda block: block[["u"]], dtypes=pd.Series({"u": int}))
    equal(typed, FRAME[["u"]])


def tenth(block: Any) -> Any:
    """Raise for the tenth chunk."""
    if 27 in block.index:
        raise KeyError("no such thing")
    return block


def test_an_error_names_the_line_and_the_session_goes_on() -> None:
    """The exception is the function's; its notes or text have the line of the call."""
    frame = pd.DataFrame({"a": range(36)})
    lazy = md.DataFrame(frame, chunk_size=3)
    with pytest.raises(KeyError, match="no such thing") as caught:
        lazy.map_partitions(tenth, meta=frame).compute()
    notes = "\n".join(getattr(caught.value, "__notes__", []))
    assert "test_map_partitions.py" in notes
    equal(lazy, frame)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f: f.map_partitions(lambda block: 1 / 0), ValueError, "meta="),
        (lambda f: f.map_partitions(len, f.repartition(npartitions=2)), ValueError, "partitions"),
        (lambda f: md.map_partitions(len, 3), ValueError, "expects"),
        (lambda f: f.map_partitions(len, align_dataframes=True), NotImplementedError, "merge"),
        (lambda f: f.map_overlap(abs, pd.Timedelta(1), 0), NotImplementedError, "rows"),
        (lambda f: f.map_overlap(abs, -1, 0), ValueError, "positive"),
        (
            lambda f: f.map_partitions(lambda b: b, meta={"a": int}).compute(),
            ValueError,
            "do not match",
        ),
        (lambda f: f.map_partitions(lambda b: b, meta=("u", int)).compute(), TypeError, "Series"),
        (lambda f: f.map_partitions(np.asarray, meta=("u", int)).compute(), TypeError, "ndarray"),
        (
            lambda f: f.map_overlap(lambda b: b[:1], 1, 1, meta=FRAME).compute(),
            ValueError,
            "as many",
        ),
    ],
)
def test_what_does_not_fit_is_named(call: Any, error: Any, text: str) -> None:
    """At the call if it shows there, else when the function has returned it."""
    with pytest.raises(error, match=text):
        call(both()[0])


def test_results_that_are_not_checked() -> None:
    """A function may return other columns than declared."""
    lazy, _ = both()
    found = lazy.map_partitions(lambda b: b[["u"]], meta={"x": int}, enforce_metadata=False)
    assert list(found.compute().columns) == ["u"]
