"""Long chains of every family of operations: building and planning them is linear in their length.

So is the work between the stages of chains that look. What is counted is calls of functions, not
time.
"""

from __future__ import annotations

import cProfile
import pickle
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.compilation.plan import Plan
from marsdask.core.compilation.tiling import Compilation
from marsdask.learn.preprocessing import StandardScaler
from marsdask.scheduler.base import Stage
from marsdask.scheduler.inprocess.inline import InlineScheduler

SHORT, LONG = 100, 200

Step = Callable[[Any, int], Any]


def square() -> Any:
    return mt.ones((40, 40), chunk_size=10)


def vector() -> Any:
    return mt.ones(64, chunk_size=16)


def frame() -> Any:
    table = {"k": np.arange(40) % 5, "a": np.arange(40), "b": np.arange(40.0)}
    return md.DataFrame(pd.DataFrame(table), chunk_size=10)


def series() -> Any:
    return frame()["b"]


@cache
def scaler() -> StandardScaler:
    return StandardScaler().fit(mt.random.RandomState(0).rand(40, 40, chunk_size=10))


def edited(x: Any, i: int) -> Any:
    x[i % 40] = i
    return x


def extended(df: Any, i: int) -> Any:
    df[f"n{i % 3}"] = df["a"] + i
    return df


def cut(i: int) -> int:
    return 20 if i % 2 else 10


TENSORS: dict[str, tuple[Callable[[], Any], Step]] = {
    "elementwise": (square, lambda x, i: x + i),
    "diamonds": (square, lambda x, i: x * x + mt.where(x > i, x, i)),
    "astype": (square, lambda x, i: x.astype("f4" if i % 2 else "f8")),
    "random": (square, lambda x, i: x + mt.random.RandomState(i).rand(40, 40, chunk_size=10)),
    "sum": (square, lambda x, i: x - x.sum()),
    "mean": (square, lambda x, i: x - x.mean(axis=0)),
    "argmax": (vector, lambda x, i: x + x.argmax()),
    "norm": (square, lambda x, i: x / mt.linalg.norm(x)),
    "slices": (square, lambda x, i: x[::-1]),
    "take": (vector, lambda x, i: x[np.arange(64)[::-1]]),
    "mask": (vector, lambda x, i: x[x > -i]),
    "setitem": (square, edited),
    "concatenate": (square, lambda x, i: mt.concatenate([x[:20], x[20:]])),
    "stack": (square, lambda x, i: mt.stack([x, x])[0]),
    "reshape": (square, lambda x, i: x.reshape(1600).reshape(40, 40)),
    "transpose": (square, lambda x, i: x.T),
    "broadcast": (vector, lambda x, i: mt.broadcast_to(x, (4, 64))[0]),
    "rechunk": (square, lambda x, i: (x + i).rechunk(cut(i))),
    "cumsum": (vector, lambda x, i: x.cumsum()),
    "sort": (vector, lambda x, i: mt.sort(x)),
    "unique": (vector, lambda x, i: mt.unique(x)),
    "percentile": (vector, lambda x, i: x - mt.percentile(x, 50)),
    "map_blocks": (square, lambda x, i: x.map_blocks(np.negative)),
    "map_overlap": (vector, lambda x, i: x.map_overlap(np.negative, depth=1)),
    "dot": (square, lambda x, i: x @ x),
    "einsum": (square, lambda x, i: mt.einsum("ij,jk->ik", x, x)),
    "fft": (vector, lambda x, i: mt.fft.fft(x).real),
    "masked": (square, lambda x, i: mt.ma.masked_equal(x, i).filled(0)),
    "scaler": (square, lambda x, i: scaler().transform(x)),
}

