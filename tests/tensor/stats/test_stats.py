"""Tests and moments equal SciPy's, whatever the chunks, the axes and the missing values."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.tensor as mt
from marsdask.tensor import stats
from tests.strategies import chunkings, draws, grids, tensor_of

#: Each function of one sample, with the options worth trying.
ONE: dict[str, list[dict[str, Any]]] = {
    "skew": [{}, {"bias": False}],
    "kurtosis": [{}, {"bias": False, "fisher": False}],
    "moment": [{"order": 3}, {"order": [0, 1, 2, 5]}, {"order": 2, "center": 1.5}],
    "skewtest": [{}, {"alternative": "less"}],
    "kurtosistest": [{}, {"alternative": "greater"}],
    "normaltest": [{}],
    "ttest_1samp": [{"popmean": 0.5}, {"popmean": 1, "alternative": "greater"}],
    "chisquare": [{}, {"ddof": 1}],
    "power_divergence": [{"lambda_": name} for name in ("cressie-read", "log-likelihood", -1, -2)],
    "entropy": [{}, {"base": 2}],
}
TWO: dict[str, list[dict[str, Any]]] = {
    "ttest_ind": [{}, {"equal_var": False, "alternative": "less"}],
    "ttest_rel": [{}, {"alternative": "greater"}],
    "f_oneway": [{}, {"equal_var": False}],
    "entropy": [{}],
}


@st.composite
def samples(draw: Any, count: int) -> tuple[list[Any], list[Any]]:
    """Return arrays of one shape, tame and positive, with some nan, and tensors of them."""
    shape = draw(st.sampled_from([(9,), (12,), (9, 2), (3, 9)]))
    dtype = draw(st.sampled_from(["f8", "f8", "f4", "i8"]))
    arrays = []
    for _ in range(count):
        seed = draw(st.integers(0, 99))
        array = np.random.default_rng(seed).gamma(2.0, 3.0, shape) + 0.5
        if dtype != "i8" and draw(st.booleans()):
            array.flat[draw(st.integers(0, array.size - 1))] = np.nan
        arrays.append(np.rint(array * 2).astype(dtype) if dtype == "i8" else array.astype(dtype))
    return arrays, [tensor_of(array, draw(chunkings(shape))) for array in arrays]


def assert_equal(lazy: Any, expected: Any) -> None:
    """Check a lazy result, of several fields perhaps, against SciPy's."""
    several = isinstance(expected, tuple)
    with np.errstate(all="ignore"):
        found = lazy.compute()
    for one, other in zip(found, expected, strict=True) if several else [(found, expected)]:
        assert np.shape(one) == np.shape(other)
        is_single = np.float32 in (np.asarray(one).dtype, np.asarray(other).dtype)
        rtol = 2e-3 if is_single else 1e-7  # SciPy 1.16 returns doubles for floats
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("name", "count"), [*((n, 1) for n in ONE), *((n, 2) for n in TWO)])
@draws(8)
@given(data=st.data())
def test_functions_equal_scipy(name: str, count: int, data: st.DataObject) -> None:
    """Statistic and p-value are SciPy's for every axis, policy of nan, and option."""
    arrays, tensors = data.draw(samples(count))
    options = dict(data.draw(st.sampled_from((ONE if count == 1 else TWO)[name])))
    options["axis"] = data.draw(st.sampled_from([0, -1, None]))
    options["nan_policy"] = data.draw(st.sampled_from(["propagate", "omit"]))
    options["keepdims"] = data.draw(st.booleans())
    with warnings.catch_warnings(), np.errstate(all="ignore"), grids(merged=False):
        warnings.simplefilter("ignore")  # SciPy says when samples are small
        expected = getattr(scipy.stats, name)(*arrays, **options)
        assert_equal(getattr(stats, name)(*tensors, **options), expected)


