"""Whether a task may start: the rule, free of any worker.

Bytes promised to running tasks, stored results and what the process takes besides stay below the
soft limit. What is stored can leave for the disk, and does so for the first task in line; what is
promised cannot, so the task waits. A task starts whatever it needs when nothing else runs and there
is nothing left to move: somebody has to. Where there is, and no disk takes it, that ends at the
hard limit, beyond which the process would be ended with all that it holds.

Processes of one host that keep a ledger together may promise what their neighbours leave, up to the
soft limit of the host; beyond its hard limit none promises anything, also of its own share. What is
stored stays in each one's share, so what was borrowed is back with the end of the task.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

from .memory_ledger import HARD, SOFT, LedgerView


class AdmissionDecision(Enum):
    """What becomes of the first task in line."""

    START = "start"
    SPILL = "spill"
    """Results have to leave memory first; ask again when they have."""
    WAIT = "wait"
    """Ask again when a task ends or results are freed."""
    REFUSE = "refuse"
    """It would take the process, and with it the results that cannot leave, beyond its memory."""


@dataclass
class Admission:
    """The promises of one worker; ``limit`` is what tasks and results may take together."""

    limit: int
    margin: int = 0
    """Bytes between that and the hard limit."""
    stuck: bool = False
    """Whether nothing can be moved to disk for now."""
    full: bool = False
    """Whether that is because there is no room on it."""
    held_back: int = 0
    """How often a task had to wait."""
    host: LedgerView | None = None
    baseline: int = 0
    """Bytes that the process takes besides, told to the host's ledger."""
    _promised: dict[Hashable, int] = field(default_factory=dict)

    @property
    def promised(self) -> int:
        """Bytes that running tasks may take."""
        return sum(self._promised.values())

    def excess(self, needs: int, stored: int) -> int:
        """Return how many bytes too many there would be if a task started now."""
        return self.promised + stored + needs - self.limit

    def decide(self, needs: int, stored: int, pinned: int = 0) -> AdmissionDecision:
        """Judge a task; of the bytes ``stored`` in memory, ``pinned`` are its own inputs."""
        within = self.excess(needs, stored) <= 0
        if not needs or self._fits(needs, stored, HARD if within else SOFT):
            return AdmissionDecision.START
        if not within and stored > pinned and not self.stuck:
            decision = AdmissionDecision.SPILL
        elif self._promised or not self._alone():
            decision = AdmissionDecision.WAIT
        elif self.full and stored > pinned and not self._bearable(needs, stored):
            decision = AdmissionDecision.REFUSE
        else:
            return AdmissionDecision.START
        self.held_back += 1
        return decision

    def _bearable(self, needs: int, stored: int) -> bool:
        """Whether the process outlives a task that runs alone besides what is stored."""
        if self.host is not None:
            return self.host.promise(needs, HARD)
        return self.excess(needs, stored) <= self.margin

    def _fits(self, needs: int, stored: int, share: float) -> bool:
        if self.host is None:
            return self.excess(needs, stored) <= 0
        self.host.tell(floor=self.baseline + stored, promised=self.promised, waits=0)
        if self.host.others("waits"):
            return False
        return self.host.promise(needs, share)

    def _alone(self) -> bool:
        """Whether nothing runs on the host; if something does, others are to let it be the last."""
        if self.host is None:
            return True
        alone = not self.host.others("promised")
        self.host.tell(waits=not alone)
        return alone

    def start(self, task: Hashable, needs: int) -> None:
        """Promise a task what it needs."""
        if needs:
            self._promised[task] = needs
            self._tell()

    def end(self, task: Hashable) -> None:
        """Take the promise back."""
        if self._promised.pop(task, None) is not None:
            self._tell()

    def _tell(self) -> None:
        if self.host is not None:
            self.host.tell(promised=self.promised, waits=0)
