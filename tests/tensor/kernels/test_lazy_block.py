"""Blocks that are made as they are read: the same values, read by kernels that work in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.config import option_context
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Stage
from marsdask.tensor.kernels.lazy_block import LazyBlock, as_block
from tests.strategies import assert_same

LARGE = np.random.default_rng(0).random((700, 900))
PICKED = (np.arange(600) * 391) % 700


class Counting(LazyBlock):
    """What is read is where it lies."""

    __slots__ = ("read_times",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(shape, np.intp, np.empty(shape, np.intp).strides)
        self.read_times = 0

    def read(self, tile: tuple[slice, ...]) -> Any:
        self.read_times += 1
        return np.arange(self.size).reshape(self.shape)[tile]


def test_parts_are_made_as_they_are_read() -> None:
    """A tile is one reading; anything else makes the whole once."""
    lazy = Counting((4, 5))
    assert as_block(lazy) is lazy
    assert (lazy.ndim, lazy.size) == (2, 20)
    assert lazy[1:3, :2].tolist() == [[5, 6], [10, 11]]
    assert lazy[:, -1:].tolist() == [[4], [9], [14], [19]]
    assert lazy.read_times == 2
    assert lazy.sum() == 190
    assert (lazy[1] == np.arange(5, 10)).all()
    assert np.add(lazy, 1)[0, 0] == 1
    assert lazy[:2, :2].tolist() == [[0, 1], [5, 6]]
    assert lazy.read_times == 3
    with pytest.raises(AttributeError):
        getattr(lazy, "_unknown")  # noqa: B009


def kernels(tensor: Any) -> set[str]:
    """Return the names of the kernels that the first stage calls."""
    stage = Compilation([tensor.node], plan=Plan(coalesce=False)).advance({})
    assert isinstance(stage, Stage)
    found: set[str] = set()
    for task in stage.graph.values():
        steps = getattr(getattr(task, "func", None), "steps", ())
        found.update(step.func.__name__ for step in steps)
    return found


def test_only_one_reader_that_reads_once() -> None:
    """What nothing else needs, and nothing broadcasts against, is not made beforehand."""
    x = mt.tensor(LARGE, chunk_size=300)
    assert "running" in kernels(x.cumsum(axis=0).mean())
    assert "running" in kernels(mt.sin(x.cumsum(axis=0)) + x)
    assert "gathering_points" in kernels(x[PICKED].sum())
    assert "taking_along" in kernels(mt.tensor(LARGE)[PICKED].sum())
    assert "running" not in kernels((x.cumsum(axis=0) * x[0]).mean())
    assert "running" not in kernels(x.cumsum(axis=0).argmax())
    shared = x.cumsum(axis=0)
    assert "running" not in kernels((shared * shared.T[:1, :1]).mean())


@pytest.mark.parametrize("coalesce", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("chunks", [2000, 250, (700, 100), (64, 900)])
def test_readers_get_the_values(chunks: Any, axis: int, coalesce: bool) -> None:
    """Reductions along every axis and chains, of scans and of positions, over many tiles."""
    x = mt.tensor(LARGE, chunk_size=chunks)
    picked = PICKED % LARGE.shape[axis]
    cases = [(x.cumsum(axis), LARGE.cumsum(axis))]
    cases.append((mt.take(x, picked, axis), np.take(LARGE, picked, axis)))
    with option_context({"coalesce": coalesce}):
        for lazy, array in cases:
            assert_same(lazy * 2 + 1, array * 2 + 1, rtol=1e-9)
            assert_same(lazy.T.copy(), array.T, rtol=1e-9)
            reduced: Any
            for reduced in (0, 1, None):
                assert_same(lazy.mean(axis=reduced), array.mean(axis=reduced), rtol=1e-9)
                assert_same((lazy + 1).max(axis=reduced), (array + 1).max(axis=reduced), rtol=1e-9)
