"""Samples as a frame are those of make_classification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from marsdask.learn.datasets import make_classification, make_classification_df


def test_columns_and_shares():
    """The values are the generator's; dates lie between the days; a share of targets is drawn."""
    how: dict[str, Any] = {"n_features": 4, "random_state": 0}
    X, y = make_classification_df(
        400, 0.25, 1.0, chunks=150, dates=("2020-01-01", "2020-02-01"), **how
    )
    frame, target = X.compute(), y.compute()
    assert list(frame.columns) == ["var0", "var1", "var2", "var3", "date"]
    assert X.node.chunks[0] == (150, 150, 100)
    expected, classes = make_classification(
        400, weights=[0.75, 0.25], flip_y=0.0, chunks=150, **how
    )
    np.testing.assert_array_equal(frame.iloc[:, :4].to_numpy(), expected.compute())
    np.testing.assert_array_equal(target, classes.compute())
    assert target.name == "target"
    assert 0.15 < target.mean() < 0.35
    assert frame["date"].min() >= np.datetime64("2020-01-01")
    assert frame["date"].max() < np.datetime64("2020-02-01")
    with pytest.raises(ValueError, match="response_rate should be between 0 and 1"):
        make_classification_df(10, 1.5)
