"""The machine that a graph is compiled for, as passes, tilings and the lowering may know it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """What may be assumed of the machine that will run the graph."""

    workers: int = 1
    budget: int | None = None
    coalesce: bool = True
    shared_memory: bool = True

    def block_limit(self, limit: int) -> int:
        """Return the bytes that a block may have: ``limit``, or what leaves each worker several."""
        if self.budget is None:
            return limit
        return min(limit, self.budget // (16 * max(1, self.workers)))


#: What the tiling that runs is for.
current_plan: ContextVar[Plan] = ContextVar("current_plan", default=Plan())  # noqa: B039 - frozen
