"""Parquet files are read and written as pandas does."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.batches import batches
from marsdask.dataframe.io.parquet import ReadParquet
from tests.dataframe.tables import equal, table


@pytest.fixture
def folder(tmp_path):
    """Return a folder of three files of several row groups each."""
    frame = table(50)
    for part, start in enumerate(range(0, 50, 20)):
        rows = frame.iloc[start : start + 20].reset_index(drop=True)
        rows.to_parquet(tmp_path / f"{part}.parquet", row_group_size=7)
    return tmp_path


@pytest.mark.parametrize("each", [True, False])
def test_read(folder, each):
    """Rows of all files, numbered through."""
    lazy = md.read_parquet(folder, groups_as_chunks=each)
    assert len(lazy) == 50
    assert lazy.npartitions == (8 if each else 3)
    equal(lazy, table(50))
    equal(md.read_parquet(str(folder / "*.parquet"), columns=["u", "s"]), table(50)[["u", "s"]])
    equal(md.read_parquet([folder / "1.parquet"]), pd.read_parquet(folder / "1.parquet"))


def test_filters(folder):
    """Rows that meet the conditions, numbered anew."""
    wanted = table(50).query("u > 30 and k == 1").reset_index(drop=True)
    equal(md.read_parquet(folder, filters=[("u", ">", 30), ("k", "==", 1)]), wanted)
    either = table(50).query("u > 30 or k == 1")[["f"]].reset_index(drop=True)
    equal(
        md.read_parquet(folder, columns=["f"], filters=[[("u", ">", 30)], [("k", "==", 1)]]), either
    )


def test_labels_come_back(tmp_path):
    """Labels of rows survive the way to a file."""
    frame = table(20, index="labels")
    md.DataFrame(frame, chunk_size=6).to_parquet(tmp_path / "out")
    equal(md.read_parquet(tmp_path / "out"), frame)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), frame)


def test_one_file_for_each_chunk(tmp_path):
    """Chunks as the user sees them, in a folder or by a pattern."""
    lazy = md.DataFrame(table(10), chunk_size=4)
    written = lazy.to_parquet(tmp_path / "x-*.parquet").fetch()
    assert written.rows.tolist() == [4, 4, 2]
    assert sorted(os.listdir(tmp_path)) == [f"x-{i:06d}.parquet" for i in range(3)]
    equal(md.read_parquet(tmp_path), table(10))


def test_a_changed_file_is_another_source(tmp_path):
    """Reading a file again after it changed gives what is in it now."""
    path = tmp_path / "x.parquet"
    table(5).to_parquet(path)
    before = md.read_parquet(path)
    table(9).to_parquet(path)
    after = md.read_parquet(path)
    assert before.node.name != after.node.name
    equal(after, table(9))


def test_bad_input(tmp_path, folder):
    """Files and columns that are not there are named."""
    with pytest.raises(FileNotFoundError):
        md.read_parquet(tmp_path / "nope.parquet")
    with pytest.raises(FileNotFoundError, match=r"nope"):
        md.read_parquet(str(tmp_path / "nope*.parquet"))
    with pytest.raises(KeyError, match="nope"):
        md.read_parquet(folder, columns=["nope"])
    with pytest.raises(FileNotFoundError, match=r"nope"):
        md.read_parquet("memory://nope/x.parquet")


@pytest.fixture
def partitioned(tmp_path):
    """Return a table and the folder into which pandas wrote it by two columns."""
    frame = table(40)[["u", "k", "f"]].assign(city=["Bern", "Köln/Rhein"] * 20)
    frame.to_parquet(tmp_path / "q=1", partition_cols=["k", "city"])
    return tmp_path / "q=1"


def test_folders_of_partitions(partitioned):
    """What folders are called becomes categories, as pandas reads them."""
    wanted = pd.read_parquet(partitioned)
    for each in (True, False):
        equal(md.read_parquet(partitioned, groups_as_chunks=each), wanted)
    lazy = md.read_parquet(partitioned)
    equal(lazy[["city", "u"]], wanted[["city", "u"]])
    equal(lazy.k, wanted.k)
    equal(md.read_parquet(partitioned, columns=["k"]), wanted[["k"]])
    equal(lazy.groupby("city").u.sum(), wanted.groupby("city", observed=True).u.sum())
    one = next(partitioned.rglob("*.parquet"))
    # Older pyarrow reads keys from the folders above one file.
    equal(md.read_parquet(one), pd.read_parquet(one, partitioning=None))


def test_partitions_are_filtered(partitioned):
    """Rows as pandas gives them, of the files that can hold them."""
    for filters in (
        [("k", "==", 1)],
        [("k", "in", [1, 2]), ("u", ">", 9)],
        [("city", "==", "Bern")],
    ):
        wanted = pd.read_parquet(partitioned, filters=filters)
        equal(md.read_parquet(partitioned, filters=filters), wanted)
    source = md.read_parquet(partitioned).node
    assert isinstance(source, ReadParquet)
    kept = source.skipping([("k", "==", 1)])
    assert isinstance(kept, ReadParquet)
    assert 0 < len(kept.groups) < len(source.groups)
    assert {source.keys.value("k", group.file) for group in kept.groups} == {1}


def test_partitions_without_a_value(tmp_path):
    """What has no value stays missing."""
    frame = pd.DataFrame({"u": range(6), "k": ["a", None, "b"] * 2})
    frame.to_parquet(tmp_path, partition_cols=["k"])
    found = md.read_parquet(tmp_path).compute().sort_values("u", ignore_index=True)
    assert found.k.isna().tolist() == [False, True, False] * 2
    assert found.k.dropna().tolist() == ["a", "b"] * 2


def test_files_behind_urls():
    """Written and read through fsspec, partitions too."""
    frame = table(20)
    md.DataFrame(frame, chunk_size=6).to_parquet("memory://tables/x")
    equal(md.read_parquet("memory://tables/x"), frame)
    equal(md.read_parquet("memory://tables/x/*.parquet", columns=["s"]), frame[["s"]])
    for key in (7, 8):
        frame[["u"]].to_parquet(f"memory://tables/k={key}/y.parquet")
    paths = ["memory://tables/k=7/y.parquet", "memory://tables/k=8/y.parquet"]
    found = md.read_parquet(paths).compute()
    assert found.k.tolist() == [7] * 20 + [8] * 20


def with_gaps(folder):
    """Write files of plain numbers and truth values, some of which are missing in the second."""
    for number, values in enumerate(([1, 2], [3, None], [5, 6])):
        columns = {
            "a": pa.array(values, pa.int64()),
            "i": pa.array(values, pa.int32()),
            "b": pa.array([True, None if number == 1 else False]),
            "c": pa.array([1, 2], pa.int8()),
            "k": pa.array(["x", f"y{number}"]).dictionary_encode(),
        }
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")


@pytest.mark.parametrize("groups_as_chunks", [False, True])
def test_columns_with_gaps_are_declared(tmp_path, groups_as_chunks):
    """The files' statistics tell; all chunks have the type that pandas gives the whole."""
    with_gaps(tmp_path)
    wanted = pd.read_parquet(tmp_path)
    lazy = md.read_parquet(tmp_path, groups_as_chunks=groups_as_chunks)
    assert list(lazy.dtypes.drop("k")) == list(wanted.dtypes.drop("k"))
    for block in batches(lazy[["a", "i", "b", "c"]]):
        assert list(block.dtypes) == list(lazy.dtypes.drop("k"))
    equal(lazy, wanted)
    # The group with the gap is not even read: the type is that of all rows.
    rows, columns = lazy[lazy.a > 4], ["a", "i", "b", "c"]
    equal(rows[columns], wanted[wanted.a > 4][columns])
    equal(lazy[["c"]], wanted[["c"]])
    assert lazy[["a", "c"]].to_tensor().dtype == float


