"""What compares a transformer of ours, over samples in every form, to scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from marsdask.learn.base import is_lazy
from tests.learn.samples import fitted, value


def assert_transforms_alike(ours: Any, theirs: Any, lazy: Any, samples: Any) -> None:
    """Check what is learnt, and what becomes of the samples there and back."""
    ours.fit(lazy)
    theirs.fit(samples)
    for name, expected in fitted(theirs).items():
        assert_same(getattr(ours, name), expected, name)
    found, expected = ours.transform(lazy), dense(theirs.transform(samples))
    assert is_lazy(found)
    assert_same(dense(value(found)), expected, "transform")
    if hasattr(theirs, "inverse_transform"):
        back = dense(value(ours.inverse_transform(found)))
        assert_same(back, dense(theirs.inverse_transform(expected)), "inverse")


def assert_same(found: Any, expected: Any, name: str) -> None:
    """Check values and types; lists of arrays one by one."""
    if isinstance(expected, list):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, name)
    elif expected is None or isinstance(expected, str) or hasattr(expected, "get_params"):
        assert expected is None or isinstance(found, type(expected))
    elif np.asarray(expected).dtype == object:
        pd.testing.assert_series_equal(
            pd.Series(np.ravel(found)), pd.Series(np.ravel(expected)), check_index=False
        )
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9, err_msg=name)
        if name != "n_samples_seen_":
            assert np.asarray(found).dtype == np.asarray(expected).dtype, name


def dense(result: Any) -> Any:
    """Return an array of a result, sparse or not."""
    return result.toarray() if hasattr(result, "toarray") else np.asarray(result)
