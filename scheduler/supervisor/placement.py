"""Where a task runs: one policy, free of any server, and the ledger that it reads.

The order of what counts: a worker where the task fits, the soonest start (work before it, the way
of its inputs over the network, what has to be spilled for it), the fewest bytes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

#: Share of a worker's memory that running tasks may be promised.
SOFT = 0.75

#: What a byte costs that stays on its host, of one that crosses the network.
SAME_HOST = 0.05


#: What a byte costs that is written to a disk for a task, and read again some time.
SPILLED = 2.0

#: What a second of transfer counts: links and memory at both ends serve others too.
TOLL = 4.0

#: What it counts to ask for inputs, in seconds; so short tasks wait beside theirs.
ASKING = 0.01

#: Of the workers that hold no input of a task, how many that have little to do are looked at.
STRANGERS = 8

#: How many times the tasks for each thread of another a worker has to have for a task to leave its
#: input there and wait for the other.
QUEUE = 2

#: While sources wait for threads, who holds inputs is not left with fewer tasks for each thread:
#: whoever is idle has a source to do, for which nothing moves.
CROWD = 16

#: Who holds this part of a task's inputs is as good as one that holds them all.
NEARLY = 0.9

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
    @property
    def long_running(self) -> Collection[Any]: ...


T = TypeVar("T")
W = TypeVar("W", bound=WorkerView)


#: One input: its bytes, and the workers that hold it; a plain tuple, since a merge has a thousand.
Input: TypeAlias = tuple[int, Collection[W]]


@dataclass(slots=True)
class TaskView(Generic[W]):
    """One task: the bytes that it needs besides its inputs, 0 if unknown, and the inputs."""

    needs: int
    inputs: tuple[Input[W], ...] = ()


@dataclass(slots=True)
class InputBytes(Generic[W]):
    """Bytes of a task's inputs: all of them, and how many lie where."""

    total: int
    by_worker: Mapping[W, int]
    by_host: Mapping[str, int]


def resident(inputs: Iterable[Input[W]]) -> InputBytes[W]:
    """Return where inputs lie: once for all workers, of which a shuffle has thousands to try.

    Hosts come in the order in which they are met, whatever their names hash to.
    """
    total = 0
    by_worker: dict[W, int] = {}
    by_host: dict[str, int] = {}
    here, around = by_worker.get, by_host.get
    for nbytes, holders in inputs:
        total += nbytes
        if len(holders) == 1:
            (holder,) = holders
            by_worker[holder] = here(holder, 0) + nbytes
            by_host[holder.host] = around(holder.host, 0) + nbytes
            continue
        if by_worker:
            for holder in holders:
                by_worker[holder] = here(holder, 0) + nbytes
        else:
            by_worker.update(dict.fromkeys(holders, nbytes))
        for host in dict.fromkeys([holder.host for holder in holders]):
            by_host[host] = around(host, 0) + nbytes
    return InputBytes(total, by_worker, by_host)


def share(worker: WorkerView) -> float:
    """Return the memory of a worker, which has no end if none is stated."""
    return worker.memory_limit or math.inf


def queued(worker: WorkerView) -> float:
    """Return how many tasks a worker has for each thread."""
    return (len(worker.processing) - len(worker.long_running)) / worker.nthreads


def no_inputs(worker: WorkerView) -> int:
    """Return 0 for any worker."""
    return 0


class RoundRobin:
    """Of long lists a few at a time, others each time."""

    def __init__(self) -> None:
        self._turn = 0

    def some(self, those: list[T], count: int) -> list[T]:
        """Return all of a short list, or the next few."""
        if len(those) <= count:
            return those
        self._turn += count
        first = self._turn % len(those)
        return (those[first:] + those[:first])[:count]


