"""The kind of lazy targets is the one that scikit-learn finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import multiclass as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.utils import multiclass

TARGETS = [
    [0, 1],
    [0, 1, 2],
    [1, 1, 1, 0],
    [0.5, 1.0],
    [1.0, 2.0, 3.0],
    [1.0, 2.0, 3.0, 4.5],
    ["a", "b"],
    [[0, 1], [1, 0], [1, 1]],
    [[1, 2], [3, 4]],
    [[1], [2], [3]],
    [[0.1, 2.0], [3.0, 4.0]],
    [True, False],
]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_kinds(target):
    """Whatever the chunks: what tells may be in the last of them."""
    plain = np.array(target)
    for chunk_size in (1, 5):
        lazy = mt.tensor(plain, chunk_size=chunk_size)
        assert multiclass.type_of_target(lazy) == theirs.type_of_target(plain)
        assert multiclass.is_multilabel(lazy) == theirs.is_multilabel(plain)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("target", [[1.0, 2.0, np.nan], [1.0, np.inf, 0.5]])
def test_what_is_not_finite(target):
    """Is refused as scikit-learn refuses it."""
    with pytest.raises(ValueError, match="Input contains") as expected:
        theirs.type_of_target(np.array(target))
    with pytest.raises(ValueError, match="Input contains") as found:
        multiclass.type_of_target(mt.tensor(target, chunk_size=1))
    assert str(found.value)[:20] == str(expected.value)[:20]


def test_labels():
    """Of all targets, sorted; kinds that do not go together are refused."""
    lazy = mt.tensor([5, 1, 5, 3], chunk_size=1)
    assert multiclass.unique_labels(lazy, [2, 1]).tolist() == [1, 2, 3, 5]
    words = md.Series(["b", "a", "c"], chunk_size=2)
    assert multiclass.unique_labels(words).tolist() == ["a", "b", "c"]
    assert multiclass.unique_labels(mt.tensor([[0, 1, 1], [1, 0, 0]])).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="Mix type of y not allowed"):
        multiclass.unique_labels(lazy, [[0, 1], [1, 0]])
    multiclass.check_classification_targets(lazy)
    with pytest.raises(ValueError, match="Unknown label type"):
        multiclass.check_classification_targets(lazy + 0.5)
    assert multiclass.type_of_target([0, 1]) == "binary"
