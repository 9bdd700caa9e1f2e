"""Whether a task may start: the rule, free of any worker.

Bytes promised to running tasks, stored results and what the process takes besides stay below the
soft limit. What is stored can leave for the disk, and does so for the first task in line; what is
promised cannot, so the task waits. A task starts whatever it needs when nothing else runs and there
is nothing left to move: somebody has to.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum


class Verdict(Enum):
    """What becomes of the first task in line."""

    START = "start"
    SPILL = "spill"
    """Results have to leave memory first; ask again when they have."""
    WAIT = "wait"
    """Ask again when a task ends or results are freed."""


@dataclass
class Admission:
    """The promises of one worker; ``limit`` is what tasks and results may take together."""

    limit: int
    stuck: bool = False
    """Whether nothing can be moved to disk for now."""
    held_back: int = 0
    """How often a task had to wait."""
    _promised: dict[Hashable, int] = field(default_factory=dict)

    @property
    def promised(self) -> int:
        """Bytes that running tasks may take."""
        return sum(self._promised.values())

    def excess(self, needs: int, stored: int) -> int:
        """Return how many bytes too many there would be if a task started now."""
        return self.promised + stored + needs - self.limit

    def judge(self, needs: int, stored: int, pinned: int = 0) -> Verdict:
        """Judge a task; of the bytes ``stored`` in memory, ``pinned`` are its own inputs."""
        if not needs or self.excess(needs, stored) <= 0:
            return Verdict.START
        if stored > pinned and not self.stuck:
            verdict = Verdict.SPILL
        elif not self._promised:
            return Verdict.START
        else:
            verdict = Verdict.WAIT
        self.held_back += 1
        return verdict

    def start(self, task: Hashable, needs: int) -> None:
        """Promise a task what it needs."""
        if needs:
            self._promised[task] = needs

    def end(self, task: Hashable) -> None:
        """Take the promise back."""
        self._promised.pop(task, None)
