"""A wrong rule, tiling or stage is found where it is made: at each level by its specification."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest
from dask.task_spec import Task, TaskRef

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.compilation import lowering
from marsdask.core.compilation.passes import Phase, phases_of
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.compilation.verification import (
    SpecificationError,
    StageSpecification,
    verify_graph,
    verify_rewriting,
    verify_tiling,
)
from marsdask.core.graph import Graph
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.plan import Plan
from marsdask.core.node import Node, Part
from marsdask.scheduler.base import Hint
from tests.core.toys import Numbers, Scaled, Total


def frame(**columns: Any) -> Node:
    return md.DataFrame(pd.DataFrame(columns or {"a": [1, 2], "b": [3.0, 4.0]})).node


WRONG: dict[str, tuple[Node, Node]] = {
    "shape": (mt.ones((3, 3)).node, mt.ones((3, 4)).node),
    "dtype": (mt.ones(3).node, mt.ones(3, dtype="f4").node),
    "kind": (mt.ones(3).node, md.Series(pd.Series([1.0, 1.0, 1.0])).node),
    "column left out": (frame(), frame(a=[1, 2])),
    "column renamed": (frame(), frame(a=[1, 2], c=[3.0, 4.0])),
    "columns exchanged": (frame(), frame(b=[3.0, 4.0], a=[1, 2])),
    "column's type": (frame(), frame(a=[1, 2], b=[3, 4])),
    "labels": (
        md.Series(pd.Series([1, 2])).node,
        md.Series(pd.Series([1, 2], index=["x", "y"])).node,
    ),
    "name of the labels": (
        md.Series(pd.Series([1, 2])).node,
        md.Series(pd.Series([1, 2], pd.RangeIndex(2, name="n"))).node,
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_rule_keeps_what_users_see(what):
    """Whatever a rule makes of a root has its shape, its types and its labels."""
    before, after = WRONG[what]

    def wrong(graph: Graph, plan: Plan) -> Graph:
        del plan
        return graph.map(lambda node: after if node is before else node)

    pipeline = (Phase("break", (wrong,)),)
    with pytest.raises(SpecificationError, match="break: wrong"):
        list(phases_of(Graph([before]), Plan(), check=True, pipeline=pipeline))
    verify_rewriting(Graph([before]), Graph([before]), "nothing")


def test_a_rule_may_change_how_things_are_cut():
    """Other chunks of the same values are no other result."""
    before, after = (mt.ones(6, chunk_size=size).node for size in (2, 3))
    verify_rewriting(Graph([before]), Graph([after]), "coalesce")


@dataclass(frozen=True, eq=False)
class Holder(Scaled):
    """A toy with a field that holds anything."""

    extra: Any = None


@pytest.mark.parametrize(
    "hide",
    [
        lambda node: [node],
        lambda node: {"node": node},
        lambda node: ((1, node),),
        lambda node: ([node],),
    ],
    ids=["list", "dict", "pairs", "list in a tuple"],
)
def test_nodes_are_where_rewriting_finds_them(hide: Callable[[Node], Any]):
    """A node in a list, a dict or deeper than in a tuple would be left behind."""
    hidden = Numbers((2,))
    with pytest.raises(SpecificationError, match="its field extra holds nodes"):
        verify_graph(Graph([Holder(Numbers((3,)), 2, hide(hidden))]))
    verify_graph(Graph([Holder(Numbers((3,)), 2, (hidden, 1))]))


def test_nodes_have_sizes_and_parts_that_exist():
    """Chunks are not of negative sizes, and the third of two outputs is none."""
    with pytest.raises(SpecificationError, match="negative size"):
        verify_graph(Graph([Numbers((3, -1))]))
    pair = mt.divmod(mt.ones(3), 2)[0].node
    assert isinstance(pair, Part)
    with pytest.raises(SpecificationError, match="part 2 of 2"):
        verify_graph(Graph([replace(pair, position=2)]))


@dataclass(frozen=True, eq=False)
class WrongLength(Scaled):
    """A toy that loses its last chunk."""

    def tile(self, a: Grid) -> Grid:
        return map_blocks(len, a, chunks=(a.chunks[0][:-1],), itemsize=8)


def test_a_wrong_tiling_is_found_before_it_runs():
    """By a compilation that checks; without, wrong values would come of it."""
    root = Total(WrongLength(Numbers((2, 3)), 2))
    with pytest.raises(SpecificationError, match="other lengths"):
        Compilation([root], check=True).advance({})
    Compilation([root]).advance({})


def grid(*sizes: int, dtype: str = "f8") -> Grid:
    return blockwise(len, [], chunks=(sizes,), meta=mt.ones(0, dtype=dtype).node.meta)


def test_grids_are_as_their_nodes_say():
    """Axes, lengths, types and the number of outputs; and the cut where somebody sees it."""
    node = mt.ones(6, chunk_size=2).node
    verify_tiling(node, grid(6), shown=False)
    verify_tiling(node, grid(2, 2, 2), shown=True)
    with pytest.raises(SpecificationError, match="shown in chunks"):
        verify_tiling(node, grid(6), shown=True)
    with pytest.raises(SpecificationError, match="other lengths"):
        verify_tiling(node, grid(2, 2), shown=False)
    with pytest.raises(SpecificationError, match="became"):
        verify_tiling(node, grid(6, dtype="f4"), shown=False)
    with pytest.raises(SpecificationError, match="2 axes, not 1"):
        verify_tiling(node, blockwise(len, [], chunks=((6,), (1,))), shown=False)
    with pytest.raises(SpecificationError, match="1 outputs, not 2"):
        verify_tiling(node, (grid(6), grid(6)), shown=False)


def test_grids_read_chunks_that_exist():
    """Three chunks each from one of two."""
    node = mt.ones(6, chunk_size=2).node
    wrong = blockwise(len, [(grid(3, 3), (0,))], chunks=((2, 2, 2),))
    with pytest.raises(SpecificationError, match="does not have"):
        verify_tiling(node, wrong, shown=False)
    verify_tiling(node, blockwise(len, [(grid(6), (None,))], chunks=((2, 2, 2),)), shown=False)


def stage(**changes: Any) -> tuple[Any, set[Any]]:
    """Verify a stage of two tasks, of which something was changed.

    Return the key of its result, and those of what later stages may read.
    """
    source, last = grid(3, 3), grid(6)
    first, second, target = (source.name, 0), (source.name, 1), (last.name, 0)
    tasks = {
        first: Task(first, len),
        second: Task(second, len),
        target: Task(target, sum, TaskRef(first), TaskRef(second)),
    }
    found: dict[str, Any] = {
        "tasks": tasks,
        "hints": dict.fromkeys(tasks, Hint()),
        "grids": {source.name: source, last.name: last},
        "wanted": (target,),
        **{name: change(first, target, tasks) for name, change in changes.items()},
    }
    specification = StageSpecification([], [last])
    specification.verify(**found)
    readable = set()
    for key in tasks:
        later = Task("later", len, TaskRef(key))
        try:
            specification.verify({"later": later}, {}, {}, wanted=["later"])
        except SpecificationError:
            continue
        readable.add(key)
    return target, readable


def without(tasks: dict[Any, Any], key: Any) -> dict[Any, Any]:
    return {name: task for name, task in tasks.items() if name != key}


def test_a_stage_that_is_right_passes():
    """Later stages may then read what was wanted or kept of it, and nothing else."""
    target, readable = stage()
    assert readable == {target}
    target, readable = stage(kept=lambda first, *_: (first,))
    assert len(readable) == 2
    assert target in readable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": lambda first, _, tasks: without(tasks, first)}, "needs .*: no task"),
        ({"tasks": lambda _, target, tasks: without(tasks, target)}, "to be had: no task"),
        ({"hints": lambda first, _, tasks: without(tasks, first)}, "has no hint"),
        ({"wanted": lambda first, *_: (first,)}, "nothing needs"),
        ({"dropped": lambda first, *_: (first,)}, "was not kept"),
        ({"kept": lambda first, *_: ((*first, 1),)}, "to be had: no task"),
        (
            {"tasks": lambda first, _, tasks: {**tasks, (first[0], 2): Task((first[0], 2), len)},
             "hints": lambda first, _, tasks: {**tasks, (first[0], 2): Hint()}},
            "has no chunk",
        ),
    ],
)  # fmt: skip
def test_a_wrong_stage_is_found(changes, message):
    """A task too few or too many, a key without a value, a chunk that the grid does not have."""
    with pytest.raises(SpecificationError, match=message):
        stage(**changes)


def test_later_windows_read_what_earlier_ones_keep():
    """Until it is dropped: its last reader may be in the window that drops it, none after."""
    source, last = grid(3, 3), grid(2, 2, 2)
    first, second = (source.name, 0), (last.name, 0)
    grids = {source.name: source, last.name: last}
    made = {first: Task(first, len)}
    read = {second: Task(second, len, TaskRef(first))}
    windows = StageSpecification([], [last])
    windows.verify(made, made, grids, wanted=(), kept=(first,))
    windows.verify(read, read, grids, wanted=(second,), dropped=(first,))
    third = (last.name, 1)
    late = {third: Task(third, len, TaskRef(first))}
    with pytest.raises(SpecificationError, match="no task"):
        windows.verify(late, late, grids, wanted=(third,))


def test_a_wrong_lowering_is_found_before_it_runs(monkeypatch):
    """A task that names a chunk which nothing makes never reaches a scheduler."""
    make = lowering.Lowering.make

    def forgetful(self, key, grid, index):
        task, hint, needs = make(self, key, grid, index)
        return task, hint, needs[:-1]

    root = Total(Numbers((2, 3)))
    assert Compilation([root], check=True).advance({}).keys
    monkeypatch.setattr(lowering.Lowering, "make", forgetful)
    with pytest.raises(SpecificationError, match="no task"):
        Compilation([root], check=True).advance({})


@pytest.mark.parametrize(("value", "found"), [("1", "True"), ("0", "False"), ("", "False")])
def test_the_environment_turns_it_on(value, found):
    """MARSDASK_VERIFY=1 is the option's default."""
    code = "from marsdask.core.config import options; print(options.verify)"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MARSDASK_VERIFY": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == found
