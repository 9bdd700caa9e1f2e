"""Folders of running tasks are private, and end with them."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from marsdask.scheduler.errors import SpillFull
from marsdask.scheduler.storage import scratch
from marsdask.scheduler.storage.scratch import ScratchFolder, scratch_folder


def test_a_folder_is_private_and_removed(tmp_path: Path) -> None:
    """With what is in it, also after an error."""
    with scratch_folder([str(tmp_path)]) as folder:
        assert folder is not None
        assert Path(folder.path).parent == tmp_path
        assert stat.S_IMODE(os.stat(folder.path).st_mode) == 0o700
        Path(folder.path, "file").write_text("rows")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), scratch_folder([str(tmp_path)]):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_the_place_with_the_most_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several disks."""
    places = [str(tmp_path / name) for name in ("a", "b")]
    monkeypatch.setattr(scratch, "room", lambda place: 9 if place.endswith("b") else 1)
    with scratch_folder(places) as folder:
        assert folder is not None
        assert Path(folder.path).parent == tmp_path / "b"


def test_without_places(tmp_path: Path) -> None:
    """None are no folder; unknown ones are this user's."""
    with scratch_folder([]) as folder:
        assert folder is None
    with scratch_folder(None) as folder:
        assert folder is not None
        assert os.stat(folder.path).st_uid == os.geteuid()
    assert not os.path.exists(folder.path)


def test_full_disks_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a disk stays free."""
    folder = ScratchFolder(str(tmp_path))
    folder.check_room()
    monkeypatch.setattr(scratch, "room", lambda place: 0)
    with pytest.raises(SpillFull, match=str(tmp_path)):
        folder.check_room()
    assert str(tmp_path) in str(folder.refused(OSError(errno.ENOSPC, "no space")))
