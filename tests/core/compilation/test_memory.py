"""Projected memory and the check of the budget."""

from __future__ import annotations

import operator
import pickle
import re
from typing import Any

import dask
import numpy as np
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core import collection as collection_module
from marsdask.core import session as session_module
from marsdask.core.compilation.lowering import lower
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.errors import MemoryBudgetError, ResultsTooLarge, SpillFull
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid, HeldGrid, Ref, ResultKeys
from marsdask.core.grids.shuffle import all_to_all
from marsdask.core.grids.tree import Pairwise, gather, tree
from marsdask.core.machine.costs import Cost, cost_of, kernel, register_cost
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.core.sizes import Index
from marsdask.scheduler.base import Hint

MIB = 2**20


def test_the_error_names_operation_chunk_bytes_and_a_size_that_fits():
    """A refusal says what to do, and doing it works."""
    x = mt.ones((1000, 1000), chunk_size=1000).map_blocks(np.negative, dtype=float)
    y = mt.sin(x)
    with pytest.raises(
        MemoryBudgetError, match=r"sin.*chunks of \((\d+), \1\) would fit"
    ) as caught:
        Compilation([y.node], plan=Plan(budget=4 * 2**20)).advance({})
    error = caught.value
    assert error.budget == 4 * 2**20
    assert error.chunk == (0, 0)
    assert error.nbytes >= 8_000_000
    fitting = int(error.suggestion.split("(")[1].split(",")[0])
    small = mt.ones((1000, 1000), chunk_size=fitting).map_blocks(np.negative, dtype=float)
    small = mt.sin(small)
    Compilation([small.node], plan=Plan(budget=4 * 2**20)).advance({})


