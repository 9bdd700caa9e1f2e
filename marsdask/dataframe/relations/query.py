"""A run of frame operations as one operation: an engine runs it as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import Cost
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, known, total, unknown_sizes, upper
from marsdask.core.traits import Traits

from .expression import Column, Expression, FunctionCall, Parameter, kind_of
from .relation import (
    Aggregation,
    DistinctOn,
    FileScan,
    GroupAggregate,
    Input,
    Join,
    OrderBy,
    Reduce,
    Relation,
    SelectColumns,
    Selection,
    Shift,
    Table,
    walk,
)

if TYPE_CHECKING:
    from .results.rows import ResultRows

#: What a text takes, about.
TEXT_BYTES = 32
#: The most that an engine takes, as a multiple of the columns that it reads.
WORKING = 2.0


@dataclass(frozen=True)
class QueryResources:
    """What a query may use of the machine."""

    memory: int
    """Bytes."""
    threads: int
    folders: tuple[str, ...] | None = None
    """Where rows go that exceed the memory: the process's own place if it is None."""
    spill: int | None = None
    """Bytes that may go there, if that is known."""
    parts: int = 1
    """The number of chunks of the result."""
    least: int = 1
    """The rows of a chunk before another one gets some."""

    @property
    def kept(self) -> int:
        """The bytes of a result in parts that stay in memory; more go to a file."""
        return self.memory // 16


@dataclass(frozen=True)
class Shared:
    """Several reductions of the same rows as one table, and which of them is meant."""

    table: Table
    likes: tuple[Any, ...]
    place: int


@dataclass(frozen=True, eq=False)
class Query(Node):
    """The rows of a table over relations, as pandas would have computed them."""

    below: tuple[Node, ...]
    names: tuple[str, ...]
    """The names of the nodes below in the table."""
    table: Table
    like: Any = field(repr=False)
    """The types, before anything runs."""
    given_chunks: Chunks
    given_traits: Traits
    given_label: str
    given_bytes: float | None
    given_settled: bool
    given_may_narrow: bool
    resources: QueryResources | None = None
    """The memory and threads of duckdb, if it runs the query and not polars."""
    shared: Shared | None = None
    """The result of one task for several nodes, if there is one."""

    @classmethod
    def of(
        cls,
        node: Node,
        table: Table,
        below: Sequence[Node],
        new: Mapping[Node, Node],
        shared: Shared | None = None,
        resources: QueryResources | None = None,
    ) -> Query:
        """Return the query for a node; ``new`` has what became of the nodes below."""
        names = tuple(child.name for child in below)
        inputs = tuple(new[child] for child in below)
        chunks = node.chunks if node.is_row else (_sizes(node, resources),)
        given = (node.meta, chunks, node.traits, node.label, node.itemsize)
        types = (node.settled, node.may_narrow)
        query: Query = cls(inputs, names, table, *given, *types, resources, shared)
        if node.origin is not None:
            object.__setattr__(query, "origin", node.origin)
        return query

    @property
    def label(self) -> str:
        return self.given_label

    @property
    def meta(self) -> Any:
        return self.like

    @property
    def itemsize(self) -> float | None:
        return self.given_bytes

    @property
    def traits(self) -> Traits:
        return self.given_traits

    @property
    def settled(self) -> bool:
        return self.given_settled

    @property
    def incomplete(self) -> bool:
        return self._lacks_detail and not self.settled

    @property
    def may_narrow(self) -> bool:
        return self.given_may_narrow

    @property
    def is_row(self) -> bool:
        return isinstance(self.table.relation, Reduce)

    @property
    def chunks(self) -> Chunks:
        return self.given_chunks

    def tile(self, *inputs: Grid) -> Grid:
        if self.shared is not None:
            return self._tile_shared(self.shared, *inputs)
        run = self._run(self.table, self.like)
        if self.resources is not None and self.resources.parts > 1:
            return self._tile_parts(run, self.resources, *inputs)
        return gather(run, *inputs, chunks=self.chunks, meta=self.meta, itemsize=self.given_bytes)

    def _run(self, table: Table, like: Any) -> RunQuery:
        return RunQuery(self.names, table, like, nbytes_of(table), self.resources)

    def _tile_parts(self, run: RunQuery, resources: QueryResources, *inputs: Grid) -> Grid:
        # What comes out in parts is in a file, or as little as this.
        rows = gather(run, *inputs, chunks=((1,),), itemsize=float(resources.kept))
        return blockwise(
            RowsOfPart(self.table, self.like, resources, self.chunks[0]),
            [(rows, (None,))],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=self.given_bytes,
            varying=lambda index: (index[0],),
        )

    def _tile_shared(self, shared: Shared, *inputs: Grid) -> Grid:
        # Grids of equal rules are one: the task runs once for all nodes.
        run = self._run(shared.table, shared.likes)
        results = gather(run, *inputs, chunks=((1,),), itemsize=8.0 * len(shared.likes))
        return blockwise(
            value_at,
            [(results, (None,))],
            chunks=self.chunks,
            meta=self.meta,
            itemsize=self.given_bytes,
            kwargs={"place": shared.place},
        )


