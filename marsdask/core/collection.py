"""The base class of Tensor, DataFrame, Series and Index: a thin object around one node."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias, overload

import dask.base
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from marsdask.scheduler.base import ChunkInfo

from .compilation.memory import too_large_to_fetch
from .compilation.static_graph import check_static, is_part
from .config import options
from .dask.source import FromDask
from .display.edge_items import fetch_edge_items
from .display.explain import explain, visualize
from .display.suggestions import HandsOn, suggesting_methods
from .errors import NotExecutedError, shortened
from .graph import Graph, Packed, pack, unpack
from .grids.grid import Grid, current_node
from .mars_session import check_hints, kept_with
from .node import Node, Taken
from .protocol.finalization import finalize, finalize_several, rebuild, rebuild_several
from .protocol.layer import DefaultGet, MergeLayers, graph_of, hold_futures, nested_keys
from .registry import class_of, register_collection
from .results.computed_value import Known
from .results.execution import Execution
from .results.named_results import NamedItems, named_kind
from .results.stored import InMemoryBlocks, Stored
from .session import (
    Session,
    ensure_session,
    executing,
    get_default_session,
    named,
    own_memory,
)
from .sizes import Chunks, Index, known_or_nan
from .snapshots.kinds import ByReference

#: What becomes of a write to a view: its base sees it, it is an error as in NumPy, or one since its
#: way back to the base is not known.
Writes: TypeAlias = Literal["traced", "refused", "untraced"]

#: Threads that run tasks, ours and Dask's: no operation is eager there.
_WORKER_THREADS = ("marsdask-", "Dask-")


class Sharing(Protocol):
    """The relation of a collection to others that share its elements."""

    def derived(self, user: Any) -> Node:
        """Return the collection's node, made of what was written last."""

    def check(self, place: str) -> None:
        """Raise the error of a write to a place, if writes are not possible."""

    def written(self, user: Any, node: Node) -> Sequence[Collection]:
        """Let all who share see a collection's new values; return those that changed."""

    def adopted(self, user: Any, stored: Stored) -> None:
        """Let a collection hold its computed node."""

    def leaving(self, user: Any, *, force: bool) -> None:
        """Let a collection share no elements any more; refuse it unless nobody notices."""


