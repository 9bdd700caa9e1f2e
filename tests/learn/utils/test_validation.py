"""Lazy arguments are checked as scikit-learn checks those in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import utils as theirs
from sklearn.exceptions import DataConversionWarning

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import utils
from marsdask.learn.base import is_lazy
from marsdask.learn.utils import validation
from tests.learn.samples import every_form, in_form, value

SAMPLES = np.arange(12.0).reshape(6, 2)


@every_form
def test_samples_of_every_form_pass(form):
    """As a tensor if they were lazy, of the type asked for."""
    for how in ({}, {"dtype": np.float32}, {"ensure_all_finite": False}):
        found = utils.check_array(in_form(SAMPLES, form), **how)
        expected = theirs.check_array(SAMPLES, **how)
        assert is_lazy(found) == (form not in ("array", "frame"))
        np.testing.assert_array_equal(value(found), expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    ("samples", "how"),
    [
        (np.ones(3), {}),
        (np.ones((0, 3)), {}),
        (np.ones((3, 0)), {}),
        (np.ones((2, 2, 2)), {}),
        (np.ones((2, 2)), {"ensure_min_samples": 3}),
        (np.ones((2, 2), complex), {}),
        (np.array([["a"]]), {}),
        (np.array([[1.0, np.nan]]), {}),
        (np.array([[1.0, -1.0]]), {"ensure_non_negative": True}),
    ],
)
def test_what_is_refused(samples, how):
    """By the same first words, at the call or when it is computed."""
    with pytest.raises(ValueError) as expected:  # noqa: PT011 - the words are compared
        theirs.check_array(samples, **how)
    with pytest.raises(ValueError, match=r"\w") as found:
        utils.check_array(mt.tensor(samples, chunk_size=2), **how).compute()
    assert str(found.value)[:24] == str(expected.value)[:24]


@pytest.mark.parametrize("order", ["C", "F", None])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, None, object])
@pytest.mark.parametrize("copy", [True, False])
def test_memory(order, dtype, copy):
    """The order is that asked for; what needs no change is returned itself unless copied."""
    for samples in (mt.arange(4).reshape(2, 2), mt.arange(4.0).reshape(2, 2).copy("F")):
        how = {"order": order, "copy": copy, "dtype": dtype, "ensure_all_finite": False}
        found = utils.check_array(samples, **how)
        expected = theirs.check_array(samples.compute(), **how)
        assert found.dtype == expected.dtype
        if order is not None:
            assert (found.flags["C_CONTIGUOUS"], found.flags["F_CONTIGUOUS"]) == (
                order == "C",
                order == "F",
            )
        same = dtype is None and (order is None or samples.flags[f"{order}_CONTIGUOUS"])
        assert (found is samples) == (same and not copy)
        np.testing.assert_array_equal(found.compute(), expected)


class TensorHolder:
    """Gives a tensor where NumPy wants an array."""

    shape = (2, 1)

    def __array__(self):
        return mt.ones((2, 1))


@pytest.mark.parametrize("samples", [[mt.ones(1), mt.ones(1)], (mt.ones(1), [1.0]), TensorHolder()])
def test_what_holds_lazy_rows(samples):
    """Lists of tensors, and objects that give one, are lazy too."""
    found = utils.check_array(samples)
    assert is_lazy(found)
    np.testing.assert_array_equal(found.compute(), np.ones((2, 1)))


def test_sparse_samples():
    """Are refused unless they are asked for, and then stay as they are."""
    sparse = mt.tensor(SAMPLES, chunk_size=2).tosparse()
    with pytest.raises(TypeError, match="Sparse data was passed"):
        utils.check_array(sparse)
    found = utils.check_array(sparse, accept_sparse=True).compute()
    np.testing.assert_array_equal(found.toarray(), SAMPLES)


def test_samples_with_targets():
    """Lengths are compared, columns become vectors, several targets where they are allowed."""
    X, y = mt.tensor(SAMPLES, chunk_size=2), np.arange(6)
    for target in (y, mt.tensor(y, chunk_size=3), md.Series(y, chunk_size=4)):
        found, targets = utils.check_X_y(X, target)
        np.testing.assert_array_equal(value(found), SAMPLES)
        np.testing.assert_array_equal(value(targets), y)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            utils.check_X_y(X[:5], target)
    with pytest.warns(DataConversionWarning):
        column = utils.check_X_y(X, mt.tensor(y)[:, None])[1]
    assert column.shape == (6,)
    assert utils.check_X_y(X, X, multi_output=True)[1].shape == (6, 2)
    with pytest.raises(ValueError, match="NaN"):
        utils.check_X_y(X, mt.tensor([np.nan] * 6))[1].compute()
    with pytest.raises(ValueError, match="requires y to be passed"):
        utils.check_X_y(X, None)
    assert utils.check_X_y(SAMPLES, y)[0].shape == (6, 2)


def test_lengths():
    """Those that only running tells are computed."""
    X = mt.tensor(SAMPLES, chunk_size=2)
    unknown = X[X[:, 0] > 3]
    utils.check_consistent_length(unknown, [1, 2, 3, 4])
    assert len(validation.indexable(unknown, [1, 2, 3, 4])) == 2
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        utils.check_consistent_length(unknown, X)


def test_vectors():
    """A column is one, with a warning if it is asked for."""
    y = mt.arange(4, chunk_size=3)
    assert utils.column_or_1d(y[:, None]).compute().tolist() == [0, 1, 2, 3]
    with pytest.warns(DataConversionWarning):
        utils.column_or_1d(y[:, None], warn=True)
    assert utils.column_or_1d(y, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="should be a 1d array"):
        utils.column_or_1d(mt.ones((2, 2)))
