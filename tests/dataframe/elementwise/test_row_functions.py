"""Of files only those columns are read that the wanted ones need, whatever is called between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.compilation.rules.pushdown import project
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.io.parquet import ReadParquet
from tests.dataframe.tables import equal

FRAME = pd.DataFrame(
    {
        "k": [3, 1, 3, 2, 1, 2],
        "a": [0.5, np.nan, 2.5, 3.5, 4.5, 5.5],
        "b": range(6),
        "c": [*"xyxyxz"],
        "t": pd.date_range("2024", periods=6),
    },
    index=[5, 1, 4, 2, 8, 9],
)

#: What is called of a frame, and which of its columns that reads: the first for labels alone.
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "arithmetic": (lambda d: (d[["a", "b"]] * 2 + 1)["a"], "a"),
    "frames": (lambda d: (d[["a", "b"]] - d[["a", "b"]])["b"], "b"),
    "a column for all": (lambda d: d[["a", "b"]].mul(d.k, axis=0)["a"], "ak"),
    "a row for all": (lambda d: (d[["a", "b"]] - d[["a", "b"]].max())["a"], "ab"),
    "of other columns": (lambda d: (d[["a", "b"]] + d[["b", "k"]])["b"], "abk"),
    "ufunc": (lambda d: np.sqrt(d[["a", "b"]])["b"], "b"),
    "compared": (lambda d: (d[["a", "b"]] > 1)["b"], "b"),
    "negative": (lambda d: (-d[["a", "b"]]).abs()["a"], "a"),
    "fillna": (lambda d: d.fillna({"a": 0, "c": "none"})["a"], "a"),
    "fillna all": (lambda d: d[["a", "b"]].fillna(0)["b"], "b"),
    "astype": (lambda d: d.astype({"a": "float32", "b": "int8"})["b"], "b"),
    "astype all": (lambda d: d[["a", "b"]].astype("float32")["b"], "b"),
    "round": (lambda d: d[["a", "b"]].round(0)["a"], "a"),
    "clip": (lambda d: d[["a", "b"]].clip(1, 3)["a"], "a"),
    "isna": (lambda d: d.isna()["a"], "a"),
    "isin": (lambda d: d.isin([1, "x"])["c"], "c"),
    "isin by column": (lambda d: d.isin({"a": [0.5], "c": ["x"]})["c"], "c"),
    "isin by a column, labels": (lambda d: d[["a", "b"]].isin({"b": [1]}).index, "a"),
    "replace": (lambda d: d.replace([1, 3], [7, 8])["k"], "k"),
    "where": (lambda d: d.where(d.k > 1)["a"], "ak"),
    "mask": (lambda d: d[["a", "b"]].mask(d[["a", "b"]] > 2, 0)["a"], "a"),
    "convert_dtypes": (lambda d: d.convert_dtypes()["b"], "b"),
    "add_prefix": (lambda d: d.add_prefix("x_")["x_a"], "a"),
    "add_suffix": (lambda d: d.add_suffix("_x")["b_x"], "b"),
    "rename": (lambda d: d.rename(columns={"a": "z", "b": "a"})["a"], "b"),
    "set_axis": (lambda d: d.set_axis([*"vwxyz"], axis=1)[["z", "w"]], "at"),
    "rename_axis": (lambda d: d.rename_axis("row")["a"], "a"),
    "set_index": (lambda d: d.set_index("k")["a"], "ak"),
    "set_index, appended": (lambda d: d.set_index(["k", "b"], append=True)["a"], "abk"),
    "reset_index": (lambda d: d.reset_index()["a"], "a"),
    "labels as a column": (
        lambda d: d.reset_index()["index"],
        "k",
    ),
    "a column named index": (lambda d: d.rename(columns={"b": "index"}).reset_index()["a"], "ab"),
    "reset_index, dropped": (lambda d: d.reset_index(drop=True)["a"], "a"),
    "drop": (lambda d: d.drop(columns="c")["a"], "a"),
    "filter": (lambda d: d.filter(items=["a", "b"])["b"], "b"),
    "select_dtypes": (lambda d: d.select_dtypes("number")["a"], "a"),
    "reindex": (lambda d: d.reindex(columns=["b", "a"])["a"], "a"),
    "reindex with others": (lambda d: d.reindex(columns=["b", "new"])["b"], "abckt"),
    "iloc": (lambda d: d.iloc[1:4, [1, 2]]["b"], "b"),
    "assign": (lambda d: d.assign(z=d.a + d.b)["z"], "ab"),
    "assigned, not wanted": (lambda d: d.assign(z=d.a + d.k, y=1)["b"], "b"),
    "assigned over": (lambda d: d.assign(a=d.b * 2)["a"], "b"),
    "assigned over, all": (lambda d: d[["a", "b"]].assign(a=d.k), "abk"),
    "rows": (lambda d: d[d.k > 1]["a"], "ak"),
    "dropna": (lambda d: d.dropna(subset=["a"])["b"], "ab"),
    "loc": (lambda d: d.loc[[4, 2], ["a", "b"]]["a"], "a"),
    "truncate": (lambda d: d.sort_index().truncate(2, 5)["a"], "a"),
    "labels": (lambda d: (d[["a", "b"]] + 1).index, "a"),
    "shift": (lambda d: d.shift(1)["a"], "a"),
    "cumsum": (lambda d: d[["a", "b"]].cumsum()["b"], "b"),
    "sort_values": (lambda d: d.sort_values(["k", "b"])["a"], "abk"),
    "merge": (lambda d: d.merge(d[["k", "b"]], on="k")["b_x"], "bk"),
    "merge, others": (lambda d: d.merge(d[["k", "b"]], on="k")["a"], "abk"),
    "join": (lambda d: d.join(d.add_suffix("_r"))["a_r"], "a"),
    "groupby": (lambda d: d[["a", "b", "k"]].groupby("k").sum()["a"], "ak"),
    "groupby of rows": (lambda d: d.groupby("k").max()[["b", "c"]], "bck"),
    "groupby, keys": (lambda d: d.groupby("k", as_index=False).min()["b"], "bk"),
    "windows in groups": (lambda d: d.groupby("k").rolling("3D", on="t").b.sum(), "bkt"),
    "bins in groups": (
        lambda d: d.reset_index(drop=True).groupby("k").resample("3D", on="t").b.sum(),
        "bkt",
    ),
    "bins": (lambda d: d.resample("3D", on="t").b.sum(), "bt"),
    "chain": (
        lambda d: (
            d.fillna({"a": 1})
            .drop(columns="t")
            .round(1)
            .add_prefix("x")[["xa", "xb"]]
            .rename(columns={"xa": "q"})["q"]
        ),
        "a",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two files, with the labels of the rows."""
    folder = tmp_path_factory.mktemp("columns")
    for number in range(2):
        FRAME.iloc[3 * number : 3 * number + 3].to_parquet(folder / f"{number}.parquet")
    return folder


