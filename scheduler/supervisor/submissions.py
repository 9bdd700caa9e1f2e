"""Submits a job's graphs to the scheduler of this process, without a client.

Graphs are not pickled, and results need no futures. A batch of a graph is unfinished until all its
requested keys, and those kept for later batches, are in memory.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from distributed.protocol.serialize import Serialized, deserialize

from ..base import Hint, Key, Stage, TaskGraph, annotations_of
from ..errors import ResultLost
from .affinity.affinities import turn, with_affinity
from .fair_share import JobShare
from .lineage import Lineage, needed
from .result_info import describe_results

#: Number of keys that are handled before other callbacks of the event loop run.
_SLICE = 5000

#: Number of results whose inputs are forgotten before other callbacks run.
_FORGET = 100


def name_of(key: Key) -> str:
    """Return the part of a key that all chunks of a grid share."""
    return str(key[0] if isinstance(key, tuple) else key)


class GraphFailed(Exception):
    """A task failed: its key, its exception as the scheduler stores it, and the error message."""

    def __init__(self, key: Key, error: Any, text: str | None = None) -> None:
        super().__init__(key)
        self.key = key
        self._error = error
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        error = self._error
        if isinstance(error, Serialized):  # frames may be views of memory, which cannot be pickled
            error = Serialized(error.header, [bytes(frame) for frame in error.frames])
        return type(self), (self.key, error, self._text)

    def error(self) -> BaseException:
        """Return the exception; unpickling is slow, so call this outside the event loop."""
        try:
            exception = self._unpickled()
        except Exception as error:  # noqa: BLE001 - unpickling may raise any exception
            substitute = RuntimeError(self._text or f"{self.key!r} failed")
            substitute.add_note(f"The supervisor cannot load the exception: {error!r}")
            return substitute
        return exception if isinstance(exception, BaseException) else RuntimeError(str(exception))

    def _unpickled(self) -> Any:
        error = self._error
        if isinstance(error, Serialized):
            error = deserialize(error.header, error.frames)
        error = getattr(error, "data", error)  # an exception of this process
        return pickle.loads(error) if isinstance(error, bytes) else error


@dataclass
class PreparedGraph:
    """A stage in the format of the scheduler."""

    stage: Stage
    graph: TaskGraph
    annotations: dict[str, dict[Key, Any]]
    outside: set[Key]
    """Needed keys that the graph does not compute."""
    outline: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """The nodes of the job: {name: (label, names of its inputs)}."""
    owners: dict[str, str] = field(default_factory=dict)
    """The node that belongs to the first part of a key."""


def prepare(stage: Stage, ahead: int) -> PreparedGraph:
    """Return a stage in the scheduler's format; ``ahead`` tasks are submitted at a time.

    This is slow, so call it outside the event loop.
    """
    graph = describe_results(stage.graph, stage.keys, sample=stage.samples)
    batch = turn(stage.earlier, len(graph), stage.later, ahead)
    hints = with_affinity(graph, stage.hints, batch, stage.readers)
    dependencies = {key for node in graph.values() for key in node.dependencies}
    dependencies.update(stage.keys)
    return PreparedGraph(stage, graph, as_annotations(hints), dependencies - graph.keys())


def as_annotations(hints: Mapping[Key, Hint]) -> dict[str, dict[Key, Any]]:
    """Return hints as annotations of the scheduler and its workers."""
    annotations: dict[str, dict[Key, Any]] = annotations_of(hints) | {
        "mars_mem": {key: hint.peak for key, hint in hints.items()},
        "mars_out": {key: hint.nbytes for key, hint in hints.items()},
        "mars_band": {key: hint.affinity for key, hint in hints.items()},
    }
    converted_annotations = {
        name: {key: value for key, value in values.items() if value is not None}
        for name, values in annotations.items()
    }
    return {name: values for name, values in converted_annotations.items() if values}


@dataclass(eq=False)
class _Batch:
    missing: set[Key]
    watched: list[Key] = field(default_factory=list)
    forgettable: Collection[Key] = ()
    """Results whose inputs are no longer needed when the batch is finished."""


class KeyWatcher:
    """Passes transitions of tasks to the submitted graphs that need them; one per scheduler."""

    def __init__(self) -> None:
        self._followers: dict[Key, tuple[SubmittedGraphs, ...]] = {}

    def add(self, key: Key, graphs: SubmittedGraphs) -> None:
        """Pass transitions of a task to a job's graphs."""
        followers = self._followers.get(key, ())
        if graphs not in followers:
            self._followers[key] = (*followers, graphs)

    def remove(self, key: Key, graphs: SubmittedGraphs) -> None:
        """Stop passing transitions of a task."""
        followers = tuple(
            follower for follower in self._followers.get(key, ()) if follower is not graphs
        )
        if followers:
            self._followers[key] = followers
        else:
            self._followers.pop(key, None)

    def transition(self, key: Key, start: str, finish: str) -> None:
        """Pass a transition on."""
        for graphs in self._followers.get(key, ()):
            graphs.handle_transition(key, start, finish)