#: Operations of a matrix.
OPERATIONS: dict[str, Any] = {
    "sin": mt.sin,
    "sum": lambda x: x.sum(axis=0),
    "cumsum": lambda x: mt.cumsum(x, axis=0),
    "transposed": lambda x: x + x.T,
    "product": lambda x: x @ x,
    "rolled": lambda x: x + mt.roll(x, 1, 0),
    "argmax": lambda x: mt.argmax(x, axis=0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_chunks_that_would_fit_do(name: str) -> None:
    """Whoever follows the advice of an error gets no second one."""

    def plan(chunk_size: Any) -> None:
        x = mt.ones((1000, 1000), chunk_size=chunk_size).map_blocks(np.negative, dtype=float)
        Compilation([OPERATIONS[name](x).node], plan=Plan(budget=4 * MIB)).advance({})

    with pytest.raises(MemoryBudgetError, match=r"chunks of \(\d+, \d+\) would fit") as caught:
        plan(1000)
    found = re.search(r"chunks of \((\d+), (\d+)\)", str(caught.value))
    assert found is not None
    plan(tuple(map(int, found.groups())))


def test_the_error_shows_the_users_line():
    """The line that wrote the operation is part of the message."""
    x = mt.ones((1000, 1001), chunk_size=1001)
    x = x.map_blocks(np.sin, dtype=float)  # the guilty line
    with pytest.raises(MemoryBudgetError, match="the guilty line"):
        Compilation([x.node], plan=Plan(budget=2**20)).advance({})


def test_a_session_refuses_and_goes_on():
    """The refusal comes before anything has run, its advice works, and so does the session."""
    runs: list[int] = []
    session = marsdask.new_session(memory_limit=32 * MIB)
    try:
        x = mt.ones((4096, 4096), chunk_size=4096).map_blocks(noted, runs=runs, dtype=float)
        y = mt.sqrt(x) + 1  # too large a chunk
        with pytest.raises(MemoryBudgetError, match=r"chunks of \(\d+, \d+\) would fit") as caught:
            y.execute(session=session)
        assert not runs
        assert caught.value.nbytes >= 2 * 128 * MIB
        assert caught.value.chunk == (0, 0)
        assert "test_memory.py" in str(caught.value)
        found = re.search(r"chunks of \((\d+), (\d+)\)", str(caught.value))
        assert found is not None
        fitting = tuple(map(int, found.groups()))
        x = mt.ones((4096, 4096), chunk_size=fitting).map_blocks(
            lambda block: noted(block, runs), dtype=float
        )
        z = mt.sqrt(x) + 1
        assert z.sum().execute(session=session).fetch(session=session) == 2 * 4096**2
        assert sum(runs) == 8 * 4096**2
    finally:
        session.close()


def noted(block: Any, runs: list[int]) -> Any:
    """Return the block, and say that it was made."""
    runs.append(block.nbytes)
    return block


def held(name: str, *sizes: int) -> Grid:
    """Return chunks of so many bytes in memory."""
    keys: dict[Index, Any] = {(i,): (name, i) for i in range(len(sizes))}
    nbytes: dict[Index, int] = {(i,): size for i, size in enumerate(sizes)}
    return HeldGrid(ResultKeys(name, keys, nbytes), (sizes,), None, 1.0)


def hint_of(grid: Grid, **options: Any) -> Hint:
    """Return the hint of a grid's first chunk."""
    index = (0,) * grid.ndim
    return lower([Ref(grid, index)], **options)[1][grid.key(index)]


@kernel(view=True)
def view_of(block: Any) -> Any:
    return block


@kernel(scratch=0.0)
def copy_of(*blocks: Any) -> Any:
    return blocks[0]


@kernel(scratch=0.5, buffer=10)
def working(block: Any) -> Any:
    return block


def undeclared(block: Any) -> Any:
    return block


def split(block: Any) -> list[Any]:
    return [block, block]


@pytest.fixture
def tight(tmp_path):
    """Open a session with 16 MiB of memory and 8 MiB of disk."""
    limits: dict[str, Any] = {"spill_limit": 8 * MIB, "spill_dirs": tmp_path}
    with marsdask.new_session(memory_limit=16 * MIB, n_workers=1, **limits) as session:
        yield session


def test_results_that_cannot_be_kept_are_refused(tight):
    """Before anything has run; what is smaller, or reduces them, goes on."""
    runs: list[int] = []
    x = mt.ones((2**11, 2**11), chunk_size=256).map_blocks(noted, runs=runs, dtype=float)
    for run in (x.execute, x.compute, (x + 1).rechunk(128).execute):
        with pytest.raises(ResultsTooLarge) as caught:
            run()
        text = str(caught.value)
        for part in ("0.03 GiB", "0.02 GiB", "16.00 MiB", "8.00 MiB", "to_zarr", "spill_limit"):
            assert part in text
        assert "test_memory.py" in text
        assert pickle.loads(pickle.dumps(caught.value)).nbytes == 2**25
    assert not runs
    assert x.sum().compute() == 2**22
    assert len(x[:512].execute().fetch()) == 512
    with pytest.raises(ResultsTooLarge):
        marsdask.execute(*(mt.ones((2**10, 2**10), chunk_size=256) + i for i in range(4)))
    del tight


@pytest.mark.parametrize("scheduler", ["inline", "synchronous"])
def test_results_beyond_the_memory_of_this_process_are_refused(scheduler):
    """By schedulers that write nothing to disk, too."""
    x = mt.ones((10**6, 10**6))
    with marsdask.new_session(scheduler), pytest.raises(ResultsTooLarge):
        x.execute()


def dask_verbs(x):
    """Yield what runs on our schedulers by Dask's own ways."""
    yield lambda: dask.persist(x)
    yield lambda: dask.compute(x)
    yield lambda: x.persist(scheduler=marsdask.scheduler.get)
    yield lambda: marsdask.scheduler.get(x.__dask_graph__(), x.__dask_keys__())


def test_dasks_verbs_refuse_what_cannot_be_kept(tight):
    """Within the limits of the default session, before anything has run."""
    runs: list[int] = []
    x = mt.ones((2**11, 2**11), chunk_size=256).map_blocks(noted, runs=runs, dtype=float)
    for run in dask_verbs(x):
        with pytest.raises(ResultsTooLarge, match=r"noted takes 0.03 GiB, more than"):
            run()
    assert not runs
    for run in dask_verbs(mt.ones((2**10, 2**11), chunk_size=256)):
        run()
    assert dask.compute(x[x[:, 0] > 1].sum(), mt.broadcast_to(1.0, (2**13, 2**13)).sum())
    del tight


def test_dasks_verbs_keep_the_limits_where_sizes_are_unknown(tight):
    """Dask drops what layers tell when it optimises its own collections."""
    x = mt.ones((2**11, 2**11), chunk_size=256).to_dask()
    with pytest.raises(SpillFull, match="8,388,608"):
        x.persist(scheduler=marsdask.scheduler.get)
    del tight


def test_dasks_verbs_keep_the_limits_of_options(tmp_path):
    """Without a session of the user's."""
    bounds = {"memory_limit": 16 * MIB, "spill_limit": 8 * MIB, "spill_dirs": [tmp_path]}
    x = mt.ones((2**11, 2**11), chunk_size=256)
    marsdask.stop_server()
    with marsdask.option_context(bounds), pytest.raises(ResultsTooLarge):
        dask.persist(x)
    marsdask.stop_server()
    assert dask.persist(x)


def test_dask_brings_together_what_the_process_can_hold(tight):
    """The value is the caller's: it does not count as a task of the session's memory."""
    x = mt.ones((2**10, 5 * 2**9), chunk_size=256)
    assert x.nbytes > tight.scheduler.memory_limit
    assert dask.compute(x)[0].shape == x.shape
    assert x.to_dask().compute(scheduler=marsdask.scheduler.get).shape == x.shape


def test_what_is_joined_is_kept_once(tight):
    """The parts of a join count where it makes them, and not where they are kept already."""
    parts = [mt.ones((2**10, 2**10), chunk_size=256) + i for i in range(4)]
    with pytest.raises(ResultsTooLarge):
        mt.concatenate(parts).execute()
    kept = parts[1].execute()
    assert mt.concatenate([kept] * 4).execute().shape == (2**12, 2**10)
    assert mt.concatenate(parts).blocks[:4].execute().shape == (2**10, 2**10)
    del tight


MOVED = {
    "rank": lambda rows: rows.a.rank(),
    "merge": lambda rows: rows.merge(rows + 1, on="a"),
    "merge of labels": lambda rows: rows.merge(rows[::-1], left_index=True, right_index=True),
    "duplicated": lambda rows: rows.duplicated(),
    "groups": lambda rows: rows.groupby("a").b.cumsum(),
}


@pytest.mark.parametrize("name", MOVED)
def test_operations_that_keep_too_much_are_refused(name, tight):
    """Before anything has run; those of fewer rows, or of a column, go on."""
    runs: list[int] = []
    values = mt.arange(2**23, chunk_size=2**16).reshape(-1, 2)
    values = values.map_blocks(noted, runs=runs, dtype=np.int64)
    rows = md.DataFrame(values, columns=["a", "b"])
    with pytest.raises(ResultsTooLarge, match=r"spill directories.*before it"):
        MOVED[name](rows).sum().compute()
    assert not runs
    few = rows.iloc[: 2**16]
    assert MOVED[name](few).sum().compute() is not None
    del tight


#: Values of rows that meet the others of their groups: all are there before any is known.
OF_GROUPS = {
    "cumsum": lambda rows: rows.groupby("a").b.cumsum(),
    "cumcount": lambda rows: rows.groupby("a").cumcount(),
    "shift": lambda rows: rows.groupby("a").shift(),
    "transform": lambda rows: rows.groupby("a").b.transform("sum"),
    "duplicated": lambda rows: rows.duplicated(),
    "repeated values": lambda rows: rows.a.duplicated(),
}


@pytest.mark.parametrize("name", OF_GROUPS)
def test_few_values_of_groups_need_those_of_all_rows(name, tight):
    """However few are chosen; columns of their own may be views, and do not count."""
    runs: list[int] = []
    length = 2**25 if name in ("duplicated", "repeated values") else 2**22
    columns = {label: mt.arange(length, chunk_size=2**19) for label in "ab"}
    columns["a"] = columns["a"].map_blocks(noted, runs=runs, dtype=np.int64)
    rows = md.DataFrame(columns)
    with pytest.raises(ResultsTooLarge, match=r"spill directories.*before it"):
        OF_GROUPS[name](rows).iloc[3:6].compute()
    assert not runs
    del tight


def test_results_of_unknown_size_and_views_are_not_refused(tight):
    """A filter may leave little, and what is repeated is there once."""
    x = mt.ones((2**11, 2**11), chunk_size=256)
    assert x[x[:, 0] > 1].execute().shape == (0, 2**11)
    assert mt.broadcast_to(mt.ones(256), (2**14, 256)).execute().shape == (2**14, 256)
    del tight


def test_results_that_do_not_fit_the_asking_process(monkeypatch):
    """They are not computed, or not fetched; the chunks stay, and parts can be had."""
    x = (mt.ones((2**10, 2**10), chunk_size=256) + 1).execute()
    monkeypatch.setattr(session_module, "own_memory", lambda: MIB)
    monkeypatch.setattr(collection_module, "own_memory", lambda: MIB)
    for ask in (x.fetch, x.compute, (x + 1).compute):
        with pytest.raises(ResultsTooLarge, match="of this process's memory"):
            ask()
    assert x[:2, :2].fetch().tolist() == [[2, 2], [2, 2]]


def test_a_kernel_takes_its_result_and_its_scratch():
    """Nothing said is one largest input; a buffer is never larger than the result."""
    a = held("a", 100)
    assert hint_of(map_blocks(undeclared, a, itemsize=1.0)) == Hint(100, 200)
    assert hint_of(map_blocks(working, a, itemsize=1.0)) == Hint(100, 160)
    assert hint_of(map_blocks(working, a, itemsize=0.04)) == Hint(4, 4 + 50 + 4)


def test_a_view_takes_nothing_and_keeps_what_it_looks_at():
    """A view of an input is free; a view of a temporary lets it live on."""
    a = held("a", 100)
    seen = map_blocks(view_of, a, itemsize=1.0)
    assert hint_of(seen) == Hint(100, 0)
    kept = map_blocks(view_of, map_blocks(copy_of, a, itemsize=1.0), itemsize=1.0)
    assert hint_of(map_blocks(copy_of, kept, itemsize=1.0)) == Hint(100, 200)


def test_a_temporary_dies_at_its_last_use():
    """However long a chain is, two of its values live at a time."""
    grid = held("a", 100)
    for _ in range(5):
        grid = map_blocks(copy_of, grid, itemsize=1.0)
    assert hint_of(grid) == Hint(100, 200)


def test_a_result_that_nothing_bounds_is_as_large_as_its_inputs():
    """An estimate for admission; the hint's size stays unknown."""
    a, b = held("a", 100), held("b", 30)
    assert hint_of(map_blocks(copy_of, a, b)) == Hint(None, 130)
    assert hint_of(gather(copy_of, held("c", 50, 70), chunks=((1,),))) == Hint(None, 120)


def test_a_fold_holds_two_results_at_a_time():
    """Combining is done pair by pair, whatever the width of the tree."""
    assert hint_of(tree(held("a", *(100,) * 8), Pairwise(copy_of), [0], width=8)) == Hint(100, 200)


def test_a_tree_is_as_wide_as_memory_allows():
    """Groups of partial results shrink with the budget, to pairs at least."""
    partials = held("a", *(100,) * 8)
    assert len(lower(tree(partials, Pairwise(copy_of), [0], width=8).refs())[0]) == 1
    for budget, tasks in [(100_000, 1), (2400, 3), (100, 7)]:
        token = current_plan.set(Plan(workers=2, budget=budget))
        try:
            grid = tree(held("a", *(100,) * 8), Pairwise(copy_of), [0], width=8)
        finally:
            current_plan.reset(token)
        assert len(lower(grid.refs())[0]) == tasks


def test_parts_are_tasks_when_what_they_are_cut_from_cannot_be_held():
    """An exchange of more than the budget does not ask for all of it at a time."""
    grid = all_to_all(held("a", *(100,) * 10), 0, split, copy_of, (500, 500), itemsize=1.0)
    at_once = lower(grid.refs())[0]
    assert len(at_once) == 10 + 2
    by_part, hints, _ = lower(grid.refs(), budget=1200)
    assert len(by_part) == 10 + 20 + 2
    assert hints[grid.key((0,))] == Hint(500, 500)


def test_foreign_functions_are_declared_by_themselves_or_by_type():
    """What cannot carry a declaration is looked up; an attribute of that name may mean another."""
    assert cost_of(operator.getitem).view
    assert cost_of(np.add) == Cost(scratch=0.0)
    register_cost(undeclared, Cost(scratch=7.0))
    try:
        assert cost_of(undeclared).scratch == 7.0
    finally:
        register_cost(undeclared, Cost())
    undeclared.cost = "a lot"  # type: ignore[attr-defined]
    assert cost_of(undeclared) == Cost()
    del undeclared.cost  # type: ignore[attr-defined]
