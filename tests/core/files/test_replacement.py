"""What is new takes the name of what was there when it is whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from marsdask.core.files.replacement import beside, remove, replacing, take_place


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: Any) -> None:
    """And nothing beside it."""
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(str(path)) as new:
            Path(new).write_text("new")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    """The file behind a link is replaced, as if it was written to."""
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    with replacing(str(tmp_path / "link.txt")) as new:
        assert new.endswith(".txt")
        Path(new).write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o640


def test_devices_are_written_to() -> None:
    """They cannot be replaced."""
    with replacing(os.devnull) as path:
        assert path == os.devnull


def test_folders_and_files_replace_each_other(tmp_path: Path) -> None:
    """A folder replaces a folder or a file as a whole."""
    path = str(tmp_path / "x")
    for old in ("folder", "file", "nothing"):
        if old == "folder":
            (tmp_path / "x").mkdir()
            (tmp_path / "x" / "a").write_text("old")
        elif old == "file":
            (tmp_path / "x").write_text("old")
        new = Path(beside(path, "mark"))
        new.mkdir()
        (new / "b").write_text("new")
        take_place(str(new), path)
        assert os.listdir(tmp_path) == ["x"]
        assert os.listdir(path) == ["b"]
        remove(path)


def test_a_folder_that_cannot_be_renamed(tmp_path: Path) -> None:
    """What was there gets its name back."""
    (tmp_path / "x").mkdir()
    with pytest.raises(FileNotFoundError):
        take_place(str(tmp_path / "nothing"), str(tmp_path / "x"))
    assert os.listdir(tmp_path) == ["x"]
