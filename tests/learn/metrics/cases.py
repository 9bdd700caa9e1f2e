"""Targets and predictions that tests of metrics share, and what compares ours to scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn import metrics as theirs

import marsdask.tensor as mt
from marsdask.learn import metrics as ours
from tests.strategies import chunkings

_RNG = np.random.default_rng(0)
ROWS = 40
CLASSES = _RNG.integers(0, 3, ROWS)
GUESSES = np.where(_RNG.random(ROWS) < 0.7, CLASSES, _RNG.integers(0, 3, ROWS))
BINARY, GUESSED = (CLASSES > 0).astype(int), (GUESSES > 0).astype(int)
LABELS, GUESSED_LABELS = _RNG.integers(0, 2, (2, ROWS, 3))
#: With ties.
SCORES = np.round(_RNG.random(ROWS) + BINARY * 0.3, 1)
LIKELY = _RNG.dirichlet(np.ones(3), ROWS)
NUMBERS, NEAR = _RNG.random((2, ROWS)) + 0.1
SEVERAL, NEAR_SEVERAL = _RNG.random((2, ROWS, 2)) + 0.1
WEIGHTS = _RNG.random(ROWS)


@st.composite
def cuts(draw: Any) -> Any:
    """Return a function that makes a tensor of any column, in chunks of its own."""
    drawn = [draw(chunkings((ROWS,)))[0] for _ in range(3)]

    def cut(column: Any, position: int) -> Any:
        rest = tuple((length,) for length in column.shape[1:])
        return mt.tensor(column, chunks=(drawn[position], *rest))

    return cut


def assert_alike(
    name: str, columns: Any, cut: Any, sample_weight: Any = None, **options: Any
) -> None:
    """Check a metric of lazy columns: the values, their types and their order."""
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    expected = getattr(theirs, name)(*columns, **given, **options)
    lazy = [cut(column, position) for position, column in enumerate(columns)]
    given = {} if sample_weight is None else {"sample_weight": cut(sample_weight, 2)}
    found = getattr(ours, name)(*lazy, **given, **options)
    if isinstance(expected, str):
        assert found == expected
        return
    several = isinstance(expected, tuple)
    for one, other in zip(
        found if several else [found], expected if several else [expected], strict=True
    ):
        if other is None:
            assert one is None
            continue
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=name)
        assert np.asarray(one).dtype == np.asarray(other).dtype, name
        assert one.execute().fetch() is not None
