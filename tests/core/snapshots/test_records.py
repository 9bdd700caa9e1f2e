"""Functions that keep a record are run themselves, and others are named by their content."""

from __future__ import annotations

import io
import queue
import threading
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.snapshots.records import captures_state, keeps_record


def mapped(func: Any) -> Any:
    """Return a function of the two chunks of a tensor."""
    return mt.tensor(np.arange(1.0, 5.0), chunk_size=2).map_blocks(func, dtype=float)


class CallCount:
    """Counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, block: Any) -> Any:
        self.count += 1
        return block

    def note(self, block: Any) -> Any:
        """Count a block."""
        self.count += 1
        return block


def noted(block: Any, notes: Any) -> Any:
    """Return a block after a note."""
    notes.append(1)
    return block


def recording() -> Any:
    """Yield functions that keep a record, with what tells how often they were called."""
    notes: list[int] = []
    yield lambda x: noted(x, notes), lambda: len(notes)
    listed: list[int] = []

    def count_in_list(x):
        listed.append(1)
        return x

    yield count_in_list, lambda: len(listed)
    by_key: dict[Any, int] = {}

    def count_by_key(x):
        by_key[x.shape] = by_key.get(x.shape, 0) + 1
        return x

    yield count_by_key, lambda: sum(by_key.values())
    number = 0

    def count(x):
        nonlocal number
        number += 1
        return x

    yield count, lambda: number
    cells = np.zeros(1)

    def count_in_array(x):
        cells[0] += 1
        return x

    yield count_in_array, lambda: cells[0]
    yield from recording_objects()


def recording_objects() -> Any:
    """Yield functions that are methods of what keeps a record, or change it by one."""
    counter, other = CallCount(), CallCount()
    waiting: queue.Queue[int] = queue.Queue()
    yield counter, lambda: counter.count
    yield other.note, lambda: other.count

    def report(x):
        waiting.put(1)
        return x

    yield report, waiting.qsize
    bound: list[int] = []
    yield lambda x, append=bound.append: (append(1), x)[1], lambda: len(bound)
    lock, held = threading.Lock(), CallCount()

    def count_locked(x):
        with lock:
            held.count += 1
        return x

    yield count_locked, lambda: held.count
    text = io.StringIO()
    yield lambda x: (text.write("1"), x)[1], lambda: len(text.getvalue())


@pytest.mark.parametrize("position", range(11))
def test_functions_that_keep_a_record_do_so(position):
    """They are held by reference, and two calls of one are two nodes."""
    func, count = list(recording())[position]
    assert keeps_record(func)
    x, y = mapped(func), mapped(func)
    assert x.node.name != y.node.name
    with option_context({"coalesce": False}):
        x.compute(scheduler="synchronous")
    assert count() == 2


def test_local_names_are_no_record():
    """Functions that change only what they have made themselves are named by their content."""
    weights = [1.0, 2.0]

    def weighted(x):
        result = np.zeros(x.shape)
        result[...] = x
        result[0] += weights[0]
        parts = []
        parts.append(np.add(result, weights[1]))
        return parts[0]

    assert not keeps_record(weighted)
    assert mapped(weighted).node is mapped(weighted).node


def test_local_classes_are_not_copied():
    """Objects of classes with lists of their own are held by reference under unique names."""

    class WeightedCall:
        weights = [1.0]  # noqa: RUF012 - that is the point

        def __call__(self, x):
            return x + self.weights[0]

    assert captures_state(WeightedCall)
    x = mapped(WeightedCall())
    WeightedCall.weights = [5.0]
    assert mapped(WeightedCall()).node is not x.node
    assert WeightedCall.weights == [5.0]