def columns_read(lazy: Any) -> set[str]:
    """Return which columns are read to compute something."""
    nodes = project(Graph([lazy.node]), Plan()).nodes
    sources = [node for node in nodes if isinstance(node, ReadParquet)]
    return {label for source in sources for label in source.meta.columns}


@pytest.mark.parametrize("name", CALLS)
def test_columns(name: str, folder: Path) -> None:
    """The values are pandas's, and no column is read that they do not need."""
    call, columns = CALLS[name]
    lazy = call(md.read_parquet(folder))
    assert columns_read(lazy) == set(columns)
    equal(lazy, call(FRAME))


def test_truth_values_as_labels() -> None:
    """They are no mask: not where columns are chosen, nor where those get other labels."""
    frame = pd.DataFrame([[1, 2.5], [3, 4.5]], columns=[False, True])
    lazy = md.DataFrame(frame, chunk_size=1)
    calls: list[Any] = [
        lambda d: d.loc[:, [False, True]],
        lambda d: d.set_axis(["x", "y"], axis=1)["y"],
        lambda d: (d + 1).set_axis(["x", "y"], axis=1)[["y"]],
        lambda d: d.assign(z=d[True])[[True, "z"]],
        lambda d: d.add_prefix("x")[["xTrue"]],
        lambda d: d.groupby(False).first()[True],
    ]
    for call in calls:
        equal(call(lazy), call(frame))


@pytest.mark.parametrize("join", ["inner", "outer"])
def test_parts_of_which_no_column_is_wanted_have_labels(join: Any) -> None:
    """They decide the type of all labels as if their columns were wanted."""
    texts = pd.DataFrame({"a": [1, 2]}, pd.Index(["x", "y"]))
    numbers = pd.DataFrame({"b": [3, 4], "c": [5, 6]}, pd.Index([1, 2]))
    parts = [md.DataFrame(frame, chunk_size=1) for frame in (texts, numbers)]
    wanted = pd.concat([texts, numbers[["b", "c"]]], join=join)
    found = md.concat([parts[0], parts[1][["b", "c"]]], join=join)
    equal(found, wanted)
    if join == "outer":
        equal(found["a"], wanted["a"])


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d[[0]],
        lambda d: d.loc[["x"], [1, 0]],
        lambda d: d.drop(columns="new"),
        lambda d: d.select_dtypes("int"),
        lambda d: d.groupby("new")[[0]].cumsum(),
        lambda d: d.sort_values(1)[[0]],
    ],
    ids=["list", "loc", "drop", "select_dtypes", "groupby", "sort_values"],
)
def test_columns_chosen_of_labels_of_several_types(call: Callable[[Any], Any]) -> None:
    """The label of a column that nobody reads decides the type of the others."""
    frame = pd.DataFrame([[1, 2], [3, 4]], ["x", "y"], [1, 0])
    found = call(md.DataFrame(frame, chunk_size=1).assign(new=0.5))
    wanted = call(frame.assign(new=0.5))
    assert found.compute().columns.dtype == wanted.columns.dtype == object
    equal(found, wanted)
