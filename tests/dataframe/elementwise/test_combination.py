"""Two objects of the same rows go together as pandas's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table
from tests.strategies import HISTORIES


def pairs() -> list[tuple[Any, Any]]:
    """Return frames of 9 rows, and lazy ones in chunks of any lengths, executed or not."""
    frame = table(9)
    lazy = [md.DataFrame(frame, chunk_size=(sizes,)) for sizes in ((9,), (2, 0, 3, 4))]
    return [(frame, one) for one in [*lazy, HISTORIES["executed"](lazy[1])]]


#: Calls of a frame, whose results are compared as they are.
CALLS: dict[str, Any] = {
    "align": lambda x: x[["k", "u"]].align(x[["u", "f"]])[0],
    "align, other": lambda x: x[["k", "u"]].align(x[["u", "f"]], join="inner")[1],
    "dot": lambda x: x[["k", "u"]].dot(np.array([1, 2])),
    "dot of a matrix": lambda x: x[["k", "u"]] @ np.array([[1, 2, 3], [3, 4, 5]]),
    "dot of rows": lambda x: x.k @ x.u,
    "dot of gaps": lambda x: x.f @ x.f.shift(),
    "dot of flags": lambda x: x.b @ (x.u > 3),
    "dot of bytes": lambda x: (x.u + 90).astype("i1") @ x.u.astype("i1"),
    "dot of flags and numbers": lambda x: x.b @ x.u,
    "convert_dtypes": lambda x: x.convert_dtypes(),
    "infer_objects": lambda x: x.infer_objects(),
    "reindex_like": lambda x: x.reindex_like(x[["u", "k"]]),
    "xs": lambda x: x.xs("f", axis=1),
    "xs of a frame": lambda x: x.xs("f", axis=1, drop_level=False),
    "xs of a row": lambda x: x.u.xs(3),
    "xs of a level of number": lambda x: x.set_index(["k", "u"]).rename_axis([1, 0]).xs(0, level=1),
    "xs of a level": lambda x: x.set_index(["k", "u"]).xs(0, level="k"),
    "drop": lambda x: x.u.drop([1, 3]),
    "get": lambda x: x.u.get(4),
    "get, nothing": lambda x: x.u.get(99, 7),
    "dtypes": lambda x: x.u.dtypes,
    "T": lambda x: x.u.T,
    "axes": lambda x: x.axes[1],
    "item": lambda x: x.u[x.u == 4].item(),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    """Frames and columns in any chunks, before and after they ran."""
    for rows, lazy in pairs():
        found, wanted = CALLS[name](lazy), CALLS[name](rows)
        if hasattr(found, "compute"):
            equal(found, wanted)
        else:
            assert np.all(found == wanted)


def test_types_that_all_rows_tell():
    """Floats are announced; where all are whole, there are integers, also in several chunks."""
    frame = pd.DataFrame({"whole": [1.0, 2.0, np.nan], "part": [1.0, 0.5, 2.0], "u": [1, 2, 3]})
    for chunk in (3, 1):
        found = md.DataFrame(frame, chunk_size=chunk).convert_dtypes()
        assert found.dtypes.astype(str).tolist() == ["Float64", "Float64", "Int64"]
        equal(found, frame.convert_dtypes())
        assert found.execute().dtypes.equals(frame.convert_dtypes().dtypes)


#: Floats of fewer bits that convert_dtypes() makes integers, or keeps.
NARROW_FLOATS = {
    "whole": [5, 1, 2],
    "fractions": [1, 1.5, 2],
    "gaps": [np.nan, 1, 5],
    "missing": [np.nan] * 3,
    "infinite": [1, np.inf, 2],
    "large": [1, 2**62, 2],
    "larger": [1, 1e19, 2],
}
NARROW_CALLS: dict[str, Any] = {
    "itself": lambda x: x.convert_dtypes(),
    "median": lambda x: x.convert_dtypes().median(skipna=False),
    "mean": lambda x: x.convert_dtypes().mean(),
    "std": lambda x: x.convert_dtypes().std(),
    "skew": lambda x: x.convert_dtypes().skew(),
    "sum": lambda x: x.convert_dtypes().sum(),
    "max": lambda x: x.convert_dtypes().agg(["max", "min"]),
    "series": lambda x: x["a"].convert_dtypes(),
    "mean of series": lambda x: x["a"].convert_dtypes().mean(),
    "median of series": lambda x: x["a"].convert_dtypes().median(),
}


@pytest.mark.parametrize("values", NARROW_FLOATS)
@pytest.mark.parametrize("call", NARROW_CALLS)
def test_all_rows_tell_whether_narrow_floats_are_integers(call: str, values: str) -> None:
    """Statistics of integers have 64 bits, those of short floats have 32."""
    frame = pd.DataFrame({"a": NARROW_FLOATS[values], "b": 1.0}, dtype="float32")
    with np.errstate(all="ignore"):
        wanted = NARROW_CALLS[call](frame)
        found = NARROW_CALLS[call](md.DataFrame(frame, chunk_size=2))
        result = found.compute() if hasattr(found, "compute") else found
    if not hasattr(wanted, "index"):
        assert type(result) is type(wanted)
        assert result is wanted or np.isclose(result, wanted, equal_nan=True)
    else:
        equal(found, wanted)


def test_equal_labels_of_narrow_floats_are_refused() -> None:
    """Types are given to columns by their labels."""
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"], dtype="float32")
    with pytest.raises(NotImplementedError, match="equal labels"):
        md.DataFrame(frame).convert_dtypes()


def test_changes_in_place():
    """An update, a column taken out or put in place of another, a row taken out."""

    def change(x: Any) -> Any:
        x.update(x[["f", "u"]].where(x.u > 4) * 2)
        x.isetitem(0, x.u + 1)
        del x["b"]
        column = x.u.copy()
        return column.pop(3), column

    for frame, one in pairs():
        rows, lazy = frame.copy(), one.copy()
        value, column = change(lazy)
        wanted, left = change(rows)
        equal(lazy, rows)
        equal(value, wanted)
        equal(column, left)


def test_equality():
    """Types, labels and values decide, whatever chunks they lie in."""
    for frame, lazy in pairs():
        assert lazy.equals(md.DataFrame(frame, chunk_size=1))
        assert lazy.equals(frame)
        assert lazy.f.equals(frame.f)
        assert not lazy.equals(frame.assign(u=frame.u + 1))
        assert not lazy.equals(frame.assign(u=frame.u.astype(float)))
        assert not lazy.equals(frame.set_axis(range(1, 10)))
        assert not lazy.equals(frame.rename(columns={"u": "v"}))
        assert not lazy.equals(filtered(lazy))
        assert not lazy.equals(3)


def test_refusals():
    """What is not there says so, and what pandas refuses is refused."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    for call in (
        lambda: lazy.update(lazy, errors="raise"),
        lambda: lazy.update(table(4)),
        lambda: lazy.align(lazy[lazy.u > 1]),
        lambda: lazy[["k"]].dot(lazy[["u"]]),
        lambda: lazy.astype(object).convert_dtypes(),
        lambda: lazy.reindex_like(lazy[lazy.u > 1]),
    ):
        with pytest.raises(NotImplementedError):
            call()
    for call in (
        lambda: lazy.u.drop([99]),
        lambda: lazy.set_index(["k", "u"]).xs(99, level=0),
        lambda: lazy.u.pop(99),
    ):
        with pytest.raises(KeyError):
            call()