@pytest.mark.parametrize(
    ("name", "arrays", "options"),
    [
        ("moment", [[2.0, np.nan, 1.0]], {"order": [0, 1, 2]}),
        ("moment", [[]], {"order": [1, 2]}),
        ("chisquare", [[np.nan, 0.0, 0.0]], {"nan_policy": "omit"}),
        ("chisquare", [[2.0, np.inf, 1.5]], {"nan_policy": "omit"}),
        ("power_divergence", [[9.0, -1.0]], {"lambda_": 0, "nan_policy": "omit"}),
        ("entropy", [[0.0, 0.0], [4.0, 3.0]], {"nan_policy": "omit"}),
        ("skew", [[np.inf, 1.0, np.nan, 2.0]], {"nan_policy": "omit"}),
        ("ttest_ind", [[], []], {}),
        ("ttest_ind", [[1.0, 2.0], []], {}),
        ("f_oneway", [[np.nan, 2.0, 3.0], []], {"nan_policy": "omit"}),
    ],
)
def test_what_is_undefined_is_nan(name: str, arrays: Any, options: dict[str, Any]) -> None:
    """Only what was missing is left out: what is nan for other reasons makes the result nan."""
    samples = [np.array(array) for array in arrays]
    with warnings.catch_warnings(), np.errstate(all="ignore"), grids(merged=False):
        warnings.simplefilter("ignore")
        expected = getattr(scipy.stats, name)(*samples, **options)
        for step in (1, 3):
            tensors = [mt.tensor(one, chunk_size=step) for one in samples]
            assert_equal(getattr(stats, name)(*tensors, **options), expected)


@draws(15)
@given(data=st.data())
def test_ranks_equal_scipy(data: st.DataObject) -> None:
    """Every method ranks as SciPy does, ties and nan too, through the parallel sort or in lanes."""
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=8))
    dtype = data.draw(st.sampled_from(["f8", "i4"]))
    special = [np.nan] if dtype == "f8" and data.draw(st.booleans()) else []
    array = data.draw(hnp.arrays(dtype, shape, elements=st.sampled_from([-1, 0, 1, 2, *special])))
    method = data.draw(st.sampled_from(["average", "min", "max", "dense", "ordinal"]))
    axis = data.draw(st.sampled_from([None, 0, -1]))
    policy = data.draw(st.sampled_from(["propagate", "omit"]))
    with grids(merged=False):
        lazy = tensor_of(array, data.draw(chunkings(shape)))
        found = stats.rankdata(lazy, method, axis=axis, nan_policy=policy)
        expected = scipy.stats.rankdata(array, method, axis=axis, nan_policy=policy)
        np.testing.assert_array_equal(found.compute(), expected)
    assert found.dtype == (np.float64 if dtype == "f8" or method == "average" else np.int64)


@draws(40)
@given(data=st.data())
def test_kolmogorov_and_smirnov_equal_scipy(data: st.DataObject) -> None:
    """Distances, p-values, places and signs are SciPy's, exact and approximate."""
    drawn = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 0.75, 2.0]), min_size=1, max_size=9)
    one, two = np.array(data.draw(drawn)), np.array(data.draw(drawn))
    tensors = [tensor_of(x, data.draw(chunkings(x.shape))) for x in (one, two)]
    how: dict[str, Any] = {
        "alternative": data.draw(st.sampled_from(["two-sided", "less", "greater"])),
        "method": data.draw(st.sampled_from(["auto", "exact", "asymp"])),
    }
    lazy = (
        stats.ks_1samp(tensors[0], scipy.stats.norm.cdf, **how),
        stats.ks_2samp(*tensors, **how),
    )
    with np.errstate(divide="ignore"):  # SciPy's own, of two samples of one value
        expected = (
            scipy.stats.ks_1samp(one, scipy.stats.norm.cdf, **how),
            scipy.stats.ks_2samp(one, two, **how),
        )
    for found, wanted in zip(lazy, expected, strict=True):
        assert_equal(found, tuple(wanted))
        assert found.statistic_sign.compute() == wanted.statistic_sign
        assert found.statistic_location.compute() == wanted.statistic_location


def test_large_samples_are_compared_in_parallel() -> None:
    """Beyond what SciPy compares exactly, no task holds a sample."""
    one = np.random.default_rng(0).normal(size=11_000)
    two = np.random.default_rng(1).normal(0.05, size=500)
    found = stats.ks_2samp(mt.tensor(one, chunk_size=3000), mt.tensor(two, chunk_size=100))
    assert_equal(found, tuple(scipy.stats.ks_2samp(one, two)))