class SubmittedGraphs:
    """The graphs of one job; the scheduler holds their results for the client ``name``."""

    def __init__(
        self,
        scheduler: Any,
        watch: KeyWatcher,
        name: str,
        session: Hashable = None,
        weight: float = 1.0,
    ) -> None:
        self._scheduler = scheduler
        self._job: JobShare = scheduler.join(session or name, weight)
        self._watch = watch
        self._name = name
        self._batches: list[_Batch] = []
        self._batches_of: dict[Key, list[_Batch]] = {}
        """The batches that wait for a key."""
        self._dropped: set[Key] = set()
        """Those of these keys that later stages of the job do not need."""
        self._failure: BaseException | None = None
        self._news = asyncio.Event()
        self.total = 0
        self.done = 0
        self.progressed: Any = None
        """Called with the key of each finished task."""
        self.lineage: Lineage | None = None
        """What computes results again whose inputs are forgotten."""
        self._names: set[str] = set()
        self._forgets = False
        self._finished: list[_Batch] = []

    def send(self, prepared: PreparedGraph) -> None:
        """Submit a stage or a batch of one."""
        scheduler, stage = self._scheduler, prepared.stage
        tasks = scheduler.tasks
        lost_inputs = [key for key in prepared.outside if key not in tasks]
        if lost_inputs:
            raise ResultLost(lost_inputs[0])
        keys = {*stage.keys, *stage.kept}
        graph = needed(tasks, prepared.graph, keys)
        fresh = [key for key in graph if key not in tasks or tasks[key].state == "released"]
        self._decide(prepared)
        with scheduler.submitting(self._job, prepared.graph.keys()):
            scheduler._create_taskstate_from_graph(
                start=time.time(),
                dsk=graph,
                keys=keys,
                ordered={key: position for position, key in enumerate(graph)},
                client=self._name,
                annotations_by_type=prepared.annotations,
                global_annotations=None,
                stimulus_id=f"marsdask-stage-{time.time()}",
                submitting_task=None,
                span_metadata={"collections": []},
            )
        self._follow(keys, fresh)
        self.total += len(fresh)
        self._release(stage.dropped)

    def _decide(self, prepared: PreparedGraph) -> None:
        """Decide whether inputs may be forgotten: from the first large stage on.

        A job that reads results of others keeps its tasks, as it could not make those again.
        """
        self._names.update(map(name_of, prepared.graph))
        if self.lineage is None or not {*map(name_of, prepared.outside)} <= self._names:
            self._forgets, self.lineage = False, None
        elif prepared.stage.later:
            self._forgets = True

    def _follow(self, keys: Collection[Key], fresh: list[Key]) -> None:
        tasks = self._scheduler.tasks
        batch = _Batch({key for key in keys if tasks[key].state != "memory"})
        batch.forgettable = keys if self._forgets else ()
        batch.watched = [key for key in {*fresh, *batch.missing} if key in tasks]
        for key in batch.watched:
            self._watch.add(key, self)
        for key in batch.missing:
            self._batches_of.setdefault(key, []).append(batch)
            self._dropped.discard(key)
        if batch.missing:
            self._batches.append(batch)
        else:
            self._finish_batch(batch)
        for key in batch.missing:
            if tasks[key].state == "erred":
                self.handle_transition(key, "processing", "erred")
                break

    def handle_transition(self, key: Key, start: str, finish: str) -> None:
        """Handle a transition of a task."""
        if finish == "memory":
            self._watch.remove(key, self)
            if start == "processing":
                self.done += 1
                if self.progressed is not None:
                    self.progressed(key)
            self._await_no_longer(key)
        elif finish == "erred":
            task = self._scheduler.tasks[key]
            blamed = task.exception_blame or task
            self._fail(GraphFailed(blamed.key, blamed.exception, blamed.exception_text))
        elif key in self._dropped:
            # The tasks that need it may have run earlier, for another supervisor.
            if finish == "forgotten" or (
                finish == "released" and not self._scheduler.tasks[key].waiters
            ):
                self._await_no_longer(key)
        elif finish == "forgotten" and key in self._batches_of:
            self._fail(ResultLost(key))

    def _await_no_longer(self, key: Key) -> None:
        self._dropped.discard(key)
        for batch in self._batches_of.pop(key, ()):
            batch.missing.discard(key)
            if not batch.missing:
                self._batches.remove(batch)
                self._finish_batch(batch)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._news.set()

    def _finish_batch(self, batch: _Batch) -> None:
        # Some tasks did not run, because no task needed them.
        for key in batch.watched:
            self._watch.remove(key, self)
        if batch.forgettable:
            self._finished.append(batch)
        self._news.set()

    async def _forget(self) -> None:
        """Forget the inputs of the results of finished batches."""
        while self._finished and self.lineage is not None:
            for part in _slices(self._finished.pop().forgettable, _FORGET):
                self._scheduler.forget_inputs(part, self.lineage)
                await asyncio.sleep(0)

    async def below(self, batches: int) -> None:
        """Wait until fewer than ``batches`` are unfinished; raise a failed task's exception."""
        while True:
            self._news.clear()  # not after an await, which would lose news that came meanwhile
            await self._forget()
            if self._failure is not None:
                raise self._failure
            if len(self._batches) < batches:
                return
            await self._news.wait()

    async def hand_over(self, keys: Collection[Key], client: str) -> None:
        """Hold keys for a client, too."""
        for part in _slices(keys):
            self._scheduler.client_desires_keys(keys=part, client=client)
            await asyncio.sleep(0)

    async def keep(self, keys: Collection[Key]) -> None:
        """Hold these keys and no others."""
        present, target = set(self._held()), set(keys)
        await self.hand_over(target - present, self._name)
        await self._release_in_turns(list(present - target))

    def leave_to(self, client: str, keys: Iterable[Key]) -> None:
        """Leave keys to a client, which may have released them since they were handed over."""
        state = self._scheduler.clients[client]
        entries = ((key, self._scheduler.tasks.get(key)) for key in keys)
        unwanted = [key for key, ts in entries if ts is not None and ts not in state.wants_what]
        self._scheduler.client_desires_keys(keys=unwanted, client=client)
        self._release(self._held())
        self._leave()

    def _leave(self) -> None:
        self._scheduler.worker_shares.leave(self._job.number)
        self._scheduler.clients.pop(self._name, None)

    def _held(self) -> list[Key]:
        state = self._scheduler.clients.get(self._name)
        return [] if state is None else [task.key for task in state.wants_what]

    async def _release_in_turns(self, keys: list[Key]) -> None:
        for part in _slices(keys):
            self._release(part)
            if len(keys) > _SLICE:
                await asyncio.sleep(0)

    def _release(self, keys: Collection[Key]) -> None:
        if keys:
            self._dropped.update(key for key in keys if key in self._batches_of)
            self._scheduler.client_releases_keys(keys=list(keys), client=self._name)

    async def close(self) -> None:
        """Stop following tasks, and release all keys."""
        for batch in self._batches:
            self._finish_batch(batch)
        self._batches.clear()
        self._batches_of.clear()
        await self._release_in_turns(self._held())
        self._leave()


def resubmit(
    scheduler: Any, name: str, prepared: PreparedGraph, graph: TaskGraph, keys: Collection[Key]
) -> None:
    """Submit the tasks of lost results, which others want or need."""
    scheduler._create_taskstate_from_graph(
        start=time.time(),
        dsk=graph,
        keys=set(keys),
        ordered={key: position for position, key in enumerate(graph)},
        client=name,
        annotations_by_type=prepared.annotations,
        global_annotations=None,
        stimulus_id=f"marsdask-again-{time.time()}",
        submitting_task=None,
        span_metadata={"collections": []},
    )
    scheduler.client_releases_keys(keys=list(keys), client=name)
    scheduler.clients.pop(name, None)


def _slices(keys: Collection[Key], size: int = _SLICE) -> Iterable[list[Key]]:
    sequence = list(keys)
    return (sequence[start : start + size] for start in range(0, len(sequence), size))
