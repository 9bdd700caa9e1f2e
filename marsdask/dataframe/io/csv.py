"""Read CSV files: each chunk is a byte range, cut at line ends outside of quotes."""

from __future__ import annotations

import codecs
import inspect
import io
import itertools
import mmap
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.files.stamps import Stamp
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import FunctionWrapper
from marsdask.core.machine.sizing import TEXT_BLOCK
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, Index, unknown_sizes
from marsdask.core.snapshots.tokens import token
from marsdask.core.traits import Traits

from ..nodes.frame_node import FrameNode
from ..ordered.row_numbers import reset_index
from ..reshape.concat import concat
from ..rows import empty_rows
from ..storage.files import (
    LOCAL,
    Files,
    Storage,
    expand_paths,
    is_remote,
    looked_at,
    open_file,
)
from ..whole.fallback import function_with_fallback
from .csv_files.columns import (
    SPLITTABLE,
    has_header,
    head_of,
    runs_of_columns,
    separators_in,
    with_lines_of_all,
)
from .csv_files.lines import OUTSIDE, Ends, ends_of, line_after, separators_of, whole_lines
from .pandas_readers import is_buffer, read_buffer

if TYPE_CHECKING:
    from ..frame import DataFrame

#: The bytes at the start of the first file from which columns are inferred, and types.
HEAD_BYTES = 256 * 1024

#: Options with which Arrow parses as pandas does.
PLAIN = {"sep", "delimiter", "header", "names", "usecols", "low_memory", "dtype"}

#: The texts that pandas reads as missing values.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
#: Those without "#": texts like "1.#IND" take an eighth of the time, and most files have none.
WITHOUT_HASH = tuple(one for one in MISSING if "#" not in one)
#: A line of spaces behind another, which pandas skips.
BLANK = re.compile(rb"\n[ \t]+\r?(?:\n|\Z)")
#: Bytes that Arrow parses at a time.
ARROW_BLOCK = 2**22


class Block(NamedTuple):
    """A byte range of one file: the lines that begin in it."""

    file: int
    start: int
    stop: int


@dataclass(frozen=True)
class ByteRangeAt:
    """Gives each chunk its byte range, and the earlier chunks of its file."""

    blocks: tuple[Block, ...]

    def __call__(self, index: Index) -> tuple[Block, slice]:
        (here,) = index
        block = self.blocks[here]
        return block, slice(self._first[block.file], here)

    @cached_property
    def _first(self) -> dict[int, int]:
        """The position of each file's first block."""
        return {block.file: i for i, block in enumerate(self.blocks) if block.start == 0}


@dataclass(frozen=True, eq=False)
class ReadCsv(FrameNode):
    """The rows of CSV files; row labels are right within each chunk only."""

    files: Files
    like: Any
    """The empty frame inferred from the first lines."""
    names: tuple[Any, ...]
    """All columns of the first file, in order."""
    header: bytes
    """The line of column names, if there is one."""
    labelled: bool
    """Whether columns of the files are the row labels."""
    blocks: tuple[Block, ...] = field(repr=False)
    options: tuple[tuple[str, Any], ...]
    whole: bool
    paths: str | None = None
    """The column of the paths of the files, if there is one."""

    @property
    def meta(self) -> Any:
        return self.like if self.paths is None else self._named(self.like, 0)

    def _named(self, rows: Any, number: int) -> Any:
        return WithPath(len, str(self.paths), tuple(self.files.paths)).named(rows, number)

    @property
    def settled(self) -> bool:
        """Whether the types are final: later rows cannot change them."""
        options = dict(self.options)
        vague = _narrow(self.like, options) or _untold(self.like, options, "object")
        is_seen = len(self.blocks) == 1 and self.blocks[0].stop <= HEAD_BYTES
        return not self.whole and (is_seen or not vague)

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.alignment, [None] * len(self.blocks)),)

    @property
    def traits(self) -> Traits:
        """The rows do not depend on the columns that are read."""
        return Traits(f"csv:{token(self.files, self.options, self.blocks)}")

    def narrowed(self, columns: frozenset[Any]) -> Node:
        if self.labelled or self.paths is not None:
            return self
        fewer = [label for label in self.like.columns if label in columns] or [self.like.columns[0]]
        if len(fewer) == len(self.like.columns):
            return self
        return self.replaced(like=self.like[fewer])

    def chunk_origin(self, index: Index) -> str:
        block = self.blocks[index[0]]
        return f"{self.files.paths[block.file]}, bytes {block.start} to {block.stop}"

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
        reader: Any = read_file if self.whole else read_block
        if not self.whole and any(block.start for block in self.blocks):
            sources, reader = (self._ends(),), read_block_after
        if self.paths is not None:
            reader = WithPath(reader, self.paths, tuple(self.files.paths))
        axes = ((None,),) * len(sources)
        rule = Blockwise(reader, sources, axes, kwargs, ByteRangeAt(self.blocks))
        return self.grid(rule, self.chunks[0])

    def _ends(self) -> Grid:
        """Return what each block makes of the states at its start, as one chunk."""
        varying, sizes = ByteRangeAt(self.blocks), (1,) * len(self.blocks)
        kwargs = {"files": self.files, "separators": separators_in(dict(self.options))}
        rule = Blockwise(quotes_of, kwargs=kwargs, varying=varying)
        ends = Grid(rule, (sizes,), itemsize=32.0)
        return gather(list, ends, chunks=((len(sizes),),), itemsize=32.0)


