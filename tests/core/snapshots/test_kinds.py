"""Types by what a snapshot does with their values."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import pathlib
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.node import Node
from marsdask.core.snapshots.kinds import form_of, is_fixed, is_local
from marsdask.learn.cluster import KMeans


class NumberPair(NamedTuple):
    """Two numbers."""

    a: int
    b: int


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (1, None),
        (np.float64(1), None),
        (np.dtype(int), None),
        (dt.timedelta(1), None),
        (decimal.Decimal(1), None),
        (pathlib.Path("a"), None),
        (pd.Timestamp(0), None),
        (pd.NA, None),
        (pd.offsets.Day(2), None),
        (int, None),
        (mt.ones(2).node, None),
        ((1, 2), "sequence"),
        (NumberPair(1, 2), "sequence"),
        ([1], "container"),
        ({}, "mapping"),
        (OrderedDict(), "pickled"),
        (np.ones(2), "array"),
        (np.zeros(1, "i4,i4")[0], "scalar"),
        (np.ma.ones(2), "pickled"),
        (pd.Series([1]), "pickled"),
        (LinearRegression(), "pickled"),
        (KMeans(2), "shallow"),
        (io.BytesIO(), "shared"),
    ],
)
def test_each_type_has_its_form(value, form):
    """Immutable values have none."""
    kind: Any = type(value)
    assert form_of(kind) == form


@pytest.mark.parametrize("base", [Node, md.DataFrame, mt.Tensor])
def test_nodes_are_kept_whoever_defines_their_class(base):
    """A copy would be another node of the same name, and would bring stored rows into memory."""
    assert form_of(type("Derived", (base,), {})) is None


def test_modules_and_what_can_be_imported_are_fixed():
    """Numbers and local functions of modules may be set again."""
    assert all(map(is_fixed, (np, np.ones, int, pytest.raises)))
    assert not any(map(is_fixed, (1, [], lambda: 1)))
    assert is_local(type("Local", (), {}))
