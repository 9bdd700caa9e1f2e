"""Distances between the rows of matrices, by SciPy's metrics, a block of rows at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.grids.blockwise import Axes, blockwise
from marsdask.core.grids.chunk_positions import StartAt
from marsdask.core.grids.grid import Call, Grid, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import MOST_POINTS, MOST_RUNS, run_of
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import (
    Chunks,
    Index,
    Size,
    Sizes,
    Unknown,
    borders,
    known,
    numbers,
    shape_of,
    upper,
)
from marsdask.tensor.chunks import regular
from marsdask.tensor.chunkwise.rechunk import recut
from marsdask.tensor.elementwise.ufuncs import astype
from marsdask.tensor.indexing.advanced import Take
from marsdask.tensor.indexing.assignment import into
from marsdask.tensor.linalg import inv
from marsdask.tensor.manipulation.concatenation import Concatenate
from marsdask.tensor.manipulation.join import concatenate
from marsdask.tensor.manipulation.shape import View, whole
from marsdask.tensor.operands import as_node, empty
from marsdask.tensor.reduction.covariance import cov
from marsdask.tensor.reduction.reductions import all as all_true
from marsdask.tensor.reduction.reductions import var

from ..creation.from_shape import zeros
from ..elementwise.ufuncs import equal, where
from ..manipulation.diagonals import diagonal
from ..manipulation.reshape import reshape
from ..manipulation.shape import transpose
from ..typing import public

__all__ = ["cdist", "pdist", "squareform"]

Metric = str | Callable[..., Any]

#: Metrics whose parameter defaults to a statistic of all rows.
_SCALED = {"seuclidean": "V", "se": "V", "s": "V"}
_INVERSE = {"mahalanobis": "VI", "mahal": "VI", "mi": "VI"}


@dataclass(frozen=True, eq=False)
class Distances(Node):
    """The distance of each row of one matrix from each of another."""

    label: ClassVar[str] = "cdist"

    a: Node
    b: Node
    extras: tuple[Node, ...]
    metric: Metric
    names: tuple[str, ...]
    kwargs: tuple[tuple[str, Any], ...]

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.float64), 2)

    @property
    def chunks(self) -> Chunks:
        rows = (self.a.chunks[0], self.b.chunks[0])
        if not all(map(known, rows)):
            return rows
        return small_blocks(rows)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        first, second = taken
        return self.replaced(a=part(self.a, (first, None)), b=part(self.b, (second, None)))

    def tile(self, *grids: Grid) -> Generator[Any, Any, Grid]:
        by_node = dict(zip(self.inputs, grids, strict=True))
        a, b, *extras = yield from resolved(*(by_node[node] for node in self.inputs))
        rows = (a.chunks[0], b.chunks[0])
        chunks = small_blocks(rows)
        a, b = (_rows(grid, sizes) for grid, sizes in zip((a, b), chunks, strict=True))
        inputs: list[tuple[Grid, Axes]] = [(a, (0, None)), (b, (1, None)), *_alone(extras)]
        return blockwise(
            between,
            inputs,
            chunks=chunks,
            meta=self.meta,
            kwargs={"metric": self.metric, "names": self.names, "options": dict(self.kwargs)},
        )


def _alone(grids: list[Grid]) -> list[tuple[Grid, Axes]]:
    """Return grids of one chunk as inputs of every task."""
    return [(whole(grid, range(grid.ndim)), (None,) * grid.ndim) for grid in grids]


def _rows(grid: Grid, sizes: Sizes) -> Grid:
    """Return a matrix with chunks along rows only."""
    return recut(grid, (sizes, (sum(numbers(grid.chunks[1])),)))


def small_blocks(rows: tuple[Sizes, Sizes]) -> Chunks:
    """Return rows cut so that blocks of pairs are small enough; keep chunks that are."""
    room = max(1, int(options.chunk_store_limit) // 8)
    if max(numbers(rows[0])) * max(numbers(rows[1])) <= room:
        return rows
    n, m = shape_of(rows)
    side = max(1, math.isqrt(room))
    first = min(n, max(side, room // max(1, m)))
    return regular(n, first), regular(m, max(1, min(m, room // first)))


@kernel(scratch=1.0)
def between(
    *blocks: Any, metric: Metric, names: tuple[str, ...], options: Mapping[str, Any]
) -> Any:
    """Return the distances of one block's rows from another's."""
    from scipy.spatial.distance import cdist as distances

    a, b, *extras = blocks
    return distances(a, b, metric, **options, **dict(zip(names, extras, strict=True)))


@public
def cdist(
    XA: Any, XB: Any, metric: Metric = "euclidean", *, out: Any = None, **kwargs: Any
) -> Node:
    """Return the distances of each row from each row. See scipy.spatial.distance.cdist."""
    metric = _name_of_today(metric)
    a, b = _matrix(XA, "XA"), _matrix(XB, "XB")
    if a.shape[1] != b.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    extras, options = _parameters((a, b), metric, kwargs)
    result = Distances(a, b, tuple(extras.values()), metric, tuple(extras), options)
    return into(out, result)


def _name_of_today(metric: Metric) -> Metric:
    """Return what Mars takes for a metric that SciPy has given up."""
    return "minkowski" if options.mars_results and metric == "wminkowski" else metric


def _matrix(points: Any, name: str) -> Node:
    node = as_node(points)
    if len(node.chunks) != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return node


def _parameters(
    nodes: tuple[Node, ...], metric: Metric, kwargs: dict[str, Any]
) -> tuple[dict[str, Node], tuple[tuple[str, Any], ...]]:
    """Return parameters that are tensors, including those computed from all rows, and others."""
    title = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    extras = {key: as_node(item) for key, item in kwargs.items() if isinstance(item, Collection)}
    options = {key: item for key, item in kwargs.items() if key not in extras}
    _check(nodes[0].shape[1], metric, title, [*extras], options)
    name = _SCALED.get(title.lower()) or _INVERSE.get(title.lower())
    if name is not None and kwargs.get(name) is None:
        options.pop(name, None)
        together = [astype.node(node, np.float64) for node in nodes]
        points = concatenate.node(together) if len(together) > 1 else together[0]
        value = var.node(points, axis=0, ddof=1) if name == "V" else _inverse(points)
        extras[name] = value
    return extras, tuple(sorted(options.items()))


def _inverse(points: Any) -> Any:
    count, width = points.shape
    if count <= width:
        raise ValueError(
            f"The number of observations ({count}) is too small; the covariance matrix is "
            f"singular. For observations with {width} dimensions, at least {width + 1} "
            "observations are required."
        )
    square = reshape.node(cov.node(transpose.node(points)), width, width)
    return transpose.node(inv.node(square))


def _check(
    width: Size, metric: Metric, title: str, later: list[str], kwargs: dict[str, Any]
) -> None:
    """Call SciPy with the metric and its parameters, so that it raises here."""
    from scipy.spatial.distance import cdist as distances

    if not isinstance(metric, str) or isinstance(width, Unknown) or later:
        return
    own: dict[str, Any] = {"V": np.ones(width)} if title.lower() in _SCALED else {}
    own = {"VI": np.eye(width)} if title.lower() in _INVERSE else own
    options = {key: item for key, item in kwargs.items() if item is not None}
    point = np.ones((1, width))
    with np.errstate(all="ignore"):
        distances(point, point, metric, **{**own, **options})


@dataclass(frozen=True, eq=False)
class PairRows(Rule):
    """Chunk ``r`` of a condensed vector: rows of block ``r`` with themselves and all later ones."""

    label: ClassVar[str] = "pdist"

    a: Grid
    extras: tuple[Grid, ...]
    kwargs: Mapping[str, Any]

    def cell(self, index: Index) -> Call:
        (r,) = index
        behind = [Ref(self.a, (i, 0)) for i in range(r, self.a.numblocks[0])]
        extras = [Ref(grid, (0,) * grid.ndim) for grid in self.extras]
        return Call(pairs, (behind, *extras), self.kwargs)


@dataclass(frozen=True, eq=False)
class CondensedDistances(Node):
    """The distances of each row from all later ones, as a condensed vector."""

    label: ClassVar[str] = "pdist"

    a: Node
    extras: tuple[Node, ...]
    metric: Metric
    names: tuple[str, ...]
    kwargs: tuple[tuple[str, Any], ...]

    @property
    def meta(self) -> Any:
        return empty(np.dtype(np.float64), 1)

    @property
    def chunks(self) -> Chunks:
        if not known(self.a.chunks[0]):
            bound = upper(self.a.shape[0])
            return ((Unknown(self.name, -1, bound and bound * (bound - 1) // 2),),)
        sizes = numbers(self.a.chunks[0])
        return (_condensed(sum(sizes), _bands(sum(sizes), sizes)),)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        (own,) = taken
        rows = self.a.shape[0]
        return _of_rows(own, rows, self._between, part) if isinstance(rows, int) else None

    def _between(self, row: int, others: range, part: PartOf) -> Node:
        a, b = part(self.a, (range(row, row + 1), None)), part(self.a, (others, None))
        return View(Distances(a, b, self.extras, self.metric, self.names, self.kwargs), (1,))

    def tile(self, *grids: Grid) -> Generator[Any, Any, Grid]:
        by_node = dict(zip(self.inputs, grids, strict=True))
        a, *extras = yield from resolved(*(by_node[node] for node in self.inputs))
        sizes = numbers(a.chunks[0])
        bands = _bands(sum(sizes), sizes)
        kwargs = {"metric": self.metric, "names": self.names, "options": dict(self.kwargs)}
        alone = tuple(grid for grid, _ in _alone(extras))
        return Grid(
            PairRows(_rows(a, bands), alone, kwargs),
            (_condensed(sum(sizes), bands),),
            self.meta,
        )


def _of_rows(
    own: range | None, side: int, line: Callable[[int, range, PartOf], Node], part: PartOf
) -> Node | None:
    """Return a part of a condensed vector, of the lines of its rows; ``None`` for too many."""
    if own is None or (run := run_of(own)) is None:
        return None
    span, rest = run
    assert span is not None
    spans = list(itertools.islice(row_spans(span, side), MOST_RUNS + 1))
    if len(spans) > MOST_RUNS:
        return None
    lines = tuple(line(row, columns, part) for row, columns in spans)
    return part(Concatenate(lines, 0, lines[0].meta.dtype), (rest,))


def row_spans(span: range, n: int) -> Iterator[tuple[int, range]]:
    """Yield the rows of condensed distances at positions, and the rows from which each is."""
    begin = span.start
    # Before row i there are i * (2 * n - i - 1) / 2 positions.
    row = (2 * n - 1 - math.isqrt((2 * n - 1) ** 2 - 8 * begin)) // 2
    while row * (2 * n - row - 1) // 2 > begin:
        row -= 1
    while begin < span.stop:
        first = row * (2 * n - row - 1) // 2
        stop = min(span.stop, first + n - 1 - row)
        if begin < stop:
            yield row, range(begin - first + row + 1, stop - first + row + 1)
        begin, row = max(begin, stop), row + 1


def _bands(n: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Rechunk rows to limit the number of distances from all others."""
    room = max(1, int(options.chunk_store_limit) // 8 // max(1, n))
    return sizes if max(sizes, default=0) <= room else numbers(regular(n, room))


def _condensed(n: int, bands: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of distances of each band of rows."""
    counts, start = [], 0
    for size in bands:
        counts.append(size * (n - start) - size * (size + 1) // 2)
        start += size
    return tuple(counts)


@kernel(scratch=2.0, piecewise=True)
def pairs(
    behind: list[Any],
    *extras: Any,
    metric: Metric,
    names: tuple[str, ...],
    options: Mapping[str, Any],
) -> Any:
    """Return the distances of the first block's rows from all later rows."""
    rows = len(behind[0])
    total = sum(map(len, behind))
    starts = np.cumsum([0, *(total - 1 - i for i in range(rows))])
    out = np.empty(starts[-1], np.float64)
    column = 0
    for block in behind:
        how = {"metric": metric, "names": names, "options": options}
        distances = between(behind[0], block, *extras, **how)
        for i in range(rows):
            first = max(0, i + 1 - column)
            if first < len(block):
                place = starts[i] + column + first - i - 1
                out[place : place + len(block) - first] = distances[i, first:]
        column += len(block)
    return out


@public
def pdist(X: Any, metric: Metric = "euclidean", *, out: Any = None, **kwargs: Any) -> Node:
    """Return the distances between rows, condensed. See scipy.spatial.distance.pdist.

    ``aggregate_size`` is Mars's hint.
    """
    kwargs.pop("aggregate_size", None)
    metric = _name_of_today(metric)
    node = _matrix(X, "A")
    extras, options = _parameters((node,), metric, kwargs)
    result = CondensedDistances(node, tuple(extras.values()), metric, tuple(extras), options)
    return into(out, result)


@dataclass(frozen=True, eq=False)
class SquareForm(Node):
    """The symmetric matrix of a condensed vector."""

    label: ClassVar[str] = "squareform"

    a: Node
    side: int
    bands: tuple[int, ...]

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, 2)

    @property
    def chunks(self) -> Chunks:
        return (self.bands, self.bands)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        del part
        ranges = [range(self.side) if span is None else span for span in taken]
        shape = tuple(map(len, ranges))
        if not 0 < math.prod(shape) <= MOST_POINTS:
            return None
        rows, columns = np.ix_(*ranges)
        low, high = np.minimum(rows, columns), np.maximum(rows, columns)
        places = np.where(low == high, 0, low * self.side - low * (low + 3) // 2 + high - 1)
        values = reshape.node(Take(self.a, (places.ravel(),), (0,), 0), shape)
        return as_node(where.node(rows != columns, values, zeros.node((), self.meta.dtype)))

    def tile(self, a: Grid) -> Grid:
        a = recut(a, (_condensed(self.side, self.bands),))
        return Grid(Halves(a, self.side, self.bands), self.chunks, self.meta)


@dataclass(frozen=True, eq=False)
class Halves(Rule):
    """Each block from its band of rows, or from the block that it mirrors."""

    label: ClassVar[str] = "squareform"

    a: Grid
    side: int
    bands: tuple[int, ...]

    @cached_property
    def _starts(self) -> list[int]:
        return borders(self.bands)

    def cell(self, index: Index) -> Call:
        low, high = sorted(index)
        rows = (self._starts[low], self._starts[low + 1])
        columns = (self._starts[high], self._starts[high + 1])
        kwargs = {
            "rows": rows,
            "columns": columns,
            "side": self.side,
            "mirror": index[0] > index[1],
        }
        return Call(from_condensed, (Ref(self.a, (low,)),), kwargs)


@kernel(scratch=1.0)
def from_condensed(
    band: Any, rows: tuple[int, int], columns: tuple[int, int], side: int, mirror: bool
) -> Any:
    """Return a block of the matrix whose band of rows is condensed."""
    out = np.zeros((rows[1] - rows[0], columns[1] - columns[0]), band.dtype)
    place = 0
    for i in range(*rows):
        first = max(columns[0], i + 1)
        if first < columns[1]:
            begin = place + first - i - 1
            out[i - rows[0], first - columns[0] :] = band[begin : begin + columns[1] - first]
        place += side - 1 - i
    if rows == columns:
        out = out + out.T
    return out.T if mirror else out


@dataclass(frozen=True, eq=False)
class CondensedForm(Node):
    """The part of a symmetric matrix above the diagonal, as a vector."""

    label: ClassVar[str] = "squareform"

    a: Node
    checks: tuple[Node, ...]
    bands: tuple[int, ...]

    @property
    def meta(self) -> Any:
        return empty(self.a.meta.dtype, 1)

    @property
    def chunks(self) -> Chunks:
        return (_condensed(sum(self.bands), self.bands),)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        (own,) = taken
        if self.checks:
            return None  # they read the whole matrix
        return _of_rows(own, sum(self.bands), self._line, part)

    def _line(self, row: int, columns: range, part: PartOf) -> Node:
        return View(part(self.a, (range(row, row + 1), columns)), (1,))

    def tile(self, a: Grid, *checks: Grid) -> Grid:
        return blockwise(
            to_condensed,
            [(_rows(a, self.bands), (0, None)), *((grid, ()) for grid in checks)],
            chunks=self.chunks,
            meta=self.meta,
            varying=StartAt(self.bands),
        )


def to_condensed(block: Any, *facts: Any) -> Any:
    """Return the part of rows above the diagonal; raise for a matrix that is not of distances."""
    *checks, start = facts
    for holds, trait in zip(checks, ("symmetric", "zero on the diagonal"), strict=False):
        if not holds:
            raise ValueError(f"Distance matrix 'X' must be {trait}.")
    return np.concatenate(
        [row[start + i + 1 :] for i, row in enumerate(block)] or [block[:0].ravel()]
    )


@public
def squareform(X: Any, force: str = "no", checks: bool = True, chunk_size: Any = None) -> Node:
    """Convert condensed distances to a matrix, or back. See scipy.spatial.distance.squareform."""
    node = as_node(X)
    ndim = len(node.chunks)
    if {"tomatrix": 2, "tovector": 1}.get(str(force).lower()) == ndim or ndim not in (1, 2):
        raise ValueError(f"Forcing {force!r} does not fit an array of {ndim} axes.")
    if ndim == 1:
        (length,) = numbers(node.shape)
        side = (1 + math.isqrt(1 + 8 * length)) // 2
        if side * (side - 1) // 2 != length:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some "
                "integer n >= 2."
            )
        return SquareForm(node, side, _cut(side, chunk_size, whole=False))
    side, width = numbers(node.shape)
    if side != width:
        raise ValueError("The matrix argument must be square.")
    facts: tuple[Node, ...] = ()
    if checks:
        facts = (
            all_true.node(equal.node(node, transpose.node(node))),
            all_true.node(equal.node(diagonal.node(node), 0)),
        )
    return CondensedForm(node, facts, _cut(side, chunk_size, whole=True))


def _cut(side: int, chunk_size: Any, *, whole: bool) -> tuple[int, ...]:
    """Split rows into bands whose blocks are not too large."""
    if chunk_size is not None:
        step = chunk_size if isinstance(chunk_size, int) else chunk_size[0]
    else:
        room = max(1, int(options.chunk_store_limit) // 8)
        step = max(1, room // max(1, side)) if whole else math.isqrt(room)
    return numbers(regular(side, max(1, min(step, side or 1))))