class Collection(HandsOn, ByReference):
    """A lazy object: holds its node, computes it in a session, fetches the result.

    Parameters
    ----------
    node : Node
        The operation whose result it stands for.
    session : Session, optional
        The session that computed it.

    Examples
    --------
    >>> isinstance(mt.ones(3), marsdask.Collection)
    True
    """

    __slots__ = ("__weakref__", "_own", "_session", "_view")

    #: Whether functions of tensors leave ufuncs to its ``__array_ufunc__``.
    handles_ufuncs: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        suggesting_methods(cls)

    def __init__(self, node: Node, session: Session | None = None) -> None:
        self._own: Node | None = node
        self._session = session
        self._view: Sharing | None = None

    @property
    def node(self) -> Node:
        """The operation behind it."""
        node = self._own
        if node is None:  # its base was written to
            assert self._view is not None
            return self._view.derived(self)
        return node

    @property
    def _node(self) -> Node:
        return self.node

    @overload
    def execute(
        self, session: Session | None = None, *, wait: Literal[True] = True, **kwargs: Any
    ) -> Self: ...
    @overload
    def execute(
        self, session: Session | None = None, *, wait: Literal[False], **kwargs: Any
    ) -> Execution: ...
    @overload
    def execute(
        self, session: Session | None = None, *, wait: bool, **kwargs: Any
    ) -> Self | Execution: ...
    def execute(
        self,
        session: Session | None = None,
        *,
        wait: bool = True,
        show_progress: bool | str | None = None,
        **kwargs: Any,
    ) -> Self | Execution:
        """Compute the value and keep its chunks in the session.

        Parameters
        ----------
        session : Session, optional
            Where to compute; by default the session of the inputs, or the default session.
        wait : bool
            Whether to wait for the end.
        **kwargs
            Arguments of :func:`marsdask.execute`, such as ``show_progress``.

        Returns
        -------
        Collection or Execution
            The collection itself, or a future of it unless ``wait``.

        Examples
        --------
        >>> import marsdask.tensor as mt
        >>> mt.ones(3).sum().execute().fetch()
        np.float64(3.0)
        """
        check_hints(kwargs)
        outcome: Self | Execution = execute(
            self, session=session, wait=wait, show_progress=show_progress
        )
        return outcome

    def fetch(self, session: Session | None = None, *, batch_size: int | None = None) -> Any:
        """Return the computed value.

        Parameters
        ----------
        session : Session, optional
            The session that holds it.
        batch_size : int, optional
            Mars's argument, which changes nothing.

        Returns
        -------
        object
            An array, a frame, a series, an index, or a scalar.

        Raises
        ------
        NotExecutedError
            If the collection was not executed.

        Examples
        --------
        >>> import marsdask.tensor as mt
        >>> mt.arange(3).execute().fetch()
        array([0, 1, 2])
        """
        del batch_size  # one request brings all rows
        return fetch(self, session=session)

    def compute(self, *, session: Session | None = None, **dask_options: Any) -> Any:
        """Compute and return the value without keeping its chunks.

        Parameters
        ----------
        session : Session, optional
            Where to compute; by default the session of the inputs, or the default session.
        **dask_options
            Options of ``dask.compute``, such as ``scheduler``. With any of them Dask computes.

        Returns
        -------
        object
            An array, a frame, a series, an index, or a scalar.

        Examples
        --------
        >>> import marsdask.tensor as mt
        >>> mt.arange(3).compute()
        array([0, 1, 2])
        """
        if dask_options:
            return dask.base.compute(self, **dask_options)[0]
        return self._given(compute(self, session=session)[0])

    def persist(self, *, session: Session | None = None, **dask_options: Any) -> Self:
        """Compute the value and return a new collection of its chunks.

        Parameters
        ----------
        session : Session, optional
            Where to compute and keep the chunks.
        **dask_options
            Options of ``dask.persist``, such as ``scheduler``. With any of them Dask computes, and
            the graph of the collection holds the chunks.

        Returns
        -------
        Collection
            An executed collection; this one stays as it is.

        Examples
        --------
        >>> import marsdask.tensor as mt
        >>> mt.arange(3).persist().fetch()
        array([0, 1, 2])
        """
        if dask_options:
            persisted: Self = dask.base.persist(self, **dask_options)[0]
            return persisted
        return type(self)(self._node, session=self._session).execute(session)

    def to_object(self, session: Session | None = None, *, wait: bool = True) -> Any:
        """Execute unless executed before, and return the value.

        Parameters
        ----------
        session : Session, optional
            Where to compute.
        wait : bool
            Whether to wait for the end.

        Returns
        -------
        object or Execution
            The value, or a future of it unless ``wait``.

        Examples
        --------
        >>> import marsdask.tensor as mt
        >>> mt.arange(3).to_object()
        array([0, 1, 2])
        """
        if not wait:
            return _submit([self], lambda: fetch(self, session=session), session)
        self.execute(session=session)
        return self.fetch(session=session)

    def explain(self, session: Session | None = None) -> str:
        """Describe the plan of the computation: nodes, grids with their bytes, and tasks.

        Parameters
        ----------
        session : Session, optional
            Where it would be computed.

        Returns
        -------
        str
            One section for each level.

        Examples
        --------
        >>> import marsdask.tensor as mt
        >>> text = mt.ones(3).sum().explain()
        """
        return explain([self._node], ensure_session(session or self._session))

    def visualize(self, filename: str | None = None, *, level: str = "tasks", **kwargs: Any) -> Any:
        """Draw the graph of a level (``"nodes"``, ``"chunks"`` or ``"tasks"``) with graphviz.

        Parameters
        ----------
        filename : str, optional
            The file to write; by default none is written.
        level : {"nodes", "chunks", "tasks"}
            Which graph to draw: operations, chunks, or what the scheduler runs.
        **kwargs
            Options of ``dask.visualize``, such as ``format``.

        Returns
        -------
        object
            The picture, as ``dask.visualize`` returns it.

        Examples
        --------
        >>> picture = mt.ones(3).visualize(level="nodes")  # doctest: +SKIP
        """
        return visualize([self._node], filename, level=level, **kwargs)

    # Dask's protocol

    def __dask_graph__(self) -> Any:
        return graph_of(self._node)

    def __dask_keys__(self) -> list[Any]:
        # Raise here rather than on the cluster.
        check_static(self._node)
        return nested_keys(self._node)

    def __dask_layers__(self) -> tuple[str, ...]:
        return (self._node.name,)

    def __dask_tokenize__(self) -> str:
        return self._node.name

    @property
    def __dask_optimize__(self) -> MergeLayers:
        return MergeLayers()

    __dask_scheduler__: DefaultGet = DefaultGet()

    def __dask_postcompute__(self) -> tuple[Any, tuple[Any, ...]]:
        node = self._node
        return finalize, (type(self), node.meta, len(node.chunks), node.memory_order)

    def __dask_postpersist__(self) -> tuple[Any, tuple[Any, ...]]:
        node = self._node
        return rebuild, (node.name, node.meta, node.chunks, node.memory_order)

    def _taker(self, name: str) -> Any:
        return getattr(type(self._node.meta), name, None)

    # Methods of subclasses

    @classmethod
    def _assemble(cls, blocks: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        """Concatenate fetched blocks.

        ``owned`` blocks are not shared, so a single block may be returned without a copy. Arrays
        that are not in C order are asked for with ``order=``, that of their axes in memory.
        """
        raise NotImplementedError(f"{cls.__name__} does not say how its blocks fit together")

    @classmethod
    def _settled(cls, meta: Any, infos: Sequence[ChunkInfo]) -> Any:
        """Return the meta with the common types of all chunks, whatever was declared."""
        del infos
        return meta

    @classmethod
    def _cast(cls, grid: Grid, meta: Any, infos: Sequence[ChunkInfo]) -> Grid:
        """Return the grid with the meta's types in all chunks, or itself if they are equal."""
        del meta, infos
        return grid

    @classmethod
    def _recut(cls, grid: Grid, chunks: Chunks) -> Grid:
        """Return the grid in other chunks of known sizes."""
        raise NotImplementedError(f"{cls.__name__} does not say how its blocks are cut")

    @staticmethod
    def _part_of(node: Node, taken: Taken) -> Node:
        """Return the node of a part of another, one range an axis."""
        raise NotImplementedError(f"nodes of {type(node).__name__} have no parts")

    @classmethod
    def _in_place(cls, node: Node, old: Node) -> Node:
        """Return a node as it lies in the memory of the one that it replaces."""
        del old
        return node

    @classmethod
    def _given(cls, value: Any) -> Any:
        """Return a value in memory as the user wants it."""
        return value

    def _corners(self, edges: Sequence[tuple[int, int]]) -> Any:
        """Return the first and last rows (columns, ...) of an executed collection.

        ``edges`` has two numbers for each axis. Only these parts of the chunks are fetched.
        """
        result = _stored(self, None)
        return fetch_edge_items(result, type(self), edges)

    def _together(self) -> list[Collection]:
        """Return what is computed with it, since one function makes them all."""
        return []

    def _held(self) -> Stored | None:
        """Return the computed node of this expression, if the session has it."""
        session = self._session or get_default_session()
        return None if session is None or session.closed else session.lookup(self._node)

    def _is_executed(self) -> bool:
        return self._held() is not None

    @property
    def _meta(self) -> Any:
        """The meta; if an equal expression was executed, it has the types of the values."""
        return (self._held() or self._node).meta

    def _describe(self) -> str:
        """Return the one-line text of a collection that was not executed."""
        node = self._node
        shape = getattr(self, "shape", tuple(map(known_or_nan, node.shape)))
        parts = [f"shape={_plain(shape)}"]
        dtype = node.shown_dtype
        if dtype is not None:
            parts.append(f"dtype={dtype}")
        largest = tuple(max(sizes, key=_sortable) for sizes in node.chunks)
        counts = tuple(map(len, node.chunks))
        parts.append(f"chunks={_plain(counts)} of {_plain(largest)}")
        return f"{type(self).__name__} <{node.label}, {', '.join(parts)}>"

    def __repr__(self) -> str:
        return self._describe()

    def _adopt(self, stored: Stored, session: Session) -> Self:
        self._session = session
        if self._node.name != stored.name:  # it was written to while its old values were computed
            return self
        if self._view is None:
            self._own = stored
        else:
            self._view.adopted(self, stored)
        return self

    def _show(
        self, node: Node, writes: Writes, through: tuple[type[Node], ...]
    ) -> Collection | None:
        """Return a collection that shares elements with this one, ``None`` if ``node`` does not."""
        del node, writes, through
        return None

    def __copy__(self) -> Self:
        return type(self)(self._node, session=self._session)

    def __deepcopy__(self, memo: Any) -> Self:
        # Nodes and results never change, so a copy may share them.
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), pack([self._node]))