def test_lengths_that_only_running_tells() -> None:
    """A filtered tensor is a sample."""
    values = np.random.default_rng(0).normal(size=50)
    kept = mt.tensor(values, chunk_size=7)
    kept, wanted = kept[kept > -0.5], values[values > -0.5]
    assert_equal(stats.skewtest(kept), tuple(scipy.stats.skewtest(wanted)))
    assert_equal(stats.ttest_1samp(kept, 0), tuple(scipy.stats.ttest_1samp(wanted, 0)))
    exact = scipy.stats.ks_1samp(wanted, scipy.stats.norm.cdf)
    assert_equal(stats.ks_1samp(kept, scipy.stats.norm.cdf), tuple(exact))
    assert_equal(stats.rankdata(kept), scipy.stats.rankdata(wanted))


def test_results_have_their_names() -> None:
    """Fields are tensors before, numbers after computing; Student's has an interval."""
    values = np.arange(9.0)
    lazy = stats.ttest_1samp(mt.tensor(values, chunk_size=4), 3.0)
    expected = scipy.stats.ttest_1samp(values, 3.0)
    assert isinstance(lazy.statistic, mt.Tensor)
    assert lazy.compute().pvalue == pytest.approx(expected.pvalue)
    assert lazy.df.compute() == expected.df
    statistic, pvalue = lazy.execute().fetch()
    assert (statistic, pvalue) == pytest.approx(tuple(expected))
    for alternative in ("two-sided", "less", "greater"):
        lazy = stats.ttest_1samp(mt.tensor(values), 3.0, alternative=alternative)
        expected = scipy.stats.ttest_1samp(values, 3.0, alternative=alternative)
        assert_equal(lazy.confidence_interval(0.9), tuple(expected.confidence_interval(0.9)))


def test_tests_from_statistics() -> None:
    """``ttest_ind_from_stats`` takes numbers and tensors."""
    facts: Any = (1.5, 0.5, 10, 1.25, 0.75, 12)
    for equal_var in (True, False):
        given: Any = (*facts, equal_var)
        expected = tuple(scipy.stats.ttest_ind_from_stats(*given))
        assert_equal(stats.ttest_ind_from_stats(*given), expected)
        lazies: Any = [*map(mt.tensor, facts), equal_var]
        assert_equal(stats.ttest_ind_from_stats(*lazies), expected)


def test_expected_frequencies() -> None:
    """Frequencies that are expected are compared; sums that differ are refused by the result."""
    seen, wanted = np.array([16.0, 18, 16, 14]), np.array([16.0, 16, 16, 16])
    lazy = stats.chisquare(mt.tensor(seen, chunk_size=3), mt.tensor(wanted, chunk_size=2))
    assert_equal(lazy, tuple(scipy.stats.chisquare(seen, wanted)))
    with pytest.raises(ValueError, match="must agree"):
        stats.chisquare(mt.tensor(seen), wanted + 1).compute()
    several = np.stack([wanted, wanted + np.array([1.0, -1, 0, 0])])
    lazy = stats.chisquare(mt.tensor(seen, chunk_size=3), several, axis=1)
    assert_equal(lazy, tuple(scipy.stats.chisquare(seen, several, axis=1)))


def test_bad_input_is_refused_at_the_call() -> None:
    """What does not exist is named; nan under ``raise`` is found when computing."""
    x = mt.tensor(np.array([1.0, np.nan, 3.0]), chunk_size=2)
    for call, text in [
        (lambda: stats.skew(x, nan_policy="drop"), "nan_policy"),
        (lambda: stats.skewtest(x, alternative="both"), "alternative"),
        (lambda: stats.rankdata(x, "median"), "unknown method"),
        (lambda: stats.ks_2samp(x, x, method="quick"), "mode"),
        (lambda: stats.power_divergence(x, lambda_="nobody"), "lambda_"),
        (lambda: stats.moment(x, 1.5), "integral"),
        (lambda: stats.entropy(x, base=-1), "base"),
        (lambda: stats.skew(x, nan_policy="raise").compute(), "contains nan"),
        (lambda: stats.ks_2samp(x, np.array([])), "empty"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="two inputs"):
        stats.f_oneway(x)
    with pytest.raises(NotImplementedError, match="trim"):
        stats.ttest_ind(x, x, trim=0.1)