FRAMES: dict[str, tuple[Callable[[], Any], Step]] = {
    "assign": (frame, lambda d, i: d.assign(n=d.a * 2 + d.b)),
    "setitem": (frame, extended),
    "filter": (frame, lambda d, i: d[d.a > -i]),
    "project": (frame, lambda d, i: d[["a", "b"] if i % 2 else ["b", "a"]]),
    "arithmetic": (series, lambda s, i: s * s + s),
    "where": (series, lambda s, i: s.where(s > 0, 0)),
    "sum": (series, lambda s, i: s - s.sum()),
    "groupby": (frame, lambda d, i: d.groupby("k").agg({"a": "sum", "b": "mean"}).reset_index()),
    "merge": (frame, lambda d, i: d.merge(d[["k"]].drop_duplicates(), on="k")),
    "concat": (frame, lambda d, i: md.concat([d.iloc[:20], d.iloc[20:]])),
    "sort_values": (frame, lambda d, i: d.sort_values("a")),
    "set_index": (frame, lambda d, i: d.set_index("a").reset_index()),
    "drop_duplicates": (frame, lambda d, i: d.drop_duplicates()),
    "fillna": (frame, lambda d, i: d.fillna(0)),
    "astype": (frame, lambda d, i: d.astype({"a": "f8" if i % 2 else "i8"})),
    "iloc": (frame, lambda d, i: d.iloc[::-1]),
    "tensor": (series, lambda s, i: md.Series(s.to_tensor() + 1)),
}

FAMILIES = {f"tensor {name}": chain for name, chain in TENSORS.items()}
FAMILIES |= {f"frame {name}": chain for name, chain in FRAMES.items()}


def built(family: str, length: int) -> Any:
    """Return the end of a chain."""
    start, step = FAMILIES[family]
    chain = start()
    for number in range(length):
        chain = step(chain, number)
    return chain


def planned(chain: Any, *, coalesce: bool) -> Any:
    """Return the first stage of what computes a chain."""
    plan = Plan(workers=4, budget=8 << 30, coalesce=coalesce)
    return Compilation([chain.node], plan=plan).advance({})


def calls(work: Callable[[], Any]) -> tuple[int, Any]:
    """Return how many functions are called by some work, and its result."""
    profile = cProfile.Profile()
    result = profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats()), result


@pytest.mark.parametrize("family", FAMILIES)
def test_chains_cost_what_their_links_cost(family: str) -> None:
    """Twice the length is at most 2.2 times the calls, from the first call to the tasks."""
    planned(built(family, 3), coalesce=True)
    costs = []
    for length in (SHORT, LONG):
        building, chain = calls(partial(built, family, length))
        merged, _ = calls(partial(planned, chain, coalesce=True))
        apart, _ = calls(partial(planned, chain, coalesce=False))
        costs.append((building, merged, apart))
    ratios = [long / short for short, long in zip(*costs, strict=True)]
    assert max(ratios) <= 2.2, (ratios, costs)


#: Chains of which each link asks what only running tells.
LOOKING: dict[str, tuple[Callable[[], Any], Step]] = {
    "sort": TENSORS["sort"],
    "unique": TENSORS["unique"],
    "median": (vector, lambda x, i: x - mt.median(x)),
    "mask": (vector, lambda x, i: x[x > -i][::-1]),
}


def driven(start: Callable[[], Any], step: Step, length: int) -> tuple[int, int]:
    """Return the calls of all advances that compute a chain, and how many stages there were."""
    chain = start()
    for number in range(length):
        chain = step(chain, number)
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
    (short, few), (long, many) = (driven(*LOOKING[family], length) for length in (20, 40))
    assert many - few >= 20
    assert long <= 2.2 * short, (short, long)


@pytest.mark.parametrize("family", ["tensor elementwise", "tensor mean", "frame filter"])
def test_chains_may_be_longer_than_pythons_stack(family: str) -> None:
    """2,000 operations are built, planned, pickled and explained without recursion."""
    chain = built(family, 2000)
    assert planned(chain, coalesce=True).graph
    copy = pickle.loads(pickle.dumps(chain))
    assert copy.node.name == chain.node.name
    assert "Tasks of the first stage" in chain.explain()
