"""Samples that tests of estimators share, in every form that estimators take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.strategies import chunkings

#: What becomes of samples in memory, by name.
FORMS = ("array", "frame", "tensor", "our frame", "executed", "unknown rows")


def blobs(rows: int = 60, columns: int = 4, *, away: float = 0.0) -> Any:
    """Return samples around a few places, all of them ``away`` from the origin."""
    rng = np.random.default_rng(7)
    places = rng.normal(0.0, 5.0, (5, columns))
    spread = np.linspace(0.5, 1.5, columns)
    return places[rng.integers(0, 5, rows)] + rng.normal(0.0, 1.0, (rows, columns)) * spread + away


def in_form(samples: Any, form: str) -> Any:
    """Return the samples in one of the forms that estimators take."""
    names = [f"c{column}" for column in range(samples.shape[1])]
    if form == "frame":
        return pd.DataFrame(samples, columns=names)
    if form == "our frame":
        return md.DataFrame(pd.DataFrame(samples, columns=names), chunk_size=17)
    tensor = mt.tensor(samples, chunk_size=(17, 3))
    if form == "executed":
        return tensor.execute()
    if form == "unknown rows":
        padded = np.concatenate([samples, np.full_like(samples, -1e6)])
        whole = mt.tensor(padded, chunk_size=(17, 3))
        return whole[whole[:, 0] > -1e5]
    return tensor if form == "tensor" else samples


def value(result: Any) -> Any:
    """Return what a result is, lazy or not."""
    return result.compute() if hasattr(result, "compute") else result


@st.composite
def cut_samples(draw: Any, /, dtypes: Any = ("f8",), **kwargs: Any) -> tuple[Any, Any]:
    """Return samples and the same as a tensor in drawn chunks."""
    samples = blobs(**kwargs).astype(draw(st.sampled_from(dtypes)))
    return samples, mt.tensor(samples, chunks=draw(chunkings(samples.shape)))


def fitted(model: Any) -> dict[str, Any]:
    """Return what an estimator of scikit-learn has learnt, by name."""
    return {
        name: item
        for name, item in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }


def assert_learnt_alike(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    """Check every fitted attribute of scikit-learn's estimator."""
    for name, expected in fitted(theirs).items():
        found = value(getattr(ours, name))
        if expected is None or isinstance(expected, str):
            assert found == expected, name
            continue
        if name == "feature_names_in_":
            assert list(found) == list(expected)
            continue
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol, err_msg=name)
        # Counts are whole numbers here, floats in some versions of scikit-learn.
        if name != "n_samples_seen_":
            assert np.asarray(found).dtype == np.asarray(expected).dtype, name


every_form = pytest.mark.parametrize("form", FORMS)