@dataclass(frozen=True)
class WithPath(FunctionWrapper):
    """Reads a block, and adds a column of the path of its file."""

    column: str
    paths: tuple[str, ...]

    def __call__(self, *args: Any, **how: Any) -> Any:
        block = next(arg for arg in args if isinstance(arg, Block))
        return self.named(self.func(*args, **how), block.file)

    def named(self, rows: Any, number: int) -> Any:
        """Return rows with the path of a file."""
        paths = pd.Index(dict.fromkeys(self.paths))
        codes = np.full(len(rows), paths.get_loc(self.paths[number]))
        return rows.assign(**{self.column: pd.Categorical.from_codes(codes, paths)})


def quotes_of(block: Block, before: slice, files: Files, separators: bytes) -> Ends:
    """Return the states at the end of a byte range, for each state at its start."""
    del before
    with (
        files.reading(block.file) as path,
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        return ends_of(data, block.start, block.stop, separators)


def read_file(block: Block, before: slice, *, files: Files, like: Any, **how: Any) -> Any:
    """Read a whole file."""
    del before
    with files.reading(block.file) as path:
        frame = _read_whole(path, files.storage, **how["options"])
    if missing := [one for one in like.columns if one not in frame.columns]:
        raise ValueError(
            f"{path} has no columns {missing}, which {files.paths[0]} has; read the files "
            "apart and use concat()"
        )
    return frame[list(like.columns)]


def _read_whole(path: str, storage: Storage, **options: Any) -> Any:
    # pandas raises for storage_options of local files.
    where = {"storage_options": storage.options} if is_remote(path) else {}
    return pd.read_csv(path, **where, **options)  # type: ignore[call-overload]


def read_block_after(quotes: list[Ends], block: Block, before: slice, **how: Any) -> Any:
    """Read the lines that begin in a byte range, given what each range makes of quotes."""
    state = OUTSIDE
    for ends in quotes[before]:
        state = ends[state]
    states = (state, quotes[before.stop][state])
    return read_block(block, before, states=states, **how)


def read_block(
    block: Block,
    before: slice,
    *,
    files: Files,
    like: Any,
    options: dict[str, Any],
    states: tuple[int, int] = (OUTSIDE, OUTSIDE),
    **how: Any,
) -> Any:
    """Read the lines that begin in a byte range; ``states``: where both ends are in quotes."""
    del before
    if block.stop == 0:
        with files.reading(block.file):
            return like
    with (
        files.reading(block.file) as path,
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        separators = separators_in(options)
        top = data[: line_after(data, 0, separators)] if has_header(options) else b""
        first = len(top)
        if block.start:
            first = line_after(data, block.start, separators, states[0])
        last = len(data)
        if block.stop < len(data):
            last = line_after(data, block.stop, separators, states[1])
        file.seek(first)  # reading takes half the time of a slice of the map
        lines = file.read(max(0, last - first))
    if not lines or lines.isspace():
        return like
    try:
        return _parse_lines(top, lines, like, options, **how)
    except pd.errors.ParserError as error:
        raise pd.errors.ParserError(f"{path}: {error}") from error
    except ValueError as error:
        raise ValueError(
            f"{path}: later rows do not match the columns and types of the first rows ({error}); "
            "use dtype={column: type}"
        ) from error


def _parse_lines(
    top: bytes,
    lines: bytes,
    like: Any,
    options: dict[str, Any],
    *,
    names: tuple[Any, ...],
    header: bytes,
    labelled: bool,
) -> Any:
    """Parse lines of a file; ``top`` is the line of column names."""
    plain = options.keys() <= PLAIN and top == header and not labelled
    if plain and (table := _parse_by_arrow(lines, like, names, options)) is not None:
        return table
    dates = [label for label in like.columns if getattr(like[label].dtype, "kind", "O") == "M"]
    narrow, mixed = _narrow(like, options), _untold(like, options, "object")
    exceptions = {*dates, *narrow, *mixed}
    how: dict[str, Any] = options | {
        "dtype": {label: like[label].dtype for label in like.columns if label not in exceptions}
    }
    if not labelled:
        how["parse_dates"] = dates
        # Names need not be as many as the columns, and what is used may be told by numbers. Of
        # chosen columns pandas takes lines of any length, so those of plain files are all read.
        chosen = not plain and len(like.columns) < len(names)
        if chosen and not {"names", "usecols"} & options.keys():
            how["usecols"] = list(like.columns)
    if not top and "names" not in options:
        how["names"] = list(names)  # The first line of these may be shorter than others.
    frame: Any = pd.read_csv(io.BytesIO(top + lines), **how)
    _check_columns(frame, like, names, labelled=labelled)
    for label in narrow:
        if frame[label].dtype not in ("int64", "float64"):
            raise ValueError(f"column {label!r} has type {frame[label].dtype}, not int64")
    for label in mixed:
        if isinstance(frame[label].dtype, pd.StringDtype):
            raise ValueError(f"column {label!r} has type {frame[label].dtype}, not object")
    if text := [label for label in dates if getattr(frame[label].dtype, "kind", "O") != "M"]:
        raise ValueError(f"no dates in columns {text}")
    return frame[list(like.columns)]


def _check_columns(frame: Any, like: Any, names: Sequence[Any], *, labelled: bool) -> None:
    """Raise if lines have other fields than there are columns, or labels of another kind."""
    if not labelled and not isinstance(frame.index, pd.RangeIndex):
        raise pd.errors.ParserError(f"a line has more than {len(names)} fields")
    if missing := [one for one in like.columns if one not in frame.columns]:
        raise ValueError(f"columns expected but not found: {missing}")
    if labelled and isinstance(like.index.dtype, pd.StringDtype) != isinstance(
        frame.index.dtype, pd.StringDtype
    ):
        raise ValueError(f"row labels have type {frame.index.dtype}, not {like.index.dtype}")


def _narrow(like: Any, options: Mapping[str, Any]) -> list[Any]:
    """Return the columns inferred as int64: later rows may have floats."""
    return _untold(like, options, "int64")


def _untold(like: Any, options: Mapping[str, Any], dtype: str) -> list[Any]:
    """Return the columns of a type that was inferred: ``object`` of values, which are no text."""
    dtypes = options.get("dtype")
    if dtypes is not None and not isinstance(dtypes, Mapping):
        return []
    return [key for key in like.columns if like[key].dtype == dtype and key not in (dtypes or ())]


#: Arrow's names of pandas types, if both parse text to the same values.
_ARROW_TYPES = {"int64": "int64", "float64": "float64", "str": "large_string"}


def _parse_by_arrow(
    lines: bytes, like: Any, names: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Parse with Arrow, which is faster; ``None`` if pandas may have another result."""
    import pyarrow as pa
    from pyarrow import csv

    sep = options.get("sep") or options.get("delimiter") or ","
    types = {str(name): _ARROW_TYPES.get(str(like[name].dtype)) for name in like.columns}
    plain = all(isinstance(name, str) for name in names)
    if len(names) == 1 and (lines.startswith((b" ", b"\t")) or BLANK.search(lines)):
        return None
    if not types:  # of no columns Arrow reads all
        return None
    if not plain or len(sep) != 1 or None in types.values() or len(set(names)) < len(names):
        return None
    # Arrow's own pool returns memory to the system at once, and half of the time goes into pages.
    pool = pa.system_memory_pool()
    try:
        table = csv.read_csv(
            pa.BufferReader(lines),
            csv.ReadOptions(column_names=list(names), use_threads=False, block_size=ARROW_BLOCK),
            csv.ParseOptions(delimiter=sep, newlines_in_values=b'"' in lines),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(like.columns),
                null_values=list(MISSING if b"#" in lines else WITHOUT_HASH),
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
            pool,
        )
    except pa.ArrowInvalid:
        return None
    frame = table.to_pandas(pool, use_threads=False)
    wrong = {name for name in like.columns if frame[name].dtype != like[name].dtype}
    # Integers with missing values become floats; pandas raises if integers were requested.
    return frame if wrong <= set(_narrow(like, options)) else None


@public_call
@function_with_fallback
def read_csv(
    path: Any,
    sep: str = ",",
    *,
    chunk_bytes: int | None = None,
    blocksize: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    sample: int | None = None,
    assume_missing: bool = False,
    include_path_column: bool | str = False,
    **options: Any,
) -> DataFrame:
    """Return a frame over CSV files: a path, a URL, a pattern, a folder or a list of these.

    Types are inferred from the first lines of all files; columns that some files lack are missing
    there. Integers followed by missing values or floats become a column of floats, as in pandas.
    Other values of another type (text after numbers, missing booleans, integers beyond ``int64``)
    are an error: give that column a ``dtype``. ``chunk_bytes`` is the size of a chunk.
    See pandas.read_csv.
    A file behind a URL is one chunk. So is each file with options that make a line depend on others
    (``skiprows``, ``quotechar``, ...).

    As in Dask, ``sample`` is the size of that head, ``assume_missing`` reads integers without a
    ``dtype`` as floats, and ``include_path_column`` adds a column of the paths of the files.
    """
    check_keywords(options, inspect.signature(pd.read_csv).parameters)
    if options.get("iterator") or options.get("chunksize"):
        raise NotImplementedError(
            "read_csv(iterator=, chunksize=) is not supported; use chunk_bytes= and partitions"
        )
    if is_buffer(path):
        _check_paths_only(assume_missing or include_path_column)
        table: DataFrame = read_buffer(pd.read_csv, path, {"sep": sep, **options})
        return table
    sample = sample or HEAD_BYTES
    storage = Storage(storage_options) if storage_options else LOCAL
    files = looked_at(expand_paths(path, storage), storage, "read_csv")
    arguments = options | ({"sep": sep} if sep != "," else {})
    with files.reading(0) as first, open_file(first, files.storage) as file:
        head: bytes = file.read(sample)
    if runs := runs_of_columns(files, arguments):
        how: dict[str, Any] = {"chunk_bytes": chunk_bytes or blocksize, "sample": sample}
        how |= {"storage_options": storage_options, "assume_missing": assume_missing}
        how |= {"include_path_column": include_path_column}
        return _joined([read_csv(run, sep, **how, **options) for run in runs])
    step = chunk_bytes or blocksize or TEXT_BLOCK
    how = {"sample": sample, "step": step, "assume_missing": assume_missing}
    node = _node(files, head, arguments, include_path_column, **how)
    lazy: DataFrame = wrap(node)
    return lazy if node.labelled else reset_index(lazy, drop=True)


def _node(
    files: Files,
    head: bytes,
    given: dict[str, Any],
    include_path_column: bool | str,
    *,
    sample: int,
    step: int,
    assume_missing: bool,
) -> ReadCsv:
    """Return the source of files, whose first bytes show columns and types."""
    whole = not _is_cut_at_lines(files, head, given)
    is_complete = len(files.paths) == 1 and files.stamps[0].size <= len(head)
    if not whole:
        head = whole_lines(head, separators_in(given)) if len(head) == sample else head
        head = with_lines_of_all(files, head, given) if len(files.paths) > 1 else head
    first_rows, names = _schema(head, given, files, whole=whole)
    header = head[: line_after(head, 0, separators_in(given))] if has_header(given) else b""
    labelled = _is_labelled(first_rows, head[len(header) :], names, given, whole=whole)
    like = empty_rows(first_rows)
    if assume_missing and (floats := dict.fromkeys(_narrow(like, given), float)):
        given["dtype"] = {**given.get("dtype", {}), **floats}
        like = like.astype(floats)
    paths = "path" if include_path_column is True else include_path_column or None
    if paths in like.columns:
        raise ValueError(f"Files already contain the column name: {paths}; use another name")
    if not is_complete:
        _check_categories(like, given)
    blocks = tuple(_blocks(files.stamps, step, whole=whole))
    pairs = tuple((key, _frozen(value)) for key, value in given.items())
    parts = (files, like, names, header, labelled, blocks, pairs, whole, paths)
    return ReadCsv(*parts)


def _joined(frames: list[DataFrame]) -> DataFrame:
    """Return the rows of frames one after the other; numbers of rows go on."""
    has_numbers = isinstance(frames[0].node.meta.index, pd.RangeIndex)
    result: DataFrame = concat(frames, ignore_index=has_numbers)
    return result


def _check_paths_only(asked: Any) -> None:
    if asked:
        raise NotImplementedError(
            "read_csv(assume_missing=, include_path_column=) of a buffer is not supported; use a "
            "path, or astype() and assign()"
        )


def _is_cut_at_lines(files: Files, head: bytes, options: dict[str, Any]) -> bool:
    """Tell whether parts of any file can be read without the rest."""
    return (
        all(name.endswith((".csv", ".txt", ".tsv", ".dat")) for name in files.paths)
        and not any(map(is_remote, files.paths))
        and options.keys() <= SPLITTABLE
        and separators_of(options.get("delimiter") or options.get("sep", ",")) is not None
        and options.get("header", "infer") in ("infer", 0, None)
        and _begins_with_line(head)
        and all(_begins_with_line(head_of(files, place)) for place in range(1, len(files.paths)))
    )


def _begins_with_line(head: bytes) -> bool:
    """Tell whether the first line is the first that counts, and lines end as we look for them."""
    vague = (b" ", b"\t", b"\n", b"\r", codecs.BOM_UTF8 + b'"')
    return not head.startswith(vague) and (b"\n" in head or b"\r" not in head)


def _is_labelled(
    rows: Any, after_header: bytes, names: Sequence[Any], options: dict[str, Any], *, whole: bool
) -> bool:
    """Tell whether columns are the row labels: those of ``index_col``, or those without a name."""
    if (column := options.get("index_col")) is not None:
        return column is not False
    if not rows.index.equals(pd.RangeIndex(len(rows))):
        return True
    if whole or options.get("usecols") is not None or not after_header.strip():
        return False
    plain = {key: options[key] for key in ("sep", "delimiter") if key in options}
    first: Any = pd.read_csv(io.BytesIO(after_header), header=None, nrows=1, **plain)
    return len(first.columns) > len(names)


def _check_categories(like: Any, options: dict[str, Any]) -> None:
    """Raise for categories that are unknown until all files are read."""
    dtypes = options.get("dtype")
    for column, dtype in like.dtypes.items():
        wish = dtypes.get(column) if isinstance(dtypes, Mapping) else dtypes
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
    """Return the first rows of the files, and the labels of all their columns."""
    if whole:
        # Readers of all rows at once, and those that cut the end, take no number of rows.
        all_rows = options.get("skipfooter") or options.get("engine") == "pyarrow"
        few = {} if all_rows else {"nrows": 1000}
        frames = (_read_whole(path, files.storage, **{**few, **options}) for path in files.paths)
        frame = next(frames)
        frame = next((rows for rows in itertools.chain([frame], frames) if len(rows)), frame)
        return frame, tuple(frame.columns)
    # Texts behind many numbers are no objects: all lines tell the type.
    frame = pd.read_csv(io.BytesIO(head), **{"low_memory": False, **options})
    plain = {key: options[key] for key in ("sep", "delimiter", "header", "names") if key in options}
    names = pd.read_csv(io.BytesIO(head), nrows=1, **plain).columns
    return frame, tuple(names)


def _blocks(stamps: Sequence[Stamp], step: int, *, whole: bool) -> Any:
    for number, size in enumerate(stamp.size for stamp in stamps):
        starts = range(0, size, step) if size and not whole else range(1)
        for start, stop in itertools.pairwise([*starts, size]):
            yield Block(number, start, stop)
