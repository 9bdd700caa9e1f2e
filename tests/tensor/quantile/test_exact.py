"""Quantiles equal NumPy's by every method."""

from __future__ import annotations

import importlib
import itertools

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask
import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.core.config import option_context
from marsdask.tensor.operands import as_node
from marsdask.tensor.quantile.methods import METHODS
from marsdask.tensor.quantile.selection import bracket
from tests import grid_pairs
from tests.strategies import chunkings

RNG = np.random.default_rng(0)
ARRAYS = {
    "normal": RNG.normal(size=(15, 20)),
    "float32": RNG.normal(size=300).astype("f4"),
    "ints": RNG.integers(-5, 5, 300),
    "uint8": RNG.integers(0, 256, 300).astype("u1"),
    "equal": np.ones(300),
    "infinite": np.where(RNG.random(300) < 0.4, -np.inf, RNG.normal(size=300)),
    "one": np.array([3.0]),
    "nan": np.where(RNG.random(300) < 0.2, np.nan, RNG.normal(size=300)),
    "all nan": np.full(20, np.nan),
}
QS = [0.5, [0.0, 0.25, 0.5, 1.0], [[0.1, 0.9]], 0.37]


_coalesce = grid_pairs.coalesce


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


def check(lazy, expected):
    """Assert equal shapes, dtypes and values."""
    expected = np.asarray(expected)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    rtol, atol = (1e-9, 0.0) if expected.dtype.itemsize > 4 else (1e-3, 1e-4)
    np.testing.assert_allclose(lazy.compute(), expected, rtol=rtol, atol=atol)


@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning")
@pytest.mark.parametrize("name", ARRAYS)
@given(data=st.data())
def test_everything(name, data):
    """Selection over all elements gives what sorting gives, NaN included or left out."""
    x = ARRAYS[name]
    q = data.draw(st.sampled_from(QS))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    with np.errstate(invalid="ignore"):
        check(mt.quantile(lazy, q), np.quantile(x, q))
        expected = np.nanpercentile(x, np.multiply(q, 100))
    check(mt.nanpercentile(lazy, np.multiply(q, 100)), expected)


