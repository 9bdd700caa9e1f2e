"""Files whose columns have different types are read in one type, or an error says why not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marsdask.dataframe as md


def array(values: Any, kind: Any = None) -> Any:
    """Return an Arrow array."""
    return pa.array(values, kind)


def times(unit: str, *values: int, tz: str | None = None) -> Any:
    """Return times as numbers of a unit."""
    return pa.array(values, pa.timestamp(unit, tz))


#: The columns of two files, and the type of both; ``None`` for pandas's.
DRIFTS: dict[str, tuple[Any, Any, Any]] = {
    "nulls and text": (array([None]), array(["x"]), "str"),
    "text and nulls": (array(["x"]), array([None]), None),
    "nulls and integers": (array([None]), array([1]), "float64"),
    "nulls and truth values": (array([None]), array([True]), "object"),
    "nulls and times": (array([None]), times("ns", 1), "datetime64[ns]"),
    "nulls and categories": (array([None]), array(["x"]).dictionary_encode(), "category"),
    "categories and nulls": (array(["x"]).dictionary_encode(), array([None]), None),
    "integers that fit": (array([1], pa.int32()), array([2]), None),
    "integers that do not fit": (array([1], pa.int32()), array([2**40]), "int64"),
    "narrower integers": (array([1]), array([2], pa.int16()), None),
    "signs": (array([200], pa.uint8()), array([-1], pa.int8()), "int16"),
    "signs of 64 bits": (array([-1]), array([2**63], pa.uint64()), "float64"),
    "integers and floats": (array([1]), array([1.5]), "float64"),
    "floats and integers": (array([1.5]), array([1]), None),
    "floats and large integers": (array([1.5]), array([2**60 + 1]), "float64"),
    "precision": (array([1.5], pa.float32()), array([0.1]), "float64"),
    "less precision": (array([1.5]), array([0.5], pa.float32()), None),
    "finer times": (times("us", 1), times("ns", 1001), "datetime64[ns]"),
    "coarser times": (times("ns", 1), times("us", 1), None),
    "zones": (times("us", 1, tz="UTC"), times("us", 1, tz="Europe/Berlin"), None),
    "finer durations": (
        array([1], pa.duration("s")),
        array([1], pa.duration("ns")),
        "timedelta64[ns]",
    ),
    "scale": (array([Decimal("1.1")]), array([Decimal("1.123")]), "object"),
    "less scale": (array([Decimal("1.123")]), array([Decimal("1.1")]), None),
    "lists": (array([[1]]), array([[1.5]]), "object"),
    "structs": (array([{"x": 1}]), array([{"x": 1, "y": 2}]), "object"),
    "text and categories": (array(["x"]), array(["y"]).dictionary_encode(), None),
    "categories and text": (array(["x"]).dictionary_encode(), array(["y"]), None),
    "large text": (array(["x"]), array(["y"], pa.large_string()), None),
    "views of text": (array(["x"]), array(["y"], pa.string_view()), None),
}


def written(folder: Any, *columns: Any) -> Any:
    """Write a file for each column."""
    for number, column in enumerate(columns):
        table = pa.table({"a": column, "b": range(len(column))})
        try:
            pq.write_table(table, folder / f"{number}.parquet")
        except pa.ArrowNotImplementedError as error:  # views of text, by an old pyarrow
            pytest.skip(str(error))
    return folder


@pytest.mark.parametrize("name", DRIFTS)
def test_types(tmp_path: Any, name: str) -> None:
    """Values of all files are in the wider type, which is declared."""
    first, second, dtype = DRIFTS[name]
    path = written(tmp_path, first, second)
    lazy = md.read_parquet(path)
    found = lazy.compute()
    assert lazy.a.dtype == found.a.dtype
    if dtype is None:
        pd.testing.assert_frame_equal(found, pd.read_parquet(path))
        return
    assert found.a.dtype == dtype
    values = [one for column in (first, second) for one in column.to_pandas()]
    assert [str(one) for one in found.a[1:]] == [str(one) for one in values[1:]] or (
        list(found.a[1:].astype(object)) == [pd.Series(values, dtype=dtype)[1]]
    )


@pytest.mark.parametrize("name", DRIFTS)
def test_other_columns(tmp_path: Any, name: str) -> None:
    """The columns beside are not touched."""
    first, second, _ = DRIFTS[name]
    path = written(tmp_path, first, second)
    assert md.read_parquet(path).b.compute().tolist() == [0, 0]
    assert md.read_parquet(path, columns=["b"]).compute().b.tolist() == [0, 0]


def test_masked_integers(tmp_path: Any) -> None:
    """Types of pandas follow the wider type of the file."""
    pd.DataFrame({"a": pd.array([1, None], "Int32")}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame({"a": pd.array([2**40, None], "Int64")}).to_parquet(tmp_path / "1.parquet")
    found = md.read_parquet(tmp_path).a
    assert found.dtype == found.compute().dtype == "Int64"
    assert found.sum().compute() == 2**40 + 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (array([1]), array(["x"])),
        (array([True]), array(["maybe"])),
        (times("us", 1), array(["never"])),
        (array([[1]]), array([1])),
        (array(["x"]).dictionary_encode(), array([["x"]])),
        (array(["x"]).dictionary_encode(), array([{"y": 1}])),
    ],
    ids=str,
)
def test_types_without_a_common_one(tmp_path: Any, first: Any, second: Any) -> None:
    """The error names the column, both types, the file and what works."""
    lazy = md.read_parquet(written(tmp_path, first, second))
    with pytest.raises(ValueError, match="column 'a'") as caught:
        lazy.compute()
    message = str(caught.value)
    assert str(second.type).partition("<")[0] in message
    assert str(first.type).partition("<")[0] in message
    assert "1.parquet" in message
    assert "columns=" in message
    assert not isinstance(caught.value, pa.ArrowInvalid)


def test_missing_columns(tmp_path: Any) -> None:
    """A column that a later file lacks is missing there, as in pandas."""
    written(tmp_path, array([1, 2]))
    pd.DataFrame({"b": [5]}).to_parquet(tmp_path / "9.parquet")
    lazy = md.read_parquet(tmp_path)
    pd.testing.assert_frame_equal(lazy.compute(), pd.read_parquet(tmp_path))
    assert lazy.a.dtype == "float64"