def _unpickled(kind: type[Collection], packed: Packed) -> Collection:
    (node,) = unpack(packed)
    hold_futures(node)
    return kind(node)


def _plain(sizes: Sequence[Any]) -> str:
    inner = ", ".join(map(str, sizes))
    return f"({inner},)" if len(sizes) == 1 else f"({inner})"


def _sortable(size: Any) -> int:
    return size if isinstance(size, int) else -1


#: Values that need no computation.
_KNOWN = (Number, np.ndarray, Known)


class _Together:
    """Computes the collections among its items in one graph."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Any]: ...

    def execute(self, session: Session | None = None, **kwargs: Any) -> Any:
        """Compute all of them in one graph and return self (a future if ``wait=False``).

        Parameters
        ----------
        session : Session, optional
            Where to compute.
        **kwargs
            Arguments of :func:`marsdask.execute`, such as ``wait``.

        Returns
        -------
        ExecutableTuple or Execution
            The tuple itself, or a future of it with ``wait=False``.

        Examples
        --------
        >>> marsdask.ExecutableTuple([mt.arange(3).max()]).execute().fetch()
        [np.int64(2)]
        """
        return execute(*self._lazy(), session=session, _returns=self, **kwargs)

    def fetch(self, session: Session | None = None) -> Any:
        """Return the values: a list, or the namedtuple's own type; a tuple of known ones.

        Parameters
        ----------
        session : Session, optional
            The session that holds the results.

        Returns
        -------
        list or tuple
            The values; a namedtuple gives one of its own type.

        Examples
        --------
        >>> marsdask.ExecutableTuple([mt.arange(3).max()]).execute().fetch()
        [np.int64(2)]
        """
        return self._with(_fetched_together(self._lazy(), session))

    def fetch_log(
        self, session: Session | None = None, offsets: Any = None, sizes: Any = None
    ) -> list[Any]:
        r"""Return what the functions of all of them have printed so far.

        Parameters
        ----------
        session : Session, optional
            The session that runs them.
        offsets : int, optional
            Where in the logs to begin.
        sizes : int, optional
            The most characters of a log.

        Returns
        -------
        list of FetchedLog
            One log for each of them.

        Examples
        --------
        >>> import marsdask.remote as mr
        >>> both = mr.ExecutableTuple([mr.spawn(print, args=(word,)) for word in ("a", "b")])
        >>> executed = both.execute()
        a
        b
        >>> both.fetch_log()
        ['a\n', 'b\n']
        """
        return fetch_log(*self._lazy(), session=session, offsets=offsets, sizes=sizes)

    def compute(self, session: Session | None = None) -> Any:
        """Compute all of them in one graph and return the values without keeping them.

        Parameters
        ----------
        session : Session, optional
            Where to compute.

        Returns
        -------
        list or tuple
            The values; a namedtuple gives one of its own type.

        Examples
        --------
        >>> marsdask.ExecutableTuple([mt.ones(2).sum(), mt.arange(3).max()]).compute()
        [np.float64(2.0), np.int64(2)]
        """
        lazy = self._lazy()
        values = compute(*lazy, session=session)
        return self._with([item._given(value) for item, value in zip(lazy, values, strict=True)])

    def to_object(self, session: Session | None = None, *, wait: bool = True) -> Any:
        """Execute unless that was done before, and return the values (a future if not ``wait``).

        Parameters
        ----------
        session : Session, optional
            Where to compute.
        wait : bool
            Whether to wait for the end.

        Returns
        -------
        list, tuple or Execution
            The values, or a future of them unless ``wait``.

        Examples
        --------
        >>> marsdask.ExecutableTuple([mt.arange(3).max()]).to_object()
        [np.int64(2)]
        """
        if not wait:
            return _submit(self._lazy(), lambda: self.fetch(session), session)
        self.execute(session=session)
        return self.fetch(session=session)

    def _lazy(self) -> list[Collection]:
        return [item for item in self if not isinstance(item, _KNOWN)]

    def _with(self, values: list[Any]) -> Any:
        """Return the computed values and the known ones in their positions."""
        rest = iter(values)
        found = [item if isinstance(item, _KNOWN) else next(rest) for item in self]
        found = [item.fetch() if isinstance(item, Known) else item for item in found]
        return getattr(self, "_make", list if values else tuple)(found)

    # Dask's protocol: dask.compute(svd(x)) is one collection, and returns a tuple of arrays.

    def __dask_graph__(self) -> Any:
        lazy = self._lazy()
        # Known values are not a collection: Dask leaves them unchanged.
        return HighLevelGraph.merge(*(item.__dask_graph__() for item in lazy)) if lazy else None

    def __dask_keys__(self) -> list[Any]:
        return [item.__dask_keys__() for item in self._lazy()]

    def __dask_layers__(self) -> tuple[str, ...]:
        return tuple(name for item in self._lazy() for name in item.__dask_layers__())

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        names = (item if isinstance(item, _KNOWN) else item.node.name for item in self)
        return (type(self).__name__, *names)

    @property
    def __dask_optimize__(self) -> MergeLayers:
        return MergeLayers()

    __dask_scheduler__: DefaultGet = DefaultGet()

    def __dask_postcompute__(self) -> tuple[Any, tuple[Any, ...]]:
        parts = [item.__dask_postcompute__()[1] for item in self._lazy()]
        return finalize_several, (parts, getattr(self, "_make", None), self._known())

    def __dask_postpersist__(self) -> tuple[Any, tuple[Any, ...]]:
        parts = [item.__dask_postpersist__()[1] for item in self._lazy()]
        return rebuild_several, (parts, getattr(self, "_make", type(self)), self._known())

    def _known(self) -> dict[int, Any]:
        return {i: item for i, item in enumerate(self) if isinstance(item, _KNOWN)}


class ExecutableTuple(_Together, tuple[Any, ...]):
    """Several collections that execute together, and values that need no computation.

    Parameters
    ----------
    iterable : iterable
        Collections, and values that are known already.

    Examples
    --------
    >>> u, s, v = mt.ExecutableTuple(mt.linalg.svd(mt.eye(2))).execute().fetch()
    >>> s
    array([1., 1.])
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Any] = ()) -> Self:
        """Make a tuple, of a namedtuple one with its names."""
        kind: Any = type(iterable)
        if cls is ExecutableTuple and isinstance(iterable, NamedItems):
            return super().__new__(named_kind(kind, cls), iterable)
        return super().__new__(cls, iterable)


