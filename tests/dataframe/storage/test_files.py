"""Files are found by path, pattern, folder and URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.files.stamps import FileChanged
from marsdask.dataframe.storage.files import expand_paths, folder_of, looked_at, open_file
from tests.file_changes import CHANGES, appended, deleted, replaced


@pytest.fixture(params=["local", "memory"])
def root(request: Any, tmp_path: Any) -> str:
    """Return a folder of files, some of which are not data."""
    base = str(tmp_path) if request.param == "local" else f"memory://{tmp_path.name}"
    fs, inside = fsspec.core.url_to_fs(base)
    for name in ("b.csv", "a.csv", "k=1/c.csv", "_SUCCESS", ".hidden/d.csv", "_old/e.csv"):
        path = f"{inside}/{name}"
        fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        fs.pipe_file(path, name.encode())
    return base


def names(root: str, paths: tuple[str, ...]) -> list[str]:
    """Return what lies behind the folder in each path."""
    return [path.partition(root.rpartition("/")[2] + "/")[2] for path in paths]


def test_folders_patterns_and_lists(root: str) -> None:
    """In order; what is hidden or describes the rest is left out."""
    assert names(root, expand_paths(root)) == ["a.csv", "b.csv", "k=1/c.csv"]
    assert names(root, expand_paths(f"{root}/*.csv")) == ["a.csv", "b.csv"]
    assert names(root, expand_paths([f"{root}/b.csv", f"{root}/a.csv"])) == ["b.csv", "a.csv"]
    assert folder_of(root) == root
    assert folder_of([root]) is folder_of(f"{root}/a.csv") is None


def test_what_is_not_there_is_named(root: str) -> None:
    """A file as well as a pattern."""
    with pytest.raises(FileNotFoundError, match=r"nope\*"):
        expand_paths(f"{root}/nope*")
    with pytest.raises(FileNotFoundError, match="nope"):
        looked_at(expand_paths(f"{root}/nope.csv"))


def test_a_changed_file_is_another(root: str) -> None:
    """By its stamp; what is opened is what is in it."""
    path = f"{root}/a.csv"
    before = looked_at(expand_paths(path))
    assert looked_at(expand_paths(path)).stamps == before.stamps
    fs, inside = fsspec.core.url_to_fs(path)
    fs.pipe_file(inside, b"something else")
    after = looked_at(expand_paths(path))
    assert after.stamps != before.stamps
    with open_file(after.paths[0], after.storage) as file:
        assert file.read() == b"something else"


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(tmp_path):
    """As pandas reads it; where there is no such file, it matches others."""
    path = tmp_path / "x[1].csv"
    path.write_text("a\n1\n")
    assert expand_paths(str(path)) == (str(path),)
    path.rename(tmp_path / "x1.csv")
    assert expand_paths(str(path)) == (str(tmp_path / "x1.csv"),)


def _frame() -> pd.DataFrame:
    return pd.DataFrame({"a": range(12), "s": [f"text {i}" for i in range(12)]})


def _parquet(path: Path) -> None:
    _frame().to_parquet(path, row_group_size=3)


READERS: dict[str, tuple[Callable[[Path], Any], Callable[[Any], Any]]] = {
    "read_csv": (lambda path: _frame().to_csv(path, index=False), md.read_csv),
    "read_csv, small chunks": (
        lambda path: _frame().to_csv(path, index=False),
        lambda path: md.read_csv(path, chunk_bytes=30),
    ),
    "read_csv, whole": (
        lambda path: _frame().to_csv(path, index=False),
        lambda path: md.read_csv(path, skiprows=[2]),
    ),
    "read_csv, empty": (
        lambda path: path.write_text("a,b,a_longer_name_of_a_column\n"),
        md.read_csv,
    ),
    "read_table": (
        lambda path: _frame().to_csv(path, sep="\t", index=False),
        md.read_table,
    ),
    "read_fwf": (lambda path: path.write_text(_frame().to_string(index=False)), md.read_fwf),
    "read_json": (
        lambda path: _frame().to_json(path, orient="records", lines=True),
        lambda path: md.read_json(path, lines=True),
    ),
    "read_json, small chunks": (
        lambda path: _frame().to_json(path, orient="records", lines=True),
        lambda path: md.read_json(path, lines=True, blocksize=40),
    ),
    "read_json, whole": (lambda path: _frame().to_json(path), md.read_json),
    "read_parquet": (_parquet, md.read_parquet),
    "read_parquet, groups": (
        _parquet,
        lambda path: md.read_parquet(path, groups_as_chunks=True),
    ),
    "read_parquet, filters": (
        _parquet,
        lambda path: md.read_parquet(path, filters=[("a", ">", 4)]),
    ),
    "read_parquet, no rows": (_frame().iloc[:0].to_parquet, md.read_parquet),
    "read_orc": (lambda path: _frame().to_orc(path), md.read_orc),
    "read_feather": (lambda path: _frame().to_feather(path), md.read_feather),
}


@pytest.mark.parametrize("where", ["local", "url"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_changes_after_the_call(
    tmp_path: Path, reader: str, change: str, where: str
) -> None:
    """Computing raises an error that names the file and the reader, and says what happened."""
    path = tmp_path / "data.file"
    write, read = READERS[reader]
    write(path)
    frame = read(f"file://{path}" if where == "url" else str(path))
    CHANGES[change](path)
    name = reader.partition(",")[0].replace("read_table", "read_csv")
    with pytest.raises(FileChanged, match=rf"data\.file has changed since {name}\(\)"):
        frame.compute()
    with pytest.raises(FileChanged, match=rf"data\.file has changed since {name}\(\)"):
        (frame[frame.columns[0]] == 3).sum().compute()


@pytest.mark.parametrize("reader", READERS)
def test_an_unchanged_file_is_read_again(tmp_path: Path, reader: str) -> None:
    """Reading changes no file, and a new call reads what is there by then."""
    path = tmp_path / "data.file"
    write, read = READERS[reader]
    write(path)
    frame = read(str(path))
    expected = frame.compute()
    pd.testing.assert_frame_equal(frame.compute(), expected)
    replaced(path)
    write(path)
    pd.testing.assert_frame_equal(read(str(path)).compute(), expected)


@pytest.mark.parametrize("reader", READERS)
def test_a_path_is_that_of_the_call(
    tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks may run in another folder, where another file may have the name."""
    write, read = READERS[reader]
    write(tmp_path / "data.file")
    monkeypatch.chdir(tmp_path)
    frame = read("data.file")
    expected = frame.compute()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    pd.testing.assert_frame_equal(frame.compute(), expected)


