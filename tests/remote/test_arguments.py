"""Arguments and results of functions: collections in them are found, and all are the function's."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import marsdask
import marsdask.remote as mr
from marsdask.remote.arguments import private, rebuilt


class TwoItems(NamedTuple):
    left: list[int]
    right: int


class Plain:
    def __init__(self) -> None:
        self.items = [1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.items == other.items

    __hash__ = None  # type: ignore[assignment]


#: Values that can be modified, and what modifies them.
MUTABLE = {
    "list": (lambda: [1], lambda value: value.append(2)),
    "set": (lambda: {1}, lambda value: value.add(2)),
    "dict": (lambda: {"a": [1]}, lambda value: value["a"].append(2)),
    "deque": (lambda: deque([1], maxlen=3), lambda value: value.append(2)),
    "Counter": (lambda: Counter(a=1), lambda value: value.update(a=1)),
    "OrderedDict": (lambda: OrderedDict(a=1), lambda value: value.update(b=2)),
    "bytearray": (lambda: bytearray(b"a"), lambda value: value.extend(b"b")),
    "named tuple": (lambda: TwoItems([1], 2), lambda value: value.left.append(2)),
    "instance": (Plain, lambda value: value.items.append(2)),
    "array": (lambda: np.zeros(2), lambda value: value.fill(1)),
    "object array": (lambda: np.array([[1], [2, 3]], dtype=object), lambda v: v[0].append(2)),
    "frame": (lambda: pd.DataFrame({"a": [1]}), lambda value: value.insert(0, "b", 2)),
    "sparse matrix": (lambda: scipy.sparse.csr_matrix(np.eye(2)), lambda v: v.data.fill(7)),
}


@pytest.mark.parametrize("name", MUTABLE)
def test_values_are_the_functions_own(name):
    """To modify an argument, a result or what was fetched changes nothing elsewhere."""
    make, modify = MUTABLE[name]
    expected = repr(_shown(make()))
    given = make()
    with marsdask.new_session("threads", n_workers=1):
        made = mr.spawn(make).execute()
        mr.spawn(modify, (made,)).execute()
        assert repr(_shown(made.fetch())) == expected
        modify(made.fetch())
        assert repr(_shown(made.fetch())) == expected
        mr.spawn(modify, (given,)).execute()
        assert repr(_shown(given)) == expected


def _shown(value: Any) -> Any:
    if isinstance(value, Plain):
        return value.items
    return value.toarray() if scipy.sparse.issparse(value) else value


def test_what_cannot_be_copied_is_shared():
    """The rest of a container is copied, nevertheless."""
    event, items = threading.Event(), [1]
    for value in ([event, items], (event, items), {0: event, 1: items}):
        own = private(value)
        assert own[0] is event
        assert own[1] == items
        assert own[1] is not items


@dataclass(frozen=True, slots=True)
class Derived:
    given: Any
    unused: InitVar[int]
    derived: Any = field(init=False)

    def __post_init__(self, unused: int) -> None:
        object.__setattr__(self, "derived", [self.given, unused])


def test_dataclasses_are_not_built_anew():
    """Objects in all fields are found, whatever the constructor takes."""
    with marsdask.new_session("synchronous"):
        found = mr.spawn(_fields, (Derived(mr.spawn(abs, (-3,)), 5),)).execute().fetch()
    assert found == (3, [3, 5])


def _fields(value: Derived) -> Any:
    return value.given, value.derived


def test_arguments_may_contain_themselves():
    """They arrive as they are, and objects within them are refused."""
    loop: list[Any] = [1]
    loop.append(loop)
    with marsdask.new_session("threads", n_workers=1):
        called = mr.spawn(_turns, (loop, mr.spawn(abs, (-3,))))
        assert called.execute().fetch() == (True, 3)
        loop.append(mr.spawn(abs, (-3,)))
        with pytest.raises(NotImplementedError, match="a list that contains itself; pass them"):
            mr.spawn(_turns, (loop,))


def _turns(loop: list[Any], value: int) -> Any:
    return loop[1] is loop, value


def test_nothing_is_built_where_nothing_changes():
    """Arguments without collections stay the same objects."""
    value = {"a": [1, (2, {3})], "b": slice(1, 2)}
    value["again"] = value["a"]
    assert rebuilt(value["a"], lambda item: item) is value["a"]
