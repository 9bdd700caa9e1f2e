"""Snapshots: a value is what it was at the call, and equal expressions written later are right."""

from __future__ import annotations

import collections
import dataclasses
import functools
import random
import threading
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression

import marsdask.dataframe as md
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.snapshots.snapshot import Snapshot, frozen_copy, is_frozen
from marsdask.learn.cluster import KMeans
from marsdask.learn.wrappers import ParallelPostFit


class Add:
    """Adds what it holds."""

    def __init__(self, k: Any) -> None:
        self.k = k

    def __call__(self, block: Any, *_: Any) -> Any:
        return block + self.k[0]

    def plus(self, block: Any) -> Any:
        """Return the sum."""
        return block + self.k[0]


@dataclasses.dataclass
class BufferHolder:
    """Holds something."""

    k: Any


Named = collections.namedtuple("Named", "k")  # noqa: PYI024 - a plain one


def add(block: Any, k: Any) -> Any:
    """Return the block and a number more."""
    return block + k[0]


def add_first(block: Any, k: Any) -> Any:
    """Return the block and a number more that lies deeper."""
    return block + first(k)


def first(value: Any) -> Any:
    """Return the first number in containers."""
    while not isinstance(value, float | int | str | np.generic):
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value


def wrapping(k: Any) -> Any:
    """Return a function under the name of one that can be imported."""

    @functools.wraps(add)
    def inner(block: Any) -> Any:
        return block + k[0]

    return inner


def through(k: Any) -> Any:
    """Return a function that captures a function that captures."""

    def inner(block: Any) -> Any:
        return block + k[0]

    return lambda block: inner(block) + 1


def with_attribute(k: Any) -> Any:
    """Return a function that reads an attribute of its own."""

    def inner(block: Any) -> Any:
        return block + inner.k[0]  # type: ignore[attr-defined]

    inner.k = k  # type: ignore[attr-defined]
    return inner


def vectorized(k: Any) -> Any:
    """Return a vectorized function that has run: it keeps what cannot be pickled."""
    func = np.vectorize(lambda x: x + k[0], otypes=[float])
    func(1.0)
    return func


def t() -> Any:
    """Return a tensor."""
    return mt.tensor(np.arange(1.0, 5.0), chunk_size=2)


def s() -> Any:
    """Return a series."""
    return md.Series([1.0, 2.0, 3.0, 4.0], chunk_size=2)


def d() -> Any:
    """Return a frame."""
    return md.DataFrame({"g": [1, 1, 2, 2], "v": [1.0, 2.0, 3.0, 4.0]}, chunk_size=2)


def filled(x: Any, key: Any, value: Any) -> Any:
    """Return a collection after an assignment."""
    x[key] = value
    return x


def objects(item: Any) -> Any:
    """Return an array of two objects."""
    made = np.empty(2, object)
    made[0] = made[1] = item
    return made


def clusters(model: Any) -> Any:
    """Return lazy numbers of clusters."""
    return model.fit(t()[:, None]).predict(t()[:, None])


def mapped(func: Any, **kwargs: Any) -> Any:
    """Return a function of the chunks of a tensor."""
    return t().map_blocks(func, dtype=float, **kwargs)


