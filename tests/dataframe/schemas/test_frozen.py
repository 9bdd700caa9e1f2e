"""Schemas cannot be written to: what users change of one frame no other frame sees."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.schemas.frozen import frozen

DATA = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}, index=pd.Index([0, 1], name="i"))


def drop(meta: Any) -> None:
    """Remove a column in place."""
    del meta["a"]


def set_column(meta: Any) -> None:
    """Add a column."""
    meta["z"] = 1


def set_columns(meta: Any) -> None:
    """Set other column labels."""
    meta.columns = ["q", "r"]


def set_name(meta: Any) -> None:
    """Name a series."""
    meta.name = "z"


#: Writes that are refused, by what they write to.
REFUSED: list[tuple[str, Callable[[Any], Any]]] = [
    *(("frame", one) for one in (drop, set_column, set_columns)),
    ("frame", lambda meta: meta.insert(0, "z", 1)),
    ("frame", lambda meta: meta.isetitem(0, 1)),
    ("frame", lambda meta: meta.pop("a")),
    ("frame", lambda meta: meta.update(meta)),
    ("frame", lambda meta: meta.drop(columns="a", inplace=True)),
    ("frame", lambda meta: meta.rename(columns={"a": "z"}, inplace=True)),
    ("frame", lambda meta: meta.rename_axis("z", inplace=True)),
    ("frame", lambda meta: meta.reset_index(inplace=True)),
    ("frame", lambda meta: meta.set_index("a", inplace=True)),
    ("frame", lambda meta: setattr(meta, "index", [])),
    ("series", set_name),
    ("series", lambda meta: meta.rename("z", inplace=True)),
    ("series", lambda meta: meta.fillna(1, inplace=True)),
]
#: Writes to copies.
HARMLESS: list[Callable[[Any], Any]] = [
    lambda frame: setattr(frame.columns, "name", "z"),
    lambda frame: setattr(frame.dtypes.index, "name", "z"),
    lambda frame: frame.dtypes.__setitem__("a", "z"),
    lambda frame: setattr(frame.index._meta, "name", "z"),
    lambda frame: setattr(frame._meta.columns, "name", "z"),
    lambda frame: setattr(frame._meta.index, "name", "z"),
    lambda frame: setattr(frame._meta.a, "name", "z"),
    lambda frame: frame._meta.attrs.update(z=1),
    lambda frame: frame.node.meta.loc.__setitem__(0, 1),
    lambda frame: frame.node.meta.iloc.__setitem__((slice(None), 0), 1),
    lambda frame: frame.node.meta.at.__setitem__((0, "a"), 1),
    lambda frame: frame.axes[1].__setattr__("name", "z"),
    lambda frame: frame.keys().__setattr__("name", "z"),
]


def described() -> list[Any]:
    """Return what a new frame of equal data tells of itself."""
    frame = md.DataFrame(DATA)
    series = frame["a"]
    return [
        *(list(frame.columns), frame.columns.name, list(map(str, frame.dtypes)), frame.index.name),
        *(frame.dtypes.index.name, series.name, series.index.name, frame._meta.attrs),
        frame.compute().reset_index().to_dict(),
    ]


@pytest.mark.parametrize(("kind", "write"), REFUSED, ids=map(str, range(len(REFUSED))))
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_writes_are_refused(kind: str, write: Callable[[Any], Any]) -> None:
    """A schema raises, and stays as it is."""
    before = described()
    frame = md.DataFrame(DATA)
    meta = (frame if kind == "frame" else frame["a"]).node.meta
    with pytest.raises(TypeError, match="schema is shared"):
        write(meta)
    assert described() == before


@pytest.mark.filterwarnings("ignore::pandas.errors.ChainedAssignmentError", "ignore:Setting")
@pytest.mark.parametrize("write", HARMLESS, ids=map(str, range(len(HARMLESS))))
def test_what_is_returned_are_copies(write: Callable[[Any], Any]) -> None:
    """Labels, types and notes belong to whoever asked for them."""
    before = described()
    frame = md.DataFrame(DATA)
    write(frame)
    assert described() == before
    assert frame.compute().equals(DATA)


def test_functions_of_users_may_write() -> None:
    """What a function does to the rows that it is given, no schema shows."""
    before = described()
    frame: Any = md.DataFrame(DATA, chunk_size=1)

    def widened(rows: Any) -> Any:
        rows["z"] = 1
        rows.columns.name = "c"
        rows.index.name = "other"
        return rows

    assert list(frame.map_partitions(widened).compute().columns) == ["a", "b", "z"]
    assert list(frame.map_chunk(widened).compute().columns) == ["a", "b", "z"]
    assert list(frame.groupby("b").apply(widened).compute().columns) == ["a", "z"]
    assert described() == before


def test_pandas_makes_ordinary_objects_of_it() -> None:
    """Results are pandas's own classes, and pickles are schemas again."""
    meta = frozen(DATA.iloc[:0])
    assert {type(one) for one in (meta.copy(), meta[["a"]], meta + meta, meta.iloc[:0])} == {
        pd.DataFrame
    }
    assert {type(one) for one in (meta["a"], meta.dtypes, frozen(meta["a"]) + 1)} == {pd.Series}
    again = pickle.loads(pickle.dumps(meta))
    with pytest.raises(TypeError, match="schema is shared"):
        again["z"] = 1
    assert frozen(meta) is meta
    times = frozen(pd.Series([], dtype="timestamp[ns][pyarrow]"))
    assert type(times.dt.year) is pd.Series  # which pandas makes by the type of its rows


@pytest.mark.parametrize("written", ["parquet", "csv"])
def test_results_without_rows_are_the_users(tmp_path: Any, written: str) -> None:
    """A frame or a column that was read without rows, and reshaped, can be written to."""
    path = str(tmp_path / f"none.{written}")
    keywords: dict[str, Any] = {} if written == "parquet" else {"index": False}
    getattr(md.DataFrame(DATA.iloc[:0], chunk_size=1), f"to_{written}")(path, **keywords)
    frame = getattr(md, f"read_{written}")(path)
    lazy: Any
    for lazy in (frame, frame.a, frame[["a", "b"]], frame.map_partitions(pd.DataFrame.copy)):
        found = lazy.compute()
        assert type(found) in (pd.DataFrame, pd.Series)
        found["z"] = 1
