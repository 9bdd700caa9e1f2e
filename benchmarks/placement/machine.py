"""Paper hardware: workers with threads, memory, a link and a disk each, on hosts of several."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

GIB = 2**30


@dataclass(frozen=True)
class Hardware:
    """What all workers have in common."""

    workers: int = 1000
    per_host: int = 4
    nthreads: int = 2
    memory: int = 8 * GIB
    bandwidth: float = 1e9
    """Bytes a second that a worker takes from other hosts."""
    local_bandwidth: float = 2e10
    """Bytes a second from its own host."""
    disk: float = 5e8
    """Bytes a second that a worker writes to its disk or reads from there."""
    saturation: float = 1.1
    """Sources that a worker may have, for each thread: distributed's ``worker-saturation``."""

    def make(self) -> list[SimulatedWorker]:
        """Return the workers."""
        return [
            SimulatedWorker(
                number, f"host-{number // self.per_host}", self.nthreads, self.memory, self.disk
            )
            for number in range(self.workers)
        ]


@dataclass(eq=False, slots=True)
class SimulatedWorker:
    """One worker as a policy sees it, and what the simulation knows of it besides."""

    number: int
    host: str
    nthreads: int
    memory_limit: int
    disk: float = 5e8
    nbytes: int = 0
    """Bytes of what is here or on its way, in memory or on the disk."""
    occupancy: float = 0.0
    processing: dict[int, float] = field(default_factory=dict)
    """The tasks it was given, and the seconds that each counts."""
    long_running: tuple[int, ...] = ()
    ready: list[int] = field(default_factory=list)
    """A heap of those whose inputs are here."""
    running: int = 0
    link_free: float = 0.0
    coming: dict[int, float] = field(default_factory=dict)
    """Inputs on their way, and when they arrive."""
    wanted: dict[int, int] = field(default_factory=dict)
    """Inputs of the tasks that it was given, and of how many of them."""
    inside: OrderedDict[int, int] = field(default_factory=OrderedDict)
    """What is in memory, the longest unused first, and its bytes."""
    on_disk: set[int] = field(default_factory=set)
    disk_free: float = 0.0
    stored: int = 0
    """Bytes in memory."""
    most: int = 0
    """The most bytes that it ever had in memory."""
    spilled: int = 0
    """All bytes that it wrote to its disk."""

    def hold(self, task: int, nbytes: int, now: float) -> None:
        """Take in a result."""
        self.nbytes += nbytes
        self._bring(task, nbytes, now)

    def use(self, task: int, nbytes: int, now: float) -> float:
        """Use a result again, and return when it is in memory."""
        if task not in self.on_disk:
            self.inside.move_to_end(task)
            return now
        self.on_disk.discard(task)
        self._bring(task, nbytes, now)
        self.disk_free = max(now, self.disk_free) + nbytes / self.disk
        return self.disk_free

    def want(self, tasks: tuple[int, ...]) -> None:
        """Note that a task was given to it which has these inputs."""
        for one in tasks:
            self.wanted[one] = self.wanted.get(one, 0) + 1

    def leave(self, tasks: tuple[int, ...]) -> None:
        """Note that such a task has ended, or is another's."""
        for one in tasks:
            left = self.wanted.pop(one) - 1
            if left:
                self.wanted[one] = left

    def release(self, task: int, nbytes: int) -> None:
        """Let go of a result."""
        self.nbytes -= nbytes
        if self.inside.pop(task, None) is None:
            self.on_disk.discard(task)
        else:
            self.stored -= nbytes
        self.coming.pop(task, None)

    def _bring(self, task: int, nbytes: int, now: float) -> None:
        """Take into memory, out of which goes what was unused for longest if there is no room."""
        self.inside[task] = nbytes
        self.stored += nbytes
        while self.stored > self.memory_limit and len(self.inside) > 1:
            oldest, size = self.inside.popitem(last=False)
            self.on_disk.add(oldest)
            self.stored -= size
            self.spilled += size
            self.disk_free = max(now, self.disk_free) + size / self.disk
        self.most = max(self.most, self.stored)
