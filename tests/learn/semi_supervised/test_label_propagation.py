"""Labels propagate as in scikit-learn, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import semi_supervised as theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel

import marsdask.tensor as mt
from marsdask.learn.base import is_lazy
from marsdask.learn.semi_supervised import LabelPropagation
from tests.learn.samples import blobs, every_form, in_form, value

SAMPLES = blobs(50)
QUERIES = SAMPLES[:12] + 0.1
LABELS = np.where(np.arange(50) % 3 == 0, 4 + (SAMPLES[:, 0] > 0), -1)


@pytest.mark.parametrize(
    "options",
    [{"gamma": 0.1}, {"kernel": "knn", "n_neighbors": 5}, {"kernel": laplacian_kernel}],
    ids=["rbf", "knn", "callable"],
)
@pytest.mark.parametrize("chunks", [50, (17, 3), ((1, 0, 49), (4,))], ids=str)
def test_shares_of_classes(options, chunks):
    """Are learnt in as many steps, and predicted for lazy queries and for those in memory."""
    expected = theirs.LabelPropagation(**options).fit(SAMPLES, LABELS)
    model = LabelPropagation(**options)
    model.fit(mt.tensor(SAMPLES, chunks=chunks), mt.tensor(LABELS, chunk_size=9))
    assert model.n_iter_ == expected.n_iter_
    assert model.classes_.tolist() == [4, 5]
    assert is_lazy(model.label_distributions_)
    shares = expected.label_distributions_
    np.testing.assert_allclose(model.label_distributions_, shares, atol=1e-9)
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    probability = expected.predict_proba(QUERIES)
    for query in (QUERIES, mt.tensor(QUERIES, chunk_size=5)):
        assert is_lazy(model.predict_proba(query)) == is_lazy(query)
        np.testing.assert_allclose(value(model.predict_proba(query)), probability, atol=1e-9)
        np.testing.assert_array_equal(value(model.predict(query)), expected.predict(QUERIES))
    np.testing.assert_allclose(model.to_sklearn().predict_proba(QUERIES), probability, atol=1e-9)


@every_form
def test_forms_of_samples(form):
    """Those in memory are learnt by scikit-learn, and predict lazily, too."""
    samples = in_form(SAMPLES, form)
    model = LabelPropagation(gamma=0.1).fit(samples, LABELS)
    expected = theirs.LabelPropagation(gamma=0.1).fit(SAMPLES, LABELS)
    np.testing.assert_array_equal(value(model.predict(samples)), expected.predict(SAMPLES))
    lazy = in_form(SAMPLES, "our frame" if form == "frame" else form)
    assert model.score(lazy, expected.predict(SAMPLES)) == 1.0


def test_what_is_refused():
    """Targets that are missing or of another length; too few steps are told."""
    lazy = mt.tensor(SAMPLES, chunk_size=20)
    with pytest.raises(ValueError, match="requires y to be passed"):
        LabelPropagation().fit(lazy, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LabelPropagation().fit(lazy, LABELS[:-1])
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached"):
        assert LabelPropagation(gamma=0.1, max_iter=1).fit(lazy, LABELS).n_iter_ == 1