def test_whole_numbers_without_statistics_stay_exact(tmp_path):
    """Nobody knows whether some are missing: the types are those of what is read."""
    large = [2**53 + 1, 2**53 + 3, 5]
    one, two = tmp_path / "1.parquet", tmp_path / "2.parquet"
    table = pa.table({"x": large, "b": [True, False, True]})
    pq.write_table(table, one, write_statistics=False, row_group_size=2)
    for groups_as_chunks in (False, True):
        lazy = md.read_parquet(one, groups_as_chunks=groups_as_chunks)
        assert lazy.compute().x.tolist() == large
        equal(lazy, pd.read_parquet(one))
        assert lazy.x.astype("str").compute().tolist() == [str(value) for value in large]
        equal(lazy.execute(), pd.read_parquet(one))
        assert list(lazy.dtypes) == [np.dtype("int64"), np.dtype(bool)]
    gaps = pa.table({"x": [1, None], "b": [None, True]})
    pq.write_table(gaps, two, write_statistics=False)
    equal(md.read_parquet(tmp_path), pd.read_parquet(tmp_path))
    assert md.read_parquet(tmp_path).execute().dtypes.x == np.dtype(float)


def test_gaps_that_are_filtered_out_while_reading(tmp_path):
    """Declared as with gaps, since only reading tells; the values are pandas's."""
    with_gaps(tmp_path)
    filters = [("c", "==", 1)]
    lazy = md.read_parquet(tmp_path, filters=filters)
    assert lazy.a.dtype == "float64"
    equal(lazy, pd.read_parquet(tmp_path, filters=filters))


