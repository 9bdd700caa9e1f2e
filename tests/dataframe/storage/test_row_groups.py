"""Row groups become chunks as Dask's arguments say, with the types of a backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow.fs
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce


@pytest.fixture
def folder(tmp_path: Any) -> Any:
    """Return a folder of two files, of four and three row groups."""
    for part, rows in enumerate((20, 13)):
        table(rows, part).to_parquet(tmp_path / f"{part}.parquet", row_group_size=5)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "sizes"),
    [
        ({}, (20, 13)),
        ({"split_row_groups": True}, (5, 5, 5, 5, 5, 5, 3)),
        ({"split_row_groups": 2}, (10, 10, 10, 3)),
        ({"split_row_groups": False, "blocksize": 1}, (20, 13)),
        ({"blocksize": "1 kiB"}, (5, 5, 5, 5, 5, 5, 3)),
        ({"split_row_groups": "adaptive", "blocksize": None}, (20, 13)),
        ({"aggregate_files": True}, (33,)),
        ({"split_row_groups": 3, "aggregate_files": True, "engine": None}, (15, 15, 3)),
        ({"filesystem": "arrow", "calculate_divisions": True}, (20, 13)),
    ],
    ids=str,
)
def test_how_rows_are_cut(folder: Any, arguments: Any, sizes: Any) -> None:
    """By number, by bytes, or one chunk a file."""
    lazy = md.read_parquet(folder, **arguments)
    assert lazy.chunks == (sizes,)
    equal(lazy.u, pd.concat([table(20, 0), table(13, 1)], ignore_index=True).u)


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_types_of_a_backend(folder: Any, backend: Any) -> None:
    """Those that pandas gives, also where values are missing."""
    path = folder / "x.parquet"
    frame = table(12).assign(n=pd.array([1, None] * 6, "Int64"), c=pd.Categorical(list("abc") * 4))
    frame.astype({"u": "uint8", "f": np.float32}).to_parquet(path, row_group_size=5)
    wanted = pd.read_parquet(path, dtype_backend=backend)
    lazy = md.read_parquet(path, dtype_backend=backend, split_row_groups=True)
    assert list(lazy.dtypes[:-1]) == list(wanted.dtypes[:-1])
    equal(lazy, wanted)
    equal(lazy[["u", "f"]].sum(), wanted[["u", "f"]].sum())


def test_a_filesystem(folder: Any) -> None:
    """One of pyarrow, or of fsspec; local ones are read as paths are."""
    import fsspec

    below = pyarrow.fs.SubTreeFileSystem(str(folder.parent), pyarrow.fs.LocalFileSystem())
    wanted = md.read_parquet(folder).compute()
    for path, given in (
        (folder.name, below),
        (folder, pyarrow.fs.LocalFileSystem()),
        (folder, fsspec.filesystem("file")),
    ):
        equal(md.read_parquet(path, filesystem=given), wanted)
    equal(md.read_parquet(f"{folder.name}/1.parquet", filesystem=below), table(13, 1))
    with pytest.raises(ValueError, match="FileSystem, not a int"):
        md.read_parquet(folder, filesystem=3)


def test_labels_and_columns(folder: Any) -> None:
    """Columns as labels, labels as columns, and one column as a series."""
    wanted = pd.concat([table(20, 0), table(13, 1)], ignore_index=True)
    equal(md.read_parquet(folder, columns="f"), wanted.f)
    equal(md.read_parquet(folder, columns=["f"], index="u"), wanted.set_index("u")[["f"]])
    equal(
        md.read_parquet(folder, columns=["f", "u"], index=["u", "k"]).f,
        wanted.set_index(["u", "k"]).f,
    )
    table(9, index="labels").to_parquet(folder / "l.parquet")
    wanted = table(9, index="labels").reset_index()
    equal(md.read_parquet(folder / "l.parquet", index=False), wanted)
    equal(md.read_parquet(folder, parquet_file_extension="0.parquet").u, table(20).u)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"engine": "fastparquet"}, NotImplementedError, "pyarrow"),
        ({"categories": ["s"]}, NotImplementedError, "CategoricalDtype"),
        ({"aggregate_files": "k"}, NotImplementedError, "True or False"),
        ({"dtype_backend": "nope"}, ValueError, "numpy_nullable"),
        ({"split_row_groups": "nope"}, ValueError, "adaptive"),
        ({"filesystem": "s3"}, ValueError, "fsspec"),
        ({"colums": ["u"]}, TypeError, "columns"),
    ],
    ids=str,
)
def test_arguments_are_checked(folder: Any, arguments: Any, error: Any, text: str) -> None:
    """At the call, with what would work."""
    with pytest.raises(error, match=text):
        md.read_parquet(folder, **arguments)
