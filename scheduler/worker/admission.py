"""The rule for starting tasks by memory, without IO.

Reserved bytes of running tasks, stored results and the rest of the process stay below the soft
limit. Stored results are spilled for the next task; if reserved bytes are in the way, the task
waits. A task that runs alone starts even beyond the soft limit, when no result is left to spill. If
results cannot be spilled, it is refused beyond the hard limit. The nanny would restart the process
there, and its results would be lost.

Processes of one host with a ledger may reserve memory that the others do not use, up to the soft
limit of the host. Beyond its hard limit no process reserves memory. A task that waits for other
processes is ahead of tasks of theirs that were tried later. Stored results stay within the
share of each process, so borrowed memory is free again when the task ends.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

from .memory_ledger import HARD, SOFT, LedgerView


class AdmissionDecision(Enum):
    """The decision about the next task."""

    START = "start"
    SPILL = "spill"
    """Results must be spilled first; decide again afterwards."""
    WAIT = "wait"
    """Decide again when a task ends or results are freed."""
    REFUSE = "refuse"
    """The task would exceed the memory of the process, and its results cannot be spilled."""


@dataclass
class Admission:
    """The reservations of one worker; ``limit`` is for tasks and results together."""

    limit: int
    margin: int = 0
    """Bytes between ``limit`` and the hard limit."""
    stuck: bool = False
    """Whether no result can be spilled at present."""
    full: bool = False
    """Whether the reason is a full disk."""
    held_back: int = 0
    """How often a task had to wait."""
    host: LedgerView | None = None
    baseline: int = 0
    """Other bytes of the process, reported to the host's ledger."""
    waits: bool = False
    """Whether the task that was tried last waits for other processes."""
    _promised: dict[Hashable, int] = field(default_factory=dict)

    @property
    def promised(self) -> int:
        """Reserved bytes of running tasks."""
        return sum(self._promised.values())

    def excess(self, needs: int, stored: int) -> int:
        """Return by how many bytes a task would exceed the limit."""
        return self.promised + stored + needs - self.limit

    def decide(self, needs: int, stored: int, pinned: int = 0) -> AdmissionDecision:
        """Decide about a task; of the bytes ``stored`` in memory, ``pinned`` are its inputs."""
        within = self.excess(needs, stored) <= 0
        if not needs or self._fits(needs, stored, HARD if within else SOFT):
            return AdmissionDecision.START
        refuse = self.full and stored > pinned and not self._below_hard_limit(needs, stored)
        if not within and stored > pinned and not self.stuck:
            decision = AdmissionDecision.SPILL
        elif self._promised or not self._alone(needs):
            decision = AdmissionDecision.WAIT
        elif refuse:
            decision = AdmissionDecision.REFUSE
            self._tell()  # the bytes that were reserved for it
        else:
            return AdmissionDecision.START
        self.held_back += 1
        return decision

    def _below_hard_limit(self, needs: int, stored: int) -> bool:
        """Return whether a task that runs alone stays below the hard limit."""
        if self.host is not None:
            return self.host.within(HARD, needs)
        return self.excess(needs, stored) <= self.margin

    def _fits(self, needs: int, stored: int, share: float) -> bool:
        if self.host is None:
            return self.excess(needs, stored) <= 0
        self.host.tell(floor=self.baseline + stored, promised=self.promised)
        return self.host.promise(needs, share)

    def _alone(self, needs: int) -> bool:
        """Reserve bytes if no task runs on the host and none waits longer; otherwise wait."""
        if self.host is None:
            return True
        alone = self.host.promise_alone(needs)
        self.waits = not alone
        return alone

    def start(self, task: Hashable, needs: int) -> None:
        """Reserve the bytes that a task needs."""
        if needs:
            self._promised[task] = needs
            self._tell()

    def end(self, task: Hashable) -> None:
        """Free the bytes of a task."""
        if self._promised.pop(task, None) is not None:
            self._tell()

    def _tell(self) -> None:
        if self.host is not None:
            self.host.tell(promised=self.promised, waits=0)
