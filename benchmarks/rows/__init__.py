"""The type of workloads, and their sizes for each `--scale`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any


@dataclass(frozen=True)
class Size:
    """Shrink a workload to `scale` of its elements while keeping its number of chunks."""

    scale: float = 1.0

    def tall(self, n: int) -> int:
        """Scale a length whose other axes stay."""
        return max(2, round(n * self.scale))

    def side(self, n: int) -> int:
        """Scale one side of a square."""
        return max(2, round(n * sqrt(self.scale)))


@dataclass(frozen=True)
class Workload:
    """One workload: `setup(system)` holds the data, `run(system, *data)` is what is timed.

    `held` results stay with the system (execute, persist), the others come back to the caller.
    `signless` results are equal up to sign, `loose` maps a system to the rtol of its
    approximate answer, `unordered` frames are compared without their order.
    """

    name: str
    setup: Callable[..., tuple[Any, ...]]
    run: Callable[..., tuple[Any, ...]]
    held: bool = False
    rtol: float = 1e-6
    atol: float = 1e-9
    signless: bool = False
    unordered: bool = False
    loose: dict[str, float] = field(default_factory=dict)

    def tolerance(self, system: str) -> float:
        """Return the relative tolerance of this system's answer."""
        return self.loose.get(system, self.rtol)
