"""The node: one operation of the user's program, as data."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from marsdask.scheduler.base import all_dtypes, dtype_of

from .call_site import CallSite, caller
from .facts import Fact
from .registry import sealed
from .sizes import Chunks, Index, Size, Sizes, total, upper
from .snapshots.kinds import ByReference, is_kept
from .snapshots.snapshot import Snapshot
from .snapshots.tokens import field_names, token, unique, values_of
from .traits import Traits

if TYPE_CHECKING:
    from collections.abc import Generator

    from .files.places import Place
    from .graph import Graph
    from .grids.grid import Grid, Look
    from .machine.plan import Plan
    from .results.stored import InMemoryBlocks
    from .session import Session

    Tiled: TypeAlias = Grid | tuple[Grid, ...]
    Tiling: TypeAlias = Tiled | Generator[Look | Grid, Any, Tiled]

#: Labels of the needed columns; ``None`` means all.
Columns: TypeAlias = frozenset[Any] | None

#: What a node needs of an input that it loses where few of its columns are wanted.
UNUSED: frozenset[Any] = frozenset(["unused"])

#: A comparison of a column with a constant: label, operator, value.
Condition: TypeAlias = tuple[str, str, Any]

#: The axes in memory, those that are farthest apart first; ``None`` means in their own order.
MemoryOrder: TypeAlias = tuple[int, ...] | None

#: The selection along each axis: a range, or ``None`` for all of it.
Taken: TypeAlias = tuple[range | None, ...]

#: For each axis of an input the axis of the result, ``None`` for an axis that is needed whole.
Axes: TypeAlias = tuple[int | None, ...]

#: Makes the node of a part of another node.
PartOf: TypeAlias = "Callable[[Node, Taken], Node]"

#: Makes the node of a diagonal of an operand, for a result with two last axes of given lengths.
DiagonalOf: TypeAlias = "Callable[[Node, range, range, tuple[Size, ...]], Node]"

T = TypeVar("T")

_NODES: WeakValueDictionary[str, Node] = WeakValueDictionary()

#: Facts that follow from the parameters and from the types of the inputs.
_TYPES = ("meta", "itemsize")


class _NodeType(type):
    """Makes equal expressions one object while referenced, and turns properties into facts."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _NodeType:
        facts = Fact.among(namespace)
        if isinstance(meta := facts.get("meta"), Fact):
            facts["meta"] = Fact("meta", _sealing(meta.compute))
        return super().__new__(cls, name, bases, facts)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        node = super().__call__(*args, **kwargs)
        if not node.interned:
            return node
        interned = _intern(node, held=True)
        if interned is node:
            object.__setattr__(node, "origin", caller())
        return interned


