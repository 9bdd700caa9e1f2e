"""Write Parquet files into folders of the values of some columns, as Hive names them."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from marsdask.core.files.replacement import take_place
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.chunk_positions import ChunkAt
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather

from ..nodes.dtypes import OneType
from ..reduction.reductions import collection_of
from ..rows import concat
from ..storage.files import LOCAL, Storage, filesystem, is_remote, make_folder, visible_files
from .write import WriteNode, check_kinds, object_kinds, remove

if TYPE_CHECKING:
    from ..frame import DataFrame

#: The names of files: the number of the chunk, and that of its file in a folder.
FILES: Final = re.compile(r"part-([0-9]{6,})(?:-[0-9]+)?\.parquet")


@dataclass(frozen=True)
class PartitionedFolder:
    """Where the files are, and by which columns."""

    path: str
    by: tuple[str, ...]
    mark: str
    """The name of the folder of incomplete files, which no other write uses."""
    first: int
    """The number of the first chunk: there may be files of an earlier writing."""
    storage: Storage = LOCAL
    overwrite: bool = False
    appends: bool = False

    @property
    def aside(self) -> str:
        """The folder of incomplete files, hidden from readers."""
        return os.path.join(self.path, f".{self.mark}")

    def of_chunk(self, number: int) -> str:
        """Return the folder of a chunk's incomplete files."""
        return os.path.join(self.aside, f"n{number:06d}")


@dataclass(frozen=True, eq=False)
class WritePartitions(WriteNode):
    """Writes files; has one row for each chunk: the folder, and the number of the rows."""

    label = "to_parquet"
    pins_grid = True
    counts_chunks = True

    target: PartitionedFolder
    options: tuple[tuple[str, Any], ...]

    def tile(self, a: Grid) -> Grid:
        kwargs: dict[str, Any] = {"target": self.target, "options": self.options}
        rule = Blockwise(write_partitions, (a,), ((0,),), kwargs, ChunkAt())
        parts = Grid(rule, ((1,) * len(a),), None, self.itemsize)
        how = {"meta": self.meta, "itemsize": self.itemsize, "kwargs": {"target": self.target}}
        return gather(complete_partitions, parts, chunks=self.chunks, **how)


def write_partitions(
    block: Any, number: int, *, target: PartitionedFolder, options: tuple[tuple[str, Any], ...]
) -> Any:
    """Write the incomplete files of one chunk; return its row of the result, and its kinds."""
    how, folder = dict(options), target.of_chunk(number)
    where: dict[str, Any] = {}
    if is_remote(folder):
        fs, folder = filesystem(folder, target.storage)
        where = {"filesystem": fs}
    if len(block):
        name = f"part-{target.first + number:06d}-{{i}}.parquet"
        by = list(target.by)
        block.to_parquet(folder, partition_cols=by, basename_template=name, **where, **how)
    row = pd.DataFrame({"path": [target.path], "rows": [len(block)]})
    return row, object_kinds(block, labelled=how.get("index") is not False)


def complete_partitions(written: list[Any], target: PartitionedFolder) -> Any:
    """Move the files to where they belong, now that all are complete."""
    check_kinds([kinds for _, kinds in written])
    folders = [target.of_chunk(number) for number in range(len(written))]
    moves = {
        os.path.join(target.path, name): os.path.join(folder, name)
        for folder in folders
        for name in names_below(folder, target.storage)
    }
    before = earlier_files(target)
    for new, old in moves.items():
        move_into(old, new, target.storage)
    for path in before:
        if path not in moves:
            remove(path, target.storage)
    discard_aside(target)
    return concat([row for row, _ in written], labels=False)


def names_below(folder: str, storage: Storage) -> list[str]:
    """Return the paths of files in a folder, which may not be there, from it on."""
    inside = folder
    if is_remote(folder):
        fs, inside = filesystem(folder, storage)
        if not fs.isdir(inside):
            return []
        paths = [filesystem(path, storage)[1] for path in visible_files(folder, storage)]
    else:
        paths = visible_files(folder, storage)
    return [path[len(inside) :].lstrip("/" + os.sep) for path in paths]


