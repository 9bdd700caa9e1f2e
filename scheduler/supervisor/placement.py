"""The placement policy: it chooses a worker for a task, without IO.

The criteria in their order: the task fits, it starts soonest, the worker holds the fewest bytes.
The start depends on queued work, on transfers of inputs, and on spilling.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

#: Share of a worker's memory that may be reserved for running tasks.
SOFT = 0.75

#: Cost of reading an input in shared memory, relative to a transfer between hosts.
SHARED = 0.05

#: Cost of spilling a byte and reading it back, relative to a transfer between hosts.
SPILLED = 2.0

#: Weight of a second of transfer, which also slows other tasks at both ends.
TOLL = 4.0

#: Cost of requesting inputs, in seconds; short tasks therefore stay near their inputs.
ASKING = 0.01

#: Maximum number of idle workers without inputs that are compared for one task.
STRANGERS = 8

#: A task moves away from its input if the holder's tasks for each thread are this many times those
#: of another worker.
QUEUE = 2

#: Tasks for each thread up to which tasks stay near their inputs while sources wait for threads.
#: Idle workers run these sources, which need no transfer.
CROWD = 16

#: A worker with this share of a task's inputs counts as a holder of all.
NEARLY = 0.9

#: Maximum number of domains with most inputs whose workers are compared.
DOMAINS = 4

#: Short tasks are sent in batches: at most this many for each thread of a worker, ...
BATCH = 32
#: ... with at most this many expected seconds for each thread.
SOON = 0.01


class WorkerView(Protocol):
    """The data of a worker that the policy uses; distributed's WorkerState has them."""

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
    @property
    def long_running(self) -> Collection[Any]: ...


T = TypeVar("T")
W = TypeVar("W", bound=WorkerView)

#: Returns the domain of a worker: those that read each other's results in shared memory.
Domain: TypeAlias = Callable[[Any], Hashable]
by_host: Final[Domain] = operator.attrgetter("host")

#: One input: its bytes, and its holders. It is a plain tuple because a merge has a thousand.
Input: TypeAlias = tuple[int, Collection[W]]


@dataclass(slots=True)
class TaskView(Generic[W]):
    """One task: its inputs, and the bytes that it needs besides them (0 if unknown)."""

    needs: int
    inputs: tuple[Input[W], ...] = ()


@dataclass(slots=True)
class InputBytes(Generic[W]):
    """Bytes of a task's inputs: in total, by worker and by domain."""

    total: int
    by_worker: Mapping[W, int]
    by_domain: Mapping[Hashable, int]


def resident(inputs: Iterable[Input[W]], domain: Domain = by_host) -> InputBytes[W]:
    """Return the bytes of inputs by worker and domain, for all comparisons of one task.

    Domains are in the order of the inputs, so the result does not depend on their hashes.
    """
    total = 0
    by_worker: dict[W, int] = {}
    by_domain: dict[Hashable, int] = {}
    here, around = by_worker.get, by_domain.get
    for nbytes, holders in inputs:
        total += nbytes
        if len(holders) == 1:
            (holder,) = holders
            by_worker[holder] = here(holder, 0) + nbytes
            place = domain(holder)
            by_domain[place] = around(place, 0) + nbytes
            continue
        if by_worker:
            for holder in holders:
                by_worker[holder] = here(holder, 0) + nbytes
        else:
            by_worker.update(dict.fromkeys(holders, nbytes))
        for place in dict.fromkeys(map(domain, holders)):
            by_domain[place] = around(place, 0) + nbytes
    return InputBytes(total, by_worker, by_domain)


def share(worker: WorkerView) -> float:
    """Return the memory limit of a worker, infinity without one."""
    return worker.memory_limit or math.inf


def queued(worker: WorkerView) -> float:
    """Return the number of tasks for each thread of a worker."""
    return (len(worker.processing) - len(worker.long_running)) / worker.nthreads


def beyond(worker: WorkerView) -> int:
    """Return the number of a worker's tasks beyond its threads."""
    return len(worker.processing) - len(worker.long_running) - worker.nthreads


