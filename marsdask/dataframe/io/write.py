"""Write one file for each chunk, or one file of all: aside first, and renamed when all is there."""

from __future__ import annotations

import io
import os
import re
import shutil
import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import infer_dtype

from marsdask.core.files.replacement import take_place
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.chunk_positions import ChunkAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks
from marsdask.core.snapshots.functions import function_name

from ..nodes.dtypes import cast, common_meta
from ..nodes.frame_node import FrameNode, dtypes_of
from ..reduction.reductions import collection_of
from ..rows import concat, empty_rows, levels_in
from ..storage.files import (
    LOCAL,
    Storage,
    filesystem,
    folder_of,
    is_remote,
    make_folder,
    open_file,
    visible_files,
)

if TYPE_CHECKING:
    from ..frame import DataFrame


@dataclass(frozen=True)
class Destination:
    """The files of chunks."""

    pattern: str
    """The path of a chunk's file, with ``*`` for its number."""
    names: tuple[str, ...]
    """The text in place of ``*`` for each chunk, if the user named the chunks."""
    single: str | None
    """The path of the file that has all chunks, one after the other."""
    mark: str
    """A part of the names of incomplete files that no other write uses."""
    storage: Storage = LOCAL
    overwrite: bool = False
    """Whether the files that lie in the folder are replaced."""
    takes_place: bool = False
    """Whether a file has the name of the folder until all is written."""
    watched: bool = True
    """Whether the caller makes the folder of incomplete files, and removes it after a failure."""

    def path(self, number: int) -> str:
        """Return the path of a chunk's file."""
        return self.pattern.replace("*", self.names[number] if self.names else f"{number:06d}")

    @property
    def folder(self) -> str | None:
        """The folder of incomplete files, hidden from readers; ``None`` behind a URL.

        After a failure it is gone, so that tasks which still run cannot leave a file.
        """
        if is_remote(self.pattern):
            return None
        folder = os.path.dirname(self.pattern)
        if self.takes_place:
            folder = os.path.dirname(os.path.realpath(folder))
        return os.path.join(folder, f".{self.mark}")

    def aside(self, number: int) -> str:
        """Return where a chunk's file is until all are complete."""
        return self._aside(self.path(number), "")

    def whole_aside(self, single: str) -> str:
        """Return where the file of all chunks is until it is complete."""
        return self._aside(single, "all-")

    def _aside(self, path: str, prefix: str) -> str:
        folder, name = os.path.split(path)
        if self.folder is not None:
            return os.path.join(self.folder, prefix + name)
        return os.path.join(folder, f".{self.mark}-{prefix}{name}")


@dataclass(frozen=True, eq=False)
class WriteNode(FrameNode):
    """Writes files; has one row for each chunk: a path, and the number of its rows."""

    a: Node

    @property
    def meta(self) -> Any:
        return pd.DataFrame({"path": pd.Series([], dtype="str"), "rows": pd.Series([], dtype=int)})

    @property
    def chunks(self) -> Chunks:
        return ((len(self.a.chunks[0]),),)


@dataclass(frozen=True, eq=False)
class WriteFiles(WriteNode):
    """Writes files; has one row for each chunk: the path of its file, and its number of rows."""

    pins_grid = True
    counts_chunks = True

    write: Callable[..., None]
    """Writes one chunk to a path or a buffer of bytes, and is told whether it is the first."""
    target: Destination
    options: tuple[tuple[str, Any], ...]
    read: Callable[[Any], Any] | None = None
    """Reads a chunk's file, if all files must have the same types."""

    @property
    def label(self) -> str:
        return function_name(self.write)

    def tile(self, a: Grid) -> Grid:
        kwargs: dict[str, Any] = {
            "write": self.write,
            "target": self.target,
            "options": self.options,
            "alike": self.read is not None,
        }
        rule = Blockwise(write_aside, (a,), ((0,),), kwargs, ChunkAt())
        parts = Grid(rule, ((1,) * len(a),), None, self.itemsize)
        reader = None if self.a.settled else self.read
        how = {"meta": self.meta, "itemsize": self.itemsize, "kwargs": {**kwargs, "read": reader}}
        return gather(complete, parts, chunks=self.chunks, **how)


