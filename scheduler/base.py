"""The contract between whoever builds a task graph and whatever runs it.

A scheduler is handed a Dask task graph (``{key: dask.task_spec.GraphNode}``), the keys wanted of it
and, if known, a size hint for each task. It keeps the wanted results until they are released, and a
later graph may refer to any key that it still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dask.sizeof import sizeof
from dask.task_spec import GraphNode

from .events import Event

Key = Hashable
# Any, because a Mapping is invariant in its keys: a dict of tuples would not do for Hashables.
TaskGraph = Mapping[Any, GraphNode]
Callback = Callable[[Event], None]

#: A chunk of at most this many bytes travels whole in its :class:`ChunkInfo`.
SAMPLE_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of one task before it runs; ``None`` is unknown."""

    nbytes: int | None = None
    """Bytes of the result."""
    peak: int | None = None
    """Bytes taken while it runs besides its inputs: the result and the scratch."""
    priority: int | None = None
    """Position in the order of the whole graph; smaller runs earlier."""
    affinity: Hashable | None = None
    """Tasks of equal affinity are better placed together."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a scheduler can do, as data that a planner may read."""

    shared_memory: bool = False
    """Tasks see each other's results without copying."""
    locality: bool = False
    """Tasks run where their inputs lie."""
    spill: bool = False
    """Results may exceed memory."""
    resilient: bool = False
    """A lost result is computed again."""
    compiles: bool = False
    """Takes a :class:`StagedCompilation` and drives it itself."""
    observers: bool = False
    """Takes an :class:`~.observe.Observer` among the callbacks, and tells it of each task."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a scheduler runs graphs on, as far as it knows when it is asked."""

    threads: int = 1
    """Tasks that run at a time."""
    memory: int | None = None
    """Bytes that all of them and their results may take together."""
    largest: int | None = None
    """Bytes that one task may take, where that is less: those of one worker."""
    window: int | None = None
    """Tasks that are taken at a time, of graphs that are larger."""
    shared_memory: bool = False
    """Whether all of them see each other's results without copying."""
    spill: int | None = None
    """Bytes of results that may go to disk, if that is known."""


@dataclass(frozen=True, slots=True)
class ChunkInfo:
    """What a result turned out to be; the value itself rides along only when it is small."""

    shape: tuple[int, ...] | None
    dtype: Any
    nbytes: int
    sample: Any = None
    columns: tuple[Any, ...] | None = None
    """The types of a table's columns (of a series or an index: its own)."""
    labels: tuple[Any, ...] | None = None
    """The types of what labels a table's rows, level by level."""


def dtype_of(value: Any) -> Any:
    """Return a value's dtype, ``None`` if it has none: a frame's column may be called ``dtype``."""
    return value.dtype if hasattr(type(value), "dtype") else None


def dtypes_of(table: Any) -> tuple[Any, ...] | None:
    """Return the types of a table's columns, or of a series or an index; ``None`` of others."""
    if hasattr(type(table), "dtypes"):
        dtypes = table.dtypes  # of a series the same as its dtype
        return tuple(dtypes) if hasattr(dtypes, "iloc") else (dtypes,)
    return (table.dtype,) if hasattr(type(table), "nlevels") else None


def describe(value: Any) -> ChunkInfo:
    """Return the :class:`ChunkInfo` of a computed chunk."""
    nbytes = int(sizeof(value))
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


class Handle(Protocol):
    """A submitted graph: running, finished, failed or cancelled."""

    keys: tuple[Key, ...]
    failed: Key | None
    """The key of the task that failed, once one has."""

    def done(self) -> bool:
        """Whether it has ended, in whichever way."""
        ...

    def wait(self, timeout: float | None = None) -> None:
        """Block until it ends.

        Raises the failing task's own exception, ``concurrent.futures.CancelledError`` after
        :meth:`cancel`, or ``TimeoutError`` (the work goes on).
        """
        ...

    def cancel(self) -> None:
        """Stop as soon as the running tasks end; nothing of the submission is kept."""
        ...

    def add_done_callback(self, callback: Callable[[Handle], object]) -> None:
        """Call ``callback(handle)`` when it ends, at once if it has."""
        ...


@runtime_checkable
class Scheduler(Protocol):
    """Runs task graphs and keeps the results that were asked for."""

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

        Every key gains one reference, also one that is held already (which is not computed again).
        When the submission fails or is cancelled it holds none of them.
        """
        ...

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        """Return the held results in the order of ``keys``; ``KeyError`` names one not held."""
        ...

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        """Describe held results without moving them."""
        ...

    def release(self, keys: Iterable[Key]) -> None:
        """Drop one reference of each key; a result without references is freed.

        May be called from a finalizer on any thread, so it never blocks on a running job, and after
        :meth:`close`, when it does nothing.
        """
        ...

    def close(self) -> None:
        """Cancel what runs, free what is held, end every thread, process and file. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Stage:
    """A graph to run before a compilation can go on; the infos of ``keys`` are wanted of it."""

    graph: TaskGraph
    keys: tuple[Key, ...]
    hints: Mapping[Key, Hint]
    samples: bool = True
    """Whether small values are wanted in the infos."""
    later: int = 0
    """Tasks, at most, of windows of the stage that are still to come (see :class:`Machine`).

    The next is to be had by ``advance({})`` at any time; the infos of all windows' ``keys`` are
    wanted when the last of them has run.
    """
    kept: tuple[Key, ...] = ()
    """Keys that later windows need; they are to be held till one has them in ``dropped``."""
    dropped: tuple[Key, ...] = ()
    """Keys held so far, of windows or of earlier stages, that only tasks of this window need.

    They are to be released once the window is submitted, which keeps what its tasks read.
    """


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a compilation: where the result of each root lies."""

    outputs: Mapping[str, Any]
    """For each root its physical layout, opaque to the scheduler."""
    keys: tuple[Key, ...]
    """Keys to keep; what earlier stages held besides is to be released."""


class StagedCompilation(Protocol):
    """A resumable, deterministic, IO-free translation of a program into stages."""

    def fit(self, machine: Machine) -> None:
        """Plan for the machine that will run it; said before the first stage, or never."""
        ...

    def advance(self, infos: Mapping[Key, ChunkInfo]) -> Stage | Done:
        """Take the infos of the last stage's keys (none at first) and return what is next."""
        ...
