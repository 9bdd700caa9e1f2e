"""Lazy samples are divided as scikit-learn divides arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import model_selection as ours
from marsdask.learn.base import is_lazy
from tests.learn.samples import blobs, every_form, in_form, value

SAMPLES = blobs(30)
CLASSES = np.arange(30) % 3
GROUPS = np.arange(30) // 5

HOW: list[Any] = [{"random_state": 0}, {"shuffle": False}]
HOW += [{"stratify": CLASSES, "test_size": 6, "random_state": 1}]


@every_form
def test_every_form_is_divided_alike(form):
    """Samples and their classes get the same rows as scikit-learn's, and stay lazy."""
    X = in_form(SAMPLES, form)
    y = mt.tensor(CLASSES, chunk_size=8)
    for how in HOW:
        found = ours.train_test_split(X, y, CLASSES, **how)
        expected = theirs.train_test_split(SAMPLES, CLASSES, CLASSES, **how)
        assert is_lazy(found[0]) == is_lazy(X)
        assert is_lazy(found[2])
        assert not is_lazy(found[4])
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(value(one), other)


def test_series_and_lazy_classes_are_taken():
    """A series is divided by rows; ``stratify`` may be lazy."""
    series = md.Series(pd.Series(CLASSES), chunk_size=7)
    train, _ = ours.train_test_split(series, stratify=series, random_state=0)
    expected, _ = theirs.train_test_split(CLASSES, stratify=CLASSES, random_state=0)
    np.testing.assert_array_equal(train.compute(), expected)


def test_what_is_refused_is_refused_in_the_same_words():
    """Unlike lengths, and sizes that leave nothing."""
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[5, 6\]"):
        ours.train_test_split(mt.ones(5), mt.ones(6))
    with pytest.raises(ValueError, match="test_size=9 should be"):
        ours.train_test_split(mt.ones(5), test_size=9, shuffle=False)


SPLITTERS: list[Any] = [
    ("KFold", {"shuffle": True, "random_state": 0}),
    ("StratifiedKFold", {}),
    ("GroupKFold", {}),
    ("StratifiedGroupKFold", {}),
    ("RepeatedKFold", {"n_repeats": 2, "random_state": 0}),
    ("RepeatedStratifiedKFold", {"n_repeats": 2, "random_state": 0}),
    ("ShuffleSplit", {"random_state": 0}),
    ("StratifiedShuffleSplit", {"random_state": 0}),
    ("GroupShuffleSplit", {"random_state": 0}),
    ("LeaveOneOut", {}),
    ("LeaveOneGroupOut", {}),
    ("TimeSeriesSplit", {}),
    ("LeavePGroupsOut", {"n_groups": 2}),
    ("PredefinedSplit", {"test_fold": GROUPS}),
]


def test_splitters_are_scikit_learns():
    """The positions are the same, and choose rows of a tensor; classes and groups may be lazy."""
    X = in_form(SAMPLES, "unknown rows")
    y, groups = mt.tensor(CLASSES, chunk_size=8), mt.tensor(GROUPS, chunk_size=9)
    for name, options in SPLITTERS:
        mine, other = getattr(ours, name)(**options), getattr(theirs, name)(**options)
        lazy, plain = ((y, groups), (CLASSES, GROUPS)) if "Group" in name else ((y,), (CLASSES,))
        assert mine.get_n_splits(X, *lazy) == other.get_n_splits(SAMPLES, *plain)
        expected = other.split(SAMPLES, *plain)
        for found, wanted in zip(mine.split(X, *lazy), expected, strict=True):
            np.testing.assert_array_equal(found[0].execute().fetch(), wanted[0])
            np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_array_equal(X[found[1]].compute(), SAMPLES[wanted[1]])


def test_numbers_of_parts_become_splitters():
    """Of lazy samples, stratified for lazy classes; others are as they are."""
    lazy, y = mt.tensor(SAMPLES, chunk_size=8), mt.tensor(CLASSES, chunk_size=9)
    assert type(ours.check_cv(3)) is ours.KFold
    found = ours.check_cv(3, y, classifier=True)
    assert type(found) is ours.StratifiedKFold
    expected = theirs.check_cv(3, CLASSES, classifier=True).split(SAMPLES, CLASSES)
    for one, other in zip(found.split(lazy, y), expected, strict=True):
        np.testing.assert_array_equal(one[1], other[1])
    splitter = ours.LeavePOut(2)
    assert ours.check_cv(splitter) is splitter
    assert ours.compute_n_splits(splitter, lazy[:5]) == 10
    assert ours.compute_n_splits(ours.LeaveOneGroupOut(), lazy, groups=mt.tensor(GROUPS)) == 6
    assert ours.compute_n_splits([([0], [1])], lazy) == 1
    given = ours.PredefinedSplit(mt.tensor([0, 1, -1, 0], chunk_size=2))
    assert [test.tolist() for _, test in given.split()] == [[0, 3], [1]]


def test_splits_are_checked_at_the_call():
    """Groups that nobody reads are warned of, and targets that are missing are refused."""
    X = mt.arange(6, chunk_size=4)
    with pytest.warns(UserWarning, match="The groups parameter is ignored by KFold"):
        ours.KFold(2).split(X, groups=[0, 1, 0, 1, 0, 1])
    with pytest.warns(UserWarning, match="The groups parameter is ignored by PredefinedSplit"):
        ours.PredefinedSplit([0, 1, 0, 1, 0, 1]).split(groups=[0, 1, 0, 1, 0, 1])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        ours.StratifiedKFold(2).split(X)