def write_aside(
    block: Any,
    number: int,
    *,
    write: Callable[..., None],
    target: Destination,
    options: tuple[tuple[str, Any], ...],
    alike: bool = False,
) -> Any:
    """Write one chunk to an incomplete file; return its row of the result, and its types.

    Of files that have to be ``alike`` the kinds of objects are told, too.
    """
    path, storage = target.aside(number), target.storage
    how = {"first": target.single is None or number == 0, **dict(options)}
    if is_remote(path):
        buffer = io.BytesIO()
        write(block, buffer, **how)
        fs, inside = filesystem(path, storage)
        fs.pipe_file(inside, buffer.getvalue())
    else:
        if not target.watched:
            make_folder(os.path.dirname(path), storage)
        try:
            write(block, path, **how)
        except BaseException:
            remove(path, storage)
            raise
    row = pd.DataFrame({"path": [target.single or target.path(number)], "rows": [len(block)]})
    labelled = dict(options).get("index") is not False
    return row, empty_rows(block), object_kinds(block, labelled=labelled) if alike else ()


#: Kinds of objects that files of columns store as different types.
KINDS = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float"), "numbers"),
    **dict.fromkeys(("datetime", "datetime64", "date"), "times"),
    **dict.fromkeys(("string", "bytes"), "texts"),
    "boolean": "booleans",
}


def object_kinds(block: Any, *, labelled: bool) -> tuple[str | None, ...]:
    """Return the kind of the objects of each column, ``None`` where they have no or several."""
    columns = [block.iloc[:, at] for at in range(len(block.columns))]
    return tuple(
        KINDS.get(infer_dtype(column, skipna=True)) if column.dtype == object else None
        for column in [*columns, *(levels_in(block.index) if labelled else ())]
    )


def check_kinds(kinds: list[tuple[str | None, ...]]) -> None:
    """Raise Arrow's errors if a column has objects of several kinds in different chunks."""
    import pyarrow as pa

    for column in zip(*kinds, strict=True):
        several = list(dict.fromkeys(kind for kind in column if kind is not None))
        if len(several) > 1:
            error = pa.ArrowInvalid if several[0] in {"numbers", "booleans"} else pa.ArrowTypeError
            raise error(f"a column has {' and '.join(several)}, which no file holds; use astype()")


def write_again(types: list[Any], rows: list[int], read: Callable[[Any], Any], **how: Any) -> None:
    """Write the files again whose types are not those of all rows."""
    target = how["target"]
    like = common_meta(
        [meta for meta, count in zip(types, rows, strict=True) if count] or types[:1]
    )
    for number, meta in enumerate(types):
        if dtypes_of(meta) != dtypes_of(like):
            with open_file(target.aside(number), target.storage) as file:
                block = read(io.BytesIO(file.read()))
            write_aside(cast(block, like.set_axis(block.index[:0])), number, **how)


def complete(
    written: list[Any], target: Destination, read: Callable[[Any], Any] | None = None, **how: Any
) -> Any:
    """Give the files their names, now that all are complete."""
    table = concat([row for row, *_ in written], labels=False)
    check_kinds([kinds for *_, kinds in written])
    if read is not None:
        types = [meta for _, meta, _ in written]
        write_again(types, table["rows"].tolist(), read, target=target, **how)
    if target.single is None:
        release_name(target)
        paths = [target.path(number) for number in range(len(written))]
        for number, path in enumerate(paths):
            move(target.aside(number), path, target.storage)
        for path in outdated(target, paths):
            remove(path, target.storage)
    else:
        parts = [target.aside(number) for number in range(len(written))]
        whole = target.whole_aside(target.single)
        join_files(parts, whole, target.storage)
        move(whole, target.single, target.storage)
    if target.folder is not None:
        os.rmdir(target.folder)
    return table


def release_name(target: Destination) -> None:
    """Make the folder of the files, in place of a file that has had its name."""
    folder = os.path.dirname(target.pattern)
    if not is_remote(folder) and os.path.isfile(folder):
        os.unlink(folder)
    make_folder(folder or ".", target.storage)


def outdated(target: Destination, paths: Collection[str]) -> list[str]:
    """Return the files that are there no more once all is written.

    Of an earlier writing of more chunks those of the other numbers, with ``overwrite`` all others.
    """
    folder = os.path.dirname(target.pattern)
    there = others_in(folder, paths, target.storage)
    if target.overwrite:
        return there
    if target.names:
        return []
    before, after = map(re.escape, os.path.basename(target.pattern).split("*", 1))
    pattern = re.compile(rf"{before}[0-9]{{6}}{after}")
    beside = _inside(folder, target.storage)
    return [
        path
        for path in there
        if pattern.fullmatch(os.path.basename(path))
        and os.path.dirname(_inside(path, target.storage)) == beside
    ]


