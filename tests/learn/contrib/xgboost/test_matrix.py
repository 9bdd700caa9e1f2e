"""XGBoost reads chunks of samples in turn, as often as it likes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt

theirs = pytest.importorskip("xgboost")
matrix = pytest.importorskip("marsdask.learn.contrib.xgboost.matrix")


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: chunks are merged in the tests of estimators."""


def _note(seen, **given):
    seen.append(given)


def test_one_chunk_after_the_other():
    """With what goes with it, and from the first one after a reset; empty ones are left out."""
    samples = mt.tensor(np.arange(10.0).reshape(5, 2), chunks=((2, 0, 3), (1, 1)))
    chunks = matrix.ChunkIterator(samples, {"label": np.arange(5)}, {"feature_names": ["a", "b"]})
    for _ in range(2):
        seen: list[dict[str, Any]] = []
        take = partial(_note, seen)
        chunks.reset()
        while chunks.next(take):
            pass
        assert [given["data"].shape for given in seen] == [(2, 2), (3, 2)]
        assert [given["label"].tolist() for given in seen] == [[0, 1], [2, 3, 4]]
        assert seen[0]["feature_names"] == ["a", "b"]


def test_local_matrices():
    """Lazy samples become bins, with labels and names; those in memory a plain matrix."""
    samples = np.arange(12.0).reshape(6, 2)
    how = {"label": np.arange(6.0), "weight": np.ones(6), "feature_names": ["a", "b"]}
    found = matrix.MarsDMatrix(mt.tensor(samples, chunk_size=4), **how).local()
    assert type(found) is theirs.QuantileDMatrix
    assert (found.num_row(), found.num_col(), found.feature_names) == (6, 2, ["a", "b"])
    np.testing.assert_array_equal(found.get_label(), np.arange(6.0))
    assert type(matrix.MarsDMatrix(samples, **how).local()) is theirs.DMatrix
    missing = matrix.MarsDMatrix(mt.tensor(samples, chunk_size=4), missing=3.0).local()
    assert missing.num_nonmissing() == 11


def test_categories_of_frames():
    """Are features of their own kind, as on a cluster."""
    frame = pd.DataFrame({"a": range(6), "b": pd.Categorical(list("xyzxyz"))})
    for samples in (frame, md.DataFrame(frame, chunk_size=4)):
        found = matrix.MarsDMatrix(samples, label=np.arange(6.0)).local()
        assert found.feature_types == ["int", "c"]
