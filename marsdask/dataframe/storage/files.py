"""Find and open files of frames: local ones, or those behind an fsspec URL."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from marsdask.core.files.stamps import FileChanged, Stamp, local_stamp, remote_stamp, unchanged


@dataclass(frozen=True, eq=False)
class Storage:
    """Options of a filesystem: ``storage_options=`` of pandas and Dask."""

    options: Mapping[str, Any] = field(default_factory=dict)
    fs: Any = None
    """A filesystem of fsspec in place of the one that a URL names."""


LOCAL = Storage()

#: Protocols of URLs of files that have paths.
LOCAL_PROTOCOLS = ("file", "local")

#: Names of libraries that open files: the choice is ours.
LIBRARIES = (None, "fsspec", "arrow", "pyarrow")


def storage_of(options: Mapping[str, Any] | None, given: Any = None) -> Storage:
    """Return where paths lie: on a filesystem of fsspec or pyarrow, or where their URLs say."""
    if given is None or isinstance(given, str):
        if given not in LIBRARIES:
            raise ValueError(f"filesystem must be an object, or one of {LIBRARIES}, got {given!r}")
        return Storage(options) if options else LOCAL
    import fsspec
    import pyarrow.fs

    if isinstance(given, pyarrow.fs.FileSystem):
        from fsspec.implementations.arrow import ArrowFSWrapper

        given = ArrowFSWrapper(given)
    if not isinstance(given, fsspec.AbstractFileSystem):
        kind = type(given).__name__
        raise ValueError(f"filesystem must be a pyarrow or fsspec FileSystem, not a {kind}")
    protocols = [given.protocol] if isinstance(given.protocol, str) else given.protocol
    return LOCAL if "local" in protocols else Storage(options or {}, given)


@dataclass(frozen=True)
class Files:
    """Files in the state in which they were found first."""

    paths: tuple[str, ...]
    stamps: tuple[Stamp, ...]
    """The version of each file, and its bytes: a changed file is another source."""
    storage: Storage = LOCAL
    reader: str = "read"
    """The function that looked at them."""

    def reading(self, number: int) -> AbstractContextManager[str]:
        """Return the context in which a file is read: errors name it, and it must be unchanged."""
        return reading(self.paths[number], self.stamps[number], self.storage, self.reader)


def is_remote(path: str) -> bool:
    """Tell whether a path is a URL."""
    return "://" in path


def filesystem(path: str, storage: Storage) -> tuple[Any, str]:
    """Return the filesystem behind a URL, and the path in it."""
    if storage.fs is not None:
        return storage.fs, path.partition("://")[2]
    import fsspec

    fs, inside = fsspec.core.url_to_fs(path, **storage.options)
    return fs, inside


def open_file(path: str, storage: Storage, mode: str = "rb") -> Any:
    """Open a file of bytes."""
    if not is_remote(path):
        return open(path, mode)
    fs, inside = filesystem(path, storage)
    return fs.open(inside, mode)


@contextmanager
def reading(path: str, stamp: Stamp, storage: Storage, reader: str) -> Iterator[str]:
    """Let errors name the file that is read; raise ``FileChanged`` unless it has this stamp."""
    fs, inside = _opener(path, storage)
    try:
        with unchanged([(inside, stamp)], reader, fs):
            yield path
    except FileChanged:
        raise
    except Exception as error:
        error.add_note(f"while reading {path}")
        raise


def _opener(path: str, storage: Storage) -> tuple[Any, str]:
    """Return the filesystem of a file and the path in it; no filesystem for local files."""
    if not is_remote(path):
        return None, path
    fs, inside = filesystem(path, storage)
    protocols = [fs.protocol] if isinstance(fs.protocol, str) else fs.protocol
    return (None if "file" in protocols else fs), inside


def expand_paths(path: Any, storage: Storage = LOCAL) -> tuple[str, ...]:
    """Return the files of a path, a pattern, a folder or a list of these."""
    if isinstance(path, list | tuple):
        return tuple(itertools.chain.from_iterable(expand_paths(item, storage) for item in path))
    name = located(path, storage)
    if is_remote(name):
        paths = _remote(name, storage)
    elif os.path.isdir(name):
        paths = _below(name)
    else:
        is_pattern = glob.has_magic(name) and not os.path.exists(name)
        paths = sorted(glob.glob(name)) if is_pattern else [name]
    if not paths:
        raise FileNotFoundError(f"no file matches {name!r}")
    return tuple(paths)


def located(path: Any, storage: Storage) -> str:
    """Return a path as text: a URL if it lies on a given filesystem, or on another machine.

    Others are absolute, since tasks may run in another folder.
    """
    name: str = os.fspath(path)
    if not name:
        return name
    protocol, is_url, inside = name.partition("://")
    if is_url and (protocol not in LOCAL_PROTOCOLS or storage is not LOCAL):
        return name
    if storage.fs is not None:
        return _url(storage.fs, name)
    return os.path.abspath(inside if is_url else name)


def _url(fs: Any, path: str) -> str:
    """Return the URL of a path in a filesystem, which need not know how to take it apart."""
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    return f"{protocol}://{path}"


def visible_files(folder: str, storage: Storage) -> list[str]:
    """Return the files of a folder and those below, without hidden ones."""
    if is_remote(folder):
        return _remote(folder, storage)
    return _below(folder)


def _remote(name: str, storage: Storage) -> list[str]:
    fs, inside = filesystem(name, storage)
    if glob.has_magic(inside) and not fs.exists(inside):
        paths = sorted(fs.glob(inside))
    elif fs.isdir(inside):
        paths = _visible(sorted(fs.find(inside)), inside)
    else:
        paths = [inside]
    return [_url(fs, path) if storage.fs is fs else fs.unstrip_protocol(path) for path in paths]


def _below(folder: str) -> list[str]:
    paths = [os.path.join(inside, name) for inside, _, names in os.walk(folder) for name in names]
    return _visible(sorted(paths), folder)


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


def looked_at(paths: tuple[str, ...], storage: Storage = LOCAL, reader: str = "read") -> Files:
    """Return the files with their versions, which show later changes."""
    return Files(paths, tuple(_stamp(path, storage) for path in paths), storage, reader)


def _stamp(path: str, storage: Storage) -> Stamp:
    fs, inside = _opener(path, storage)
    return local_stamp(inside) if fs is None else remote_stamp(fs, inside)


def folder_of(path: Any, storage: Storage = LOCAL) -> str | None:
    """Return the path if it is a folder, else ``None``."""
    if isinstance(path, list | tuple):
        return None
    name = located(path, storage)
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
