"""The events of a running job: one stream, the same for every scheduler."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphSubmitted:
    """A graph was accepted; ``tasks`` of its tasks have to run."""

    tasks: int


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task started."""

    key: Hashable


@dataclass(frozen=True, slots=True)
class TaskDone:
    """A task ended with a result of ``nbytes`` bytes after ``seconds``."""

    key: Hashable
    nbytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TaskFailed:
    """A task raised an exception."""

    key: Hashable
    error: BaseException


@dataclass(frozen=True, slots=True)
class GraphEnded:
    """A submission ended: ``state`` is ``"done"``, ``"failed"`` or ``"cancelled"``."""

    state: str


Event = GraphSubmitted | TaskStarted | TaskDone | TaskFailed | GraphEnded
