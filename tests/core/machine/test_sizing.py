"""How large blocks are follows from what they aim at and from the memory of the machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from marsdask.core.machine import sizing
from marsdask.core.machine.plan import Plan, current_plan


@contextmanager
def on(workers: int, budget: int | None) -> Iterator[None]:
    """Compile for a machine."""
    token = current_plan.set(Plan(workers=workers, budget=budget))
    try:
        yield
    finally:
        current_plan.reset(token)


def test_without_a_budget_sizes_are_what_they_aim_at() -> None:
    """Nobody knows how much memory there is: nothing is too much."""
    with on(4, None):
        assert sizing.block_bytes() == sizing.LARGEST_BLOCK
        assert sizing.part_bytes(100) == 100
        assert sizing.part_count(10**18) == 1
        assert sizing.part_count(1000, 100) == 10
        assert sizing.panel_bytes() == sizing.PANEL
        assert sizing.group_size(100) == sys.maxsize
        assert not sizing.has_budget()
        assert not sizing.is_tight(10**18)
        assert not sizing.is_large(10**18)


def test_each_worker_has_several_blocks() -> None:
    """Of a budget, which is shared by as many tasks as run at a time."""
    with on(2, 32_000):
        assert sizing.block_bytes() == 1000
        assert sizing.part_bytes() == 2000
        assert sizing.part_count(9000) == 5
        assert sizing.panel_bytes() == 4000
        assert sizing.has_budget()
        assert sizing.is_large(4001)
        assert not sizing.is_large(4000)
    assert Plan(workers=2, budget=32_000, fineness=4).block_limit(10**9) == 250


def test_what_one_task_may_take() -> None:
    """A group has two chunks at least; a result in one piece leaves memory for several copies."""
    with on(2, 32_000):
        assert sizing.group_size(1000) == 6
        assert sizing.group_size(10_000) == 2
        assert sizing.group_size(0) == sys.maxsize
        assert sizing.is_tight(4001)
        assert not sizing.is_tight(4000)
