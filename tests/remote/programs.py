"""Programs of remote functions, which every scheduler runs to the same end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import dask
import dask.bag
import numpy as np
import pandas as pd

import marsdask
import marsdask.dataframe as md
import marsdask.remote as mr
import marsdask.tensor as mt


def inc(x: Any) -> Any:
    return x + 1


def add(*numbers: Any, **named: Any) -> Any:
    return sum(numbers) + sum(named.values())


def seen(value: Any) -> Any:
    return value


def driver(count: int) -> Any:
    """Call functions from within a function."""
    return sum(mr.ExecutableTuple([mr.spawn(inc, (i,)) for i in range(count)]).execute().fetch())


def nested(depth: int) -> int:
    """Wait for a function that waits for a function, on however few threads."""
    return 0 if not depth else 1 + mr.spawn(nested, (depth - 1,)).execute().fetch()


def later(count: int) -> float:
    """Compute beside the function's own thread, and wait for it."""
    return float(mt.ones(count, chunk_size=2).sum().execute(wait=False).result().fetch())


def total(tileable: Any) -> Any:
    """Compute with a tensor or a frame that came as it is."""
    result = tileable.sum().execute().fetch()
    return type(tileable).__name__, float(np.sum(result))


def part(tensor: Any) -> Any:
    return tensor[2:5].execute().fetch().tolist()


def kinds(*values: Any) -> Any:
    return [type(value).__name__ for value in values]


def mine() -> int:
    """Use a session of the function's own, which nobody else sees."""
    with marsdask.new_session("synchronous") as session:
        assert marsdask.get_default_session() is session
        return int(mt.arange(4).sum().execute().fetch())


def modify(values: Any) -> Any:
    values[0] = -1
    return len(values)


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class TwoFields:
    left: Any
    right: Any


def _nested_arguments() -> Any:
    one, two = mr.spawn(inc, (0,)), mr.spawn(inc, (1,))
    nest = {
        "list": [one, (two, {one: 3})],
        "point": Point(one, two),
        "pair": TwoFields(one, [two]),
        "ordered": OrderedDict(a=one),
        "slice": slice(one, two),
        "set": {two, 9},
    }
    return mr.spawn(seen, (nest,)).execute().fetch()


def _modified() -> Any:
    first = mr.spawn(seen, ([1, np.zeros(2)],)).execute()
    mr.spawn(modify, (first,)).execute()
    mr.spawn(modify, (mr.spawn(seen, (first,)),)).execute()
    first.fetch()[0] = 7
    return first.fetch()[0]


def _several() -> Any:
    low, high = mr.spawn(divmod, (17, 5), n_output=2)
    low.execute()
    return [low.fetch(), high.fetch(), mr.spawn(add, (low, high)).execute().fetch()]


def _with_dask() -> Any:
    bag = dask.bag.from_sequence([1, 2, 3], npartitions=2).map(inc)
    inner = mr.spawn(add, (dask.delayed(inc)(1), bag.sum()), {"more": dask.delayed(10)})
    both = dask.compute(dask.delayed(inc)(inner), mr.spawn(inc, (5,)), mt.arange(3).sum())
    return [inner.execute().fetch(), *map(int, both)]


def _handles() -> Any:
    tensor = mt.arange(10, chunk_size=4)
    frame = md.DataFrame({"a": [1, 2, 3]}, chunk_size=2)
    calls = [
        mr.spawn(total, (tensor,)),
        mr.spawn(total, (tensor + 1,)),
        mr.spawn(total, (frame,)),
        mr.spawn(part, (tensor,)),
        mr.spawn(kinds, (tensor, frame, frame["a"]), resolve_tileable_input=True),
    ]
    return mr.ExecutableTuple(calls).execute().fetch()


def fetched(tensor: Any) -> Any:
    return tensor.fetch().tolist()


def _held() -> Any:
    """Fetch executed collections within functions, as arguments and of closures."""
    tensor, called = mt.arange(5, chunk_size=2).execute(), mr.spawn(inc, (1,)).execute()

    def inside() -> Any:
        return [tensor.fetch().tolist(), (tensor + 1).execute().fetch().tolist(), called.fetch()]

    def again() -> Any:
        return [tensor.execute().fetch().tolist(), called.execute().fetch()]

    calls = [mr.spawn(fetched, (tensor,)), mr.spawn(fetched, (mt.arange(3, chunk_size=2),))]
    calls += [mr.spawn(inside), mr.spawn(again)]
    return mr.ExecutableTuple(calls).execute().fetch()


def _frame() -> Any:
    frame = mr.spawn(pd.DataFrame, ({"a": [1]},))
    return mr.spawn(seen, (frame,)).compute()["a"].tolist()


#: Programs by what they show, and what comes out of them.
PROGRAMS: dict[str, tuple[Callable[[], Any], Any]] = {
    "one call": (lambda: mr.spawn(inc, 1).execute().fetch(), 2),
    "keywords": (lambda: mr.spawn(add, (1,), {"b": mr.spawn(inc, (1,))}).compute(), 3),
    "several calls": (
        lambda: marsdask.fetch(marsdask.execute([mr.spawn(inc, (i,)) for i in range(3)])),
        [1, 2, 3],
    ),
    "chains": (lambda: mr.spawn(sum, ([mr.spawn(inc, (i,)) for i in range(4)],)).compute(), 10),
    "nested arguments": (
        _nested_arguments,
        {
            "list": [1, (2, {1: 3})],
            "point": Point(1, 2),
            "pair": TwoFields(1, [2]),
            "ordered": OrderedDict(a=1),
            "slice": slice(1, 2),
            "set": {2, 9},
        },
    ),
    "arguments are the function's own": (_modified, 1),
    "several results": (_several, [3, 2, 5]),
    "calls inside": (lambda: mr.spawn(driver, (4,)).execute().fetch(), 10),
    "nested waits": (lambda: mr.spawn(nested, (3,)).execute().fetch(), 3),
    "a future inside": (lambda: mr.spawn(later, (5,)).execute().fetch(), 5.0),
    "a session inside": (lambda: mr.spawn(mine).execute().fetch(), 6),
    "tensors and frames": (
        _handles,
        [
            ("Tensor", 45.0),
            ("Tensor", 55.0),
            ("DataFrame", 6.0),
            [2, 3, 4],
            ["ndarray", "DataFrame", "Series"],
        ],
    ),
    "executed collections": (
        _held,
        [
            [0, 1, 2, 3, 4],
            [0, 1, 2],
            [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5], 2],
            [[0, 1, 2, 3, 4], 2],
        ],
    ),
    "Dask's collections": (_with_dask, [21, 22, 6, 3]),
    "frames as values": (_frame, [1]),
}
