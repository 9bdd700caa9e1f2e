"""Tensors of several budgets, of which functions need some axes whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.core.session import Session
from marsdask.tensor.chunkwise.lanes import in_lanes, in_step, lane_bytes, moved, whole_lanes

BUDGET = 2**20
RANDOM = np.random.default_rng(0)
#: Five budgets of numbers.
SQUARE = RANDOM.random((800, 800))
TALL = RANDOM.random((320_000, 2))
CUBE = RANDOM.random((24, 32, 400))
#: Two and a half of them, for what passes through the disk several times.
FLAT = RANDOM.random((400, 800))

Call = Callable[[Any, Any], Any]


def transform(name: str, **axis: int) -> Call:
    """Return a call of a transform."""
    return lambda m, x: getattr(m.fft, name)(x, **axis)


def along(name: str, axis: int) -> Call:
    """Return a call of a function along an axis."""
    return lambda m, x: getattr(m, name)(x, axis=axis)


ALONG = ("sort", "argsort", "median", "nanmedian", "cumsum", "diff", "ptp", "argmax")
ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")

#: Calls by name: of NumPy or marsdask, with an array or tensor that is one chunk.
CALLS: dict[str, tuple[Any, Call]] = {
    **{f"{k}-{axis}": (SQUARE, transform(k, axis=axis)) for k in ONE_AXIS for axis in (0, 1)},
    **{name: (FLAT, transform(name)) for name in ("fft2", "rfft2")},
    "fftn": (CUBE, lambda m, x: m.fft.fftn(x, axes=(2, 0), norm="ortho")),
    "rfftn": (CUBE, lambda m, x: m.fft.rfftn(x)),
    "irfftn": (CUBE, lambda m, x: m.fft.irfftn(x, axes=(0, 2))),
    **{f"{name}-{axis}": (SQUARE, along(name, axis)) for name in ALONG for axis in (0, 1)},
    "partition": (SQUARE, lambda m, x: m.partition(x, 5, axis=0)[5]),
    "quantile": (SQUARE, lambda m, x: m.quantile(x, [0.1, 0.5], axis=1)),
    "percentile": (CUBE, lambda m, x: m.percentile(x, 30, axis=(0, 2))),
    "apply_over_axes": (CUBE, lambda m, x: m.apply_over_axes(m.sum, x, (0, 2))),
    "lane-median": (TALL, lambda m, x: m.median(x, axis=0)),
    "lane-quantile": (TALL, lambda m, x: m.quantile(x, [0.1, 0.9], axis=0, keepdims=True)),
    "lane-quantile-T": (TALL, lambda m, x: m.quantile(x.T, 0.1, axis=1, keepdims=True)),
    "lane-cumsum": (TALL, lambda m, x: m.cumsum(x, axis=0)),
    "gradient": (SQUARE, lambda m, x: m.gradient(x, axis=0)),
    "unwrap": (SQUARE, lambda m, x: m.unwrap(x, axis=1)),
    "trapezoid": (SQUARE, lambda m, x: m.trapezoid(x, axis=0)),
    "stencil": (SQUARE, lambda m, x: x + m.roll(x, 1, 0) + m.roll(x, -1, 1)),
    "ravel": (SQUARE, lambda m, x: m.ravel(x, order="F")),
    "transposed": (SQUARE, lambda m, x: x + x.T),
}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """Return a session with little memory."""
    session = marsdask.new_session(memory_limit=BUDGET)
    yield session
    session.close()


@pytest.mark.parametrize("name", CALLS)
def test_chunks_are_cut_to_fit(session: Session, name: str) -> None:
    """A function that needs an axis whole is not refused where lanes fit; values are NumPy's."""
    array, call = CALLS[name]
    expected = call(np, array)
    lazy = call(mt, mt.tensor(array, chunk_size=-1))
    result = lazy.execute(session=session).fetch(session=session)
    assert result.dtype == expected.dtype
    assert np.allclose(result, expected)


@pytest.mark.parametrize("indices", [False, True])
def test_lanes_that_do_not_fit_are_sorted_one_by_one(session: Session, indices: bool) -> None:
    """All of them at the same time, in parts as a vector."""
    array = TALL[:60_000]
    lazy = (mt.argsort if indices else mt.sort)(mt.tensor(array, chunk_size=-1), axis=0)
    result = lazy.execute(session=session).fetch(session=session)
    expected = np.argsort(array, axis=0, kind="stable") if indices else np.sort(array, axis=0)
    assert np.array_equal(result, expected)


def test_panels_that_users_ask_for_are_joined_in_pieces(session: Session) -> None:
    """No task reads all rows of chunks to make a panel of them."""
    rows = mt.where(True, SQUARE, SQUARE).rechunk((20, -1))
    panels = rows.rechunk((-1, 20)).cumsum(axis=0)[-1]
    assert np.allclose(panels.execute(session=session).fetch(session=session), SQUARE.sum(axis=0))


def grid_of(array: Any, chunks: Any) -> Grid:
    """Return a grid over an array's shape."""
    return Grid(blockwise(np.zeros, [], chunks=chunks).rule, chunks, np.empty((0,) * array.ndim))


def test_blocks_of_lanes_follow_the_memory() -> None:
    """Axes that are not needed whole are cut, and only where blocks are large."""
    grid = grid_of(SQUARE, ((800,), (800,)))
    assert lane_bytes(grid, (1,)) == 6400
    assert in_lanes(grid, (1,)) is grid
    token = current_plan.set(Plan(workers=1, budget=BUDGET))
    try:
        assert whole_lanes(grid, (1,)) == ((10,) * 80, (800,))
        assert in_lanes(grid, (1,)).chunks == ((10,) * 80, (800,))
    finally:
        current_plan.reset(token)


def test_tilings_in_step_look_once() -> None:
    """What all of them ask for is one request, and each gets its own answer."""

    def tiling(grid: Grid, rounds: int) -> Any:
        for _ in range(rounds):
            infos = yield Look((grid,), keep=(grid,))
            assert infos == [grid.name] * len(grid)
        return grid

    grids = [grid_of(SQUARE, ((400, 400), (800,))), grid_of(SQUARE, ((800,), (800,)))]
    running = in_step([tiling(grids[0], 2), tiling(grids[1], 1)])
    look = next(running)
    assert look.grids == tuple(grids)
    assert look.keep == tuple(grids)
    look = running.send([grids[0].name] * 2 + [grids[1].name])
    assert look.grids == (grids[0],)
    with pytest.raises(StopIteration) as stop:
        running.send([grids[0].name] * 2)
    assert stop.value.value == grids


def test_moved_axes_are_views() -> None:
    """As NumPy's transpose."""
    grid = map_blocks(np.negative, grid_of(CUBE, ((24,), (16, 16), (400,))))
    assert moved(grid, (0, 1, 2)) is grid
    new = moved(grid, (2, 0, 1))
    assert new.chunks == ((400,), (24,), (16, 16))
    assert new.rule.cell((0, 0, 1)).args[0].index == (0, 1, 0)
