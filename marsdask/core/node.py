"""The node: one operation of the user's program, as data."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from marsdask.scheduler.base import dtype_of

from .facts import Fact
from .origin import Origin, caller
from .sizes import Chunks, Size, Sizes, total
from .tokens import token
from .traits import Traits

if TYPE_CHECKING:
    from collections.abc import Generator

    from .grids.grid import Grid, Look
    from .session import Session

    Tiled: TypeAlias = Grid | tuple[Grid, ...]
    Tiling: TypeAlias = Tiled | Generator[Look | Grid, Any, Tiled]

#: Labels of columns of which something is needed; ``None`` is all of them.
Columns: TypeAlias = frozenset[Any] | None

#: A comparison of a column with a constant: label, operator, value.
Condition: TypeAlias = tuple[str, str, Any]

T = TypeVar("T")

_NODES: WeakValueDictionary[str, Node] = WeakValueDictionary()

#: Facts that follow from the parameters and from the types of the inputs.
_TYPES = ("meta", "itemsize")


class _NodeType(type):
    """Makes equal expressions one object while any of them lives, and properties facts."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _NodeType:
        return super().__new__(cls, name, bases, Fact.among(namespace))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        node = super().__call__(*args, **kwargs)
        if not node.interned:
            return node
        found = _intern(node)
        if found is node:
            object.__setattr__(node, "origin", caller())
        return found


def _intern(node: Node) -> Node:
    """Return the node that has the name already, if it can stand for this one."""
    twin = _NODES.setdefault(node.name, node)
    return twin if twin is node or twin.stands_for(node) else node


def among_fields(owner: Any, kind: type[T]) -> tuple[T, ...]:
    """Return what is of a kind among a dataclass's fields and the tuples in them, in order."""
    found: list[T] = []
    for field in fields(owner):
        value = getattr(owner, field.name)
        if isinstance(value, kind):
            found.append(value)
        elif type(value) is tuple:
            found.extend(item for item in value if isinstance(item, kind))
    return tuple(found)


