"""Compilations: stages, looks, and what they leave for the end."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.compilation.tiling import Compilation
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Look, Ref
from marsdask.core.grids.tree import gather
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Stage
from tests.core.toys import ByRemainder, Looked, Numbers, Scaled, Total, run, scaled, weighted

sizes_strategy = st.lists(st.integers(0, 5), min_size=1, max_size=9).map(tuple)


@given(sizes_strategy, st.integers(-3, 3))
def test_map_and_tree_equal_plain_python(sizes, factor):
    """Mapping and a tree reduction give what a loop gives, whatever the chunks."""
    values, _ = run(Compilation([Total(Scaled(Numbers(sizes), factor))]))
    assert values == [[[factor * sum(range(sum(sizes)))]]]


@given(sizes_strategy, st.integers(1, 4))
def test_all_to_all_brings_every_item_to_its_chunk(sizes, ways):
    """A shuffle loses nothing and keeps the order of the inputs."""
    values, _ = run(Compilation([ByRemainder(Numbers(sizes), ways)]))
    assert values[0] == [
        [item for item in range(sum(sizes)) if item % ways == way] for way in range(ways)
    ]


def test_map_chain_under_a_reduction_is_one_task_a_chunk():
    """Linear chains disappear into their consumer."""
    root = Total(Scaled(Scaled(Numbers((2, 2, 2)), 2), 3))
    _, counts = run(Compilation([root]))
    assert counts == [4]


def test_a_value_with_two_consumers_is_computed_once():
    """A shared intermediate result is a task of its own."""
    shared = Scaled(Numbers((2, 2)), 2)
    values, counts = run(Compilation([Total(shared), Scaled(shared, 5)]))
    assert counts == [2 + 2 + 1 + 2]
    assert values == [[[12]], [[0, 10], [20, 30]]]


def test_look_runs_a_stage_and_resumes_with_its_infos():
    """A generator tiling is sent what its chunks turned out to be."""
    values, counts = run(Compilation([Looked(Numbers((2, 3)))]))
    assert values == [[[10 * item for item in range(5)]]]
    assert len(counts) == 2


@dataclass(frozen=True, eq=False)
class LookedAtOne(Looked):
    """A toy that looks at one chunk of its input only."""

    def tile(self, a):
        costly = map_blocks(scaled, a, kwargs={"factor": 1}, itemsize=8)
        (info,) = yield Look((Ref(costly, (1,)),))
        kwargs = {"total": info.sample[0]}
        return gather(weighted, costly, chunks=self.chunks, itemsize=8, kwargs=kwargs)


def test_a_look_at_some_chunks_runs_these_only():
    """The others run when they are needed; what was looked at does not run again."""
    values, counts = run(Compilation([LookedAtOne(Numbers((2, 3, 4)))]))
    assert values == [[[2 * item for item in range(9)]]]
    assert counts == [1, 3]


def test_kept_chunks_are_not_computed_again():
    """What a look keeps needs no task in the next stage."""
    _, again = run(Compilation([Looked(Numbers((2, 3)))]))
    _, kept = run(Compilation([Looked(Numbers((2, 3)), keep=True)]))
    assert again[1] == 3
    assert kept[1] == 1


def test_independent_looks_share_a_stage():
    """Two questions that do not need each other are asked together."""
    roots = [Looked(Numbers((2, 3))), Looked(Numbers((4, 1)))]
    _, counts = run(Compilation(roots))
    assert len(counts) == 2


def test_a_tiling_that_depends_on_a_look_waits_for_it():
    """Stages follow the dependencies of the questions."""
    values, counts = run(Compilation([Looked(Looked(Numbers((2, 1))))]))
    assert len(counts) == 3
    assert values == [[[3 * 3 * 3 * item for item in range(3)]]]


def test_equal_roots_have_one_set_of_chunks():
    """The same expression twice is one output."""
    compilation = Compilation([Total(Numbers((2, 2))), Total(Numbers((2, 2)))])
    values, _ = run(compilation)
    assert values == [[[6]]]


def test_done_lists_the_keys_of_every_root():
    """The end says what is to be kept."""
    compilation = Compilation([Scaled(Numbers((2, 2)), 2)])
    stage = compilation.advance({})
    assert isinstance(stage, Stage)
    assert len(stage.keys) == 2
    assert set(stage.keys) <= set(stage.graph)


def test_a_failed_key_is_located(monkeypatch):
    """A key leads back to its grid, and so to the operation and the user's line."""
    compilation = Compilation([Total(Scaled(Numbers((2, 2)), 2))])
    stage = compilation.advance({})
    grid, index = compilation.locate(stage.keys[0], ValueError())
    assert grid is not None
    assert grid.node is not None
    assert grid.node.label == "total"
    assert index == (0,)


def test_a_task_above_the_budget_is_refused_before_anything_runs():
    """The plan is checked against the memory that there is."""
    with pytest.raises(MemoryError, match="scaled"):
        Compilation([Scaled(Numbers((100, 100)), 2)], plan=Plan(budget=900)).advance({})