@pytest.mark.parametrize("change", [appended, deleted, replaced])
def test_one_of_several_files_changes(tmp_path: Path, change: Any) -> None:
    """Also if it is not the first one."""
    for name in "ab":
        _frame().to_csv(tmp_path / f"{name}.csv", index=False)
    frame = md.read_csv(str(tmp_path / "*.csv"))
    change(tmp_path / "b.csv")
    with pytest.raises(FileChanged, match=r"b\.csv has changed since read_csv"):
        frame.compute()


@pytest.mark.parametrize("reader", ["read_csv", "read_parquet", "read_json", "read_feather"])
@pytest.mark.parametrize("change", ["new", "gone"])
def test_a_remote_file_that_changes(tmp_path: Path, reader: str, change: str) -> None:
    """The version is what the filesystem tells."""
    path = tmp_path / "data.file"
    write, read = READERS[reader]
    write(path)
    fs, inside = fsspec.core.url_to_fs(f"memory://{tmp_path.name}/data.file")
    fs.pipe_file(inside, path.read_bytes())
    frame = read(f"memory://{tmp_path.name}/data.file")
    assert len(frame.compute()) == 12
    if change == "new":
        fs.pipe_file(inside, path.read_bytes() + b"\n")
    else:
        fs.rm_file(inside)
    with pytest.raises(FileChanged, match=rf"data\.file has changed since {reader}\(\)"):
        frame.compute()


@pytest.mark.parametrize("change", CHANGES)
def test_files_that_an_engine_scans(tmp_path: Path, change: str) -> None:
    """A plan of relations compares the files too, also the second time."""
    path = tmp_path / "data.file"
    _parquet(path)
    with option_context({"dataframe.kernels": "polars"}):
        frame = md.read_parquet(str(path))
        sums = frame.groupby("s").a.sum()
        assert sums.compute().sum() == 66
        CHANGES[change](path)
        for program in (sums, frame.sort_values("a"), frame.a.sum()):
            with pytest.raises(FileChanged, match=r"data\.file has changed since read_parquet\(\)"):
                program.compute()