def ends_soon(worker: WorkerView) -> bool:
    """Return whether a worker of ours will finish its tasks before the next message arrives.

    Its nanny records the running tasks. If it dies, the other tasks of a batch are not suspected.
    """
    room = len(worker.processing) < BATCH * worker.nthreads
    return room and worker.occupancy < SOON * worker.nthreads


def no_inputs(worker: WorkerView) -> int:
    """Return 0 for any worker."""
    return 0


class RoundRobin:
    """Returns a few items of a list at a time, in turn."""

    def __init__(self) -> None:
        self._turn = 0

    def take(self, items: list[T], count: int) -> list[T]:
        """Return the next ``count`` items, or all of a short list."""
        if len(items) <= count:
            return items
        self._turn += count
        first = self._turn % len(items)
        return (items[first:] + items[:first])[:count]


class Reservations:
    """Bytes reserved for unfinished tasks on each worker."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, tuple[Any, int]] = {}
        self.promised: dict[Any, int] = {}
        """The reserved bytes of each worker that has any."""

    def promise(self, task: Hashable, worker: WorkerView, nbytes: int) -> None:
        """Reserve bytes for ``task`` on ``worker``, instead of its earlier worker."""
        self.settle(task)
        if nbytes:
            self._tasks[task] = worker, nbytes
            self.promised[worker] = self.promised.get(worker, 0) + nbytes

    def settle(self, task: Hashable) -> None:
        """Free the bytes of a task that ended or moved; without effect if it has none."""
        reservation = self._tasks.pop(task, None)
        if reservation is not None:
            worker, nbytes = reservation
            remainder = self.promised[worker] - nbytes
            if remainder:
                self.promised[worker] = remainder
            else:
                del self.promised[worker]

    def on(self, worker: WorkerView) -> int:
        """Return the reserved bytes of a worker."""
        return self.promised.get(worker, 0)

    def __len__(self) -> int:
        return len(self._tasks)


@dataclass
class Policy:
    """Places tasks by memory first, then by the soonest start."""

    bandwidth: float = 100e6
    """Bytes a second between hosts."""
    shared: float = SHARED
    toll: float = TOLL
    spilled: float = SPILLED
    soft: float = SOFT
    coming: Callable[[Any], int] = no_inputs
    """Returns the bytes of inputs in transfer to a worker."""
    domain: Domain = by_host
    """Returns who shares memory: by default the workers of a host."""
    ledger: Reservations = field(default_factory=Reservations)
    _domains: RoundRobin = field(default_factory=RoundRobin)
    _others: RoundRobin = field(default_factory=RoundRobin)

    def fits(self, task: TaskView[W], worker: W) -> bool:
        """Return whether a worker has enough unreserved memory for a task."""
        if not task.needs or not worker.memory_limit:
            return True
        return self.ledger.on(worker) + task.needs <= self.soft * worker.memory_limit

    def alone(self, task: TaskView[W], workers: Collection[W]) -> W | None:
        """Return the worker for a task that exceeds the share of every worker.

        It is the largest worker, once that has no other running task. Long-running tasks do not
        count, because they may wait for this one.
        """
        largest = max(workers, key=share, default=None)
        if largest is None or len(largest.processing) > len(largest.long_running):
            return None
        return largest if task.needs > self.soft * share(largest) else None

    def moved(self, task: TaskView[W], worker: W, there: InputBytes[W] | None = None) -> float:
        """Return the bytes to transfer to a worker; those in its shared memory count little.

        ``there`` is the result of :func:`resident`, if known.
        """
        if there is None:
            there = resident(task.inputs, self.domain)
        near = there.by_domain.get(self.domain(worker), 0)
        here = there.by_worker.get(worker, 0)
        return there.total - near + self.shared * (near - here)

    def transfer(self, task: TaskView[W], worker: W, there: InputBytes[W] | None = None) -> float:
        """Return the cost of transferring the inputs to a worker, in seconds."""
        return self.toll * self.moved(task, worker, there) / self.bandwidth

    def _full(self, task: TaskView[W], worker: W, there: InputBytes[W]) -> bool:
        """Return whether a task does not fit on a worker, or only after spilling."""
        occupied = worker.nbytes + self.coming(worker) + self.ledger.on(worker)
        occupied += there.total - there.by_worker.get(worker, 0)
        return 0 < worker.memory_limit < occupied + task.needs or not self.fits(task, worker)

    def place(
        self,
        task: TaskView[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[Any], Iterable[W]],
        stay: float = 1,
    ) -> W | None:
        """Return the best worker for a task with inputs, ``None`` if it should wait."""
        there = resident(task.inputs, self.domain)
        return self.choose(task, self.candidates(task, there, everyone, idle, near, stay), there)

    def candidates(
        self,
        task: TaskView[W],
        there: InputBytes[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[Any], Iterable[W]],
        stay: float = 1,
    ) -> Collection[W]:
        """Return the workers to compare: the holders, and others of the domains with most inputs.

        A task stays with a holder that has fewer than ``stay`` tasks for each thread. By default
        this means a holder of nearly all inputs with a free thread. ``near`` returns the workers of
        a domain, the idle ones first.

        Other workers of these domains are candidates if they have far fewer tasks. If no holder has
        nearly all inputs, the task needs a transfer anyway, so they are always candidates.

        Workers of other domains are candidates only if all others would have to spill: first idle
        workers, then a sample of all. Work stealing corrects an unequal load.
        """
        holders = [holder for holder in there.by_worker if holder in everyone]
        less = math.inf
        complete = [worker for worker in holders if there.by_worker[worker] >= NEARLY * there.total]
        most = max(there.by_domain.values(), default=0)
        domains = [worker for worker, nbytes in there.by_domain.items() if nbytes == most]
        beside = complete
        if stay > 1 and not complete:
            beside = [worker for worker in holders if self.domain(worker) in domains]
        for worker in beside:
            if queued(worker) < stay and not self._full(task, worker, there):
                return beside
        if complete:
            less = max(1.0, min(map(queued, complete)) / QUEUE)
            holders = complete
        # The best candidates come first, so that the others are rejected early.
        options: dict[W, None] = {}
        for place in self._domains.take(domains, DOMAINS):
            for worker in itertools.islice(near(place), STRANGERS):
                if queued(worker) < less:
                    options[worker] = None
        options.update(dict.fromkeys(holders))
        if any(not self._full(task, worker, there) for worker in options):
            return options
        options.update(dict.fromkeys(itertools.islice(idle, STRANGERS)))
        if all(self._full(task, worker, there) for worker in options):
            options.update(dict.fromkeys(self._others.take(list(everyone), STRANGERS)))
        return options if any(self.fits(task, worker) for worker in options) else everyone

    def choose(
        self, task: TaskView[W], workers: Iterable[W], there: InputBytes[W] | None = None
    ) -> W | None:
        """Return the best worker, ``None`` if the task fits nowhere and should wait.

        The best worker has the soonest start, then the least work, then the fewest bytes. Spilling
        counts as waiting. A task starts at once on a worker with a free thread and all inputs,
        however long the other threads take. A worker is skipped when its transfer alone takes
        longer than the best start so far.
        """
        if there is None:
            there = resident(task.inputs, self.domain)
        best, soonest, least = None, math.inf, (0.0, 0)
        total, needs, soft, coming = there.total, task.needs, self.soft, self.coming
        here, around, promised = there.by_worker.get, there.by_domain.get, self.ledger.promised.get
        rate = self.toll / self.bandwidth
        within, out = rate * self.shared, rate * self.spilled
        for worker in workers:
            starts, transfer_bytes = 0.0, 0
            if total:
                near, own = around(self.domain(worker), 0), here(worker, 0)
                transfer_bytes = total - own
                starts = rate * (total - near) + within * (near - own)
                if transfer_bytes:
                    starts += ASKING
                if starts > soonest:
                    continue
            work = worker.occupancy / worker.nthreads
            if starts or len(worker.processing) - len(worker.long_running) >= worker.nthreads:
                starts += work
                if starts > soonest:
                    continue
            limit, occupied = worker.memory_limit, promised(worker, 0)
            if needs and limit and occupied + needs > soft * limit:
                continue
            occupied += worker.nbytes + coming(worker) + transfer_bytes
            if 0 < limit < occupied + needs:
                starts += out * min(occupied + needs - limit, needs + transfer_bytes)
            if best is None or starts < soonest or (starts == soonest and (work, occupied) < least):
                best, soonest, least = worker, starts, (work, occupied)
        return best
