"""The machine that a graph is compiled for, as far as it is known."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, replace

from marsdask.scheduler.base import KnowsMachine, Machine, Scheduler


@dataclass(frozen=True)
class Plan:
    """Assumptions about the machine that will run the graph."""

    workers: int = 1
    budget: int | None = None
    coalesce: bool = True
    shared_memory: bool = True
    one_process: bool = False
    """Whether all tasks run in one process, side by side."""
    largest: int | None = None
    """Bytes that one task may take, where that differs from the budget of all."""
    batch: int | None = None
    """Tasks of a stage that are made at a time."""
    spill: int | None = None
    """Bytes of results that may go to disk, if that is known."""
    smallest: int | None = None
    """Bytes that tasks may use in the process with the least memory, if there are several."""
    slots: int = 1
    """Threads of the process that has the fewest."""
    folders: tuple[str, ...] | None = None
    """Where tasks may write if all of them run in this process; nowhere if it is empty."""
    client: int | None = None
    """Bytes of memory where all results are to be brought together, if they are."""
    lasting: bool = False
    """Whether results stay, whose chunks users see then."""
    fineness: int = 1
    """How many times as many blocks as usual are to fit into memory."""

    @classmethod
    def of(cls, scheduler: Scheduler, *, coalesce: bool) -> Plan:
        """Return the known properties of the machine of a scheduler."""
        shared_memory = scheduler.capabilities.shared_memory
        plan = cls(coalesce=coalesce, shared_memory=shared_memory, one_process=shared_memory)
        return plan.on(scheduler.machine()) if isinstance(scheduler, KnowsMachine) else plan

    def on(self, machine: Machine) -> Plan:
        """Return the plan for another machine."""
        return replace(
            self,
            workers=machine.threads,
            budget=machine.memory,
            largest=machine.largest,
            batch=machine.batch,
            spill=machine.spill,
            smallest=machine.smallest,
            slots=machine.slots,
            folders=machine.folders,
            shared_memory=self.shared_memory or machine.shared_memory,
        )

    @property
    def task_limit(self) -> int | None:
        """The bytes above which a task raises an error."""
        return self.budget if self.largest is None else self.largest

    def block_limit(self, limit: int) -> int:
        """Return the bytes of a block: ``limit``, or less, so that each worker can hold several."""
        share = self.share(16)
        return limit if share is None else min(limit, share)

    def share(self, blocks: int) -> int | None:
        """Return the bytes of a block if each worker holds ``blocks``; limited memory only."""
        if self.budget is None:
            return None
        return self.budget // (blocks * max(1, self.workers) * self.fineness)


#: The plan of the current tiling.
current_plan: ContextVar[Plan] = ContextVar("current_plan", default=Plan())  # noqa: B039 - frozen
