"""Long chains of every family of operations: building and planning them is linear in their length.

So is the work between the stages of chains that look. What is counted is calls of functions, not
time.
"""

from __future__ import annotations

import cProfile
import inspect
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from benchmarks.chains.arrays import ARRAYS
from benchmarks.chains.family import OURS, Family, Vocabulary
from benchmarks.chains.shapes import SHAPES
from benchmarks.chains.tables import TABLES
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Stage
from marsdask.scheduler.inprocess.inline import InlineScheduler

SHORT = 30
#: Families whose links cost more and more until there are so many.
LATE = {"moveaxis": 60, "ravel": 60, "roll": 60}
#: Fewer calls of functions inside each other than there are links.
LINKS, FRAMES = 250, 200

FAMILIES: dict[str, Family] = ARRAYS | SHAPES | TABLES


def built(family: str, length: int) -> Any:
    """Return the end of a chain."""
    return FAMILIES[family].built(OURS, length)


def planned(chain: Any, *, coalesce: bool) -> Any:
    """Return the first stage of what computes a chain."""
    plan = Plan(workers=4, budget=8 << 30, coalesce=coalesce)
    return Compilation([chain.node], plan=plan).advance({})


def calls(work: Callable[[], Any]) -> tuple[int, Any]:
    """Return how many functions are called by some work, and its result."""
    profile = cProfile.Profile()
    result = profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats()), result


@contextmanager
def shallow(frames: int) -> Iterator[None]:
    """Let functions call each other so many levels deep only."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("family", FAMILIES)
def test_chains_cost_what_their_links_cost(family: str) -> None:
    """Twice the length is at most 2.1 times the calls, from the first call to the tasks."""
    planned(built(family, 3), coalesce=True)
    costs = []
    short = LATE.get(family, SHORT)
    for length in (short, 2 * short):
        building, chain = calls(partial(built, family, length))
        merged, _ = calls(partial(planned, chain, coalesce=True))
        apart, _ = calls(partial(planned, chain, coalesce=False))
        costs.append((building, merged, apart))
    ratios = [long / short for short, long in zip(*costs, strict=True)]
    assert max(ratios) <= 2.1, (ratios, costs)


@pytest.mark.parametrize("family", FAMILIES)
def test_links_are_planned_without_recursion(family: str) -> None:
    """Chains longer than the stack is deep get to the tasks of their first stage."""
    planned(built(family, 3), coalesce=True)
    with shallow(FRAMES):
        assert planned(built(family, LINKS), coalesce=True).graph


#: Chains of which each link asks what only running tells.
LOOKING: dict[str, Family] = {
    "sort": SHAPES["sort"],
    "unique": SHAPES["unique"],
    "median": ARRAYS["median"],
    "mask": Family(Vocabulary.vector, lambda v, x, i: x[x > -i][::-1]),
}


def driven(family: Family, length: int) -> tuple[int, int]:
    """Return the calls of all advances that compute a chain, and how many stages there were."""
    chain = family.built(OURS, length)
    scheduler = InlineScheduler()
    compilation = Compilation([chain.node], plan=Plan(workers=4, budget=8 << 30, coalesce=False))
    count, stage = calls(partial(compilation.advance, {}))
    stages = 0
    while isinstance(stage, Stage):
        stages += 1
        scheduler.submit(stage.graph, list(stage.keys), hints=stage.hints)
        scheduler.release(stage.dropped)
        infos = dict(zip(stage.keys, scheduler.info(list(stage.keys)), strict=True))
        more, stage = calls(partial(compilation.advance, infos))
        count += more
    return count, stages


@pytest.mark.parametrize("family", LOOKING)
def test_stages_cost_what_is_new_in_them(family: str) -> None:
    """Twice the looks are at most 2.2 times the calls between them."""
    (short, few), (long, many) = (driven(LOOKING[family], length) for length in (20, 40))
    assert many - few >= 20
    assert long <= 2.2 * short, (short, long)


@pytest.mark.parametrize(
    ("family", "links"), [("x + i", 2000), ("mean(axis=0)", 1100), ("d[d.a > -i]", 1100)]
)
def test_chains_may_be_longer_than_pythons_stack(family: str, links: int) -> None:
    """More operations than Python has frames are built, planned, pickled and explained."""
    chain = built(family, links)
    assert planned(chain, coalesce=True).graph
    copy = pickle.loads(pickle.dumps(chain))
    assert copy.node.name == chain.node.name
    assert "Tasks of the first stage" in chain.explain()
