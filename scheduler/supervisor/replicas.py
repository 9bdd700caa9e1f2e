"""The workers that hold results, and replicas in shared memory, which need not be dropped."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from distributed import active_memory_manager
from distributed.active_memory_manager import (
    ActiveMemoryManagerExtension,
    Suggestion,
    SuggestionGenerator,
)
from distributed.scheduler import TaskState, WorkerState

from ..base import Key
from ..dask import PLACE
from ..storage.shared import SHARE_FROM

#: Share of its memory above which all of a worker's replicas are dropped. The supervisor does not
#: know whether a result is shared: Python objects are not.
_SHORT = 0.5


class ReduceReplicas(active_memory_manager.ReduceReplicas):
    """Drops replicas whose removal frees memory; workers of one place share their replicas."""

    def run(self) -> SuggestionGenerator:
        """Yield distributed's suggestions, except for shared replicas."""
        for suggestion in super().run():
            task = suggestion.ts
            shared_replicas = self._kept(task)
            if len(shared_replicas) < 2:
                yield suggestion
            elif surplus := (task.who_has or set()) - shared_replicas:
                yield Suggestion("drop", task, surplus)

    def _kept(self, task: TaskState) -> set[WorkerState]:
        """Return the largest group of holders that share memory."""
        places: dict[Any, set[WorkerState]] = {}
        if task.get_nbytes() >= SHARE_FROM:
            for ws in sorted(task.who_has or (), key=lambda ws: ws.address):
                place = ws.extra.get(PLACE)
                if place is not None and not self._short(ws):
                    places.setdefault(repr(place), set()).add(ws)
        return max(places.values(), key=len, default=set())

    def _short(self, ws: WorkerState) -> bool:
        return bool(ws.memory_limit) and (
            self.manager.workers_memory[ws] > _SHORT * ws.memory_limit
        )


class MarsMemoryManager(ActiveMemoryManagerExtension):
    """Counts promised bytes as used, so that replicas go to workers with free memory."""

    def _run_policies(self) -> None:
        scheduler: Any = self.scheduler
        for ws, nbytes in scheduler.policy.ledger.promised.items():
            if ws in self.workers_memory:
                self.workers_memory[ws] += nbytes
        super()._run_policies()


def keep_shared(manager: Any) -> None:
    """Replace distributed's ReduceReplicas policy in a scheduler's active memory manager."""
    for policy in list(manager.policies):
        if type(policy) is active_memory_manager.ReduceReplicas:
            manager.policies.remove(policy)
            manager.add_policy(ReduceReplicas())


def holders(scheduler: Any, keys: Collection[Key]) -> dict[str, Any]:
    """Return the size and the holders of each known result, and the id of each holder."""
    states = [ts for key in keys if (ts := scheduler.tasks.get(key)) is not None and ts.who_has]
    workers = {ws for ts in states for ws in ts.who_has}
    return {
        "sizes": {ts.key: ts.get_nbytes() for ts in states},
        "holders": {ts.key: [ws.address for ws in ts.who_has] for ts in states},
        "ids": {ws.address: ws.server_id for ws in workers},
    }