@pytest.mark.parametrize("gap", [pd.NA, 3])
def test_product_of_masked_columns(gap):
    """NumPy has them as floats if a value is missing."""
    masked = pd.Series([1, 2, gap, 4], dtype="Int64")
    numbers = pd.Series([5, 6, 7, 8])
    for first, second in ((masked, numbers), (numbers, masked), (masked, masked)):
        product = md.Series(first, chunk_size=2).dot(md.Series(second, chunk_size=2)).compute()
        wanted: Any = first.dot(second)
        assert product.dtype == wanted.dtype
        np.testing.assert_equal(product, wanted)


FLAGS: list[list[Any]] = [
    [True, None, False],
    [None, False, True],
    [True, False, True],
    [False, False, True],
    [],
]


def test_product_of_masked_flags():
    """Whether any rows match, and NA if any of them has no value."""
    for values in FLAGS:
        for others in FLAGS:
            pair = [
                pd.Series(flags[: len(values)], dtype="boolean") for flags in (values, others or [])
            ]
            if len(pair[0]) != len(pair[1]):
                continue
            product = md.Series(pair[0], chunk_size=2).dot(md.Series(pair[1], chunk_size=2))
            found, wanted = product.compute(), pair[0].dot(pair[1])
            assert found is wanted or (found == wanted and type(found) is type(wanted))
