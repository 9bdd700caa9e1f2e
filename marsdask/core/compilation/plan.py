"""The machine that a graph is compiled for, as passes, tilings and the lowering may know it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, replace

from marsdask.scheduler.base import KnowsMachine, Machine, Scheduler


@dataclass(frozen=True)
class Plan:
    """What may be assumed of the machine that will run the graph."""

    workers: int = 1
    budget: int | None = None
    coalesce: bool = True
    shared_memory: bool = True
    largest: int | None = None
    """Bytes that one task may take, where that differs from the budget of all."""
    window: int | None = None
    """Tasks of a stage that are made at a time."""
    spill: int | None = None
    """Bytes of results that may go to disk, if that is known."""
    client: int | None = None
    """Bytes of memory where all results are to be brought together, if they are."""
    lasting: bool = False
    """Whether results stay, whose chunks users see then."""

    @classmethod
    def of(cls, scheduler: Scheduler, *, coalesce: bool) -> Plan:
        """Return what is known of the machine behind a scheduler."""
        plan = cls(coalesce=coalesce, shared_memory=scheduler.capabilities.shared_memory)
        return plan.on(scheduler.machine()) if isinstance(scheduler, KnowsMachine) else plan

    def on(self, machine: Machine) -> Plan:
        """Return the plan for another machine."""
        return replace(
            self,
            workers=machine.threads,
            budget=machine.memory,
            largest=machine.largest,
            window=machine.window,
            spill=machine.spill,
            shared_memory=self.shared_memory or machine.shared_memory,
        )

    @property
    def task_limit(self) -> int | None:
        """The bytes above which a task is refused."""
        return self.budget if self.largest is None else self.largest

    def block_limit(self, limit: int) -> int:
        """Return the bytes that a block may have: ``limit``, or what leaves each worker several."""
        share = self.share(16)
        return limit if share is None else min(limit, share)

    def share(self, blocks: int) -> int | None:
        """Return the bytes of each of so many blocks for every worker, if memory is limited."""
        return None if self.budget is None else self.budget // (blocks * max(1, self.workers))


#: What the tiling that runs is for.
current_plan: ContextVar[Plan] = ContextVar("current_plan", default=Plan())  # noqa: B039 - frozen
