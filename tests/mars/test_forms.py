"""Arguments and forms of Mars's tensors that NumPy has otherwise or not at all, one by one."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.compat

RECORDS = np.array([(1, 2.0), (0, 5.0), (1, 1.0), (0, 0.0)], dtype=[("f", "i4"), ("g", "f8")])
OBJECTS = np.array([1, "a", None, ()], dtype=object)

#: What Mars takes, and what NumPy makes of it: statements, and the value of the last one.
FORMS = {
    "x.execute(fuse_enabled=False, extra_config={}).fetch()": "a",
    "x.execute(n_parallel=2, n_thread=1, compose=False).fetch()": "a",
    "mars.execute(x, x + 1, fuse_enabled=True)[1].fetch()": "a + 1",
    "p = mt.zeros((3, 4)); q = mt.zeros((3, 4)); mt.modf(x / 2, p, q); [p, q]": "np.modf(a / 2)",
    "p = mt.zeros((3, 4)); q = mt.zeros((3, 4), dtype='i4'); mt.frexp(x, p, q); [p, q]": (
        "np.frexp(a)"
    ),
    "p = mt.zeros((3, 4)); q = mt.zeros((3, 4)); mt.modf(x, p, q)[1] is q": "True",
    "mt.add(x, x, mt.zeros((3, 4)))": "a + a",
    "mt.matmul(x, x.T, order='F').execute().fetch().flags.fnc": "True",
    "mt.matmul(x, x.T, order='F')": "a @ a.T",
    "mt.partition(u, 2, return_index=True)[0][2]": "3",
    "u[mt.partition(u, 2, return_index=True)[1]][2]": "3",
    "mt.topk(u, 3, order=None)": "np.array([5, 4, 3])",
    "mt.topk(r, 2, order='g')": "records[[1, 0]]",
    "mt.topk(r, 3, largest=False, order=['f', 'g'], return_index=True)[1]": "np.array([3, 1, 2])",
    "mt.argtopk(r, -2, order='g')": "np.array([3, 2])",
    "mt.sort(r, order='g')": "np.sort(records, order='g')",
    "mt.sort(u, parallel_kind='PSRS', psrs_kinds=['quicksort', 'mergesort', 'mergesort'])": (
        "np.sort(np.array([3, 1, 5, 2, 4]))"
    ),
    "mt.union1d(u, [7, 1], aggregate_size=2)": "np.array([1, 2, 3, 4, 5, 7])",
    "mt.unique(u, aggregate_size=2)": "np.arange(1, 6)",
    "mt.spatial.distance.pdist(x, aggregate_size=2)": "np.array([8.0, 16.0, 8.0])",
    "mt.percentile(x, mt.tensor([10, 50], chunk_size=1))": "np.percentile(a, [10, 50])",
    "mt.quantile(x, mt.tensor([0.1, 0.5]), axis=0, out=mt.zeros((2, 4)))": (
        "np.quantile(a, [0.1, 0.5], axis=0)"
    ),
    "o = mt.zeros(4); mt.percentile(x, 50, axis=0, out=o); o": "np.percentile(a, 50, axis=0)",
    "q, r2 = mt.linalg.qr(x.T, method='sfqr'); q @ r2": "a.T",
    "mt.linalg.svd(mt.tensor(np.vander(np.arange(9.0), 2), chunk_size=(2, 1)))[1]": (
        "np.linalg.svd(np.vander(np.arange(9.0), 2))[1]"
    ),
    "[part.shape for part in mt.linalg.svd(x.T)]": "[(4, 3), (3,), (3, 3)]",
    "mt.linalg.cholesky(mt.tensor([[4.0, 2.0], [2.0, 3.0]]))": (
        "np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 3.0]])).T"
    ),
    "mt.linalg.cholesky(mt.tensor([[4.0, 2.0], [2.0, 3.0]]), lower=True)": (
        "np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 3.0]]))"
    ),
    "mt.delete(mt.arange(9000, chunk_size=500), list(range(0, 9000, 2)))": "np.arange(1, 9000, 2)",
    "r['f'] = [5, 6, 7, 8]; r": "records['f'] = [5, 6, 7, 8]; records",
    "r['g'] = mt.tensor([1.0, 2, 3, 4], chunk_size=2); r": "records['g'] = [1, 2, 3, 4]; records",
    "r[1] = (3, 4.5); r": "records[1] = (3, 4.5); records",
    "r[1:] = [(3, 4.5), (1, 2), (7, 8)]; r": "records[1:] = [(3, 4.5), (1, 2), (7, 8)]; records",
    "r[['g', 'f']] = (7, 8); r": "records[['g', 'f']] = (7, 8); records",
    "r[r['f'] > 0] = (9, 9); r": "records[records['f'] > 0] = (9, 9); records",
    "b = r[:2]; b['f'] = 3; r": "records[:2]['f'] = 3; records",
    "mt.compress([True, False, True, False, False], u[:4])": "np.array([3, 5])",
    "mt.take(u, [5, -1], mode='wrap')": "np.array([3, 4])",
    "mt.take(x, [0, 5], axis=1, mode='clip')": "a[:, [0, 3]]",
    "o = mt.zeros(2); mt.take(x, [1, 2], out=o); o": "np.array([1.0, 2.0])",
    "list(mt.shape(x).execute().fetch())": "[3, 4]",
    "list(mt.linspace(0, 1, 5, retstep=True).execute().fetch())": (
        "list(np.linspace(0, 1, 5, retstep=True))"
    ),
    "mt.all(o2)": "False",
    "mt.any(o2)": "True",
    "mt.all(mt.tensor(np.array([[1, 'a'], [None, 5]], dtype=object), chunk_size=1), axis=0)": (
        "np.array([False, True])"
    ),
    "bool(mt.allclose(x, x + 1e-9))": "True",
    "type(mt.allclose(x, x).execute().fetch()).__name__": "'bool'",
    "mt.in1d([1, 2], [2])": "np.array([False, True])",
    "mt.trapz([1, 2, 3.0])": "4.0",
    "mt.product([1, 2, 3])": "6",
}

#: What fails, and the words of the error.
ERRORS = {
    "mt.bincount([-1, 2])": "must have no negative elements",
    "mt.bincount([[1]])": "object too deep for desired array",
    "mt.bincount([1, 2], minlength=-1)": "'minlength' must not be negative",
    "mt.bincount([1, 2], weights=[1])": "The weights and list don't have the same length",
    "mt.compress([True, False, True, False, True, True], u)": "index 5 is out of bounds",
    "mt.topk(u, 2, order='g')": "Cannot specify order when the array has no fields",
    "r['h'] = 1": "no field of name h",
    "x.execute(nosuch=1)": "unexpected keyword argument 'nosuch'",
}


@pytest.fixture(autouse=True, scope="module")
def mars() -> Iterator[None]:
    """Install the alias, with a session in process as the default one."""
    marsdask.compat.install()
    with marsdask.new_session("synchronous"):
        yield
    marsdask.compat.uninstall()


def run(program: str) -> Any:
    """Return the value of the last statement."""
    mars, mt = importlib.import_module("mars"), importlib.import_module("mars.tensor")
    a = np.arange(12.0).reshape(3, 4)
    names: dict[str, Any] = {"mars": mars, "mt": mt, "np": np, "a": a, "records": RECORDS.copy()}
    names["x"] = mt.tensor(a, chunk_size=2)
    names["u"] = mt.tensor(np.array([3, 1, 5, 2, 4]), chunk_size=3)
    names["r"] = mt.tensor(RECORDS.copy(), chunk_size=3)
    names["o2"] = mt.tensor(OBJECTS, chunk_size=2)
    *first, last = program.split("; ")
    exec("\n".join(first), names)  # noqa: S102 - our own lines
    try:
        return eval(last, names)  # noqa: S307
    except SyntaxError:
        exec(last, names)  # noqa: S102
        return None


def plain(value: Any) -> Any:
    """Return arrays in place of tensors."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.execute().fetch() if isinstance(value, marsdask.Collection) else value


def same(one: Any, other: Any) -> bool:
    """Tell whether values are equal, and arrays of one type."""
    if isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(other, np.ndarray) and (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    if isinstance(other, np.ndarray) and other.dtype.kind == "f":
        return bool(np.allclose(one, other))
    return bool(np.all(one == other))


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    """Each gives what NumPy gives; what means nothing today or has another name warns of it."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = plain(run(form))
    assert same(found, plain(run(FORMS[form])))
    old = any(word in form for word in ("execute(fuse", "execute(n_", "x + 1, fuse", "in1d"))
    assert all(item.category is DeprecationWarning for item in warned)
    assert bool(warned) == (old or "trapz" in form or "product" in form)


@pytest.mark.parametrize("form", ERRORS)
def test_errors(form: str) -> None:
    """What is wrong raises at the call, in NumPy's words."""
    with pytest.raises((ValueError, IndexError, TypeError), match=ERRORS[form]):
        run(form)
