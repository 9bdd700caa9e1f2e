"""CSV: runs of bytes as chunks, cut where lines end, quoted line ends respected."""

from __future__ import annotations

import inspect
import io
import itertools
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.compilation.sizing import TEXT_BLOCK
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, Index, unknown_sizes
from marsdask.core.tokens import token
from marsdask.core.traits import Traits

from ..frame_node import FrameNode
from ..ordered.row_numbers import reset_index
from .files import (
    LOCAL,
    Files,
    Storage,
    expanded,
    is_remote,
    looked_at,
    opened,
)

if TYPE_CHECKING:
    from ..frame import DataFrame

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
class ByteRangeAt:
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
    """All columns of the first file, in order."""
    header: bytes
    """The line that names them, if there is one."""
    labelled: bool
    """Whether columns of their own label the rows."""
    blocks: tuple[Block, ...] = field(repr=False)
    options: tuple[tuple[str, Any], ...]
    whole: bool

    @property
    def meta(self) -> Any:
        return self.like

    @property
    def settled(self) -> bool:
        """Whether no other types may follow."""
        return len(self.blocks) == 1 or not (self.whole or _narrow(self.like, dict(self.options)))

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.alignment, [None] * len(self.blocks)),)

    @property
    def traits(self) -> Traits:
        """The rows are the same whichever columns are read."""
        return Traits(f"csv:{token(self.files, self.options, self.blocks)}")

    def narrowed(self, columns: frozenset[Any]) -> Node:
        if self.labelled:
            return self
        fewer = [one for one in self.like.columns if one in columns] or [self.like.columns[0]]
        if len(fewer) == len(self.like.columns):
            return self
        return self.replaced(like=self.like[fewer])

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        kwargs = {
            "files": self.files,
            "like": self.like,
            "names": self.names,
            "header": self.header,
            "labelled": self.labelled,
            "options": dict(self.options),
        }
        sources: tuple[Grid, ...] = ()
        read: Any = read_file if self.whole else read_block
        if not self.whole and any(block.start for block in self.blocks):
            sources, read = (self._quotes(),), read_block_after
        axes = ((None,),) * len(sources)
        rule = Blockwise(read, sources, axes, kwargs, ByteRangeAt(self.blocks))
        return self.grid(rule, self.chunks[0])

    def _quotes(self) -> Grid:
        """Return the numbers of quotes in all blocks, as one chunk."""
        varying, ones = ByteRangeAt(self.blocks), (1,) * len(self.blocks)
        rule = Blockwise(count_quotes, kwargs={"files": self.files}, varying=varying)
        counts = Grid(rule, (ones,), itemsize=32.0)
        return gather(list, counts, chunks=((len(ones),),), itemsize=32.0)


def headed(options: Mapping[str, Any]) -> bool:
    """Tell whether the first line names the columns."""
    header = options.get("header", "infer")
    return options.get("names") is None if header == "infer" else header is not None


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


def read_file(block: Block, before: slice, *, files: Files, like: Any, **how: Any) -> Any:
    """Read a whole file."""
    del before
    frame = _read_whole(files.paths[block.file], files.storage, **how["options"])
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
    *,
    files: Files,
    like: Any,
    options: dict[str, Any],
    ends: tuple[bool, bool] = (False, False),
    **how: Any,
) -> Any:
    """Read the lines that begin in a run of bytes; ``ends``: whether it ends inside quotes."""
    del before
    path = files.paths[block.file]
    if block.stop == 0:
        return like
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        top = data[: line_after(data, 0, inside=False)] if headed(options) else b""
        first = line_after(data, block.start, inside=ends[0]) if block.start else len(top)
        last = len(data)
        if block.stop < len(data):
            last = line_after(data, block.stop, inside=ends[1])
        lines = data[first:last]
    if not lines.strip():
        return like
    try:
        return _parsed(top, lines, like, options, **how)
    except ValueError as error:
        raise ValueError(
            f"{path}: a later part does not fit the columns and types of the beginning ({error}); "
            "to say another type: dtype={column: type}"
        ) from error


def _parsed(
    top: bytes,
    lines: bytes,
    like: Any,
    options: dict[str, Any],
    *,
    names: tuple[Any, ...],
    header: bytes,
    labelled: bool,
) -> Any:
    """Parse lines of a file of which ``top`` names the columns."""
    plain = options.keys() <= PLAIN and top == header and not labelled
    if plain and (parsed := _parsed_by_arrow(lines, like, names, options)) is not None:
        return parsed
    dates = [one for one in like.columns if getattr(like[one].dtype, "kind", "O") == "M"]
    narrow = _narrow(like, options)
    seen = {*dates, *narrow}
    how: dict[str, Any] = options | {
        "dtype": {one: like[one].dtype for one in like.columns if one not in seen}
    }
    if not labelled:
        how |= {"usecols": list(like.columns), "parse_dates": dates}
    frame: Any = pd.read_csv(io.BytesIO(top + lines), **how)
    for one in narrow:
        if frame[one].dtype not in ("int64", "float64"):
            raise ValueError(f"{one!r} is of type {frame[one].dtype}, not int64")
    if text := [one for one in dates if getattr(frame[one].dtype, "kind", "O") != "M"]:
        raise ValueError(f"no dates in {text}")
    return frame[list(like.columns)]