def others_in(folder: str, paths: Collection[str], storage: Storage) -> list[str]:
    """Return the files in a folder that readers would find, without some."""
    if not folder or folder_of(folder, storage) is None:
        return []
    names = {_inside(path, storage) for path in paths}
    return [path for path in visible_files(folder, storage) if _inside(path, storage) not in names]


def _inside(path: str, storage: Storage) -> str:
    """Return a path as its filesystem knows it: a URL may be spelled in several ways."""
    return filesystem(path, storage)[1] if is_remote(path) else path


def check_folder(target: Destination, count: int) -> None:
    """Raise ``FileExistsError`` if other files would be read with the new ones."""
    folder = os.path.dirname(target.pattern)
    if target.overwrite:
        return
    paths = [target.path(number) for number in range(count)]
    paths.extend(outdated(target, paths))
    if strays := others_in(folder, paths, target.storage):
        names = ", ".join(map(os.path.basename, strays[:3]))
        raise FileExistsError(
            f"{folder} has files that would be read with the new ones: {names}; use "
            "overwrite=True, another folder, or name_function= to write beside them"
        )


def join_files(parts: list[str], whole: str, storage: Storage) -> None:
    """Join files to one; a part is removed once it was copied."""
    try:
        with open_file(whole, storage, "wb") as output:
            for part in parts:
                with open_file(part, storage) as file:
                    shutil.copyfileobj(file, output, 2**20)
                remove(part, storage)
    except BaseException:
        remove(whole, storage)
        raise


def move(path: str, new: str, storage: Storage) -> None:
    """Rename a file, and replace one of the new name."""
    if is_remote(path):
        fs, inside = filesystem(path, storage)
        fs.mv(inside, filesystem(new, storage)[1])
    else:
        take_place(path, new)


def remove(path: str, storage: Storage) -> None:
    """Remove a file if it is there."""
    with suppress(FileNotFoundError):
        if is_remote(path):
            fs, inside = filesystem(path, storage)
            fs.rm_file(inside)
        else:
            os.remove(path)


def write_files(
    frame: Any,
    write: Callable[..., None],
    pattern: str,
    options: Mapping[str, Any],
    *,
    storage: Storage = LOCAL,
    single: str | None = None,
    name_function: Callable[[int], str] | None = None,
    compute: bool = True,
    overwrite: bool = False,
    read: Callable[[Any], Any] | None = None,
    alone: bool = False,
) -> DataFrame:
    """Write chunks by a function; without ``compute`` return the frame that writes them.

    ``read`` reads a file of a format of which all files must have the same types. ``alone`` is
    whether no other files may be in the folder.
    """
    count = len(frame.node.chunks[0])
    names = () if name_function is None else tuple(map(name_function, range(count)))
    folder, mark = os.path.dirname(pattern), uuid.uuid4().hex
    is_file = not is_remote(folder) and os.path.isfile(folder)
    target = Destination(pattern, names, single, mark, storage, overwrite, is_file, compute)
    if alone:
        check_folder(target, count)
    if not is_file:
        make_folder(folder or ".", storage)
    if compute and target.folder is not None:
        make_folder(target.folder, storage)
    node = WriteFiles(frame.node, write, target, tuple(sorted(options.items())), read)
    result: DataFrame = collection_of(node)
    if not compute:
        return result
    try:
        result.execute()
    except BaseException:
        discard(target, count)
        raise
    return result


def write_buffer(
    frame: Any, write: Callable[..., None], buffer: Any, compute: bool, **options: Any
) -> None:
    """Write all rows to an object with a ``write`` method."""
    if not compute:
        raise NotImplementedError("compute=False is not supported for buffers; use a path")
    write(frame.compute(), buffer, first=True, **options)


def discard(target: Destination, count: int) -> None:
    """Remove incomplete files, while tasks may still write some."""
    if target.folder is None:
        for number in range(count):
            remove(target.aside(number), target.storage)
        return
    while os.path.isdir(target.folder):
        shutil.rmtree(target.folder, ignore_errors=True)


def in_folder(path: Any, name: str) -> str:
    """Return the pattern of files: a path with ``*``, or that name in a folder."""
    text = os.fspath(path)
    return text if "*" in text else os.path.join(text, name)


def is_folder(path: str, storage: Storage) -> bool:
    """Tell whether a path without ``*`` is for a folder: one that is there, or without suffix.

    A file that is there is overwritten, whatever its name.
    """
    if not is_remote(path) and os.path.isfile(path):
        return False
    return folder_of(path, storage) is not None or not os.path.splitext(path)[1]
