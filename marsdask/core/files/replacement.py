"""Replace files and folders: what is new is written beside, and takes the name when it is whole."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def beside(path: str, mark: str) -> str:
    """Return a hidden path in the folder of a path, with the same suffix."""
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{mark}-{name}")


def take_place(new: str, path: str) -> None:
    """Give a complete file or folder its name; what has had the name is removed afterwards."""
    path = os.path.realpath(path)
    if not os.path.isdir(new) and not os.path.isdir(path):
        with suppress(OSError):
            shutil.copymode(path, new)
        os.replace(new, path)
        return
    old = f"{new}-old"
    is_there = os.path.lexists(path)
    if is_there:
        os.rename(path, old)
    try:
        os.rename(new, path)
    except BaseException:
        if is_there:
            os.rename(old, path)
        raise
    if is_there:
        remove(old)


def remove(path: str) -> None:
    """Remove a file or a folder, if it is there, also while others still write to it."""
    while os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(FileNotFoundError):
        os.unlink(path)


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Return a path to write to, which takes the place of ``path`` unless an error is raised.

    Devices and pipes are written to directly.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        yield path
        return
    new = beside(path, uuid.uuid4().hex)
    try:
        yield new
        take_place(new, path)
    finally:
        remove(new)