def _narrow(like: Any, options: Mapping[str, Any]) -> list[Any]:
    """Return the columns of integers that nobody asked to be such: floats may follow."""
    given = options.get("dtype")
    if given is not None and not isinstance(given, Mapping):
        return []
    return [one for one in like.columns if like[one].dtype == "int64" and one not in (given or ())]


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
    wrong = {one for one in like.columns if frame[one].dtype != like[one].dtype}
    # Integers with a gap become floats; where these were asked for, pandas says which it is.
    return frame if wrong <= set(_narrow(like, options)) else None


@public_call
def read_csv(
    path: Any,
    sep: str = ",",
    *,
    chunk_bytes: int | None = None,
    blocksize: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> DataFrame:
    """Return a frame over CSV files: a path, a URL, a pattern, a folder or a list of these.

    The head of the first file tells the columns and their types. Where integers are followed by
    missing values or by floats, the column is one of floats, as in pandas. Other values that do not
    fit (text after numbers, gaps in truth values, integers beyond ``int64``) are an error that says
    which column to give a ``dtype``. ``chunk_bytes`` is the size of a chunk. See pandas.read_csv.
    A file behind a URL is one chunk, and so is each file where options make a line depend on others
    (``skiprows``, ``quotechar``, ...).
    """
    check_keywords(options, inspect.signature(pd.read_csv).parameters)
    storage = Storage(storage_options) if storage_options else LOCAL
    files = looked_at(expanded(path, storage), storage)
    given = options | ({"sep": sep} if sep != "," else {})
    with opened(files.paths[0], files.storage) as file:
        head: bytes = file.read(HEAD_BYTES)
    whole = not _is_cut_at_lines(files, head, given)
    like, names = _schema(head, given, files, whole=whole)
    _check_categories(like, given, files, head)
    header = head[: line_after(head, 0, inside=False)] if headed(given) else b""
    labelled = _is_labelled(head[len(header) :], names, given, whole=whole)
    step = chunk_bytes or blocksize or TEXT_BLOCK
    blocks = tuple(_blocks(files.stamps, step, whole=whole))
    pairs = tuple((key, _frozen(value)) for key, value in given.items())
    lazy: DataFrame = wrap(ReadCsv(files, like, names, header, labelled, blocks, pairs, whole))
    return lazy if labelled else reset_index(lazy, drop=True)


def _is_cut_at_lines(files: Files, head: bytes, options: dict[str, Any]) -> bool:
    """Tell whether a part of a file can be read without the rest of it."""
    return (
        all(name.endswith((".csv", ".txt", ".tsv", ".dat")) for name in files.paths)
        and not any(map(is_remote, files.paths))
        and options.keys() <= SPLITTABLE
        and options.get("header", "infer") in ("infer", 0, None)
        and not head.startswith((b" ", b"\t", b"\n", b"\r"))
        and (b"\n" in head or b"\r" not in head)
    )


def _is_labelled(
    rows: bytes, names: Sequence[Any], options: dict[str, Any], *, whole: bool
) -> bool:
    """Tell whether columns label the rows: those asked for, or those that have no name."""
    if (given := options.get("index_col")) is not None or whole or not rows.strip():
        return given is not None and given is not False
    plain = {key: options[key] for key in ("sep", "delimiter") if key in options}
    first: Any = pd.read_csv(io.BytesIO(rows), header=None, nrows=1, **plain)
    return len(first.columns) > len(names)


def _check_categories(like: Any, options: dict[str, Any], files: Files, head: bytes) -> None:
    """Refuse categories that only reading everything would tell."""
    if len(files.paths) == 1 and files.stamps[0][1] <= len(head):
        return
    given = options.get("dtype")
    for column, dtype in like.dtypes.items():
        wish = given.get(column) if isinstance(given, Mapping) else given
        if isinstance(dtype, pd.CategoricalDtype) and getattr(wish, "categories", None) is None:
            raise NotImplementedError(
                f"read_csv() of unknown categories is not supported (column {column!r}); use "
                "dtype=pandas.CategoricalDtype(categories)"
            )


def _frozen(value: Any) -> Any:
    return list(value) if isinstance(value, set) else value


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
