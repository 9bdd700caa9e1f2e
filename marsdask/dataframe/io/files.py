"""Find and open files of frames: local ones, or those behind an fsspec URL."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Storage:
    """Options of a filesystem: ``storage_options=`` of pandas and Dask."""

    options: Mapping[str, Any] = field(default_factory=dict)


LOCAL = Storage()


@dataclass(frozen=True)
class Files:
    """Files in the state in which they were found first."""

    paths: tuple[str, ...]
    stamps: tuple[Any, ...]
    """The version of each file, and its bytes: a changed file is another source."""
    storage: Storage = LOCAL


def is_remote(path: str) -> bool:
    """Tell whether a path is a URL."""
    return "://" in path


def filesystem(path: str, storage: Storage) -> tuple[Any, str]:
    """Return the filesystem behind a URL, and the path in it."""
    import fsspec

    fs, inside = fsspec.core.url_to_fs(path, **storage.options)
    return fs, inside


def open_file(path: str, storage: Storage) -> Any:
    """Open a file for reading bytes."""
    if not is_remote(path):
        return open(path, "rb")
    fs, inside = filesystem(path, storage)
    return fs.open(inside, "rb")


def expand_paths(path: Any, storage: Storage = LOCAL) -> tuple[str, ...]:
    """Return the files of a path, a pattern, a folder or a list of these."""
    if isinstance(path, list | tuple):
        return tuple(itertools.chain.from_iterable(expand_paths(one, storage) for one in path))
    name = os.fspath(path)
    if is_remote(name):
        found = _remote(name, storage)
    elif os.path.isdir(name):
        found = _below(name)
    else:
        is_pattern = glob.has_magic(name) and not os.path.exists(name)
        found = sorted(glob.glob(name)) if is_pattern else [name]
    if not found:
        raise FileNotFoundError(f"no file matches {name!r}")
    return tuple(found)


def _remote(name: str, storage: Storage) -> list[str]:
    fs, inside = filesystem(name, storage)
    if glob.has_magic(inside) and not fs.exists(inside):
        found = sorted(fs.glob(inside))
    elif fs.isdir(inside):
        found = _visible(sorted(fs.find(inside)), inside)
    else:
        found = [inside]
    return [fs.unstrip_protocol(one) for one in found]


def _below(folder: str) -> list[str]:
    found = [os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names]
    return _visible(sorted(found), folder)


def _visible(paths: Iterable[str], folder: str) -> list[str]:
    """Omit hidden files, and those that only describe others, such as ``_SUCCESS``."""
    return [
        path
        for path in paths
        if not any(
            part.startswith(("_", "."))
            for part in path[len(folder) :].replace(os.sep, "/").split("/")
        )
    ]


def looked_at(paths: tuple[str, ...], storage: Storage = LOCAL) -> Files:
    """Return the files with their versions, which show later changes."""
    return Files(paths, tuple(_stamp(path, storage) for path in paths), storage)


def _stamp(path: str, storage: Storage) -> tuple[Any, int]:
    if is_remote(path):
        fs, inside = filesystem(path, storage)
        return fs.ukey(inside), fs.info(inside)["size"]
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


def folder_of(path: Any, storage: Storage = LOCAL) -> str | None:
    """Return the path if it is a folder, else ``None``."""
    if isinstance(path, list | tuple):
        return None
    name = os.fspath(path)
    if is_remote(name):
        fs, inside = filesystem(name, storage)
        return name if fs.isdir(inside) else None
    return name if os.path.isdir(name) else None


def make_folder(path: str, storage: Storage) -> None:
    """Create a folder unless it exists."""
    if is_remote(path):
        fs, inside = filesystem(path, storage)
        fs.makedirs(inside, exist_ok=True)
    else:
        os.makedirs(path, exist_ok=True)