class Reservations:
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
    spilled: float = SPILLED
    soft: float = SOFT
    coming: Callable[[Any], int] = no_inputs
    """The bytes of inputs on their way to a worker, which it does not hold yet."""
    ledger: Reservations = field(default_factory=Reservations)
    _hosts: RoundRobin = field(default_factory=RoundRobin)
    _others: RoundRobin = field(default_factory=RoundRobin)

    def fits(self, task: TaskView[W], worker: W) -> bool:
        """Say whether a worker can be promised what the task needs."""
        if not task.needs or not worker.memory_limit:
            return True
        return self.ledger.on(worker) + task.needs <= self.soft * worker.memory_limit

    def alone(self, task: TaskView[W], workers: Collection[W]) -> W | None:
        """Return where a task runs that is larger than the share of any worker.

        That is the largest one, once it has nothing else to do: what only waits for other tasks
        may wait for this one.
        """
        largest = max(workers, key=share, default=None)
        if largest is None or len(largest.processing) > len(largest.long_running):
            return None
        return largest if task.needs > self.soft * share(largest) else None

    def moved(self, task: TaskView[W], worker: W, there: InputBytes[W] | None = None) -> float:
        """Return the bytes to bring to a worker; those of its own host count little.

        ``there`` is what is :func:`resident` of the inputs, for whoever asks for many workers.
        """
        if there is None:
            there = resident(task.inputs)
        near = there.by_host.get(worker.host, 0)
        here = there.by_worker.get(worker, 0)
        return there.total - near + self.same_host * (near - here)

    def transfer(self, task: TaskView[W], worker: W, there: InputBytes[W] | None = None) -> float:
        """Return what it counts to bring the inputs to a worker, in seconds of waiting."""
        return self.toll * self.moved(task, worker, there) / self.bandwidth

    def _full(self, task: TaskView[W], worker: W, there: InputBytes[W]) -> bool:
        """Say whether a worker would have to spill for a task, or has no room for it."""
        held = worker.nbytes + self.coming(worker) + self.ledger.on(worker)
        held += there.total - there.by_worker.get(worker, 0)
        return 0 < worker.memory_limit < held + task.needs or not self.fits(task, worker)

    def place(
        self,
        task: TaskView[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[str], Iterable[W]],
        stay: float = 1,
    ) -> W | None:
        """Return where a task with inputs had best run, ``None`` if it had better wait."""
        there = resident(task.inputs)
        return self.choose(task, self.candidates(task, there, everyone, idle, near, stay), there)

    def candidates(
        self,
        task: TaskView[W],
        there: InputBytes[W],
        everyone: Collection[W],
        idle: Iterable[W],
        near: Callable[[str], Iterable[W]],
        stay: float = 1,
    ) -> Collection[W]:
        """Return the workers to choose from: holders, and others of the hosts that hold the most.

        A task stays beside its inputs where a holder has fewer than ``stay`` tasks for each thread;
        by default that is who can start it, and only holders of all inputs count.

        ``near`` tells of a host who is there, the idle first. A task that can start beside all of
        its inputs, or nearly all, stays there, or goes to who is idle or has far less to do: what a
        chain goes on with is the next to run. Any other has to fetch some wherever it runs: from
        another host if only holders are looked at, of which one has less to do.

        Another host could start the one task sooner, while the link is taken from others; where
        holders have far too much to do, work stealing finds out. So others come in only where the
        holders would have to spill, or have no room: first who is idle, then some of all.
        """
        holders = [holder for holder in there.by_worker if holder in everyone]
        less = math.inf
        complete = [one for one in holders if there.by_worker[one] >= NEARLY * there.total]
        most = max(there.by_host.values(), default=0)
        hosts = [host for host, nbytes in there.by_host.items() if nbytes == most]
        beside = complete
        if stay > 1 and not complete:
            beside = [one for one in holders if one.host in hosts]
        for one in beside:
            if queued(one) < stay and not self._full(task, one, there):
                return beside
        if complete:
            less = max(1.0, min(map(queued, complete)) / QUEUE)
            holders = complete
        # The likeliest come first, so that most others are not looked at for long.
        found: dict[W, None] = {}
        for host in self._hosts.some(hosts, HOSTS):
            for one in itertools.islice(near(host), STRANGERS):
                if queued(one) < less:
                    found[one] = None
        found.update(dict.fromkeys(holders))
        if any(not self._full(task, one, there) for one in found):
            return found
        found.update(dict.fromkeys(itertools.islice(idle, STRANGERS)))
        if all(self._full(task, one, there) for one in found):
            found.update(dict.fromkeys(self._others.some(list(everyone), STRANGERS)))
        return found if any(self.fits(task, one) for one in found) else everyone

    def choose(
        self, task: TaskView[W], workers: Iterable[W], there: InputBytes[W] | None = None
    ) -> W | None:
        """Return the best worker, ``None`` if the task had better wait since it fits nowhere.

        What is to be small is when it starts, among equals how much there is to do and how much is
        there. What would have to be spilled counts as if it were waited for. Where a thread is free
        and all inputs are, the task starts at once, however long the other threads will take.
        Whoever would start later than the best one so far even with nothing else to do is not
        looked at further.
        """
        if there is None:
            there = resident(task.inputs)
        best, soonest, least = None, math.inf, (0.0, 0)
        total, needs, soft, coming = there.total, task.needs, self.soft, self.coming
        here, around, promised = there.by_worker.get, there.by_host.get, self.ledger.promised.get
        rate = self.toll / self.bandwidth
        within, out = rate * self.same_host, rate * self.spilled
        for worker in workers:
            starts, missing = 0.0, 0
            if total:
                near, own = around(worker.host, 0), here(worker, 0)
                missing = total - own
                starts = rate * (total - near) + within * (near - own)
                if missing:
                    starts += ASKING
                if starts > soonest:
                    continue
            work = worker.occupancy / worker.nthreads
            if starts or len(worker.processing) - len(worker.long_running) >= worker.nthreads:
                starts += work
                if starts > soonest:
                    continue
            limit, held = worker.memory_limit, promised(worker, 0)
            if needs and limit and held + needs > soft * limit:
                continue
            held += worker.nbytes + coming(worker) + missing
            if 0 < limit < held + needs:
                starts += out * min(held + needs - limit, needs + missing)
            if best is None or starts < soonest or (starts == soonest and (work, held) < least):
                best, soonest, least = worker, starts, (work, held)
        return best


#: Tasks without inputs have a colour if no more read them: those of a block and of eight around it.
READERS = 9


def affinities(count: int, workers: int) -> list[int]:
    """Return a colour for each of ``count`` tasks without inputs, in the order of the graph.

    What is read together is used together, so neighbours get one colour, and as many colours are
    used as there are workers for them to be at home.
    """
    return [position * workers // count for position in range(count)]