def _sealing(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that finds a meta, and seals it: nodes of equal types share it."""

    @wraps(compute)
    def meta(node: Any) -> Any:
        return sealed(compute(node))

    return meta


def _intern(node: Node, *, held: bool = False) -> Node:
    """Return the node of the same name, if it can replace this one.

    Somebody else may hold the values of its fields: then it takes a snapshot of them.
    """
    twin = _NODES.get(node.name)
    if twin is not None and twin.stands_for(node):
        return twin
    if held:
        node._take_snapshot()
    twin = _NODES.setdefault(node.name, node)
    return twin if twin is node or twin.stands_for(node) else node


def among_fields(owner: Any, kind: type[T]) -> tuple[T, ...]:
    """Return the objects of a type among a dataclass's fields and the tuples in them, in order."""
    objects: list[T] = []
    for value in values_of(owner):
        if isinstance(value, kind):
            objects.append(value)
        elif type(value) is tuple:
            objects.extend(item for item in value if isinstance(item, kind))
    return tuple(objects)


def lacks_detail(dtype: Any) -> bool:
    """Tell whether a type stands for several: texts have widths, times units, categories a set."""
    if is_categorical(dtype):
        return True
    kind = getattr(dtype, "kind", "")
    if kind in ("m", "M"):
        return isinstance(dtype, np.dtype) and np.datetime_data(dtype)[0] == "generic"
    return isinstance(dtype, np.dtype) and kind in ("U", "S")


def is_categorical(dtype: Any) -> bool:
    """Tell whether a type has a set of categories."""
    return hasattr(dtype, "categories")


def has_detail(dtype: Any) -> bool:
    """Tell whether a type has a width of more than one letter, or a unit."""
    if dtype.kind in ("m", "M"):
        return np.datetime_data(dtype)[0] != "generic"
    if is_categorical(dtype):
        return bool(len(dtype.categories))
    return bool(dtype.itemsize > np.dtype(f"{dtype.kind}1").itemsize)


class Predicate(NamedTuple):
    """The rows of a source that a node keeps: at most those that meet all conditions."""

    source: Node
    mask: Node
    conditions: tuple[Condition, ...]


class Planner(NamedTuple):
    """Plans runs of nodes of one family."""

    rewrite: Callable[[Graph, Plan], Graph]
    tell: Callable[[Graph, Plan], list[str]]
    """Describes in lines what :attr:`rewrite` does to a graph, and why."""


@dataclass(frozen=True, eq=False)
class Node(ByReference, metaclass=_NodeType):
    """One operation; fields that are nodes (or tuples of them) are its inputs.

    A subclass declares its fields, ``meta`` (an empty array or frame that carries the dtype),
    ``chunks`` (the logical grid) and :meth:`tile`. Each property is computed once: it follows from
    the fields, which never change.
    """

    origin: ClassVar[CallSite | None] = None
    """The user's line; not part of the identity (an instance overrides it)."""
    interned: ClassVar[bool] = True
    input_chunks: ClassVar[Literal["matter", "pass", "vanish"]] = "matter"
    """What becomes of the way its inputs are cut: it decides how the work is done, it only passes
    on to the result, or nobody sees it (a reduction)."""
    planner: ClassVar[Planner | None] = None
    """Plans runs of nodes of its family as a whole."""
    values_tell: ClassVar[bool] = False
    """Whether its values decide how wide its texts are, which unit its times or which categories
    its columns have."""
    holds_all: ClassVar[bool] = False
    """Whether all of its elements must be kept at once before any is known, as in a sort."""
    pins_grid: ClassVar[bool] = False
    """Whether what lies below must keep its logical grid, since the user sees each chunk."""
    counts_chunks: ClassVar[bool] = False
    """Whether of that grid only the number of chunks is seen, as by files with numbers."""

    @property
    def name(self) -> str:
        """The identity: class, inputs and parameters."""
        return f"{self.label}-{token(type(self), *values_of(self))}"

    def _take_snapshot(self) -> None:
        """Keep what its fields hold as it is now: its name, made of their content, stays true."""
        if type(self).name is not Node.name:
            return  # its class says by what it is named, and owns what it holds
        values, snapshot = vars(self), None
        for field in field_names(type(self)):
            value = values[field]
            if not is_kept(value):
                snapshot = snapshot or Snapshot()
                values[field] = snapshot.of(value)
        if snapshot is None:
            return
        if snapshot.shares:  # what it shares may change
            vars(self)["name"] = f"{self.label}-{token(unique())}"

    @property
    def token_name(self) -> str:
        """The object for this node in the token of another."""
        return self.name

    @property
    def label(self) -> str:
        """The operation's name for users."""
        return type(self).__name__.lower()

    @property
    def traits(self) -> Traits:
        """The known properties of its rows: their identity, order, and unique columns."""
        return Traits(self.name)

    @property
    def alignment(self) -> str:
        """The object that determines its rows and their labels: equal names mean equal rows."""
        return self.traits.rows

    @property
    def is_row(self) -> bool:
        """Whether it has one value per column: chunks computed with it need it whole."""
        return False

    @property
    def level_gaps(self) -> frozenset[int]:
        """The levels of integers or truth values, among its row labels, that may have gaps."""
        return frozenset()

    @property
    def level_orders(self) -> tuple[Any, ...]:
        """How the labels of each level of its row labels are ordered; all are sorted if empty.

        ``None`` where they are sorted, ``OCCURRENCE`` where they are in the order in which they
        occur, or else the labels in their order.
        """
        return ()

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes among the fields, in order, with repetitions."""
        return among_fields(self, Node)

    @property
    def handles(self) -> tuple[Node, ...]:
        """The inputs that it takes as handles: sessions compute and keep them before."""
        return ()

    def stands_for(self, other: Node) -> bool:
        """Tell whether it may replace another node of the same name.

        Computed inputs have the names of their expressions, but belong to a session. Another user
        of the expression may not have access to it, so inputs must be equal.
        """
        return all(map(operator.is_, self.inputs, other.inputs))

    def with_inputs(self, new: Mapping[Node, Node]) -> Node:
        """Return the same operation over other inputs, with the same origin."""
        changes: dict[str, Any] = {}
        values = dict(zip(field_names(type(self)), values_of(self), strict=True))
        for name, value in values.items():
            if isinstance(value, Node) and new.get(value, value) is not value:
                changes[name] = new[value]
            elif type(value) is tuple and any(
                isinstance(item, Node) and new.get(item, item) is not item for item in value
            ):
                changes[name] = tuple(
                    new.get(item, item) if isinstance(item, Node) else item for item in value
                )
        if not changes:
            return self
        node: Node = type.__call__(type(self), **{**values, **changes})
        object.__setattr__(node, "origin", self.origin)
        found = _intern(node)
        if all(new.get(child, child).has_types_of(child) for child in self.inputs):
            found.take_types_of(self)
        return found

    def has_types_of(self, other: Node) -> bool:
        """Tell whether the types of both are known to be equal."""
        if self is other:
            return True
        return "meta" in vars(self) and vars(self)["meta"] is vars(other).get("meta", self)

    def take_types_of(self, other: Node) -> None:
        """Take over the known types of a node of the same values."""
        for fact in _TYPES:
            if fact in vars(other):
                vars(self).setdefault(fact, vars(other)[fact])

    def replaced(self, **changes: Any) -> Node:
        """Return the node with other field values and the same origin."""
        node = replace(self, **changes)
        if self.origin is not None and node is not self:
            object.__setattr__(node, "origin", self.origin)
        return node

    @property
    def meta(self) -> Any:
        """An empty array or frame with the dtype, the columns and the index type."""
        raise NotImplementedError(f"{type(self).__name__} declares no meta")

    @property
    def settled(self) -> bool:
        """Whether every chunk has the meta's types, independently of values."""
        if self.values_tell and self._lacks_detail:
            return False
        return all(child.settled for child in self.inputs)

    @property
    def _lacks_detail(self) -> bool:
        metas = self.meta if isinstance(self.meta, tuple) else (self.meta,)
        return any(map(lacks_detail, itertools.chain.from_iterable(map(all_dtypes, metas))))

    @property
    def shown_dtype(self) -> Any:
        """The dtype that users see: it has no width or unit that nobody knows or has declared."""
        dtype = dtype_of(self.meta)
        return np.dtype(dtype.kind) if lacks_detail(dtype) and not self._is_declared else dtype

    @property
    def _is_declared(self) -> bool:
        """Whether somebody has declared the detail that its type may lack."""
        if not self.incomplete:
            return True
        children = [child for child in self.inputs if child.incomplete]
        if children and not self.values_tell:
            return all(child._is_declared for child in children)
        metas = self.meta if isinstance(self.meta, tuple) else (self.meta,)
        return all(map(has_detail, map(dtype_of, metas)))

    @property
    def types_follow(self) -> bool:
        """Whether its type follows from those of its inputs alone, whatever they turn out to be."""
        return self.values_tell

    @property
    def incomplete(self) -> bool:
        """Whether its type lacks what only values tell: widths, units, sets of categories."""
        return not self.settled and (self._lacks_detail or self.may_narrow)

    @property
    def may_narrow(self) -> bool:
        """Whether its floats or objects may be integers or truth values, if no row has a gap."""
        metas = self.meta if isinstance(self.meta, tuple) else (self.meta,)
        kinds = (getattr(dtype, "kind", "") for meta in metas for dtype in all_dtypes(meta))
        return any(child.may_narrow for child in self.inputs) and not {*kinds}.isdisjoint("fcO")

    def incomplete_in(self, wanted: Columns) -> bool:
        """Tell whether the types of some columns, or of the row labels, lack what values tell."""
        del wanted
        return self.incomplete

    @property
    def keeps_types(self) -> bool:
        """Whether each chunk has the types of its input's chunk, whatever they are.

        Nothing has to be known of them before it is computed.
        """
        return False

    @property
    def chunks(self) -> Chunks:
        """The logical grid: for each axis the sizes of its chunks."""
        raise NotImplementedError(f"{type(self).__name__} declares no chunks")

    @property
    def shape(self) -> tuple[Size, ...]:
        """The length of each axis."""
        return tuple(map(total, self.chunks))

    @property
    def memory_order(self) -> MemoryOrder:
        """How the axes of its value lie in memory."""
        return None

    @property
    def itemsize(self) -> float | None:
        """Bytes of an element (of a row, for frames), ``None`` if unknown."""
        return getattr(dtype_of(self.meta), "itemsize", None)

    def tile(self, *inputs: Any) -> Tiling:
        """Define the chunks by the inputs' chunks.

        ``inputs`` are the grids of :attr:`inputs` (a tuple of grids where that input has several
        outputs). A generator may yield a grid or a :class:`.Look`; it receives the infos of the
        chunks once they have run.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no tiling")

    def tile_blind(self, *inputs: Any) -> Tiling:
        """Tile without running chunks first: Dask needs the whole graph in advance.

        Overridden by nodes that can tile without a look, at a higher cost.
        """
        return self.tile(*inputs)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node | None:
        """Return a source of the same values with the ``new`` chunks, or ``None``.

        Only nodes that choose their own chunks support this.
        """
        del new
        return None

    @property
    def no_op(self) -> Node | None:
        """The input, if its traits imply that this node has no effect on it."""
        return None

    @property
    def rechunked(self) -> Node | None:
        """The input, if this node only rechunks it."""
        return None

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        """Return a node of some of its elements, made of parts of its inputs.

        ``taken`` has a range for each axis, ``None`` for all of it; ``part`` makes the node of a
        part of an input. ``None`` if it is no cheaper to make a part than to make all.
        """
        inner = _looped(self, taken, part)
        return None if inner is None else part(inner, _beside_loops(self, taken))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        """Return its elements at rows and columns as its last axis, made of those of its inputs.

        ``along`` makes the node of those of an input. ``None`` as for :meth:`sliced`.
        """
        del rows, columns, along
        return None

    @property
    def loop_axes(self) -> tuple[Axes, ...] | None:
        """For each input, the axes of the result that its axes go along with.

        As in NumPy's generalized ufuncs: a place along a loop axis is made of the inputs' parts at
        that place alone. ``None`` stands for an axis that is needed whole, or for no such axes.
        """
        return None

    @property
    def most_elements(self) -> int:
        """The elements of the largest array among it and all that it is made of, where known."""
        below = max((child.most_elements for child in self.inputs), default=0)
        return max(below, math.prod(upper(size) or 0 for size in self.shape))

    @property
    def searched(self) -> Node | None:
        """The sorted vector of which it reads the chunks that hold few values, and no others."""
        return None

    @property
    def first_needed(self) -> int | None:
        """How many first elements of its input suffice, where only a look tells where they are."""
        return None

    def pushed_down(self) -> Node | None:
        """Return the same selection made of parts of its source's inputs, ``None`` if not cheaper.

        The source is the first of the inputs.
        """
        return None

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        """Return for each input the columns needed for the ``wanted`` columns of the result."""
        del wanted
        return (None,) * len(self.inputs)

    def narrowed(self, columns: frozenset[Any]) -> Node:
        """Return a node with only these columns (and those that it cannot omit).

        Its inputs are those of this node but for what :meth:`requires` calls ``UNUSED``; they are
        replaced by narrower ones afterwards.
        """
        del columns
        return self

    @property
    def predicate(self) -> Predicate | None:
        """The rows of a source that it keeps, if it selects rows by values."""
        return None

    def skipping(self, conditions: Sequence[Condition]) -> Node:
        """Return a source without some of the rows that do not meet all conditions."""
        del conditions
        return self

    @property
    def reads_from(self) -> tuple[Place, ...]:
        """The files and the memory of others that its own tasks read."""
        return ()

    @property
    def reads(self) -> Hashable:
        """The common property of nodes that :meth:`joined` can fuse; ``None`` means none."""
        return None

    def joined(self, nodes: Sequence[Node]) -> MultiOutput:
        """Return a node whose outputs are the values of all ``nodes``, including this one.

        They have the same inputs; this node's may have been replaced in the meantime.
        """
        raise NotImplementedError(f"{type(self).__name__} joins no other nodes")

    def relation(self, inputs: Sequence[Any]) -> Any:
        """Return its rows as a relation over those of its inputs, ``None`` if it is none.

        The :attr:`planner` of its family says what an input is.
        """
        del inputs

    def chunk_origin(self, index: Index) -> str:
        """Say where it reads a chunk from, for messages; empty if it reads nothing."""
        del index
        return ""

    def runs_inline(self) -> bool:
        """Tell whether a program of little data may run it without tasks.

        It calls no function of the user.
        """
        return False

    def at_hand(self, session: Session) -> Any:
        """Return the value if it can be stored without a graph, else ``None``."""
        del session

    def with_value(self, session: Session) -> InMemoryBlocks | None:
        """Return a node of this name that has the value, if it needs no tasks, else ``None``."""
        del session
        return None

    def takes(self, node: Node, taken: Sequence[Node]) -> bool:
        """Tell whether it can fuse a node in addition to the nodes taken before.

        Only it and the nodes taken before read the node.
        """
        del node, taken
        return False

    def taking(self, taken: Sequence[Node]) -> Node:
        """Return a node fused with ``taken``, which lists inputs first."""
        raise NotImplementedError(f"{type(self).__name__} takes no other nodes")

    def absorb(self, alone: Callable[[Node], bool]) -> Node:
        """Return another node of the same value with less work.

        ``alone(input)`` tells whether only this node needs that input.
        """
        del alone
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        values = tuple(values_of(self))
        return _rebuild, (type(self), values)


def _looped(node: Node, taken: Taken, part: PartOf) -> Node | None:
    """Return the node made of parts along its loop axes, ``None`` if nothing is taken of those."""
    if node.loop_axes is None:
        return None
    keys: dict[Node, Taken] = {}
    for child, axes in zip(node.inputs, node.loop_axes, strict=True):
        key = tuple(
            None if axis is None else _of_operand(size, taken[axis])
            for axis, size in zip(axes, child.shape, strict=True)
        )
        if keys.setdefault(child, key) != key:
            return None
    new = {child: part(child, key) for child, key in keys.items() if _is_part(key)}
    return node.with_inputs(new) if new else None


def _is_part(taken: Taken) -> bool:
    """Tell whether something is left out, along some axis."""
    return any(span is not None for span in taken)


def _of_operand(size: Size, span: range | None) -> range | None:
    """Return the part of an axis that may be one element for all."""
    if size != 1:
        return span
    return range(0) if span is not None and not span else None


def _beside_loops(node: Node, taken: Taken) -> Taken:
    """Return what is left to take of the other axes."""
    loops = {axis for axes in node.loop_axes or () for axis in axes}
    return tuple(None if axis in loops else span for axis, span in enumerate(taken))


def _rebuild(kind: type[Node], values: tuple[Any, ...]) -> Node:
    """Return the node of values that nobody else has."""
    node: Node = type.__call__(kind, **dict(zip(field_names(kind), values, strict=True)))
    if not node.interned:
        return node
    interned = _intern(node)
    if interned is node:
        object.__setattr__(node, "origin", caller())
    return interned


@dataclass(frozen=True, eq=False)
class MultiOutput(Node):
    """An operation with several outputs: its meta and its chunks are tuples with one item each."""

    @property
    def chunks(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} declares no chunks")

    @property
    def shape(self) -> Any:
        raise NotImplementedError("several outputs have a shape each")

    @property
    def most_elements(self) -> int:
        return max((child.most_elements for child in self.inputs), default=0)

    def parts(self) -> tuple[Part, ...]:
        """Return a node for each output."""
        return tuple(Part(self, position) for position in range(len(self.meta)))


@dataclass(frozen=True, eq=False)
class Part(Node):
    """One of the outputs of an operation that has several."""

    source: MultiOutput
    position: int

    @property
    def label(self) -> str:
        return self.source.label

    @property
    def meta(self) -> Any:
        return self.source.meta[self.position]

    @property
    def types_follow(self) -> bool:
        return self.source.types_follow

    @property
    def chunks(self) -> Chunks:
        chunks: Chunks = self.source.chunks[self.position]
        return chunks

    @property
    def memory_order(self) -> MemoryOrder:
        return self.source.memory_order

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        if self.source.loop_axes is None:
            source = self.source.sliced(taken, part)
            return None if source is None else self.replaced(source=source)
        source = _looped(self.source, taken, part)
        if source is None:
            return None
        return part(self.replaced(source=source), _beside_loops(self.source, taken))

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        source = self.source.diagonal(rows, columns, along)
        return None if source is None else self.replaced(source=source)

    def tile(self, outputs: tuple[Grid, ...]) -> Grid:
        return outputs[self.position]


@dataclass(frozen=True, eq=False)
class SameMeta(Node):
    """An operation whose result has the type of its input."""

    a: Node

    @property
    def meta(self) -> Any:
        return self.a.meta


@dataclass(frozen=True, eq=False)
class SameChunks(Node):
    """An operation whose result has the chunks of its input."""

    a: Node

    @property
    def chunks(self) -> Chunks:
        return self.a.chunks
