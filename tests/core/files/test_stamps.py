"""Files are compared with their stamps by whoever opens them."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from marsdask.core.files.stamps import (
    FileChanged,
    Stamp,
    check_unchanged,
    local_stamp,
    unchanged,
)
from tests.file_changes import CHANGES


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(tmp_path: Path, change: str) -> None:
    """The error names the file and the function, and survives its way between processes."""
    path = tmp_path / "x"
    path.write_bytes(b"0123456789" * 4)
    stamp = local_stamp(str(path))
    check_unchanged(str(path), stamp, "read_x")
    CHANGES[change](path)
    with pytest.raises(FileChanged, match=r"x has changed since read_x\(\)") as caught:
        check_unchanged(str(path), stamp, "read_x")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_another_machine_may_have_a_copy(tmp_path: Path) -> None:
    """Its times and inodes are its own; the size is not."""
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    stamp = local_stamp(str(path))
    check_unchanged(str(path), stamp._replace(host="another", time=1, inode=2), "read_x")
    with pytest.raises(FileChanged, match="9 bytes then, and has 10"):
        check_unchanged(str(path), stamp._replace(host="another", size=9), "read_x")


def test_a_change_while_a_file_is_read(tmp_path: Path) -> None:
    """It explains an error, and what was read without one is not used."""
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    files = [(str(path), local_stamp(str(path)))]
    with pytest.raises(ZeroDivisionError), unchanged(files, "read_x"):
        raise ZeroDivisionError

    def fail() -> None:
        path.write_bytes(b"01234567890")
        raise ZeroDivisionError

    with pytest.raises(FileChanged, match="has 11") as caught, unchanged(files, "read_x"):
        fail()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    files = [(str(path), local_stamp(str(path)))]
    with pytest.raises(FileChanged), unchanged(files, "read_x"):
        os.utime(path, ns=(1, 1))


def test_what_else_a_link_changes_is_no_change(tmp_path: Path) -> None:
    """Another name of a file, and its permissions, are not its content."""
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    stamp = local_stamp(str(path))
    os.link(path, tmp_path / "y")
    path.chmod(0o600)
    assert local_stamp(str(path)) == stamp == Stamp(*stamp)
