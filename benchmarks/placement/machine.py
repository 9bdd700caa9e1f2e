"""Simulated hardware: hosts of several workers with threads, memory, a link and a disk each."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

GIB = 2**30


@dataclass(frozen=True)
class Hardware:
    """The resources of each worker."""

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
    """One worker: the data for a policy, and those of the simulation."""

    number: int
    host: str
    nthreads: int
    memory_limit: int
    disk: float = 5e8
    nbytes: int = 0
    """Bytes of held results and inputs in transfer, in memory or on disk."""
    occupancy: float = 0.0
    processing: dict[int, float] = field(default_factory=dict)
    """The assigned tasks, and the expected seconds of each."""
    long_running: tuple[int, ...] = ()
    ready: list[int] = field(default_factory=list)
    """A heap of the tasks whose inputs are here."""
    running: int = 0
    link_free: float = 0.0
    coming: dict[int, float] = field(default_factory=dict)
    """Inputs in transfer, and their times of arrival."""
    wanted: dict[int, int] = field(default_factory=dict)
    """Inputs of the assigned tasks, and the number of tasks that need each."""
    inside: OrderedDict[int, int] = field(default_factory=OrderedDict)
    """Results in memory and their bytes, the least recently used first."""
    on_disk: set[int] = field(default_factory=set)
    disk_free: float = 0.0
    stored: int = 0
    """Bytes in memory."""
    most: int = 0
    """Maximum bytes in memory."""
    spilled: int = 0
    """Bytes written to its disk in total."""

    def hold(self, task: int, nbytes: int, now: float) -> None:
        """Store a result."""
        self.nbytes += nbytes
        self._bring(task, nbytes, now)

    def use(self, task: int, nbytes: int, now: float) -> float:
        """Use a result, and return the time when it is in memory."""
        if task not in self.on_disk:
            self.inside.move_to_end(task)
            return now
        self.on_disk.discard(task)
        self._bring(task, nbytes, now)
        self.disk_free = max(now, self.disk_free) + nbytes / self.disk
        return self.disk_free

    def want(self, tasks: tuple[int, ...]) -> None:
        """Record the inputs of an assigned task."""
        for one in tasks:
            self.wanted[one] = self.wanted.get(one, 0) + 1

    def leave(self, tasks: tuple[int, ...]) -> None:
        """Remove the inputs of a task that has ended or moved."""
        for one in tasks:
            left = self.wanted.pop(one) - 1
            if left:
                self.wanted[one] = left

    def release(self, task: int, nbytes: int) -> None:
        """Release a result."""
        self.nbytes -= nbytes
        if self.inside.pop(task, None) is None:
            self.on_disk.discard(task)
        else:
            self.stored -= nbytes
        self.coming.pop(task, None)

    def _bring(self, task: int, nbytes: int, now: float) -> None:
        """Load a result into memory; spill the least recently used ones without room."""
        self.inside[task] = nbytes
        self.stored += nbytes
        while self.stored > self.memory_limit and len(self.inside) > 1:
            oldest, size = self.inside.popitem(last=False)
            self.on_disk.add(oldest)
            self.stored -= size
            self.spilled += size
            self.disk_free = max(now, self.disk_free) + size / self.disk
        self.most = max(self.most, self.stored)
