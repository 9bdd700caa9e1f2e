"""What a scheduler under test says of itself, and what its tests are given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..base import Scheduler
from .tools import Gate


class ContractFixtures:
    """The attributes to override and the fixtures of the contract."""

    concurrent = True
    """``submit`` returns while tasks run; otherwise nothing can be cancelled or timed out."""
    nested = True
    """A task may submit to the scheduler that runs it."""
    counts_tasks = True
    """Events report every task and not only the wanted ones."""
    names_failed = True
    """``handle.failed`` tells which task failed."""
    passes_interrupts = True
    """A ``KeyboardInterrupt`` raised by a task arrives as one."""
    depth = 5_000
    """Length of the deepest chain tried."""

    def create(self) -> Scheduler:
        """Return a new scheduler."""
        raise NotImplementedError

    @pytest.fixture
    def scheduler(self) -> Iterator[Scheduler]:
        """Give the test a scheduler, which may be shared with others: override to widen."""
        scheduler = self.create()
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def disposable(self) -> Iterator[Scheduler]:
        """Give the test a scheduler of its own to close."""
        scheduler = self.create()
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def gate(self) -> Iterator[Gate]:
        """Hold tasks up until the test opens the gate."""
        if not self.concurrent:
            pytest.skip("tasks run inside submit")
        gate = Gate()
        yield gate
        gate.close()
