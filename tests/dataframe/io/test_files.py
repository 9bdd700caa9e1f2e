"""Files are found by path, pattern, folder and URL."""

from __future__ import annotations

from typing import Any

import fsspec
import pytest

from marsdask.dataframe.io.files import expand_paths, folder_of, looked_at, open_file


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
