"""Names are hashed to the columns that scikit-learn finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import feature_extraction as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.feature_extraction import FeatureHasher

ITEMS = {
    "dict": [{"a": 1.0, "b": 2.0}, {}, {"a": 3.0, "c": "x"}],
    "pair": [[("a", 1.0)], [], [("b", 2.0), ("b", 1.0)]],
    "string": [["a", "b"], [], ["b", "b"]],
}


@pytest.mark.parametrize("kind", ITEMS)
def test_items_are_hashed(kind):
    """Of every kind, in a series or a tensor, in chunks of which some have no features."""
    items = np.empty(3, dtype=object)
    items[:] = ITEMS[kind]
    expected = theirs.FeatureHasher(8, input_type=kind).transform(ITEMS[kind])
    model = FeatureHasher(8, input_type=kind)
    for lazy in (md.Series(items, chunk_size=2), mt.tensor(items, chunks=((1, 0, 2),))):
        for found in (model.transform(lazy), model.fit(lazy).fit_transform(lazy)):
            assert found.shape == (3, 8)
            np.testing.assert_array_equal(found.compute().toarray(), expected.toarray())
    np.testing.assert_array_equal(model.transform(ITEMS[kind]).toarray(), expected.toarray())
    with pytest.raises(ValueError, match="one axis"):
        model.transform(mt.ones((2, 2)))
