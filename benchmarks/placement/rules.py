"""The rules that are compared: the supervisor's policy, and what distributed does."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from benchmarks.placement.machine import Worker
from marsdask.scheduler.supervisor.placement import Placed, Policy, resident


class Rule(Protocol):
    """Where tasks run."""

    name: str
    colours: bool
    """Whether tasks without inputs have homes."""

    def source(self, task: Placed[Worker], idle: Collection[Worker]) -> Worker | None:
        """Choose for a task without inputs, among the workers that have a free slot."""
        ...

    def place(
        self, task: Placed[Worker], idle: Collection[Worker], workers: Collection[Worker]
    ) -> Worker | None:
        """Choose for another; ``None`` if it has to wait until a task ends."""
        ...

    def transfer(self, task: Placed[Worker], worker: Worker) -> float:
        """Return what it counts to bring a task's inputs to a worker that may steal it."""
        ...

    def promise(self, task: int, worker: Worker, nbytes: int) -> None:
        """Note that a task was placed."""
        ...

    def settle(self, task: int) -> None:
        """Note that it ended."""
        ...


class Ours:
    """The supervisor's policy, and its candidates."""

    name = "marsdask"
    colours = True

    def __init__(self, bandwidth: float) -> None:
        self._policy = Policy(bandwidth=bandwidth)
        self.promise = self._policy.ledger.promise
        self.settle = self._policy.ledger.settle
        self.transfer = self._policy.transfer
        self._hosts: dict[str, list[Worker]] = {}

    def source(self, task: Placed[Worker], idle: Collection[Worker]) -> Worker | None:
        return self._policy.choose(task, idle)

    def place(
        self, task: Placed[Worker], idle: Collection[Worker], workers: Collection[Worker]
    ) -> Worker | None:
        def near(host: str) -> Iterable[Worker]:
            return (worker for worker in self._hosts[host] if worker in idle)

        if not self._hosts:
            for worker in workers:
                self._hosts.setdefault(worker.host, []).append(worker)
        return self._policy.choose(task, self._policy.candidates(task, workers, idle, near))


class Stock:
    """distributed's: the least busy worker for a source, else the soonest start of a holder's.

    As in ``decide_worker`` and ``worker_objective``: no other host is near, memory is nobody's
    business, and a tie goes to whoever holds the fewest bytes.
    """

    name = "distributed"
    colours = False

    def __init__(self, bandwidth: float) -> None:
        self._bandwidth = bandwidth

    def source(self, task: Placed[Worker], idle: Collection[Worker]) -> Worker | None:
        return min(idle, key=_load)

    def place(
        self, task: Placed[Worker], idle: Collection[Worker], workers: Collection[Worker]
    ) -> Worker | None:
        held = resident(task.inputs)
        total = sum(one.nbytes for one in task.inputs)

        def objective(worker: Worker) -> tuple[float, int]:
            comm = (total - held.by_worker[worker]) / self._bandwidth
            return worker.occupancy / worker.nthreads + comm, worker.nbytes

        return min(held.by_worker, key=objective)

    def transfer(self, task: Placed[Worker], worker: Worker) -> float:
        missing = (one.nbytes for one in task.inputs if worker not in one.holders)
        return sum(missing) / self._bandwidth

    def promise(self, task: int, worker: Worker, nbytes: int) -> None:
        """Keep no ledger."""

    def settle(self, task: int) -> None:
        """Keep no ledger."""


def _load(worker: Worker) -> float:
    return len(worker.processing) / worker.nthreads


RULES: tuple[type[Ours | Stock], ...] = (Stock, Ours)
