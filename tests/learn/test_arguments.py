"""Functions of learners refuse values as scikit-learn's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import preprocessing

import marsdask.learn.preprocessing as own
import marsdask.tensor as mt
from marsdask.learn.arguments import check_arguments

X = np.arange(6.0).reshape(3, 2)
#: Arguments of functions that take one matrix.
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("minmax_scale", {"axis": None}),
    ("maxabs_scale", {"axis": 2}),
    ("robust_scale", {"axis": 2}),
    ("quantile_transform", {"axis": None}),
    ("scale", {"with_mean": None}),
    ("binarize", {"threshold": "x"}),
    ("normalize", {"return_norm": None}),
    ("normalize", {"norm": "l3"}),
]


@pytest.mark.parametrize(("name", "how"), REFUSED, ids=str)
def test_functions_refuse_what_scikit_learn_refuses(name: str, how: dict[str, Any]) -> None:
    """With its error, at the call."""
    with pytest.raises(ValueError, match=next(iter(how))) as wanted:
        getattr(preprocessing, name)(X, **how)
    with pytest.raises(type(wanted.value), match=next(iter(how))):
        getattr(own, name)(mt.tensor(X, chunk_size=2), **how)


def test_valid_arguments_pass() -> None:
    """Of those that are given."""
    check_arguments(preprocessing.normalize, axis=0)