@pytest.mark.parametrize("method", METHODS)
@given(q=st.floats(0, 1), count=st.integers(2, 40))
def test_methods(method, q, count):
    """Every method picks and weighs the elements that NumPy's does."""
    x = RNG.permutation(count).astype(float)
    cut = (count // 2, count - count // 2)
    check(mt.quantile(tensor(x, (cut,)), [q], method=method), np.quantile(x, [q], method=method))


@pytest.mark.parametrize("axis", [0, 1, (0, 2), -1, None])
@pytest.mark.parametrize("keepdims", [True, False])
@given(data=st.data())
def test_axes(axis, keepdims, data):
    """Lanes are made whole and the result's axes are NumPy's."""
    x = RNG.normal(size=(4, 3, 5))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    q = [[0.2, 0.7]]
    check(mt.quantile(lazy, q, axis, keepdims=keepdims), np.quantile(x, q, axis, keepdims=keepdims))


@given(data=st.data())
def test_medians(data):
    """The median is the half quantile, as NumPy averages it."""
    x = ARRAYS["normal"]
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    for axis in (None, 0):
        check(mt.median(lazy, axis), np.median(x, axis))
        check(mt.nanmedian(lazy, axis, keepdims=True), np.nanmedian(x, axis, keepdims=True))


@pytest.mark.filterwarnings("ignore:(Mean of empty|All-NaN) slice:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    "x",
    [
        np.array([-120, -100, 100, 120], "i1"),
        np.array([2**31 - 1, -(2**31)], "i4"),
        np.array([True, False, True, False]),
        np.array([np.inf, np.inf, 1.0, np.nan]),
        np.array([np.inf, 1.0], "f4"),
        np.array([1 + 2j, 3, 2]),
        np.empty(0, "f4"),
        np.empty(0, "i4"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("cut", [1, -1])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians_are_means_of_the_middle(name, cut, x):
    """No difference is taken: integers do not wrap, infinities stay, bools and nothing have one."""
    t = tensor(x, cut)
    for axis in (None, 0):
        check(getattr(mt, name)(t, axis), getattr(np, name)(x, axis))
    lazy = getattr(mt, name)(t[t == t])
    np.testing.assert_array_equal(lazy.compute(), getattr(np, name)(x[x == x]))


@pytest.mark.filterwarnings("ignore:(Mean of empty|invalid value):RuntimeWarning")
@pytest.mark.parametrize("name", ["percentile", "nanpercentile", "quantile", "nanquantile"])
def test_quantiles_of_arrays_without_values(name):
    """Those that ignore NaN are means, of any type and whatever q is, as NumPy's."""
    q = 0.4 if "quantile" in name else 40
    for dtype, shape, axis, method in itertools.product(
        ("?", "i1", "f4"), ((0, 2), (2, 0), (0, 0)), (0, None), ("higher", "linear")
    ):
        x, t = np.ones(shape, dtype), mt.ones(shape, dtype)
        for qs in (q, [q, q]):
            how = {"axis": axis, "method": method}
            try:
                expected = getattr(np, name)(x, qs, **how)
            except (IndexError, TypeError):
                with pytest.raises((IndexError, TypeError)):
                    getattr(mt, name)(t, qs, **how).compute()
                continue
            lazy = getattr(mt, name)(t, qs, **how)
            assert lazy.dtype == np.asarray(expected).dtype
            check(lazy, expected)


@pytest.mark.parametrize("cut", [1, -1])
def test_what_turns_out_empty_has_no_quantiles(cut):
    """NumPy's error, however the array is cut."""
    t = tensor(np.arange(4.0), cut)
    with pytest.raises(IndexError):
        mt.percentile(t[t > 9], 50).execute()


def test_a_missed_bracket_is_widened(monkeypatch):
    """Exactness does not hang on the sample."""
    module = importlib.import_module("marsdask.tensor.quantile.exact")
    asked = []

    def astray(ranks, samples, count, width):
        asked.append(width)
        return bracket(ranks if len(asked) > 1 else [0] * len(ranks), samples, count, width)

    monkeypatch.setattr(module, "bracket", astray)
    monkeypatch.setattr(module, "SAMPLE", 64)
    x = np.random.default_rng(1).normal(size=30_000)
    with option_context({"coalesce": False}):
        check(mt.quantile(tensor(x, 3000), [0.123, 0.9]), np.quantile(x, [0.123, 0.9]))
    assert len(asked) > 1


def test_wrong_arguments_are_refused_at_the_call():
    """Ranges, methods, axes and dtypes are checked where they are written."""
    lazy = tensor(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"Percentiles must be in the range \[0, 100\]"):
        mt.percentile(lazy, 101)
    with pytest.raises(ValueError, match="method"):
        mt.quantile(lazy, 0.5, method="guess")
    with pytest.raises(np.exceptions.AxisError):
        mt.quantile(lazy, 0.5, axis=2)
    with pytest.raises(TypeError, match="complex"):
        mt.quantile(tensor(np.ones(2, complex)), 0.5)
    with pytest.raises(NotImplementedError, match="no tensor"):
        mt.quantile(lazy, lazy, method="inverted_cdf", weights=lazy)


@pytest.mark.parametrize("q", [[0.25, 0.5], 0.1, [[1.0, 0.0]]])
def test_a_tensor_of_quantiles(q):
    """It is computed before, in as many chunks as it has; results can go to ``out=``."""
    x = np.random.default_rng(0).normal(size=(5, 7))
    lazy, qs = tensor(x, 3), mt.tensor(np.asarray(q, float), chunk_size=1)
    for how in ({}, {"axis": 1, "keepdims": True}, {"axis": 0, "method": "lower"}):
        check(mt.quantile(lazy, qs, **how), np.quantile(x, np.asarray(q, float), **how))
        expected = np.nanpercentile(x, np.multiply(q, 100), **how)
        check(mt.nanpercentile(lazy, qs * 100, **how), expected)
        out = mt.zeros(expected.shape)
        assert mt.percentile(lazy, qs * 100, out=out, **how) is out
        check(out, expected)
    same = mt.quantile(qs, qs) if np.size(q) and np.ndim(q) == 1 else None
    assert same is None or same.compute().tolist() == np.quantile(q, q).tolist()
    late = mt.quantile(lazy, mt.tensor([0.5, 2.0]))
    with pytest.raises(ValueError, match="in the range"):
        late.execute()


def test_dask_finds_quantiles_without_a_look():
    """A Dask graph, which cannot wait for brackets, gives the same."""
    x = ARRAYS["normal"]
    (found,) = dask.compute(mt.quantile(tensor(x, 4), [0.1, 0.7]), scheduler="sync")
    np.testing.assert_allclose(found, np.quantile(x, [0.1, 0.7]))


@given(data=st.data())
def test_weights(data):
    """Elements count as often as their weights say, along axes or all together."""
    x = RNG.integers(0, 9, (6, 5)).astype(float)
    w = RNG.integers(1, 4, (6, 5))
    t = tensor(x, data.draw(chunkings(x.shape)))
    how = {"method": "inverted_cdf", "keepdims": data.draw(st.booleans())}
    for axis, weights in ((None, w), (1, w), (0, w[:, 0]), ((0, 1), w)):
        given_weights = tensor(weights, data.draw(chunkings(weights.shape)))
        found = mt.quantile(t, [0.3, 0.5], axis, weights=given_weights, **how)
        check(found, np.quantile(x, [0.3, 0.5], axis, weights=weights, **how))
    found = mt.nanpercentile(t, 40, weights=t + 1, **how)
    check(found, np.nanpercentile(x, 40, weights=x + 1, **how))
    check(
        mt.quantile(t + 1, 0.4, weights=t + 1, **how), np.quantile(x + 1, 0.4, weights=x + 1, **how)
    )


def test_other_ways_to_ask():
    """NumPy's order of arguments, Mars's word for the method, and a tensor to put the result in."""
    x = RNG.normal(size=30)
    t, out = tensor(x, 7), tensor(np.zeros(()))
    assert mt.median(t, None, out) is out
    check(out, np.median(x))
    check(mt.percentile(t, 30, interpolation="lower"), np.percentile(x, 30, method="lower"))
    check(mt.quantile(t, 0.3, None, None, False, "higher"), np.quantile(x, 0.3, method="higher"))


def test_wrong_options_are_refused_at_the_call():
    """Weights with another method, ways that nobody knows, and approximations of lanes."""
    t = tensor(np.ones((3, 4)))
    with pytest.raises(ValueError, match="inverted_cdf"):
        mt.quantile(t, 0.5, weights=t)
    with pytest.raises(ValueError, match="internal_method"):
        mt.percentile(t, 50, internal_method="magic")
    with pytest.raises(NotImplementedError, match="exact"):
        mt.percentile(t, 50, axis=0, internal_method="tdigest")
    with pytest.raises(TypeError, match="wait"):
        mt.quantile(t, 0.5, wait=True)


def test_quantiles_of_more_than_the_budget():
    """What lies near the quantiles is small, and known to be before it is put together."""
    budget = 8 * 2**20
    session = marsdask.new_session("threads", n_workers=2, memory_limit=budget, default=False)
    try:
        values = np.random.default_rng(0).random(3 * budget // 8)
        x = mt.tensor(values, chunk_size=2**16)
        found = mt.percentile(x, [1, 50]).compute(session=session)
        np.testing.assert_allclose(found, np.percentile(values, [1, 50]), rtol=1e-12)
    finally:
        session.close()


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_outputs_may_have_more_axes(name):
    """Along which the quantiles are repeated, as NumPy's are; others are refused."""
    values, q = np.arange(20.0), np.linspace(0, 1, 3)
    lazy, out = mt.tensor(values, chunk_size=6), mt.zeros((2, 3))
    assert getattr(mt, name)(lazy, q, out=out) is out
    np.testing.assert_allclose(out.compute(), getattr(np, name)(values, q, out=np.zeros((2, 3))))
    with pytest.raises(ValueError, match="broadcast"):
        getattr(mt, name)(lazy, q, out=mt.zeros((2, 4)))
