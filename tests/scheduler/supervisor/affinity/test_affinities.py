"""Affinities of sources, without any server."""

from __future__ import annotations

from typing import Any

import pytest
from dask.task_spec import DataNode, Task, TaskRef
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.base import Hint
from marsdask.scheduler.supervisor.affinity.affinities import (
    READERS,
    affinities,
    turn,
    with_affinity,
)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(2, 100))
def test_the_batches_of_a_turn_share_all_workers(sizes, ahead):
    """Their affinities follow each other from 0 to 1; two turns are submitted at a time."""
    end, earlier, total, half = 0.0, 0, sum(sizes), ahead // 2
    for size in sizes:
        start, stop = turn(earlier, size, total - earlier - size, ahead)
        assert start % 1 == pytest.approx(end % 1) or abs(start - end) % 1 > 1 - 1e-6
        tasks = size / (stop - start)
        assert min(half, total) <= round(tasks, 6) < max(2 * half, total + 1)
        assert total >= 2 * half or tasks == pytest.approx(total)
        end, earlier = stop, earlier + size
        assert affinities(4, start, stop) == pytest.approx(
            [(start + (stop - start) * part / 4) % 1.0 for part in range(4)]
        )
    assert affinities(0, *turn(0, 0, 0, ahead)) == []


def test_what_many_read_has_no_affinity():
    """Operands of a product would be beside each other, and all their readers wait there."""
    sources = [Task(("source", i), abs, i) for i in range(4)]
    operand, scattered = Task("operand", abs, 1), DataNode("data", 1)
    readers = [Task(("product", i), max, TaskRef("operand"), i) for i in range(READERS + 1)]
    readers += [Task(("block", i), max, TaskRef(("source", 0)), i) for i in range(READERS)]
    graph = {task.key: task for task in (*sources, operand, scattered, *readers)}
    hints: dict[Any, Hint] = {("source", 3): Hint(affinity=0.125), "operand": Hint(peak=1)}
    found = with_affinity(graph, hints)
    assert [found[task.key].affinity for task in sources] == [0, 0.25, 0.5, 0.125]
    assert found["operand"] == Hint(peak=1)
    assert set(found) == {"operand", *(task.key for task in sources)}
    many: dict[Any, int] = {("source", 1): READERS + 1, ("source", 0): 1}
    batch = with_affinity(graph, hints, (0.75, 1.5), many)
    assert [batch[task.key].affinity for task in sources if task.key in batch] == [0.75, 0, 0.125]
