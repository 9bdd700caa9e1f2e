"""Where a task runs: one policy, free of any server, and the ledger that it reads.

The order of what counts: a worker where the task fits, one that need not spill for it, the soonest
start (work before it, and its inputs' way over the network), the fewest bytes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

#: Share of a worker's memory that running tasks may be promised.
SOFT = 0.75

#: What a byte costs that stays on its host, of one that crosses the network.
SAME_HOST = 0.05


#: What a second of transfer counts: links and memory at both ends serve others too.
TOLL = 4.0

#: Of the workers that hold no input of a task, how many that have little to do are looked at.
STRANGERS = 8


class WorkerView(Protocol):
    """What the policy sees of a worker; distributed's WorkerState is one."""

    @property
    def host(self) -> str: ...
    @property
    def nthreads(self) -> int: ...
    @property
    def memory_limit(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def occupancy(self) -> float: ...
    @property
    def processing(self) -> Collection[Any]: ...


W = TypeVar("W", bound=WorkerView)


@dataclass(frozen=True, slots=True)
class Input(Generic[W]):
    """One input: its bytes, and the workers that hold it."""

    nbytes: int
    holders: Collection[W]


@dataclass(frozen=True, slots=True)
class Placed(Generic[W]):
    """One task: the bytes that it needs while it runs, 0 if unknown, and its inputs."""

    needs: int
    inputs: tuple[Input[W], ...] = ()


@dataclass(frozen=True, slots=True)
class Resident(Generic[W]):
    """Bytes of a task's inputs: all of them, and how many lie where."""

    total: int
    by_worker: Mapping[W, int]
    by_host: Mapping[str, int]


def resident(inputs: Iterable[Input[W]]) -> Resident[W]:
    """Return where inputs lie: once for all workers, of which a shuffle has thousands to try."""
    total = 0
    by_worker: dict[W, int] = {}
    by_host: dict[str, int] = {}
    for one in inputs:
        total += one.nbytes
        for holder in one.holders:
            by_worker[holder] = by_worker.get(holder, 0) + one.nbytes
        for host in {holder.host for holder in one.holders}:
            by_host[host] = by_host.get(host, 0) + one.nbytes
    return Resident(total, by_worker, by_host)


class Ledger:
    """Bytes promised to tasks that are on a worker and have not ended, by worker and by host."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, tuple[Any, str, int]] = {}
        self._workers: dict[Any, int] = {}
        self._hosts: dict[str, int] = {}

    def promise(self, task: Hashable, worker: WorkerView, nbytes: int) -> None:
        """Note that ``task`` is on ``worker``, wherever it was before."""
        self.settle(task)
        if nbytes:
            self._tasks[task] = worker, worker.host, nbytes
            self._add(worker, worker.host, nbytes)

    def settle(self, task: Hashable) -> None:
        """Note that ``task`` ended or left; without effect if nothing was promised to it."""
        found = self._tasks.pop(task, None)
        if found is not None:
            worker, host, nbytes = found
            self._add(worker, host, -nbytes)

    def _add(self, worker: Any, host: str, nbytes: int) -> None:
        for entries, key in ((self._workers, worker), (self._hosts, host)):
            entries[key] = entries.get(key, 0) + nbytes
            if not entries[key]:
                del entries[key]

    def on(self, worker: WorkerView) -> int:
        """Return the bytes promised on a worker."""
        return self._workers.get(worker, 0)

    def on_host(self, host: str) -> int:
        """Return the bytes promised on a host."""
        return self._hosts.get(host, 0)

    def __len__(self) -> int:
        return len(self._tasks)


@dataclass
class Policy:
    """Places by memory first, then by the soonest start."""

    bandwidth: float = 100e6
    """Bytes a second between hosts."""
    same_host: float = SAME_HOST
    toll: float = TOLL
    soft: float = SOFT
    ledger: Ledger = field(default_factory=Ledger)

    def fits(self, task: Placed[W], worker: W) -> bool:
        """Say whether a worker can be promised what the task needs."""
        if not task.needs or not worker.memory_limit:
            return True
        return self.ledger.on(worker) + task.needs <= self.soft * worker.memory_limit

    def alone(self, task: Placed[W], workers: Collection[W]) -> W | None:
        """Return where a task runs that is larger than the share of any worker.

        That is the largest one, once it has nothing else to do.
        """
        largest = max(workers, key=lambda worker: worker.memory_limit, default=None)
        if largest is None or largest.processing:
            return None
        return largest if task.needs > self.soft * largest.memory_limit else None

    def moved(self, task: Placed[W], worker: W, there: Resident[W] | None = None) -> float:
        """Return the bytes to bring to a worker; those of its own host count little.

        ``there`` is what is :func:`resident` of the inputs, for whoever asks for many workers.
        """
        if there is None:
            there = resident(task.inputs)
        near = there.by_host.get(worker.host, 0)
        here = there.by_worker.get(worker, 0)
        return there.total - near + self.same_host * (near - here)

    def transfer(self, task: Placed[W], worker: W, there: Resident[W] | None = None) -> float:
        """Return what it counts to bring the inputs to a worker, in seconds of waiting."""
        return self.toll * self.moved(task, worker, there) / self.bandwidth

    def cost(
        self, task: Placed[W], worker: W, there: Resident[W] | None = None
    ) -> tuple[bool, float, float, int]:
        """Return what is to be small: whether it spills, when it starts, how much is there.

        Where a thread is free and all inputs are, the task starts at once, however long the other
        threads will take.
        """
        spills, held = self._spills(task, worker)
        work = worker.occupancy / worker.nthreads
        starts = self.transfer(task, worker, there)
        if starts or len(worker.processing) >= worker.nthreads:
            starts += work
        return spills, starts, work, held

    def _spills(self, task: Placed[W], worker: W) -> tuple[bool, int]:
        held = worker.nbytes + self.ledger.on(worker)
        return bool(worker.memory_limit) and held + task.needs > worker.memory_limit, held

    def candidates(
        self,
        task: Placed[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[str], Iterable[W]],
    ) -> Collection[W]:
        """Return the workers to choose from: holders, and who is idle ``near`` them on their hosts.

        Another host could start the one task sooner, while the link is taken from others; where
        holders have far too much to do, work stealing finds out. So others come in only where the
        holders would have to spill, or have no room.
        """
        found = {
            holder: None for one in task.inputs for holder in one.holders if holder in everyone
        }
        if len(found) < STRANGERS:
            for host in dict.fromkeys(holder.host for holder in found):
                found |= dict.fromkeys(itertools.islice(near(host), STRANGERS))
        if any(self.fits(task, one) and not self._spills(task, one)[0] for one in found):
            return found
        found |= dict.fromkeys(itertools.islice(idle, STRANGERS))
        return found if any(self.fits(task, one) for one in found) else everyone

    def choose(self, task: Placed[W], workers: Iterable[W]) -> W | None:
        """Return the best worker, ``None`` if the task had better wait since it fits nowhere."""
        best, least = None, (True, math.inf, 0.0, 0)
        there = resident(task.inputs)
        for worker in workers:
            if self.fits(task, worker):
                cost = self.cost(task, worker, there)
                if best is None or cost < least:
                    best, least = worker, cost
        return best


def colours(count: int, workers: int) -> list[int]:
    """Return a colour for each of ``count`` tasks without inputs, in the order of the graph.

    What is read together is used together, so neighbours get one colour, and as many colours are
    used as there are workers for them to be at home.
    """
    return [position * workers // count for position in range(count)]
