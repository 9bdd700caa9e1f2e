"""The records of a scheduler's state: one for each key, and one job for each submission."""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dask.task_spec import GraphNode

from ..base import Key
from ..events import Event
from ..storage.buffers import Charges

WAITING, READY, RUNNING, DONE, DROPPED = range(5)

#: Stands for the value of a result that is only on disk.
ABSENT: Any = object()

#: The lower bits of an order count up through all graphs. The bits above are the negated nesting
#: level of the submission: running tasks wait for the deepest ones, so these run first.
LEVEL_BITS = 60
#: Greater than every order.
ALL = 1 << LEVEL_BITS


class TaskRecord:
    """One key: a task to run or its result."""

    __slots__ = (
        "charges",
        "dependents",
        "entry",
        "file",
        "fixed",
        "guessed",
        "held",
        "info",
        "inputs",
        "job",
        "jobs",
        "key",
        "leaving",
        "missing",
        "nbytes",
        "node",
        "order",
        "peak",
        "pins",
        "status",
        "stop",
        "users",
        "value",
    )

    def __init__(
        self, key: Key, node: GraphNode, order: int, job: LocalJob, peak: int | None
    ) -> None:
        self.key = key
        self.node: GraphNode | None = node
        self.order = order
        self.job = job
        """The submission that added it and receives its events."""
        self.peak = peak or 0
        self.guessed = peak is None
        """There is no hint: the peak is estimated from similar tasks."""
        self.status = WAITING
        self.inputs: list[TaskRecord] = []
        self.missing = 0
        self.dependents: list[TaskRecord] = []
        self.users = 0
        self.held = 0
        self.jobs: list[LocalJob] = []
        """Submissions that want it and have not ended."""
        self.entry: int | None = None
        """The only entry that it reads of its input, which is on disk."""
        self.pins = 0
        """Running tasks that read it."""
        self.value: Any = None
        self.charges: Charges = ()
        self.nbytes = 0
        self.file: Any = None
        self.info: Any = None
        self.leaving = False
        """It is being written to disk."""
        self.fixed = False
        """It cannot be pickled, so it stays in memory."""
        self.stop: Callable[[], object] | None = None
        """Ends its work while it runs, if its function can be stopped."""

    @property
    def is_dropped(self) -> bool:
        """Whether nobody needs its result."""
        return self.status == DROPPED


class LocalJob:
    """One submission."""

    def __init__(
        self, *, level: int = 0, owner: Any = None, observed: bool = False, observer: Any = None
    ) -> None:
        self.level = level
        self.owner = owner
        """The driver's data of the job."""
        self.observed = observed
        """Whether its events are collected."""
        self.observer = observer
        """Reports its tasks to Dask's callbacks, if there are any."""
        self.wanted: list[TaskRecord] = []
        self.unfinished = 0
        self.running = 0
        """Its tasks that run."""
        self.state: str | None = None
        """None while it runs, then ``"done"``, ``"failed"`` or ``"cancelled"``."""
        self.error: BaseException | None = None
        self.failed: Key | None = None
        self.events: deque[Event] = deque()
        self.context: contextvars.Context | None = contextvars.copy_context()
        """The submitter's context variables, such as numpy.errstate and decimal's precision."""

    def fresh_context(self) -> contextvars.Context:
        """Return a copy of the submitter's context variables for one task, which may set them."""
        context = self.context
        return contextvars.copy_context() if context is None else context.copy()

    @property
    def bound(self) -> int:
        """Every task with a smaller order is nested at least as deeply as this one."""
        return (1 - self.level) << LEVEL_BITS

    def tell(self, event: Event) -> None:
        """Collect an event; the driver passes it on outside the lock."""
        if self.observed and self.state is None:
            self.events.append(event)


@dataclass(frozen=True, slots=True)
class Spill:
    """The instruction to write a result to disk."""

    item: TaskRecord
