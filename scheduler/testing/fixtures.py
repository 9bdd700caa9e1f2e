"""The attributes of a scheduler under test, and the fixtures of its tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..base import Scheduler
from .tools import Gate


class ContractFixtures:
    """The attributes to override and the fixtures of the contract."""

    concurrent = True
    """``submit`` returns while tasks run; otherwise jobs cannot be cancelled or time out."""
    nested = True
    """A task may submit to the scheduler that runs it."""
    counts_tasks = True
    """Events report every task, not only the requested ones."""
    names_failed = True
    """``handle.failed`` is the key of the failed task."""
    passes_interrupts = True
    """``wait`` raises the ``KeyboardInterrupt`` of a task."""
    depth = 5_000
    """Length of the longest tested chain."""

    def create(self) -> Scheduler:
        """Return a new scheduler."""
        raise NotImplementedError

    @pytest.fixture
    def scheduler(self) -> Iterator[Scheduler]:
        """Yield a scheduler; override this to share one between tests."""
        scheduler = self.create()
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def disposable(self) -> Iterator[Scheduler]:
        """Yield a new scheduler, which the test closes."""
        scheduler = self.create()
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def gate(self) -> Iterator[Gate]:
        """Yield a gate that blocks tasks until the test opens it."""
        if not self.concurrent:
            pytest.skip("tasks run inside submit")
        gate = Gate()
        yield gate
        gate.close()
