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

#: Of the hosts that hold most of a task's inputs, on how many everybody is looked at.
HOSTS = 4


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
    """Return where inputs lie: once for all workers, of which a shuffle has thousands to try.

    Hosts come in the order in which they are met, whatever their names hash to.
    """
    total = 0
    by_worker: dict[W, int] = {}
    by_host: dict[str, int] = {}
    for one in inputs:
        nbytes = one.nbytes
        total += nbytes
        hosts: dict[str, None] = {}
        for holder in one.holders:
            by_worker[holder] = by_worker.get(holder, 0) + nbytes
            hosts[holder.host] = None
        for host in hosts:
            by_host[host] = by_host.get(host, 0) + nbytes
    return Resident(total, by_worker, by_host)


class Ledger:
    """Bytes promised to tasks that are on a worker and have not ended."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, tuple[Any, int]] = {}
        self.promised: dict[Any, int] = {}
        """The bytes of each worker that any are promised on."""

    def promise(self, task: Hashable, worker: WorkerView, nbytes: int) -> None:
        """Note that ``task`` is on ``worker``, wherever it was before."""
        self.settle(task)
        if nbytes:
            self._tasks[task] = worker, nbytes
            self.promised[worker] = self.promised.get(worker, 0) + nbytes

    def settle(self, task: Hashable) -> None:
        """Note that ``task`` ended or left; without effect if nothing was promised to it."""
        found = self._tasks.pop(task, None)
        if found is not None:
            worker, nbytes = found
            left = self.promised[worker] - nbytes
            if left:
                self.promised[worker] = left
            else:
                del self.promised[worker]

    def on(self, worker: WorkerView) -> int:
        """Return the bytes promised on a worker."""
        return self.promised.get(worker, 0)

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
    _turn: int = 0
    """Where in a long list of hosts the next few are taken from."""

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

    def _full(self, task: Placed[W], worker: W) -> bool:
        """Say whether a worker would have to spill for a task, or has no room for it."""
        held = worker.nbytes + self.ledger.on(worker)
        return 0 < worker.memory_limit < held + task.needs or not self.fits(task, worker)

    def place(
        self,
        task: Placed[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[str, bool], Iterable[W]],
    ) -> W | None:
        """Return where a task with inputs had best run, ``None`` if it had better wait."""
        there = resident(task.inputs)
        return self.choose(task, self.candidates(task, there, everyone, idle, near), there)

    def candidates(
        self,
        task: Placed[W],
        there: Resident[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[str, bool], Iterable[W]],
    ) -> Collection[W]:
        """Return the workers to choose from: holders, and others of the hosts that hold the most.

        ``near`` tells of a host who has little to do there, or of all. A task of one input that
        can start beside it stays there, and goes to who is idle otherwise. One of several has to
        fetch some wherever it runs: from one host to another if only holders are looked at, of
        which one has less to do.

        Another host could start the one task sooner, while the link is taken from others; where
        holders have far too much to do, work stealing finds out. So others come in only where the
        holders would have to spill, or have no room.
        """
        holders = [holder for holder in there.by_worker if holder in everyone]
        busy = len(task.inputs) > 1
        if not busy:
            for one in holders:
                if len(one.processing) < one.nthreads and not self._full(task, one):
                    return holders
        most = max(there.by_host.values(), default=0)
        hosts = [host for host, nbytes in there.by_host.items() if nbytes == most]
        found = dict.fromkeys(holders)
        for host in self._some(hosts):
            found.update(dict.fromkeys(itertools.islice(near(host, busy), STRANGERS)))
        if any(not self._full(task, one) for one in found):
            return found
        found.update(dict.fromkeys(itertools.islice(idle, STRANGERS)))
        return found if any(self.fits(task, one) for one in found) else everyone

    def _some(self, hosts: list[str]) -> list[str]:
        """Return all hosts, or of many a few, others each time."""
        if len(hosts) <= HOSTS:
            return hosts
        self._turn += HOSTS
        first = self._turn % len(hosts)
        return (hosts[first:] + hosts[:first])[:HOSTS]

    def choose(
        self, task: Placed[W], workers: Iterable[W], there: Resident[W] | None = None
    ) -> W | None:
        """Return the best worker, ``None`` if the task had better wait since it fits nowhere.

        What is to be small is whether it spills, when it starts, how much it has to do and how
        much is there. Where a thread is free and all inputs are, the task starts at once, however
        long the other threads will take. Whoever would start later than the best one so far even
        with nothing else to do is not looked at further.
        """
        if there is None:
            there = resident(task.inputs)
        best, least = None, (True, math.inf, 0.0, 0)
        total, needs, soft = there.total, task.needs, self.soft
        here, around, promised = there.by_worker.get, there.by_host.get, self.ledger.promised.get
        rate = self.toll / self.bandwidth
        within = rate * self.same_host
        for worker in workers:
            starts = 0.0
            if total:
                near = around(worker.host, 0)
                starts = rate * (total - near) + within * (near - here(worker, 0))
                if starts > least[1] and not least[0]:
                    continue
            work = worker.occupancy / worker.nthreads
            if starts or len(worker.processing) >= worker.nthreads:
                starts += work
                if starts > least[1] and not least[0]:
                    continue
            limit, held = worker.memory_limit, promised(worker, 0)
            if needs and limit and held + needs > soft * limit:
                continue
            held += worker.nbytes
            cost = 0 < limit < held + needs, starts, work, held
            if best is None or cost < least:
                best, least = worker, cost
        return best


def colours(count: int, workers: int) -> list[int]:
    """Return a colour for each of ``count`` tasks without inputs, in the order of the graph.

    What is read together is used together, so neighbours get one colour, and as many colours are
    used as there are workers for them to be at home.
    """
    return [position * workers // count for position in range(count)]