@pytest.mark.parametrize("name", [None, "r"])
@pytest.mark.parametrize("first", [0, 2])
def test_labels_and_their_name_are_stored(tmp_path, name, first):
    """Those of rows that a mask chose, and the name of a range, whatever reads the files."""
    frame = pd.DataFrame({"a": range(6)}).rename_axis(name)
    lazy = md.DataFrame(frame, chunk_size=2)
    lazy[lazy.a >= first].to_parquet(tmp_path)
    wanted = frame[frame.a >= first]
    pd.testing.assert_frame_equal(md.read_parquet(tmp_path).compute(), wanted)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path), wanted)
    lazy.to_parquet(tmp_path / "all")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all"), frame)


def test_labels_of_several_parts(tmp_path):
    """Intervals have two bounds in a file, which one column of labels has together."""
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.interval_range(0, 3))
    frame.to_parquet(tmp_path / "x.parquet")
    equal(md.read_parquet(tmp_path / "x.parquet"), frame)
    md.DataFrame(frame, chunk_size=2).to_parquet(tmp_path / "y")
    equal(md.read_parquet(tmp_path / "y")[["a"]], frame)


@pytest.mark.parametrize(
    "values", [["x", pd.Timestamp("2020")], [True, 1], [1, "x"], ["x", None], [1, 1.5]]
)
def test_objects_of_several_kinds(tmp_path, values):
    """Objects that one column of a file cannot hold are refused, also in different chunks."""
    column = pd.Series(values, dtype=object)
    for frame in (column.to_frame("a"), pd.DataFrame({"a": [1, 2]}, index=column)):
        lazy = md.DataFrame(frame, chunk_size=1)
        try:
            frame.to_parquet(tmp_path / "pandas")
        except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
            with pytest.raises(type(error)):
                lazy.to_parquet(tmp_path / "ours")
        else:
            lazy.to_parquet(tmp_path / "ours")
            equal(md.read_parquet(tmp_path / "ours"), pd.read_parquet(tmp_path / "pandas"))


@pytest.mark.parametrize("dtype", ["int64", "float64", "str"])
def test_a_column_without_a_label(tmp_path, dtype):
    """NaN is the label of a column, whose places are found though it is not equal to itself."""
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=[1.0, np.nan]).astype(dtype)
    lazy = md.DataFrame(frame, chunk_size=1)
    lazy.to_parquet(tmp_path)
    equal(md.read_parquet(tmp_path), pd.read_parquet(tmp_path))
    equal(md.read_parquet(tmp_path)[[np.nan]], pd.read_parquet(tmp_path)[[np.nan]])
