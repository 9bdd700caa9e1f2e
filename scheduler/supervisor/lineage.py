"""Forgets the inputs of large jobs' results; a job makes their tasks again if results are lost.

A scheduler otherwise keeps every task until all results that were made of it are released. Here a
:class:`Lineage` takes the place of a result's run spec, and its inputs are forgotten. The lineage
has the job's compilation, which makes the tasks of lost results again, down to those that are held.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, ClassVar, Final

from distributed.scheduler import TaskState

from ..base import Key, TaskGraph
from ..errors import ResultLost
from .transitions import PlacementScheduler

logger: Final = logging.getLogger(__name__)

#: How often tasks are made again whose inputs are lost in the meantime.
_ATTEMPTS = 5

Submit = Callable[[TaskGraph, Collection[Key]], None]
#: Makes the tasks of lost keys, down to held ones, and returns what submits them.
Recompute = Callable[[Collection[Key], Collection[Key]], Awaitable[tuple[TaskGraph, Submit]]]


class Lineage:
    """In place of the run specs of a job's results whose inputs have been forgotten."""

    #: distributed reads it of every run spec.
    data_producer = False

    def __init__(self, scheduler: LineageScheduler, recompute: Recompute) -> None:
        self._scheduler: Any = scheduler
        self._recompute = recompute
        self._lost: dict[Key, None] = {}
        self._task: asyncio.Task[None] | None = None

    def recover(self, key: Key) -> None:
        """Start to compute a lost result again."""
        self._lost[key] = None
        if self._task is None:
            self._task = asyncio.ensure_future(self._recover())
            self._scheduler.recoveries.add(self._task)
            self._task.add_done_callback(self._scheduler.recoveries.discard)

    async def _recover(self) -> None:
        try:
            while keys := self._waiting(self._lost):
                self._lost.clear()
                logger.info("making the tasks of %d lost results again", len(keys))
                try:
                    await self._submit(keys)
                except Exception:
                    logger.exception("cannot make the tasks of lost results again")
                    self._scheduler.forget_lost(self._waiting(keys))
        finally:
            self._lost.clear()
            self._task = None

    def _waiting(self, keys: Collection[Key]) -> list[Key]:
        """Return the keys whose tasks cannot run because they have no run spec."""
        entries = ((key, self._scheduler.tasks.get(key)) for key in keys)
        return [key for key, ts in entries if ts is not None and is_lost(ts)]

    async def _submit(self, keys: list[Key]) -> None:
        tasks = self._scheduler.tasks
        for _ in range(_ATTEMPTS):
            # Few tasks are known at a time, because their inputs are forgotten.
            available = [
                key for key, ts in tasks.items() if ts.run_spec is self and ts.state == "memory"
            ]
            recipes, submit = await self._recompute(keys, available)
            keys = self._waiting(keys)
            graph = needed(tasks, recipes, keys)
            inputs = {key for node in graph.values() for key in node.dependencies}
            unavailable = [key for key in inputs - graph.keys() if key not in tasks]
            if not unavailable:
                if keys:
                    submit(graph, keys)
                return
        raise ResultLost(unavailable[0])


def is_lost(ts: TaskState) -> bool:
    """Return whether a task has to run, but its inputs are forgotten."""
    return isinstance(ts.run_spec, Lineage) and ts.state == "no-worker"


def needed(tasks: Mapping[Any, TaskState], graph: TaskGraph, keys: Collection[Key]) -> TaskGraph:
    """Return the tasks of a graph that keys need, without those below results with a lineage."""
    states = (tasks.get(key) for key in graph)
    if not any(ts is not None and isinstance(ts.run_spec, Lineage) for ts in states):
        return graph
    stack, required = list(keys), set()
    while stack:
        key = stack.pop()
        ts = tasks.get(key)
        available = ts is not None and isinstance(ts.run_spec, Lineage) and ts.state == "memory"
        if key in graph and key not in required and not available:
            required.add(key)
            stack.extend(graph[key].dependencies)
    return {key: node for key, node in graph.items() if key in required}


class LineageScheduler(PlacementScheduler):
    """A scheduler that forgets the inputs of results, and runs their tasks again if they are lost.

    A lost result whose inputs are forgotten is in the state ``no-worker`` until its tasks are made.
    """

    def __init__(self, **options: Any) -> None:
        self.recoveries: set[asyncio.Task[None]] = set()
        super().__init__(**options)

    def forget_inputs(self, keys: Collection[Key], lineage: Lineage) -> None:
        """Forget what results in memory were computed from, unless others need it."""
        unneeded: dict[Any, Any] = {}
        tasks: Mapping[Any, TaskState] = self.tasks
        for key in keys:
            ts = tasks.get(key)
            if ts is None or ts.state != "memory" or ts.run_spec is None or ts.actor:
                continue
            for dts in ts.dependencies:
                dts.dependents.discard(ts)
                if dts.waiters:
                    dts.waiters.discard(ts)
                if not dts.dependents and not dts.who_wants:
                    unneeded[dts.key] = "forgotten"
            ts.dependencies = set()
            ts.run_spec = lineage  # type: ignore[assignment]
        self.transitions(unneeded, f"marsdask-forget-{time.time()}")

    def forget_lost(self, keys: Collection[Key]) -> None:
        """Forget lost results that cannot be computed again, and all that needs them."""
        recommendations: dict[Any, Any] = dict.fromkeys(keys, "forgotten")
        for key in recommendations:
            self.tasks[key].has_lost_dependencies = True
        self.transitions(recommendations, f"marsdask-lost-{time.time()}")

    def _create_taskstate_from_graph(
        self, *, dsk: Any, keys: Any, stimulus_id: str, **options: Any
    ) -> Any:
        """Create tasks; those whose inputs have been forgotten get run specs again."""
        graph: Any = needed(self.tasks, dsk, keys)
        existing = [self.tasks[key] for key in graph if key in self.tasks]
        again = [ts for ts in existing if isinstance(ts.run_spec, Lineage)]
        for ts in again:
            ts.run_spec = None
        metrics = super()._create_taskstate_from_graph(
            dsk=graph, keys=keys, stimulus_id=stimulus_id, **options
        )
        recommendations: dict[Any, Any] = {
            ts.key: "released" for ts in again if ts.state == "no-worker"
        }
        self.transitions(recommendations, stimulus_id)
        return metrics

    def _transition_waiting_processing(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        if isinstance(ts.run_spec, Lineage):
            ts.run_spec.recover(key)
            return {key: "no-worker"}, {}, {}
        return super()._transition_waiting_processing(key, stimulus_id)

    def _transition_no_worker_processing(self, key: Any, stimulus_id: str) -> Any:
        if is_lost(self.tasks[key]):
            return {}, {}, {}
        return super()._transition_no_worker_processing(key, stimulus_id)

    _TRANSITIONS_TABLE: ClassVar[Any] = {
        **PlacementScheduler._TRANSITIONS_TABLE,
        ("waiting", "processing"): _transition_waiting_processing,
        ("no-worker", "processing"): _transition_no_worker_processing,
    }

    async def close(self, *args: Any, **options: Any) -> None:
        """Close, without waiting for tasks that are being made."""
        for task in self.recoveries:
            task.cancel()
        await super().close(*args, **options)
