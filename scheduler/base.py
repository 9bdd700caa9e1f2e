"""The contract between a planner that builds task graphs and a scheduler that runs them.

A scheduler gets a Dask task graph (``{key: dask.task_spec.GraphNode}``), the requested keys and, if
known, a size hint for each task. It keeps the requested results until they are released. A later
graph may refer to any key that the scheduler still holds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from dask.task_spec import GraphNode

from .events import Event
from .storage.sizes import size_of

Key = Hashable
# Any, because a Mapping is invariant in its keys: a dict of tuples is no Mapping of Hashables.
TaskGraph = Mapping[Any, GraphNode]
Callback = Callable[[Event], None]

#: The annotation of a graph's layers that says how many bytes a result takes, if that is certain.
KEPT = "mars_kept"

#: A chunk of at most this many bytes is part of its :class:`ChunkInfo`.
SAMPLE_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Hint:
    """Estimates for a task before it runs; ``None`` means unknown."""

    nbytes: int | None = None
    """Bytes of the result."""
    peak: int | None = None
    """Bytes that the running task needs besides its inputs: the result and the scratch."""
    priority: int | None = None
    """Position in the order of the whole graph; smaller positions run earlier."""
    affinity: float | None = None
    """A number from 0 to 1: the scheduler should place tasks of similar affinities together."""
    annotations: Mapping[str, Any] | None = None
    """What ``dask.annotate`` says of the task; schedulers in this process ignore it, as Dask's."""


def annotations_of(hints: Mapping[Any, Hint]) -> dict[str, dict[Any, Any]]:
    """Return the annotations of tasks: ``{name: {key: value}}``."""
    annotations: dict[str, dict[Any, Any]] = {}
    for key, hint in hints.items():
        if hint.annotations:
            for name, value in hint.annotations.items():
                if value is not None:
                    annotations.setdefault(name, {})[key] = value
    return annotations


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features of a scheduler, as data that a planner may read."""

    shared_memory: bool = False
    """Tasks read each other's results without copying."""
    locality: bool = False
    """Tasks run where their inputs are."""
    spill: bool = False
    """Results may exceed memory."""
    resilient: bool = False
    """The scheduler recomputes lost results."""
    compiles: bool = False
    """The scheduler takes a :class:`StagedCompilation` and runs its stages."""
    observers: bool = False
    """The scheduler accepts an :class:`~.callbacks.Observer` as a callback and reports tasks to it.
    """
    forks: bool = False
    """A forked child may go on with its parent's scheduler, which has no threads."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The resources of a scheduler, as far as it knows them when it is asked."""

    threads: int = 1
    """Number of tasks that run at the same time."""
    memory: int | None = None
    """Bytes that all tasks and their results may use together."""
    largest: int | None = None
    """Bytes that one task may use if that is less: the memory of one worker."""
    batch: int | None = None
    """Number of tasks that the scheduler takes at a time of a larger graph."""
    shared_memory: bool = False
    """Whether all tasks read each other's results without copying."""
    spill: int | None = None
    """Bytes of results that may go to disk, if known."""
    smallest: int | None = None
    """Bytes that tasks may use in the process with the least memory, if there are several."""
    slots: int = 1
    """Threads of the process that has the fewest."""
    folders: tuple[str, ...] | None = None
    """Where tasks may write if all of them run in this process; nowhere if it is empty."""


@dataclass(frozen=True, slots=True)
class ChunkInfo:
    """The shape, dtype and size of a result; small values are included."""

    shape: tuple[int, ...] | None
    dtype: Any
    nbytes: int
    sample: Any = None
    columns: tuple[Any, ...] | None = None
    """The types of a table's columns (of a series or an index: its own)."""
    labels: tuple[Any, ...] | None = None
    """The types of the levels of a table's index."""


def dtype_of(value: Any) -> Any:
    """Return a value's dtype, or ``None``; a column with the name ``dtype`` does not count."""
    return value.dtype if hasattr(type(value), "dtype") else None


def dtypes_of(table: Any) -> tuple[Any, ...] | None:
    """Return the types of a table's columns, or of a series or an index; ``None`` of others."""
    if hasattr(type(table), "dtypes"):
        dtypes = table.dtypes  # of a series the same as its dtype
        return tuple(dtypes) if hasattr(dtypes, "iloc") else (dtypes,)
    return (table.dtype,) if hasattr(type(table), "nlevels") else None


def all_dtypes(value: Any) -> tuple[Any, ...]:
    """Return the types of an array, or of a table's columns and of the levels of its labels."""
    columns = dtypes_of(value)
    if columns is None:
        return (dtype_of(value),)
    return (*columns, *(dtypes_of(getattr(value, "index", None)) or ()))


def describe(value: Any) -> ChunkInfo:
    """Return the :class:`ChunkInfo` of a computed chunk."""
    nbytes = size_of(value)
    shape = getattr(value, "shape", None)
    labelled = hasattr(type(value), "iloc")
    return ChunkInfo(
        shape=tuple(shape) if isinstance(shape, tuple) else None,
        dtype=dtype_of(value),
        nbytes=nbytes,
        sample=value if nbytes <= SAMPLE_LIMIT else None,
        columns=dtypes_of(value),
        labels=dtypes_of(value.index) if labelled else None,
    )