class ExecutableList(_Together, list[Any]):
    """A list of collections that execute together, where NumPy returns a list.

    See :class:`ExecutableTuple`.

    Examples
    --------
    >>> first, second = mt.split(mt.arange(4), 2).execute().fetch()
    >>> second
    array([2, 3])
    """

    __slots__ = ()


#: Collections that the current operation changed in place; ``None`` outside of operations.
composing: ContextVar[list[Collection] | None] = ContextVar("composing", default=None)


def collect(node: Node) -> Any:
    """Return the collection for a node."""
    # Raise errors of shape and type in the user's call, not in a later execute().
    node.chunks  # noqa: B018
    return class_of(node.meta)(node)


def wrap(node: Node) -> Any:
    """Return the collection for a node; in eager mode it is executed immediately."""
    collection = collect(node)
    if options.eager_mode and executes_at_once():
        collection.execute()
    return collection


def rebind(collection: Collection, node: Node) -> None:
    """Replace a collection's node; in eager mode it is executed."""
    node.chunks  # noqa: B018 - as above
    touched: Sequence[Collection] = (collection,)
    if collection._view is None:
        collection._own = collection._in_place(node, collection._node)
    else:
        touched = collection._view.written(collection, node)
    if not options.eager_mode:
        return
    if (collections := composing.get()) is not None:
        collections.extend(touched)
    elif executes_at_once():
        execute(*touched)


