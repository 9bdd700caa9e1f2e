"""Labels of columns that are no text come back from Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal

VALUES = np.arange(12).reshape(6, 2)

#: Labels of two columns.
COLUMNS: dict[str, pd.Index] = {
    "text": pd.Index(["a", "b"]),
    "range": pd.RangeIndex(2),
    "integers": pd.Index([7, -3]),
    "small integers": pd.Index([7, 3], dtype="uint8"),
    "floats": pd.Index([0.5, 2.0]),
    "truth values": pd.Index([True, False]),
    "times": pd.to_datetime(["2020-01-01", "2021-05-05"]),
    # In the unit in which an old pyarrow gives all times of a zone back.
    "times of a zone": pd.to_datetime(["2020-01-01", "2021-05-05"])
    .tz_localize("UTC")
    .as_unit("ns"),
    "a name": pd.Index(["a", "b"], name="letters"),
    "a name of integers": pd.Index([3, 1], name="numbers"),
    "two levels": pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]),
    "two levels of integers": pd.MultiIndex.from_tuples([("a", 1), ("b", 1)], names=["p", "q"]),
    "dots": pd.Index(["a.b", "a"]),
    "empty text": pd.Index(["", "b"]),
    "numbers as text": pd.Index(["1", "0"]),
}

#: Labels of six rows.
ROWS: dict[str, pd.Index] = {
    "range": pd.RangeIndex(6),
    "a named range": pd.RangeIndex(6, name="n"),
    "integers": pd.Index([5, 3, 1, 2, 2, 0]),
    "named text": pd.Index(list("fedcba"), name="row"),
    "two levels": pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]]),
    "two named levels": pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]], names=["p", "q"]),
    "times": pd.date_range("2020", periods=6, freq="h", name="at"),
    "categories": pd.CategoricalIndex(list("abcabc"), name="k"),
}


def frame(columns: pd.Index, rows: pd.Index) -> pd.DataFrame:
    """Return numbers with labels."""
    return pd.DataFrame(VALUES, index=rows, columns=columns)


PAIRS = [
    *((name, "range") for name in COLUMNS),
    *(("a name", name) for name in ROWS if name != "range"),
]


@pytest.mark.parametrize(("columns", "rows"), [*PAIRS, ("two levels", "two named levels")])
def test_round_trip(tmp_path: Any, columns: str, rows: str) -> None:
    """What was written is read: rows, columns, and parts of both."""
    wanted = frame(COLUMNS[columns], ROWS[rows])
    md.DataFrame(wanted, chunk_size=2).to_parquet(tmp_path / "x")
    lazy = md.read_parquet(tmp_path / "x")
    # Some labels differ in type only, as after pandas: ranges are integers.
    types: dict[str, Any] = {"check_column_type": "equiv", "check_freq": False}
    if not columns.startswith("small"):
        pd.testing.assert_frame_equal(lazy.compute(), wanted, **types)
    label = lazy.columns[1]
    assert lazy[label].compute().tolist() == [1, 3, 5, 7, 9, 11]
    assert lazy[lazy[label] > 5].compute().to_numpy().tolist() == VALUES[3:].tolist()
    assert md.read_parquet(tmp_path / "x", columns=[label]).compute().shape == (6, 1)
    total = wanted.sum()
    assert lazy.sum().compute().tolist() == total.tolist()


@pytest.mark.parametrize("columns", [one for one in COLUMNS if one != "truth values"])
def test_files_of_pandas(tmp_path: Any, columns: str) -> None:
    """Files that pandas wrote are read as by pandas, with every engine."""
    wanted = frame(COLUMNS[columns], pd.RangeIndex(6))
    wanted.to_parquet(tmp_path / "x.parquet", row_group_size=2)
    for kernels in ("pandas", "polars"):
        with option_context({"dataframe.kernels": kernels}):
            lazy = md.read_parquet(tmp_path / "x.parquet")
            pd.testing.assert_frame_equal(lazy.compute(), pd.read_parquet(tmp_path / "x.parquet"))
            label = lazy.columns[0]
            assert lazy.groupby(label).size().compute().tolist() == [1] * 6
            conditions = [(label, ">", 4)]
            found = md.read_parquet(tmp_path / "x.parquet", filters=conditions)
            assert found.compute().to_numpy().tolist() == VALUES[3:].tolist()


def with_column(rows: Any) -> Any:
    """Return rows with another column."""
    rows = rows.copy()
    rows["z", 9] = 1
    return rows


LEVELS = pd.MultiIndex.from_product([["p", "q"], [0, 1]], names=["A", "B"])
#: Programs that name the first levels of columns, of which only some are read.
FIRST_LEVELS: dict[str, Any] = {
    "column": lambda d: d["p"],
    "list": lambda d: d[["q"]],
    "column of columns": lambda d: d["q"][1],
    "by label": lambda d: d.loc[:, "p"],
    "by levels": lambda d: d.loc[:, pd.IndexSlice[:, 1]],
    "filtered": lambda d: d[d["p"][0] > 0]["q"],
    "groups": lambda d: d.groupby(("p", 0))["q"].sum(),
    "transformed groups": lambda d: d.groupby(("p", 0))["q"].transform("sum"),
    "rows of groups": lambda d: d.groupby(("p", 0))["q"].cumsum(),
    "functions of groups": lambda d: d.groupby(("p", 0))["q"].apply(lambda g: g.sum()),
    "sorted": lambda d: d.sort_values(("p", 1))["q"],
    "renamed": lambda d: d.rename(columns={"p": "P"})["P"],
    "renamed level": lambda d: d.rename(columns={0: "zero"}, level=1)["p"],
    "beside another": lambda d: with_column(d)["p"],
    "another": lambda d: with_column(d)["z"],
    "dropped": lambda d: d.drop(columns="p"),
    "dropped level": lambda d: d.drop(columns=0, level="B"),
    "joined": lambda d: d["p"].merge(d["q"], on=0),
}


@pytest.mark.parametrize("name", FIRST_LEVELS)
def test_first_levels_of_columns(name, tmp_path):
    """All columns below the levels that a program names are read."""
    eager = pd.DataFrame(np.arange(12).reshape(3, 4) % 5, columns=LEVELS)
    eager.to_parquet(tmp_path / "levels")
    lazy = md.read_parquet(tmp_path / "levels")
    call = FIRST_LEVELS[name]
    equal(call(lazy), call(eager))


@pytest.mark.parametrize("second", [["x", "y"], pd.Categorical(["x", "y"])], ids=["texts", "kinds"])
def test_names_that_occur_twice_are_refused(tmp_path: Path, second: Any) -> None:
    """Labels named as a column are not told from it in a file."""
    columns = pd.MultiIndex.from_arrays([["f", "f"], second])
    frame = pd.DataFrame([[1.0, 2.0]], columns=columns, index=pd.Index([1.0], name=("f", "x")))
    with pytest.warns(UserWarning, match="non-str index name"):
        frame.to_parquet(tmp_path / "rows.parquet")
    for read in (pd.read_parquet, md.read_parquet):
        with pytest.raises(pa.ArrowInvalid, match=r"Multiple matches|duplicate field names"):
            read(tmp_path / "rows.parquet")
