"""What was looked at goes with the last stage that reads it, not at the end of the job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import marsdask.tensor as mt
from marsdask.core.compilation.stage_results import StageResults
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.config import option_context
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid, Ref
from marsdask.core.grids.tree import gather
from marsdask.core.machine.plan import Plan
from marsdask.core.node import Node
from marsdask.core.session import Session
from marsdask.core.sizes import Chunks
from tests.core.recording import RecordingScheduler
from tests.core.toys import Looked, Numbers, Scaled, Total, run


def grid(*inputs: Grid, count: int = 2) -> Grid:
    axes = [(source, (None,)) for source in inputs]
    return blockwise(len, axes, chunks=((1,) * count,))


def keys(*grids: Grid) -> set[Any]:
    return {one.key(index) for one in grids for index in one.indices()}


def refs(*grids: Grid) -> list[Ref]:
    return [ref for one in grids for ref in one.refs()]


def held_after(*stages: tuple[list[Ref], list[Grid]]) -> tuple[StageResults, list[set[Any]]]:
    """Plan stages in turn; return the results, and what each drops."""
    results, dropped = StageResults(), []
    for targets, later in stages:
        results.settle()
        results.plan(targets, later)
        dropped.append(set(results.dropped))
    results.settle()
    return results, dropped


def test_what_is_read_later_is_held():
    """However many grids lie between."""
    source = grid()
    above = grid(grid(source, count=3), count=4)
    results, dropped = held_after((refs(source), [source]), (refs(grid(count=5)), [above]))
    assert set(results.keys) == keys(source, grid(count=5))
    assert results.grids == {source.name, grid(count=5).name}
    assert dropped == [set(), set()]


def test_what_nothing_reads_is_dropped():
    """With the stage after which that is so, which may read it itself."""
    source = grid()
    above = grid(source, count=3)
    results, dropped = held_after((refs(source), [source]), (refs(above), []))
    assert dropped[1] == keys(source)
    assert set(results.keys) == keys(above)


def test_what_lies_below_held_chunks_is_not_read():
    """Unless some of these are not held."""
    source = grid()
    above = grid(source, count=3)
    top = grid(above, count=4)
    first = (refs(source), [source])
    assert held_after(first, (refs(above), [top]))[1][1] == keys(source)
    assert held_after(first, (refs(above)[:2], [top]))[1][1] == set()


def test_results_are_not_dropped():
    """What the last stage wants may have been looked at before."""
    source, other = grid(), grid(count=3)
    _, dropped = held_after((refs(source, other), [source]), (refs(source), []))
    assert dropped[1] == keys(other)


class Watching(RecordingScheduler):
    """Notes which keys are held as each graph comes."""

    def __init__(self) -> None:
        super().__init__()
        self.at_submit: list[set[Any]] = []

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        self.at_submit.append(self.results)
        return super().submit(*args, **kwargs)


def executed(*nodes: Node) -> tuple[Watching, list[list[Any]]]:
    """Execute nodes in a session of their own; return its scheduler and the values."""
    scheduler = Watching()
    with Session(scheduler) as session:
        stored = session.execute(nodes)
        wanted = {key for one in stored for key in one.result.layout.keys.values()}
        assert scheduler.results == wanted, "nothing but results is held in the end"
        return scheduler, [session.fetch(one) for one in stored]


def test_each_look_is_freed_before_the_next_but_one():
    """A session holds what one stage looked at until the next has read it, however many come."""
    node: Node = Numbers((2, 3))
    for _ in range(6):
        node = Looked(node, keep=True)
    scheduler, values = executed(node)
    assert len(scheduler.at_submit) >= 7
    assert max(map(len, scheduler.at_submit)) <= 4
    assert values == [[run(Compilation([node], plan=Plan(coalesce=False)))[0][0][0]]]


def test_what_another_tiling_reads_stays_until_then():
    """The first look's chunks are dropped with the stage in which the slower one reads them."""
    shared = Looked(Numbers((2, 3)), keep=True)
    slow: Node = shared
    for factor in range(2, 5):
        slow = Looked(Scaled(slow, factor), keep=True)
    scheduler, _ = executed(Total(Pair(shared, slow)))
    first = scheduler.at_submit[1]
    assert first
    gone = [len(first - held) for held in scheduler.at_submit]
    assert gone[1] == 0
    assert gone[-1] > 0


@dataclass(frozen=True, eq=False)
class Pair(Node):
    """Two numbers beside each other."""

    a: Node
    b: Node

    @property
    def meta(self) -> Any:
        return []

    @property
    def chunks(self) -> Chunks:
        return ((2,),)

    def tile(self, a: Grid, b: Grid) -> Grid:
        return gather(paired, a, b, chunks=self.chunks, itemsize=8)


def paired(a: list[Any], b: list[Any]) -> list[Any]:
    return [item for blocks in (a, b) for block in blocks for item in block]


def test_sorting_again_and_again_holds_no_more():
    """Whether twice or five times: what is held as a stage begins is as much."""

    def most(times: int) -> int:
        x = mt.tensor(np.arange(400) * 37 % 400, chunk_size=50)
        for _ in range(times):
            x = mt.sort(-x)
        with option_context({"coalesce": False}):
            scheduler, values = executed(x.node)
        assert (np.concatenate(values[0]) == np.sort(np.arange(400) * (-1) ** times)).all()
        return max(map(len, scheduler.at_submit))

    assert most(5) == most(2)
