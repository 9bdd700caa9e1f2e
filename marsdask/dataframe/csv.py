"""CSV: runs of bytes as chunks, cut where lines end, quoted line ends respected."""

from __future__ import annotations

import io
import itertools
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from marsdask.core.chunk import Grid
from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.shapes import Blockwise, gather
from marsdask.core.tokens import token
from marsdask.core.types import Chunks, Index, unknown_sizes

from .base import FrameNode
from .files import LOCAL, Files, Storage, expanded, is_remote, looked_at, opened
from .numbering import reset_index

#: Bytes of a file that a chunk is made of.
BLOCK_BYTES = 32 * 2**20
#: Bytes at the start of the first file that tell the columns and their types.
HEAD_BYTES = 256 * 1024

#: Options under which lines mean the same wherever they stand; with others a file is one chunk.
SPLITTABLE = {
    *("sep", "delimiter", "header", "names", "usecols", "dtype", "index_col", "parse_dates"),
    *("na_values", "keep_default_na", "na_filter", "thousands", "decimal", "date_format"),
    *("true_values", "false_values", "skipinitialspace", "float_precision", "low_memory"),
}
#: Options that parsing by Arrow understands as pandas does.
PLAIN = {"sep", "delimiter", "header", "names", "usecols", "low_memory", "dtype"}

#: What pandas takes for a missing value.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)


class Block(NamedTuple):
    """A run of bytes of one file: the lines that begin in it."""

    file: int
    start: int
    stop: int


@dataclass(frozen=True)
class BlockAt:
    """Gives each chunk its bytes, and which chunks of its file come before it."""

    blocks: tuple[Block, ...]

    def __call__(self, index: Index) -> tuple[Block, slice]:
        (here,) = index
        block = self.blocks[here]
        return block, slice(self._first[block.file], here)

    @cached_property
    def _first(self) -> dict[int, int]:
        """Return the place of each file's first block."""
        return {block.file: i for i, block in enumerate(self.blocks) if block.start == 0}


@dataclass(frozen=True, eq=False)
class ReadCsv(FrameNode):
    """The rows of CSV files, labelled within each chunk only."""

    files: Files
    like: Any
    """The empty frame that the head of the first file gives."""
    names: tuple[Any, ...]
    """All columns of the files, in order."""
    blocks: tuple[Block, ...] = field(repr=False)
    options: tuple[tuple[str, Any], ...]
    whole: bool

    @property
    def meta(self) -> Any:
        return self.like

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.alignment, [None] * len(self.blocks)),)

    @cached_property
    def alignment(self) -> str:
        """The rows are the same whichever columns are read."""
        return f"csv:{token(self.files, self.options, self.blocks)}"

    def narrowed(self, wanted: frozenset[Any]) -> Node:
        """Return a source of those columns only."""
        if has_labels(dict(self.options)):
            return self
        columns = [one for one in self.like.columns if one in wanted] or [self.like.columns[0]]
        if len(columns) == len(self.like.columns):
            return self
        return self.replaced(like=self.like[columns])

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {
            "files": self.files,
            "like": self.like,
            "names": self.names,
            "options": self.options,
        }
        sources: tuple[Grid, ...] = ()
        read: Any = read_file if self.whole else read_block
        if not self.whole and any(block.start for block in self.blocks):
            sources, read = (self._quotes(),), read_block_after
        axes = ((None,),) * len(sources)
        rule = Blockwise(read, sources, axes, kwargs, BlockAt(self.blocks))
        return self.grid(rule, self.chunks[0])

    def _quotes(self) -> Grid:
        """Return the numbers of quotes in all blocks, as one chunk."""
        varying, ones = BlockAt(self.blocks), (1,) * len(self.blocks)
        rule = Blockwise(count_quotes, kwargs={"files": self.files}, varying=varying)
        counts = Grid(rule, (ones,), itemsize=32.0)
        return gather(list, counts, chunks=((len(ones),),), itemsize=32.0)


