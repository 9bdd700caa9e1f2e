"""Paper hardware: workers with threads, memory and a link each, on hosts of several."""

from __future__ import annotations

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
    saturation: float = 1.1
    """Sources that a worker may have, for each thread: distributed's ``worker-saturation``."""

    def make(self) -> list[Worker]:
        """Return the workers."""
        return [
            Worker(number, f"host-{number // self.per_host}", self.nthreads, self.memory)
            for number in range(self.workers)
        ]


@dataclass(eq=False, slots=True)
class Worker:
    """One worker as a policy sees it, and what the simulation knows of it besides."""

    number: int
    host: str
    nthreads: int
    memory_limit: int
    nbytes: int = 0
    occupancy: float = 0.0
    processing: dict[int, float] = field(default_factory=dict)
    """The tasks it was given, and the seconds that each counts."""
    ready: list[int] = field(default_factory=list)
    """A heap of those whose inputs are here."""
    running: int = 0
    link_free: float = 0.0
    coming: dict[int, float] = field(default_factory=dict)
    """Inputs on their way, and when they arrive."""
    most: int = 0
    """The most bytes that it ever held."""

    def hold(self, nbytes: int) -> None:
        """Count bytes that come or go."""
        self.nbytes += nbytes
        self.most = max(self.most, self.nbytes)
