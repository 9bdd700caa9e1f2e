"""Lowering: which tasks come out, under which keys, with which hints."""

from __future__ import annotations

import pickle

import pytest
from dask.task_spec import Task

from marsdask.core.compilation.lowering import lower
from marsdask.core.grids.blockwise import blockwise, map_blocks, same
from marsdask.core.grids.grid import Ref
from marsdask.core.grids.tree import gather
from tests.core.toys import NumbersAt, concatenated, numbers_between, scaled, total_of


def numbers(*sizes, cheap=True):
    """Return a grid of numbers."""
    return blockwise(
        numbers_between, [], chunks=(sizes,), varying=NumbersAt(sizes), itemsize=8, cheap=cheap
    )


def times(grid, factor):
    """Return a grid of scaled numbers."""
    return map_blocks(scaled, grid, kwargs={"factor": factor}, itemsize=8)


def test_only_what_is_needed_is_expanded():
    """One chunk of a thousand costs one task."""
    grid = times(numbers(*(1,) * 1000), 2)
    tasks, _, _ = lower([Ref(grid, (500,))])
    assert list(tasks) == [grid.key((500,))]
    (task,) = tasks.values()
    assert task({}) == [1000]


def test_keys_are_the_grids_name_and_the_index():
    """Nothing is hashed per chunk."""
    grid = times(numbers(2, 2), 2)
    assert set(lower(grid.refs())[0]) == {(grid.name, 0), (grid.name, 1)}


def test_equal_work_has_equal_keys():
    """Two grids made alike are one."""
    a, b = times(numbers(2, 2), 2), times(numbers(2, 2), 2)
    assert len(lower([*a.refs(), *b.refs()])[0]) == 2


def test_held_chunks_need_no_task_and_are_not_fused_away():
    """What a scheduler holds is referred to by key."""
    source = times(numbers(2, 2), 2)
    held = {source.key(index) for index in source.indices()}
    tasks, _, _ = lower(times(source, 3).refs(), held=held, held_grids={source.name})
    assert len(tasks) == 2
    assert {name for task in tasks.values() for name in task.dependencies} == held


def test_cheap_work_is_done_again_where_it_is_needed():
    """A view with many consumers is no task."""
    view = blockwise(same, [(times(numbers(2, 2), 2), (0,))], chunks=((2, 2),), cheap=True)
    both = [gather(concatenated, view, chunks=((1,),)), times(view, 5)]
    tasks, _, _ = lower([ref for grid in both for ref in grid.refs()])
    assert view.name not in {key[0] for key in tasks}


def test_without_shared_memory_views_of_chunks_stay_tasks():
    """Where inputs travel, a view is taken before it travels."""
    view = blockwise(same, [(numbers(2, 2, cheap=False), (0,))], chunks=((2, 2),), cheap=True)
    grid = gather(concatenated, view, chunks=((1,),))
    tasks, _, _ = lower(grid.refs(), inline=False)
    assert view.name in {key[0] for key in tasks}


def test_programs_run_and_pickle_by_name():
    """A fused task is data: kernels by name, no closures."""
    grid = times(times(numbers(3, cheap=False), 2), 5)
    tasks, _, _ = lower(grid.refs())
    (task,) = (task for task in tasks.values() if isinstance(task, Task))
    assert pickle.loads(pickle.dumps(task))({}) == [0, 10, 20]
    assert len(pickle.dumps(task)) < 700


def test_hints_tell_output_and_peak_bytes():
    """A task's hint is its result, and its result plus scratch while it runs."""
    source = numbers(100, cheap=False)
    grid = gather(concatenated, source, chunks=((100,),), itemsize=8)
    _, hints, _ = lower(grid.refs())
    hint = hints[grid.key((0,))]
    assert hint.nbytes == 800
    assert hint.peak == 800 + 800


def test_a_failing_step_of_a_program_names_its_grid():
    """The fused task knows which of its operations failed."""
    inner = times(numbers(2, cheap=False), "x" * 3)
    grid = times(map_blocks(total_of, inner, itemsize=8), 1)
    tasks, _, _ = lower(grid.refs())
    (task,) = tasks.values()
    with pytest.raises(TypeError) as caught:
        task({})
    assert caught.value.marsdask_grid.startswith("total_of")  # type: ignore[attr-defined]


DEEP = 5000


def test_a_chain_of_grids_needs_no_recursion():
    """However many steps one tiling makes, they are named, and fused into one task."""
    grid = numbers(2, 2)
    for step in range(DEEP):
        grid = times(grid, step)
    tasks, _, _ = lower(grid.refs())
    assert len(tasks) == 2


def test_a_chain_of_views_needs_no_recursion():
    """Whether work is needed once is found by way of however many views."""
    grid = times(numbers(2, 2, cheap=False), 2)
    for _ in range(DEEP):
        grid = blockwise(same, [(grid, (0,))], chunks=((2, 2),), cheap=True)
    tasks, _, _ = lower(times(grid, 3).refs())
    assert len(tasks) == 2
