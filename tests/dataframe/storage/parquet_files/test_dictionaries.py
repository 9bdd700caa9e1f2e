"""Categories of Parquet files are those of all rows before anything is computed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.storage.parquet_files import dictionaries
from tests.dataframe.category_programs import ORDERED, PROGRAMS, check, parts


def written(folder: Any, frames: list[pd.DataFrame], **options: Any) -> Any:
    """Write a file for each frame."""
    for number, frame in enumerate(frames):
        frame.to_parquet(folder / f"{number}.parquet", **options)
    return folder


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tmp_path: Any, name: str) -> None:
    """Each program gives what it gives in pandas, though each row group has other categories."""
    path = written(tmp_path, parts(), row_group_size=2)
    for each in (False, True):
        lazy = md.read_parquet(path, groups_as_chunks=each)
        check(PROGRAMS[name], lazy, pd.read_parquet(path))


@pytest.mark.parametrize("name", ORDERED)
def test_programs_of_ordered_categories(tmp_path: Any, name: str) -> None:
    """So do programs that compare and sort by the order of categories."""
    path = written(tmp_path, parts(ordered=True), row_group_size=2)
    check(ORDERED[name], md.read_parquet(path, groups_as_chunks=True), pd.read_parquet(path))


@pytest.mark.parametrize(
    "options",
    [
        {"filters": [("v", ">", 5)]},
        {"filters": [("c", "==", "k5")]},
        {"filters": [[("c", "==", "a")], [("v", "<", 2)]]},
        {"columns": ["c"]},
        {"columns": ["v"]},
        {"dtype_backend": "numpy_nullable"},
        {"dtype_backend": "pyarrow"},
    ],
    ids=str,
)
def test_arguments(tmp_path: Any, options: Any) -> None:
    """Declared and computed types are pandas's, whatever else is asked for."""
    path = written(tmp_path, parts(), row_group_size=2)
    lazy, wanted = md.read_parquet(path, **options), pd.read_parquet(path, **options)
    pd.testing.assert_frame_equal(lazy.compute(), wanted)
    pd.testing.assert_series_equal(lazy.dtypes, wanted.dtypes)


@pytest.mark.parametrize("levels", [["c"], ["c", "v"]], ids=str)
def test_row_labels(tmp_path: Any, levels: Any) -> None:
    """Row labels of categories have those of all files, too."""
    frames = [part.assign(u=part.v).set_index(levels) for part in parts()]
    path = written(tmp_path, frames)
    pd.testing.assert_frame_equal(md.read_parquet(path).compute(), pd.read_parquet(path))
    assert md.read_parquet(path).index.dtype == pd.read_parquet(path).index.dtype


def test_statistics_have_another_order(tmp_path: Any) -> None:
    """Row groups are not skipped by the order of texts where categories have another order."""
    codes = pd.Categorical(["hi"] * 4 + ["lo"] * 4, ["lo", "hi"], ordered=True)
    pd.DataFrame({"c": codes}).to_parquet(tmp_path / "x.parquet", row_group_size=4)
    lazy = md.read_parquet(tmp_path / "x.parquet", groups_as_chunks=True)
    assert (lazy[lazy.c > "lo"].c.compute() == "hi").sum() == 4
    assert len(lazy[lazy.c == "hi"].compute()) == 4


def test_dictionaries_that_are_not_of_all_rows(tmp_path: Any, monkeypatch: Any) -> None:
    """Where the first rows may not tell the dictionary, all rows are read."""
    values = [f"text {number}" for number in range(500)]
    frame = pd.DataFrame({"c": pd.Categorical(values)})
    frame.to_parquet(tmp_path / "x.parquet", use_dictionary=False)
    wanted = pd.read_parquet(tmp_path / "x.parquet")
    pd.testing.assert_series_equal(
        md.read_parquet(tmp_path / "x.parquet").c.cat.codes.compute(), wanted.c.cat.codes
    )
    monkeypatch.setattr(dictionaries, "WHOLE_DICTIONARY", 0)
    (tmp_path / "d").mkdir()
    path = written(tmp_path / "d", parts())
    pd.testing.assert_frame_equal(md.read_parquet(path).compute(), pd.read_parquet(path))


def test_unknown_categories_raise(tmp_path: Any) -> None:
    """A value that is not among the categories is an error, not a missing value."""
    kind = pa.dictionary(pa.int8(), pa.string())
    table = pa.table({"c": pa.array(["a", "b"]).cast(kind)})
    schema = pa.schema([("c", kind)])
    with pytest.raises(ValueError, match="'c' has categories"):
        dictionaries.with_categories(table, schema, (("c", ("a",)),))
    found = dictionaries.with_categories(table, schema, (("c", ("x", "b", "a")),))
    assert found.column("c").to_pylist() == ["a", "b"]


def test_categories_that_are_no_text(tmp_path: Any) -> None:
    """Dictionaries of numbers have their type."""
    table = pa.table({"c": pa.array([3, 1, None]).dictionary_encode(), "v": [1, 2, 3]})
    for number in range(2):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    pd.testing.assert_frame_equal(md.read_parquet(tmp_path).compute(), pd.read_parquet(tmp_path))