def has_labels(options: dict[str, Any]) -> bool:
    """Tell whether rows are labelled by columns of their own."""
    return options.get("index_col") is not None and options["index_col"] is not False


def count_quotes(block: Block, before: slice, files: Files) -> int:
    """Count the quotes in a run of bytes."""
    del before
    with open(files.paths[block.file], "rb") as file:
        file.seek(block.start)
        rest = block.stop - block.start
        found = 0
        while rest and (data := file.read(min(rest, 2**20))):
            found += data.count(b'"')
            rest -= len(data)
    return found


def line_after(data: Any, position: int, *, inside: bool) -> int:
    """Return where the first line begins that begins after ``position``."""
    while True:
        end = data.find(b"\n", position)
        if end < 0:
            return len(data)
        inside ^= bool(data[position:end].count(b'"') % 2)
        position = end + 1
        if not inside:
            return position


def read_file(
    block: Block,
    before: slice,
    files: Files,
    like: Any,
    names: tuple[Any, ...],
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Read a whole file."""
    del before, names
    frame = _read_whole(files.paths[block.file], files.storage, **dict(options))
    return frame[list(like.columns)]


def _read_whole(path: str, storage: Storage, **options: Any) -> Any:
    # Pandas refuses options of a filesystem for files of this machine.
    where = {"storage_options": storage.options} if is_remote(path) else {}
    return pd.read_csv(path, **where, **options)  # type: ignore[call-overload]


def read_block_after(quotes: list[int], block: Block, before: slice, **how: Any) -> Any:
    """Read the lines that begin in a run of bytes, given how many quotes are in each run."""
    inside = sum(quotes[before]) % 2 == 1
    ends = (inside, inside ^ (quotes[before.stop] % 2 == 1))
    return read_block(block, before, ends=ends, **how)


def read_block(
    block: Block,
    before: slice,
    files: Files,
    like: Any,
    names: tuple[Any, ...],
    options: tuple[tuple[str, Any], ...],
    ends: tuple[bool, bool] = (False, False),
) -> Any:
    """Read the lines that begin in a run of bytes; ``ends``: whether it ends inside quotes."""
    del before
    path = files.paths[block.file]
    given = dict(options)
    if block.stop == 0:
        return like
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        first = 0
        if block.start:
            first = line_after(data, block.start, inside=ends[0])
        elif given.get("header", "infer") in ("infer", 0) and "names" not in given:
            first = line_after(data, 0, inside=False)
        last = len(data)
        if block.stop < len(data):
            last = line_after(data, block.stop, inside=ends[1])
        lines = data[first:last]
    if not lines.strip():
        return like
    return _parsed(lines, like, names, given, path)


def _parsed(
    lines: bytes, like: Any, names: tuple[Any, ...], options: dict[str, Any], path: str
) -> Any:
    if (
        options.keys() <= PLAIN
        and (frame := _parsed_by_arrow(lines, like, names, options)) is not None
    ):
        return frame
    rest = {key: value for key, value in options.items() if key not in {"header", "names"}}
    labelled = has_labels(options)
    dtypes = {one: like[one].dtype for one in like.columns}
    dates = {one for one, dtype in dtypes.items() if getattr(dtype, "kind", "O") == "M"}
    rest["dtype"] = {one: dtype for one, dtype in dtypes.items() if one not in dates}
    if not labelled:
        rest["usecols"] = list(like.columns)
    if dates and isinstance(rest.get("parse_dates"), list):
        rest["parse_dates"] = [one for one in rest["parse_dates"] if one in dates]
    try:
        frame = pd.read_csv(io.BytesIO(lines), header=None, names=list(names), **rest)
    except ValueError as error:
        raise ValueError(
            f"{path}: a later part does not fit the types of its beginning ({error}); say "
            "dtype={column: type} for the column"
        ) from error
    return frame[list(like.columns)]


#: Arrow's name of a pandas type, where both read the same text as the same value.
_ARROW_TYPES = {"int64": "int64", "float64": "float64", "str": "large_string"}


def _parsed_by_arrow(
    lines: bytes, like: Any, names: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Parse with Arrow, which is faster; ``None`` where it may not say what pandas says."""
    import pyarrow as pa
    from pyarrow import csv

    sep = options.get("sep") or options.get("delimiter") or ","
    types = {str(one): _ARROW_TYPES.get(str(like[one].dtype)) for one in like.columns}
    plain = all(isinstance(one, str) for one in names)
    if not plain or len(sep) != 1 or None in types.values() or len(set(names)) < len(names):
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(lines),
            csv.ReadOptions(column_names=list(names), use_threads=False, block_size=2**22),
            csv.ParseOptions(delimiter=sep, newlines_in_values=True),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(like.columns),
                null_values=list(MISSING),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        return None
    frame = table.to_pandas(use_threads=False)
    # Integers with a gap become floats: pandas then says which column it is.
    return frame if (frame.dtypes == like.dtypes).all() else None


def read_csv(
    path: Any,
    sep: str = ",",
    *,
    chunk_bytes: int | None = None,
    blocksize: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Return a frame over CSV files: a path, a URL, a pattern, a folder or a list of these.

    The head of the first file tells the columns and their types; a later part that does not fit
    is an error that says which. ``chunk_bytes`` is the size of a chunk. See pandas.read_csv.
    A file behind a URL is one chunk, and so is each file where options make a line depend on others
    (``skiprows``, ``quotechar``, ...).
    """
    storage = Storage(storage_options) if storage_options else LOCAL
    files = looked_at(expanded(path, storage), storage)
    given = options | ({"sep": sep} if sep != "," else {})
    compressed = not all(name.endswith((".csv", ".txt", ".tsv", ".dat")) for name in files.paths)
    remote = any(map(is_remote, files.paths))
    whole = compressed or remote or not given.keys() <= SPLITTABLE
    head = _head(files)
    like, names = _schema(head, given, files, whole=whole)
    whole = whole or head.lstrip(b" \t") != head or head.startswith((b"\n", b"\r"))
    step = chunk_bytes or blocksize or BLOCK_BYTES
    blocks = tuple(_blocks(files.stamps, len(head) if whole else step, whole=whole))
    pairs = tuple((key, _frozen(value)) for key, value in given.items())
    lazy = wrap(ReadCsv(files, like, names, blocks, pairs, whole))
    return lazy if has_labels(given) else reset_index(lazy, drop=True)


def _frozen(value: Any) -> Any:
    return list(value) if isinstance(value, set) else value


def _head(files: Files) -> bytes:
    with opened(files.paths[0], files.storage) as file:
        head: bytes = file.read(HEAD_BYTES)
    return head


def _schema(
    head: bytes, options: dict[str, Any], files: Files, *, whole: bool
) -> tuple[Any, tuple[Any, ...]]:
    """Return the empty frame of the files, and all their columns."""
    if whole:
        frame = _read_whole(files.paths[0], files.storage, **{"nrows": 1000, **options})
        return frame.iloc[:0], tuple(frame.columns)
    if len(head) == HEAD_BYTES:
        head = _whole_lines(head)
    frame = pd.read_csv(io.BytesIO(head), **options)
    plain = {key: options[key] for key in ("sep", "delimiter", "header", "names") if key in options}
    names = pd.read_csv(io.BytesIO(head), nrows=1, **plain).columns
    return frame.iloc[:0], tuple(names)


def _whole_lines(head: bytes) -> bytes:
    """Return the lines that are complete: after an odd quote a line goes on."""
    end = head.rfind(b"\n")
    while end > 0 and head[:end].count(b'"') % 2:
        end = head.rfind(b"\n", 0, end)
    return head[: end + 1] if end > 0 else head


def _blocks(stamps: Sequence[tuple[int, int]], step: int, *, whole: bool) -> Any:
    for number, (_, size) in enumerate(stamps):
        starts = range(0, size, step) if size and not whole else range(1)
        for start, stop in itertools.pairwise([*starts, size]):
            yield Block(number, start, stop)