def executes_at_once() -> bool:
    """Tell whether user code runs, rather than an operation, a task or a tiling."""
    return not (
        composing.get() is not None
        or executing.get()
        or current_node.get() is not None
        or threading.current_thread().name.startswith(_WORKER_THREADS)
    )


def flatten(items: Iterable[Any]) -> list[Collection]:
    """Return the collections in (nested) lists and tuples, in order."""
    return [item for item in _executable(items) if isinstance(item, Collection)]


def _executable(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the collections and known values in (nested) lists and tuples, in order."""
    for item in items:
        if isinstance(item, list | tuple):
            yield from _executable(item)
        elif isinstance(item, Collection | Known):
            yield item
        else:
            raise TypeError(f"expected tensors and frames, not {type(item).__name__}")


def execute(
    *items: Any,
    session: Session | None = None,
    wait: bool = True,
    show_progress: bool | str | None = None,
    _returns: Any = None,
    **kwargs: Any,
) -> Any:
    """Compute collections in one graph and keep their chunks in the session.

    Parameters
    ----------
    *items : Collection
        Collections, also in nested lists and tuples; what estimators have learnt is known already.
    session : Session, optional
        Where to compute; by default the session of the inputs, or the default session.
    wait : bool
        Whether to wait for the end.
    show_progress : bool or "auto", optional
        Whether to draw a progress bar; by default ``options.show_progress``.
    **kwargs
        ``extra_config`` and ``fuse_enabled`` of Mars, which have no effect.

    Returns
    -------
    Collection, list of Collection, or Execution
        The single collection or the list of them, or a future of that unless ``wait``.

    Raises
    ------
    TypeError
        If an argument is no collection.
    MemoryError
        If a chunk, or all results together, cannot fit. Nothing has run then.

    Examples
    --------
    >>> import marsdask
    >>> import marsdask.tensor as mt
    >>> a, b = marsdask.execute(mt.ones(3).sum(), mt.arange(3).max())
    >>> b.fetch()
    np.int64(2)
    """
    check_hints(kwargs)
    collections = flatten(items)
    collections += [sibling for item in collections for sibling in item._together()]
    collections += kept_with(collections)
    if _returns is None:
        _returns = items[0] if len(items) == 1 else list(items)
    if not wait:
        execution = _submit(collections, lambda: _returns, session, show_progress)
        execution.to_execute_tileables = collections
        return execution
    target = _session_of(collections, session)
    try:
        results = target.execute([item._node for item in collections], show_progress=show_progress)
    except BaseException as error:  # noqa: BLE001 - it is raised again
        raise shortened(error) from error.__cause__
    _adopt_all(collections, results, target)
    return _returns


def _session_of(collections: Sequence[Collection], session: Session | None) -> Session:
    """Return the session given, else the one that holds inputs already, else the default."""
    session = session or named.get()
    if session is None:
        sessions = (item._session for item in collections if item._session is not None)
        session = next((candidate for candidate in sessions if candidate._works()), None)
    return ensure_session(session)


def _adopt_all(
    collections: Sequence[Collection], stored: Sequence[Stored], session: Session
) -> None:
    for item, result in zip(collections, stored, strict=True):
        item._adopt(result, session)


def _submit(
    collections: Sequence[Collection],
    value: Any,
    session: Session | None,
    show_progress: bool | str | None = None,
) -> Any:
    """Start computing and return a future of ``value()``, called at the end."""
    target = _session_of(collections, session)

    def finish(stored: list[Stored]) -> Any:
        _adopt_all(collections, stored, target)
        return value()

    return target.submit([item._node for item in collections], finish, show_progress=show_progress)


def compute(*collections: Collection, session: Session | None = None) -> tuple[Any, ...]:
    """Compute collections in one graph and return their values without keeping chunks.

    Parameters
    ----------
    *collections : Collection
        The collections.
    session : Session, optional
        Where to compute; by default the session of the inputs, or the default session.

    Returns
    -------
    tuple
        The values.
    """
    target = _session_of(collections, session)
    nodes = [item._node for item in collections]
    try:
        if len(nodes) == 1 and (value := _at_hand(nodes[0], target)) is not None:
            return (value,)
        results = target.execute(nodes, lasting=False)
        return tuple(
            _value(type(item), result, owned=not _holds_data(node))
            for item, node, result in zip(collections, nodes, results, strict=True)
        )
    except BaseException as error:  # noqa: BLE001 - it is raised again
        raise shortened(error) from error.__cause__


def _at_hand(node: Node, session: Session) -> Any:
    session._check_works()
    return node.at_hand(session)


def _holds_data(node: Node) -> bool:
    """Tell whether a block of the result may belong to an executed collection."""
    return any(isinstance(item, Stored | InMemoryBlocks | FromDask) for item in Graph([node]).nodes)


def _value(kind: type[Collection], stored: Stored, *, owned: bool) -> Any:
    layout = stored.result.layout
    keys, nbytes = layout.keys, sum(layout.nbytes.values())
    if nbytes > own_memory():
        raise too_large_to_fetch(stored.label, nbytes, own_memory())
    blocks = stored.result.scheduler.gather(list(keys.values()))
    parts = dict(zip(keys, blocks, strict=True))
    order = stored.memory_order
    how = {} if order is None else {"order": order}
    return kind._assemble(parts, stored.meta, owned=owned, **how)


def fetch(*items: Any, session: Session | None = None) -> Any:
    """Return the values of executed collections.

    Parameters
    ----------
    *items : Collection
        Executed collections.
    session : Session, optional
        The session that holds them.

    Returns
    -------
    object or list
        The single value or the list of values.

    Raises
    ------
    NotExecutedError
        If a collection was not executed.

    Examples
    --------
    >>> import marsdask
    >>> import marsdask.tensor as mt
    >>> marsdask.fetch(mt.arange(3).execute())
    array([0, 1, 2])
    """
    collections = list(_executable(items))
    lazy = iter(_fetched_together([i for i in collections if isinstance(i, Collection)], session))
    values = [next(lazy) if isinstance(item, Collection) else item.fetch() for item in collections]
    return values[0] if len(items) == 1 and not isinstance(items[0], list | tuple) else values


def fetch_log(
    *items: Any, session: Session | None = None, offsets: Any = None, sizes: Any = None
) -> list[Any]:
    r"""Return what functions have printed so far.

    Parameters
    ----------
    *items : Object
        What :func:`marsdask.remote.spawn` returned.
    session : Session, optional
        The session that runs them.
    offsets : int, optional
        Where in the logs to begin.
    sizes : int, optional
        The most characters of a log.

    Returns
    -------
    list of FetchedLog
        One log for each of them.

    Examples
    --------
    >>> import marsdask
    >>> import marsdask.remote as mr
    >>> call = mr.spawn(print, args=("done",)).execute()
    done
    >>> marsdask.fetch_log(call)
    ['done\n']
    """
    objects: list[Any] = flatten(items)
    return [item.fetch_log(session=session, offsets=offsets, sizes=sizes) for item in objects]


def _fetched_together(items: Sequence[Collection], session: Session | None) -> list[Any]:
    """Return values; one request brings all those of one element, such as functions' results."""
    places: dict[Session, list[int]] = {}
    for position, item in enumerate(items):
        owner = session or item._session
        if owner is not None and not item._node.chunks and owner.lookup(item._node) is item._node:
            places.setdefault(owner, []).append(position)
    values_by_position: dict[int, Any] = {}
    for owner, positions in places.items():
        owner.check_open()
        nodes = [owner.lookup(items[at]._node) for at in positions]
        results = [result for result in nodes if result is not None]
        keys = [key for result in results for key in result.result.layout.keys.values()]
        if len(keys) != len(positions) or len(keys) < 2:
            continue
        values = owner.scheduler.gather(keys)
        for at, value, result in zip(positions, values, results, strict=True):
            values_by_position[at] = type(items[at])._assemble(
                {(): value}, result.meta, owned=False
            )
    return [
        item._given(values_by_position[at] if at in values_by_position else _fetched(item, session))
        for at, item in enumerate(items)
    ]


def _fetched(item: Collection, session: Session | None) -> Any:
    owner = session or item._session or get_default_session()
    value = None if owner is None or owner.closed else item._node.at_hand(owner)
    return _value(type(item), _stored(item, session), owned=False) if value is None else value


def _stored(item: Collection, session: Session | None) -> Stored:
    owner = session or item._session or get_default_session()
    result = owner.lookup(item._node) if owner is not None else None
    if owner is not None and (result is not None or item._session is not None):
        owner.check_open()
    if result is None and is_part(item._node):
        # A part of a result, such as x[:2], is fetched without computation.
        (result,) = ensure_session(owner).execute([item._node])
    if result is None:
        raise NotExecutedError(
            f"{item.node.label} has not been executed: call execute() before fetch(), or compute()"
        )
    return result


__all__ = [
    "Collection",
    "ExecutableTuple",
    "collect",
    "composing",
    "compute",
    "execute",
    "executes_at_once",
    "fetch",
    "fetch_log",
    "rebind",
    "register_collection",
    "wrap",
]