def total(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a sum."""
    return x.sum(axis, keepdims=keepdims)


#: Public functions with what they are given: a list, and an array.
TAKING: dict[str, Any] = {
    "map_blocks": lambda k: mapped(add, k=k),
    "map_chunk": lambda k: t().map_chunk(add, k=k),
    "Tensor.map_overlap": lambda k: t().map_overlap(add, depth=0, k=k, dtype=float),
    "map_overlap": lambda k: mt.map_overlap(add, t(), depth=0, k=k, dtype=float),
    "apply_gufunc": lambda k: mt.apply_gufunc(add, "()->()", t(), k=k, output_dtypes=float),
    "blockwise": lambda k: mt.blockwise(add, "i", t(), "i", k=k, dtype=float),
    "fromfunction": lambda k: mt.fromfunction(add, shape=(4,), chunk_size=2, dtype=float, k=k),
    "apply_along_axis": lambda k: mt.apply_along_axis(add, 0, mt.ones((4, 4), chunk_size=2), k),
    "apply_along_axis(k=)": lambda k: mt.apply_along_axis(add, 0, mt.ones((4, 4)), k=k),
    "apply_over_axes": lambda k: mt.apply_over_axes(
        lambda a, axis: total(a, axis, True) + k[0], mt.ones((4, 4), chunk_size=2), [0]
    ),
    "vectorize": lambda k: mt.vectorize(lambda x: x + k[0], otypes=[float])(t()),
    "frompyfunc": lambda k: mt.frompyfunc(lambda x: x + k[0], 1, 1)(t()),
    "piecewise": lambda k: mt.piecewise(t(), [t() > 2], [lambda x: x + k[0], 0]),
    "reduction": lambda k: mt.reduction(
        t(),
        chunk=lambda x, axis, keepdims: total(x, axis, keepdims) + k[0],
        aggregate=total,
        dtype=float,
    ),
    "coarsen": lambda k: mt.coarsen(lambda x, axis: x.sum(axis) + k[0], t(), {0: 2}),
    "partial": lambda k: mapped(functools.partial(add, k=k)),
    "closure": lambda k: mapped(lambda x: x + k[0]),
    "closure in closure": lambda k: mapped(through(k)),
    "default": lambda k: mapped(lambda x, k=k: x + k[0]),
    "keyword default": lambda k: mapped(lambda x, *, k=k: x + k[0]),
    "functools.wraps": lambda k: mapped(wrapping(k)),
    "attribute of the function": lambda k: mapped(with_attribute(k)),
    "callable object": lambda k: mapped(Add(k)),
    "bound method": lambda k: mapped(Add(k).plus),
    "object in closure": lambda k: mapped(through(BufferHolder(k).k)),
    "dataclass": lambda k: mapped(lambda x, held: x + held.k[0], held=BufferHolder(k)),
    "named tuple": lambda k: mapped(lambda x, held: x + held.k[0], held=Named(k)),
    "namespace": lambda k: mapped(lambda x, held: x + held.k[0], held=types.SimpleNamespace(k=k)),
    "in a tuple": lambda k: mapped(add_first, k=(k,)),
    "in a deque": lambda k: mapped(add_first, k=collections.deque([k])),
    "in a defaultdict": lambda k: mapped(add_first, k=collections.defaultdict(list, a=k)),
    "in objects": lambda k: mapped(add_first, k=objects(k)),
    "in a series": lambda k: mapped(add_first, k=pd.Series([k, k])),
    "spawn(args=)": lambda k: mr.spawn(first, args=(k,)),
    "spawn(kwargs=)": lambda k: mr.spawn(add, args=(0,), kwargs={"k": k}),
    "spawn nested": lambda k: mr.spawn(first, args=({"a": [k]},)),
    "spawn closure": lambda k: mr.spawn(lambda: first(k)),
    "spawn partial": lambda k: mr.spawn(functools.partial(first, k)),
    "spawn object": lambda k: mr.spawn(Add(k), args=(1,)),
    "spawn several": lambda k: mr.spawn(lambda: (first(k), 2), n_output=2)[0],
    "Series.apply(args=)": lambda k: s().apply(add, args=(k,)),
    "Series.apply(k=)": lambda k: s().apply(add, k=k),
    "Series.map": lambda k: s().map(lambda x: x + k[0]),
    "Series.map_partitions": lambda k: s().map_partitions(add, k=k),
    "Series.map_chunk": lambda k: s().map_chunk(add, args=(k,)),
    "Series.map_overlap": lambda k: s().map_overlap(add, 1, 1, k=k),
    "Series.transform": lambda k: s().transform(add, 0, k),
    "Series.agg": lambda k: s().agg(lambda x: x.sum() + k[0]),
    "Series.combine": lambda k: s().combine(s(), lambda x, y: x + y + k[0]),
    "Series.pipe": lambda k: s().pipe(add, k),
    "Series.isin": lambda k: s().isin(k),
    "Index.isin": lambda k: md.Index([1.0, 2.0]).isin(k),
    "Index.map": lambda k: md.Index([1.0, 2.0]).map(lambda x: x + k[0]),
    "Series.replace": lambda k: s().replace(k, 9.0),
    "DataFrame.isin": lambda k: d().isin(k),
    "DataFrame.apply": lambda k: d().apply(lambda row, k: row.sum() + k[0], axis=1, args=(k,)),
    "DataFrame.map": lambda k: d().map(add, k=k),
    "DataFrame.map_partitions": lambda k: d().map_partitions(add, k),
    "DataFrame.assign": lambda k: d().assign(q=lambda frame: frame.v + k[0]),
    "query": lambda k: d().query("v in @k"),
    "query(local_dict=)": lambda k: d().query("v in @q", local_dict={"q": k}),
    "groupby.apply": lambda k: d().groupby("g").apply(lambda x, k: x.v.sum() + k[0], k),
    "groupby.agg": lambda k: d().groupby("g").agg(lambda x: x.sum() + k[0]),
    "groupby.transform": lambda k: d().groupby("g").transform(add, k),
    "groupby.filter": lambda k: d().groupby("g").filter(lambda x: x.v.sum() > k[0]),
    "rolling.apply": lambda k: s().rolling(2).apply(lambda x, k: x.sum() + k[0], args=(k,)),
    "expanding.apply": lambda k: s().expanding().apply(lambda x: x.sum() + k[0]),
    "from_map(args=)": lambda k: md.from_map(
        lambda i, k: pd.DataFrame({"a": [i + k[0]]}), [1.0, 2.0], args=(k,)
    ),
    "from_map items": lambda k: md.from_map(lambda i: pd.DataFrame({"a": [i[0]]}), [k, k]),
    "Series": lambda k: md.Series(k) + 1,
    "Series of objects": lambda k: md.Series(pd.Series([k, k])).map(first),
    "DataFrame": lambda k: md.DataFrame({"a": k}) + 1,
    "DataFrame of objects": lambda k: md.DataFrame({"a": [k, k], "b": 1}).a.map(first),
    "tensor": lambda k: mt.tensor(k) + 1,
    "tensor of objects": lambda k: mt.tensor(objects(k)).map_blocks(
        lambda x: np.array([first(item) for item in x]), dtype=float
    ),
    "tensor.isin": lambda k: mt.isin(t(), k),
    "interp": lambda k: mt.interp(t(), [1.0, 10.0], k),
    "insert": lambda k: mt.insert(t(), 1, k),
    "setitem": lambda k: filled(mt.zeros(2), slice(None), k),
    "column": lambda k: filled(d(), "q", [*k, *k]),
    "random": lambda k: mt.random.RandomState(0).normal(k, 1.0),
}

#: Others, with what makes the value, and what changes it.
OTHERS: dict[str, Any] = {
    "Series.map(dict)": (lambda k: s().map(k), lambda: {1.0: 3.0}, lambda k: k.update({1.0: 7})),
    "Series.map(dict.get)": (
        lambda k: s().map(k.get),
        dict.fromkeys((1.0, 2.0, 3.0, 4.0), 3).copy,
        lambda k: k.update({1.0: 7}),
    ),
    "Series.map(Series)": (
        lambda k: s().map(k),
        lambda: pd.Series([3.0, 4.0], [1.0, 2.0]),
        lambda k: k.__setitem__(1.0, 7),
    ),
    "Series.map(Series of a buffer)": (
        lambda k: s().map(pd.Series(k, [1.0, 2.0], copy=False)),
        lambda: np.array([3.0, 4.0]),
        lambda k: k.fill(7),
    ),
    "replace(dict)": (lambda k: s().replace(k), lambda: {1.0: 3.0}, lambda k: k.update({1.0: 7})),
    "fillna(dict)": (
        lambda k: md.DataFrame({"a": [np.nan]}).fillna(k),
        lambda: {"a": 3.0},
        lambda k: k.update(a=7),
    ),
    "isin(dict)": (lambda k: d().isin(k), lambda: {"v": [1.0]}, lambda k: k["v"].append(4.0)),
    "astype(dict)": (lambda k: d().astype(k), lambda: {"v": int}, lambda k: k.update(g=float)),
    "agg(dict)": (
        lambda k: d().groupby("g").agg(k),
        lambda: {"v": ["sum"]},
        lambda k: k["v"].append("max"),
    ),
    "mapping proxy": (
        lambda k: mapped(lambda x, k: x + k["a"], k=types.MappingProxyType(k)),
        lambda: {"a": 1.0},
        lambda k: k.update(a=7.0),
    ),
    "view of a dict": (
        lambda k: mapped(add_first, k=k.values()),
        lambda: {"a": 1.0},
        lambda k: k.update(a=7.0),
    ),
    "np.vectorize": (
        lambda k: mapped(vectorized(k)),
        lambda: [1.0],
        lambda k: k.__setitem__(0, 7.0),
    ),
    "set": (lambda k: mapped(add_first, k=k), lambda: {1.0}, lambda k: (k.clear(), k.add(7.0))),
    "bytearray": (lambda k: mapped(add, k=k), lambda: bytearray(b"a"), lambda k: k.insert(0, 9)),
    "memoryview": (lambda k: mapped(add, k=memoryview(k)), lambda: np.ones(2), lambda k: k.fill(7)),
    "array view": (lambda k: mapped(add, k=k[::-1]), lambda: np.ones(2), lambda k: k.fill(7)),
    "read-only view": (
        lambda k: mapped(add, k=np.broadcast_to(k, (2, 2))[0]),
        lambda: np.ones(2),
        lambda k: k.fill(7),
    ),
    "masked array": (
        lambda k: mapped(add, k=np.ma.masked_array(k, [False, True])),
        lambda: np.ones(2),
        lambda k: k.fill(7),
    ),
    "structured scalar": (
        lambda k: mapped(add, k=k[0]),
        lambda: np.array([(1.0,)], [("a", float)]),
        lambda k: k.fill(7),
    ),
    "sparse matrix": (
        lambda k: mapped(lambda x, k: x + k.sum(), k=k),
        lambda: scipy.sparse.csr_matrix(np.eye(2)),
        lambda k: k.data.fill(7),
    ),
    "KMeans(init=)": (
        lambda k: clusters(KMeans(2, init=k[:, None], n_init=1, max_iter=1)),
        lambda: np.array([1.0, 4.0]),
        lambda k: k.__setitem__(slice(None), [4.0, 1.0]),
    ),
}


def fitted() -> Any:
    """Return a model of scikit-learn."""
    return LinearRegression().fit(np.arange(4.0)[:, None], np.arange(4.0))


def refit(model: Any) -> None:
    """Let a model learn something else."""
    model.fit(np.arange(4.0)[:, None], 100 * np.arange(4.0))


MODELS: dict[str, Any] = {
    "ParallelPostFit": lambda m: ParallelPostFit(m).predict(t()[:, None]),
    "method of a model": lambda m: t()[:, None].map_blocks(m.predict, dtype=float, drop_axis=1),
    "model in a closure": lambda m: t()[:, None].map_blocks(
        lambda x: m.predict(x) + 1, dtype=float, drop_axis=1
    ),
    "model as keyword": lambda m: t()[:, None].map_blocks(
        lambda x, m: m.predict(x), m=m, dtype=float, drop_axis=1
    ),
    "spawn(model)": lambda m: mr.spawn(lambda m: m.predict([[1.0]])[0], args=(m,)),
}

ROWS: list[Any] = [
    *(
        pytest.param(build, make, lambda k: k.__setitem__(0, 7.0), id=f"{name} {make.__name__}")
        for name, build in TAKING.items()
        for make in (
            type("list", (), {"__new__": lambda _: [1.0, 2.0]}),
            type("array", (), {"__new__": lambda _: np.array([1.0, 2.0])}),
        )
    ),
    *(pytest.param(*row, id=name) for name, row in OTHERS.items()),
    *(pytest.param(build, fitted, refit, id=name) for name, build in MODELS.items()),
]


def value(lazy: Any) -> str:
    """Return the text of a computed value."""
    found = lazy.execute().fetch() if isinstance(lazy, mr.Object) else lazy.compute()
    if isinstance(found, pd.DataFrame | pd.Series):
        return f"{found.to_dict()}{getattr(found, 'name', '')}"
    return repr(np.round(np.asarray(found, float), 6).tolist())


@pytest.mark.parametrize("coalesce", [True, False])
@pytest.mark.parametrize(("build", "make", "change"), ROWS)
def test_values_are_those_of_the_call(build, make, change, coalesce):
    """In any history, and of equal expressions that are written after the change."""
    with option_context({"coalesce": coalesce}):
        changed = make()
        change(changed)
        old, new = value(build(make())), value(build(changed))
        assert old != new
        for history in ("kept", "computed", "executed before", "executed after"):
            held = make()
            lazy = build(held)
            if history == "computed":
                value(lazy)
            if history == "executed before":
                lazy.execute()
            change(held)
            if history == "executed after":
                lazy.execute()
            found = value(build(make())), value(lazy), value(build(held))
            assert found == (old, old, new), history


def test_functions_of_loops_have_their_own_values():
    """A captured variable that is set again does not reach the functions made before."""
    several = [mapped(lambda x: x + number) for number in (1.0, 2.0, 3.0)]  # noqa: B023
    assert [float(x.compute()[0]) for x in several] == [2.0, 3.0, 4.0]


def test_three_calls_over_one_buffer():
    """Each has the values of its call."""
    buffer, calls = np.zeros(1), []
    for number in (0, 2, 4):
        buffer[:] = number
        calls.append(mr.spawn(first, args=(buffer,)))
    assert [call.execute().fetch() for call in calls] == [0, 2, 4]


def test_what_never_changes_is_not_copied():
    """Plain values, functions that capture nothing, and copies are taken as they are."""
    frozen = frozen_copy(np.ones(3))
    values = (1, "a", (2, (3.0, None)), np.float64(1), np.dtype(int), add, np.sum, Add, frozen)
    snapshot = Snapshot()
    assert snapshot.of(values) is values
    plain = lambda x: x + 1
    assert snapshot.of(plain) is plain
    model = snapshot.of(fitted())
    assert Snapshot().of(model) is model
    assert not snapshot.shares
    assert is_frozen(frozen)


def test_equal_models_share_one_copy():
    """Until a task changes it."""
    one = Snapshot().of(fitted())
    assert Snapshot().of(fitted()) is one
    one.coef_[:] = 5
    assert Snapshot().of(fitted()).coef_[0] == pytest.approx(1)


@pytest.mark.parametrize(
    "make",
    [np.random.default_rng, np.random.RandomState, np.random.PCG64, random.Random],
    ids=lambda make: make.__name__,
)
def test_equal_generators_share_no_copy(make):
    """Drawing from one would move the others, also where they are parts of objects."""
    for value in (make(0), BufferHolder(make(0)), BufferHolder([make(0)])):
        copies = [Snapshot().of(value) for _ in range(2)]
        sources = [getattr(copied, "k", copied) for copied in copies]
        assert copies[0] is not copies[1]
        assert sources[0] is not sources[1]


def test_containers_may_contain_themselves():
    """Their copies do, too."""
    items: list[Any] = [1]
    items.append(items)
    copied = Snapshot().of(items)
    assert copied is not items
    assert copied[1] is copied


def test_recursive_functions_are_copied():
    """They call their copies."""
    weights = [1]

    def power(x, n):
        return weights[0] if n == 0 else x * power(x, n - 1)

    copied = Snapshot().of(power)
    weights[0] = 100
    assert copied(2, 3) == 8


def test_what_cannot_be_copied_has_a_unique_name():
    """Locks are shared, and the functions work."""

    def locked(x, lock):
        with lock:
            return x

    lock = threading.Lock()
    x = mapped(locked, lock=lock)
    assert x.compute().tolist() == [1, 2, 3, 4]
    assert mapped(locked, lock=lock).node is not x.node