def earlier_files(target: PartitionedFolder) -> list[str]:
    """Return the files that are there no more once all is written."""
    if target.appends:
        return []
    names = names_below(target.path, target.storage)
    return [
        os.path.join(target.path, name)
        for name in names
        if target.overwrite or FILES.fullmatch(os.path.basename(name))
    ]


def move_into(old: str, new: str, storage: Storage) -> None:
    """Rename a file, into a folder that may not be there."""
    make_folder(os.path.dirname(new), storage)
    if is_remote(new):
        fs, inside = filesystem(new, storage)
        fs.mv(filesystem(old, storage)[1], inside)
    else:
        take_place(old, new)


def discard_aside(target: PartitionedFolder) -> None:
    """Remove the folder of incomplete files."""
    if is_remote(target.aside):
        fs, inside = filesystem(target.aside, target.storage)
        if fs.exists(inside):
            fs.rm(inside, recursive=True)
    else:
        shutil.rmtree(target.aside, ignore_errors=True)


def next_number(folder: str, storage: Storage) -> int:
    """Return the number of the first file that is written beside those of a folder."""
    names = map(os.path.basename, names_below(folder, storage))
    numbers = [int(match[1]) for name in names if (match := FILES.fullmatch(name))]
    return 1 + max(numbers, default=-1)


def check_appended(frame: Any, folder: str, storage: Storage, by: Sequence[str]) -> None:
    """Raise ``ValueError`` if the files of a folder have other columns or types than a frame."""
    import pyarrow.parquet

    names = names_below(folder, storage)
    if not names:
        return
    path, fs = os.path.join(folder, names[0]), None
    if is_remote(path):
        fs, path = filesystem(path, storage)
    before = pyarrow.parquet.read_schema(path, filesystem=fs).empty_table().to_pandas()
    after = frame.node.meta.drop(columns=list(by))
    if list(before.columns) != list(after.columns):
        both = f"Previous: {list(before.columns)} | New: {list(after.columns)}"
        raise ValueError(f"Appended columns not the same.\n{both}")
    kinds = [
        (a, b) for a, b in zip(before.dtypes, after.dtypes, strict=True) if object not in (a, b)
    ]
    if any(a != b for a, b in kinds):
        raise ValueError(f"Appended dtypes differ.\n{before.dtypes}\n{after.dtypes}")


def check_partitions(frame: Any, path: str, by: Sequence[str]) -> None:
    """Raise for columns that are not there, that are all, and for a pattern of files."""
    labels = list(frame.columns)
    if missing := [label for label in by if label not in labels]:
        raise KeyError(f"{missing} not found in the columns")
    if len(by) == len(labels):
        raise ValueError("No data left to save outside partition columns")
    if "*" in path:
        raise ValueError(f"{path}: partition_cols= writes into a folder, not to a pattern")


def check_strays(target: PartitionedFolder) -> None:
    """Raise ``FileExistsError`` if other files would be read with the new ones."""
    names = names_below(target.path, target.storage)
    there = {os.path.join(target.path, name) for name in names}
    if strays := there.difference(earlier_files(target)):
        some = ", ".join(sorted(map(os.path.basename, strays))[:3])
        raise FileExistsError(
            f"{target.path} has files that would be read with the new ones: {some}; use "
            "overwrite=True, append=True or another folder"
        )


def write_partitioned(
    frame: Any,
    path: str,
    by: Any,
    options: Mapping[str, Any],
    *,
    storage: Storage,
    compute: bool,
    overwrite: bool,
    appends: bool,
) -> DataFrame:
    """Write the rows of a frame into folders; without ``compute`` return what writes them."""
    columns, first, mark = (by,) if isinstance(by, str) else tuple(by), 0, uuid.uuid4().hex
    check_partitions(frame, path, columns)
    if appends:
        check_appended(frame, path, storage, columns)
        first = next_number(path, storage)
    target = PartitionedFolder(path, columns, mark, first, storage, overwrite, appends)
    if not appends:
        check_strays(target)
    make_folder(path, storage)
    node = frame.node if frame.node.settled else OneType(frame.node)
    written = WritePartitions(node, target, tuple(sorted(options.items())))
    result: DataFrame = collection_of(written)
    if not compute:
        return result
    try:
        result.execute()
    except BaseException:
        discard_aside(target)
        raise
    return result