class Predicate(NamedTuple):
    """What a node keeps of the rows of a source: at most those that meet all conditions."""

    source: Node
    mask: Node
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, eq=False)
class Node(metaclass=_NodeType):
    """One operation; fields that are nodes (or tuples of them) are its inputs.

    A subclass declares its fields, ``meta`` (an empty array or frame that carries the dtype),
    ``chunks`` (the logical grid, as users see it) and :meth:`tile`. Each property is computed once:
    it follows from the fields, which never change.
    """

    origin: ClassVar[Origin | None] = None
    """The user's line; not part of the identity (an instance overrides it)."""
    interned: ClassVar[bool] = True
    input_chunks: ClassVar[Literal["matter", "pass", "vanish"]] = "matter"
    """What becomes of the way its inputs are cut: it decides how the work is done, it only passes
    on to the result, or nobody sees it (a reduction)."""
    pins_grid: ClassVar[bool] = False
    """Whether what lies below must keep its logical grid, since the user sees each chunk."""

    @property
    def name(self) -> str:
        """The identity: class, inputs and parameters."""
        kind = type(self)
        values = [getattr(self, field.name) for field in fields(self)]
        return f"{self.label}-{token(kind, *values)}"

    @property
    def token_name(self) -> str:
        """What stands for this node inside the token of another."""
        return self.name

    @property
    def label(self) -> str:
        """The operation's name as people know it."""
        return type(self).__name__.lower()

    @property
    def traits(self) -> Traits:
        """What is known of its rows: which these are, in what order, in what they are unique."""
        return Traits(self.name)

    @property
    def alignment(self) -> str:
        """What determines its rows and their labels: equal names are equal rows."""
        return self.traits.rows

    @property
    def is_row(self) -> bool:
        """Whether it has one value a column: chunks that are computed with it need it whole."""
        return False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes among the fields, in order, with repetitions."""
        return among_fields(self, Node)

    def stands_for(self, other: Node) -> bool:
        """Tell whether it may be used in place of another of the same name.

        Not over other inputs: those that were computed have the names of the expressions they stand
        for, and belong to a session, which another user of the same expression may not know.
        """
        return all(map(operator.is_, self.inputs, other.inputs))

    def with_inputs(self, new: Mapping[Node, Node]) -> Node:
        """Return the same operation over other inputs, with the same origin."""
        changes: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Node) and new.get(value, value) is not value:
                changes[field.name] = new[value]
            elif type(value) is tuple and any(
                isinstance(item, Node) and new.get(item, item) is not item for item in value
            ):
                changes[field.name] = tuple(
                    new.get(item, item) if isinstance(item, Node) else item for item in value
                )
        if not changes:
            return self
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        node: Node = type.__call__(type(self), **{**values, **changes})
        object.__setattr__(node, "origin", self.origin)
        found = _intern(node)
        if all(new.get(child, child).has_types_of(child) for child in self.inputs):
            found.take_types_of(self)
        return found

    def has_types_of(self, other: Node) -> bool:
        """Tell whether the types of both are known to be the same."""
        if self is other:
            return True
        return "meta" in vars(self) and vars(self)["meta"] is vars(other).get("meta", self)

    def take_types_of(self, other: Node) -> None:
        """Take over the types of a node of the same values, which need not be found anew."""
        for fact in _TYPES:
            if fact in vars(other):
                vars(self).setdefault(fact, vars(other)[fact])

    def replaced(self, **changes: Any) -> Node:
        """Return the node with other field values, its origin kept."""
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
        """Whether all chunks are sure to have the types of the meta, whatever their values."""
        return all(child.settled for child in self.inputs)

    @property
    def chunks(self) -> Chunks:
        """The logical grid: for each axis the sizes of its chunks."""
        raise NotImplementedError(f"{type(self).__name__} declares no chunks")

    @property
    def shape(self) -> tuple[Size, ...]:
        """The length of each axis."""
        return tuple(map(total, self.chunks))

    @property
    def itemsize(self) -> float | None:
        """Bytes of an element (of a row, for frames), ``None`` if nobody knows."""
        return getattr(dtype_of(self.meta), "itemsize", None)

    def tile(self, *inputs: Any) -> Tiling:
        """Say how the chunks come from the inputs' chunks.

        ``inputs`` are the grids of :attr:`inputs` (a tuple of grids where that input has several
        outputs). A generator may yield a grid or a :class:`.Look` and is sent
        the infos of its chunks once they have run.
        """
        raise NotImplementedError(f"{type(self).__name__} declares no tiling")

    def tile_blind(self, *inputs: Any) -> Tiling:
        """Tile where nothing can be run first: Dask has to have the whole graph at once.

        Overridden where there is a way without looking, though one that costs more.
        """
        return self.tile(*inputs)

    def regrid(self, new: Mapping[Sizes, Sizes]) -> Node | None:
        """Return a source of the same values whose axes are cut as ``new`` says, ``None`` if it
        cannot: only nodes that choose their own chunks can.
        """
        del new
        return None

    @property
    def no_op(self) -> Node | None:
        """The input, if its traits say that this node would leave it as it is."""
        return None

    @property
    def rechunked(self) -> Node | None:
        """The input, if all that this node does is to cut it otherwise."""
        return None

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        """Say for each input which of its columns the ``wanted`` ones of the result need."""
        del wanted
        return (None,) * len(self.inputs)

    def narrowed(self, columns: frozenset[Any]) -> Node:
        """Return a source of these columns only (and what else it cannot leave out)."""
        del columns
        return self

    @property
    def predicate(self) -> Predicate | None:
        """What it keeps of the rows of a source, if it keeps rows by values."""
        return None

    def skipping(self, conditions: Sequence[Condition]) -> Node:
        """Return a source without some of the rows that do not meet all conditions."""
        del conditions
        return self

    @property
    def reads(self) -> Hashable:
        """What nodes have in common that :meth:`joined` makes one; ``None`` is nothing."""
        return None

    def joined(self, nodes: Sequence[Node]) -> MultiOutput:
        """Return a node whose outputs are the values of all ``nodes``, this one among them.

        They read the same; their inputs may have been replaced meanwhile, by this one's.
        """
        raise NotImplementedError(f"{type(self).__name__} joins no other nodes")

    def at_hand(self, session: Session) -> Any:
        """Return the value if it takes no graph to have it in a session, else ``None``."""
        del session

    def takes(self, node: Node, taken: Sequence[Node]) -> bool:
        """Tell whether it may do the work of a node besides that of those taken already.

        Nothing else needs the node: only it and the nodes taken before read it.
        """
        del node, taken
        return False

    def taking(self, taken: Sequence[Node]) -> Node:
        """Return a node that does the work of ``taken`` too, which stand inputs first."""
        raise NotImplementedError(f"{type(self).__name__} takes no other nodes")

    def absorb(self, alone: Callable[[Node], bool]) -> Node:
        """Return another node of the same value that is less work.

        ``alone(input)`` tells whether nothing else needs that input.
        """
        del alone
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        values = tuple(getattr(self, field.name) for field in fields(self))
        return _rebuild, (type(self), values)


def _rebuild(kind: type[Node], values: tuple[Any, ...]) -> Node:
    node: Node = kind(**dict(zip((field.name for field in fields(kind)), values, strict=True)))
    return node


@dataclass(frozen=True, eq=False)
class MultiOutput(Node):
    """An operation with several outputs: its meta and its chunks are tuples with one item each."""

    @property
    def chunks(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} declares no chunks")

    @property
    def shape(self) -> Any:
        raise NotImplementedError("several outputs have a shape each")

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
    def chunks(self) -> Chunks:
        chunks: Chunks = self.source.chunks[self.position]
        return chunks

    def tile(self, outputs: tuple[Grid, ...]) -> Grid:
        return outputs[self.position]