class RunningTask(Protocol):
    """A task that a thread runs, whose result may be needed no more."""

    stop: Callable[[], object] | None
    """Ends its work; the scheduler calls it from another thread."""

    @property
    def is_dropped(self) -> bool:
        """Whether nobody needs its result."""
        ...


#: ``task`` is what the thread runs, if its scheduler can stop it.
running = threading.local()


@contextmanager
def stopped_by(stop: Callable[[], object]) -> Iterator[None]:
    """Let the scheduler call ``stop`` if the task that runs the block is cancelled meanwhile."""
    task: RunningTask | None = getattr(running, "task", None)
    if task is None:
        yield
        return
    task.stop = stop
    try:
        if task.is_dropped:
            stop()
        yield
    finally:
        task.stop = None


class Handle(Protocol):
    """A submitted graph: running, finished, failed or cancelled."""

    keys: tuple[Key, ...]
    failed: Key | None
    """The key of the task that failed, or ``None``."""

    def done(self) -> bool:
        """Return whether the submission has ended, in any state."""
        ...

    def wait(self, timeout: float | None = None) -> None:
        """Block until the submission ends.

        Raises the exception of the failed task, ``concurrent.futures.CancelledError`` after
        :meth:`cancel`, or ``TimeoutError`` (the tasks continue).
        """
        ...

    def cancel(self) -> None:
        """Stop when the running tasks end, or are stopped, and keep no result."""
        ...

    def add_done_callback(self, callback: Callable[[Handle], object]) -> None:
        """Call ``callback(handle)`` when the submission ends, or at once if it has ended."""
        ...


@runtime_checkable
class Scheduler(Protocol):
    """Runs task graphs and keeps the requested results."""

    name: str
    capabilities: Capabilities

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        *,
        hints: Mapping[Key, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> Handle:
        """Start computing ``keys``.

        Every key gains one reference. Keys that are already held are not computed again. A
        submission that fails or is cancelled holds no reference.
        """
        ...

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        """Return the held results in the order of ``keys``; ``KeyError`` names a missing key."""
        ...

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        """Describe held results without moving them."""
        ...

    def release(self, keys: Iterable[Key]) -> None:
        """Drop one reference of each key; a result without references is freed.

        A finalizer may call this on any thread, so it never blocks on a running job. After
        :meth:`close` it has no effect.
        """
        ...

    def close(self) -> None:
        """Cancel running jobs, free all results, end threads, processes and files. Idempotent."""
        ...


@runtime_checkable
class KnowsMachine(Protocol):
    """A scheduler that knows the resources of its machine."""

    def machine(self) -> Machine:
        """Return the current resources."""
        ...


@runtime_checkable
class HasBounds(Protocol):
    """A scheduler with limits of its own on memory and disk."""

    @property
    def bounds(self) -> Mapping[str, Any]:
        """The constructor's arguments that give another scheduler the same limits."""
        ...


@runtime_checkable
class HoldsFutures(Protocol):
    """A scheduler whose results are Futures of a cluster's client."""

    @property
    def client(self) -> Any:
        """The client of all requests."""
        ...

    def futures(self, keys: Sequence[Key]) -> list[Any]:
        """Return new Futures of held results."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """A graph to run before a compilation can continue; it needs the infos of ``keys``."""

    graph: TaskGraph
    keys: tuple[Key, ...]
    hints: Mapping[Key, Hint]
    samples: bool = True
    """Whether the infos should include small values."""
    later: int = 0
    """Upper bound of the number of tasks in later batches of the stage (see :class:`Machine`).

    ``advance({})`` returns the next batch at any time. After the last batch the compilation needs
    the infos of the ``keys`` of all batches.
    """
    kept: tuple[Key, ...] = ()
    """Keys that later batches need; hold them until a batch lists them in ``dropped``."""
    earlier: int = 0
    """Number of tasks in earlier batches of the stage."""
    readers: Mapping[Key, int] = field(default_factory=dict)
    """Number of tasks that need a result, where later batches have some that do."""
    dropped: tuple[Key, ...] = ()
    """Held keys, of batches or of earlier stages, that only tasks of this batch need.

    Release them after the batch is submitted, which keeps the inputs of its tasks.
    """


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a compilation: where the result of each root is."""

    outputs: Mapping[str, Any]
    """The physical layout of each root, opaque to the scheduler."""
    keys: tuple[Key, ...]
    """Keys to keep; release all other results of earlier stages."""


class StagedCompilation(Protocol):
    """A resumable, deterministic, IO-free translation of a program into stages."""

    def fit(self, machine: Machine) -> None:
        """Plan for the machine that will run it; call this before the first stage, or never."""
        ...

    def advance(self, infos: Mapping[Key, ChunkInfo]) -> Stage | Done:
        """Take the infos of the last stage's keys (none at first) and return the next stage."""
        ...
