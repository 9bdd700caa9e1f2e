"""The rules that are compared: the supervisor's policy, and what distributed does."""

from __future__ import annotations

from collections.abc import Collection

from benchmarks.placement.machine import SimulatedWorker
from marsdask.scheduler.supervisor.placement import (
    CROWD,
    STRANGERS,
    Policy,
    RoundRobin,
    TaskView,
    resident,
)


class SupervisorRule:
    """The supervisor's policy, and its candidates."""

    name = "marsdask"
    affinities = True
    """Whether sources have affinities."""
    compiled = True
    """Whether the graphs are those of marsdask's compiler, not Dask's."""

    def __init__(self, bandwidth: float) -> None:
        self._policy = Policy(bandwidth=bandwidth)
        self.promise = self._policy.ledger.promise
        self.settle = self._policy.ledger.settle
        self.transfer = self._policy.transfer
        self.fits = self._policy.fits
        self._hosts: dict[str, list[SimulatedWorker]] = {}
        self._turns = RoundRobin()

    def source(
        self, task: TaskView[SimulatedWorker], idle: Collection[SimulatedWorker]
    ) -> SimulatedWorker | None:
        """Choose a worker with a free slot for a source."""
        return self._policy.choose(task, idle)

    def place(
        self,
        task: TaskView[SimulatedWorker],
        idle: Collection[SimulatedWorker],
        workers: Collection[SimulatedWorker],
        sources: bool,
    ) -> SimulatedWorker | None:
        """Choose a worker for another task; ``None`` if it must wait."""

        def near(host: str) -> list[SimulatedWorker]:
            there = self._hosts[host]
            if len(there) <= STRANGERS:
                return there
            return [one for one in there if one in idle] + self._turns.take(there, STRANGERS)

        if not self._hosts:
            for worker in workers:
                self._hosts.setdefault(worker.host, []).append(worker)
        return self._policy.place(task, workers, idle, near, CROWD if sources else 1)


class DistributedRule:
    """distributed's rule: the least busy worker for a source, else the soonest start of a holder.

    As in ``decide_worker`` and ``worker_objective``, hosts and memory do not matter. Of equal
    workers the one with the fewest bytes is chosen.
    """

    name = "distributed"
    affinities = False
    compiled = False

    def __init__(self, bandwidth: float) -> None:
        self._bandwidth = bandwidth

    def source(
        self, task: TaskView[SimulatedWorker], idle: Collection[SimulatedWorker]
    ) -> SimulatedWorker | None:
        """Choose the worker with the fewest tasks for each thread."""
        return min(idle, key=_load)

    def place(
        self,
        task: TaskView[SimulatedWorker],
        idle: Collection[SimulatedWorker],
        workers: Collection[SimulatedWorker],
        sources: bool,
    ) -> SimulatedWorker | None:
        """Choose the holder where the task starts soonest."""
        held = resident(task.inputs)

        def objective(worker: SimulatedWorker) -> tuple[float, int]:
            comm = (held.total - held.by_worker[worker]) / self._bandwidth
            return worker.occupancy / worker.nthreads + comm, worker.nbytes

        return min(held.by_worker, key=objective)

    def transfer(self, task: TaskView[SimulatedWorker], worker: SimulatedWorker) -> float:
        """Return the seconds to transfer a task's inputs to a thief."""
        missing = [nbytes for nbytes, holders in task.inputs if worker not in holders]
        return sum(missing) / self._bandwidth

    def fits(self, task: TaskView[SimulatedWorker], worker: SimulatedWorker) -> bool:
        """Return True: memory does not matter."""
        return True

    def promise(self, task: int, worker: SimulatedWorker, nbytes: int) -> None:
        """Keep no ledger."""

    def settle(self, task: int) -> None:
        """Keep no ledger."""


def _load(worker: SimulatedWorker) -> float:
    return len(worker.processing) / worker.nthreads


Rule = SupervisorRule | DistributedRule

RULES: tuple[type[Rule], ...] = (DistributedRule, SupervisorRule)