def value_at(values: list[Any], place: int) -> Any:
    """Return one of several values."""
    return values[place]


def _sizes(node: Node, resources: QueryResources | None) -> tuple[Any, ...]:
    """Return the sizes of all rows in the chunks of a result."""
    sizes = node.chunks[0]
    parts, least = (1, 1) if resources is None else (resources.parts, resources.least)
    if known(sizes):
        return sizes if parts > 1 else (total(sizes),)
    if len(sizes) == parts == 1:
        return sizes
    bound = upper(total(sizes))
    most = bound if bound is None or parts == 1 else max(least, -(-bound // parts))
    return unknown_sizes(f"{node.name}:{parts} parts", [most] * parts)


@dataclass(frozen=True)
class RunQuery:
    """Runs a query over the chunks of its inputs."""

    names: tuple[str, ...]
    table: Table
    like: Any = field(repr=False)
    nbytes: int
    resources: QueryResources | None = None
    __name__: ClassVar[str] = "query"

    @property
    def cost(self) -> Cost:
        """Its memory: duckdb's limit, or the columns that it reads and tables made of them."""
        if self.resources is not None:
            return Cost(WORKING, least=self.resources.memory)
        return Cost(WORKING, least=int(WORKING * self.nbytes))

    def __call__(self, *inputs: list[Any]) -> Any:
        blocks = dict(zip(self.names, inputs, strict=True))
        if self.resources is not None:
            from .duckdb_kernels import engine as duckdb_engine

            return duckdb_engine.run(self.table, blocks, self.like, self.resources)
        from .polars_kernels import engine

        return engine.run(self.table, blocks, self.like)


@dataclass(frozen=True)
class RowsOfPart:
    """Makes a chunk of the rows that a query returned."""

    table: Table
    like: Any = field(repr=False)
    resources: QueryResources
    sizes: tuple[Any, ...] = field(repr=False)
    __name__: ClassVar[str] = "query"

    def __call__(self, rows: ResultRows, number: int) -> Any:
        from .results.frames import part_of

        if known(self.sizes):
            start, count = sum(self.sizes[:number]), self.sizes[number]
        else:
            count = max(self.resources.least, -(-len(rows) // self.resources.parts))
            start = min(number * count, len(rows))
        return part_of(self.table, rows, range(start, start + count), self.like)


def expressions_of(relation: Relation, *, right_keys: bool = True) -> Iterator[Expression]:
    """Yield the expressions of a relation itself; of a join those of the right side if wanted."""
    match relation:
        case Selection():
            yield relation.condition
        case OrderBy():
            yield from relation.keys
        case SelectColumns():
            yield from (term for _, term in relation.columns)
        case Shift():
            yield relation.of
        case GroupAggregate():
            yield from relation.keys
            yield from _values(relation.values)
        case Reduce():
            yield from _values(relation.values)
        case DistinctOn():
            yield from relation.subset
        case Join():
            yield from relation.left_on
            yield from relation.right_on if right_keys else ()


def _values(values: Sequence[Aggregation]) -> Iterator[Expression]:
    yield from (value.of for value in values if value.of is not None)


def terms_of(table: Table, *, right_keys: bool = True) -> Iterator[Column | Parameter]:
    """Yield the columns and the parameters that a table reads of its relations.

    What a projection makes counts only if somebody reads it; keys of right sides if wanted.
    """
    relations = walk([table.relation])
    names: set[str] = set()
    stack = [item for item in (*table.columns, *(table.labels or ())) if item is not None]
    by_name: dict[str, list[Expression]] = {}
    for relation in relations:
        if isinstance(relation, SelectColumns):
            for name, item in relation.columns:
                by_name.setdefault(name, []).append(item)
        elif isinstance(relation, Shift):
            by_name.setdefault(relation.column.name, []).append(relation.of)
        else:
            stack.extend(expressions_of(relation, right_keys=right_keys))
    while stack:
        term = stack.pop()
        if isinstance(term, FunctionCall):
            stack.extend(term.args)
        elif isinstance(term, Parameter):
            yield term
        elif isinstance(term, Column) and term.name not in names:
            names.add(term.name)
            yield term
            stack.extend(by_name.get(term.name, ()))


def inputs_of(table: Table) -> list[str]:
    """Return the names of the nodes that a table needs."""
    names = [item.name for item in walk([table.relation]) if isinstance(item, Input)]
    names.extend(item.name for item in terms_of(table) if isinstance(item, Parameter))
    return list(dict.fromkeys(names))


def nbytes_of(table: Table) -> int:
    """Estimate the bytes of the columns that a table reads."""
    names = {term.name for term in terms_of(table)}
    total_bytes = 0
    for relation in walk([table.relation]):
        if isinstance(relation, FileScan):
            width = sum(width_of(term.dtype) for term in relation.columns if term.name in names)
            total_bytes += relation.rows * width
    return total_bytes


def width_of(dtype: Any) -> int:
    """Return the bytes of a value, about."""
    return TEXT_BYTES if kind_of(dtype) == "s" else int(dtype.itemsize)
