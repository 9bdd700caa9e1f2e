"""The nearest samples are those that scikit-learn finds, whatever the chunks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import neighbors as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.base import is_lazy
from marsdask.learn.neighbors import NearestNeighbors
from tests.learn.samples import every_form, in_form, value

_RNG = np.random.default_rng(0)
SAMPLES = _RNG.normal(size=(40, 3))
QUERIES = _RNG.normal(size=(12, 3))
CHUNKS = [40, (11, 2), ((1, 0, 20, 19), (3,))]
ALGORITHMS = ["auto", "brute", "kd_tree", "ball_tree"]


def _pair(chunks=CHUNKS[1], **how):
    lazy = mt.tensor(SAMPLES, chunks=chunks)
    return NearestNeighbors(**how).fit(lazy), theirs.NearestNeighbors(**how).fit(SAMPLES)


def _queries(lazy):
    return (mt.tensor(QUERIES, chunk_size=5), QUERIES) if lazy else (None, None)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_nearest(algorithm, chunks):
    """Of queries, and of the samples themselves; fewer rows of a chunk than neighbours."""
    ours, other = _pair(chunks, algorithm=algorithm, n_neighbors=4)
    for lazy in (True, False):
        mine, plain = _queries(lazy)
        found, expected = ours.kneighbors(mine), other.kneighbors(plain)
        assert all(map(is_lazy, found))
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        assert [part.dtype for part in found] == [part.dtype for part in expected]
        for mode in ("connectivity", "distance"):
            graph = ours.kneighbors_graph(mine, 2, mode).compute()
            expected_graph = other.kneighbors_graph(plain, 2, mode)
            np.testing.assert_allclose(graph.toarray(), expected_graph.toarray())


def test_indexes_of_mars_are_refused():
    """With those that find the same."""
    for algorithm in ("faiss", "proxima"):
        with pytest.raises(NotImplementedError, match="'brute' finds the same samples"):
            NearestNeighbors(algorithm=algorithm).fit(mt.tensor(SAMPLES))


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
def test_within_a_radius(algorithm):
    """Nearest first if asked for; rows without neighbours have none."""
    ours, other = _pair(CHUNKS[2], algorithm=algorithm, radius=0.7)
    for lazy in (True, False):
        mine, plain = _queries(lazy)
        found = [part.compute() for part in ours.radius_neighbors(mine, sort_results=True)]
        expected = other.radius_neighbors(plain, sort_results=True)
        for part, expected_part in zip(found, expected, strict=True):
            assert any(len(row) == 0 for row in part)
            for row, expected_row in zip(part, expected_part, strict=True):
                np.testing.assert_allclose(row, expected_row)
        numbers = ours.radius_neighbors(mine, 0.4, return_distance=False).compute()
        expected = other.radius_neighbors(plain, 0.4, return_distance=False)
        assert [set(row) for row in numbers] == [set(row) for row in expected]
        for mode in ("connectivity", "distance"):
            graph = ours.radius_neighbors_graph(mine, 0.6, mode).compute()
            expected_graph = other.radius_neighbors_graph(plain, 0.6, mode)
            np.testing.assert_allclose(graph.toarray(), expected_graph.toarray())


@every_form
def test_forms_of_samples(form):
    """Whether samples, queries or both are lazy; columns have names; histories change nothing."""
    samples = in_form(SAMPLES, form)
    model = NearestNeighbors(n_neighbors=3).fit(samples)
    expected = theirs.NearestNeighbors(n_neighbors=3).fit(SAMPLES)
    queries = in_form(QUERIES, form)
    lazy = md.DataFrame(queries, chunk_size=5) if form == "frame" else queries
    for query in (queries, lazy, mt.tensor(QUERIES, chunk_size=5) if form == "array" else queries):
        distances, numbers = model.kneighbors(query)
        assert is_lazy(numbers) == is_lazy(query)
        np.testing.assert_allclose(value(distances), expected.kneighbors(QUERIES)[0])
        np.testing.assert_array_equal(value(numbers), expected.kneighbors(QUERIES)[1])
    assert model.n_samples_fit_ == 40
    assert model.effective_metric_ == "euclidean"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        value(again.kneighbors(queries)[1]), expected.kneighbors(QUERIES)[1]
    )
    plain = model.to_sklearn()
    assert type(plain) is theirs.NearestNeighbors
    plain_queries = value(queries)
    np.testing.assert_array_equal(
        plain.kneighbors(plain_queries)[1], expected.kneighbors(QUERIES)[1]
    )


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
def test_metrics(metric):
    """Of scikit-learn; queries in memory give arrays."""
    ours, other = _pair(metric=metric, n_neighbors=2)
    distances, numbers = ours.kneighbors(QUERIES)
    np.testing.assert_allclose(distances, other.kneighbors(QUERIES)[0])
    np.testing.assert_array_equal(numbers, other.kneighbors(QUERIES)[1])
    assert isinstance(ours.kneighbors_graph(QUERIES), csr_array)
    assert isinstance(ours.radius_neighbors(QUERIES)[0], np.ndarray)


def test_sparse_samples_and_float32():
    """Stay what they are."""
    thin = np.where(np.abs(SAMPLES) < 0.5, 0.0, SAMPLES)
    ours = NearestNeighbors(n_neighbors=2).fit(mt.tensor(thin, chunk_size=11).tosparse())
    other = theirs.NearestNeighbors(n_neighbors=2).fit(csr_array(thin))
    found = ours.kneighbors(mt.tensor(QUERIES, chunk_size=5).tosparse())
    np.testing.assert_allclose(found[0], other.kneighbors(csr_array(QUERIES))[0])
    small = SAMPLES.astype(np.float32)
    ours = NearestNeighbors(n_neighbors=2).fit(mt.tensor(small, chunk_size=11))
    expected = theirs.NearestNeighbors(n_neighbors=2).fit(small).kneighbors(small)[0]
    found = ours.kneighbors(mt.tensor(small, chunk_size=7))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found.dtype == expected.dtype


def test_equal_rows_are_not_their_own_neighbours():
    """Each row leaves out itself, or one of its equals."""
    lazy = mt.zeros((5, 2), chunk_size=2)
    numbers = NearestNeighbors(n_neighbors=2).fit(lazy).kneighbors(return_distance=False).compute()
    assert (numbers != np.arange(5)[:, None]).all()


def test_what_is_refused():
    """In scikit-learn's words, at the call."""
    ours, other = _pair(n_neighbors=5)
    lazy = mt.tensor(QUERIES, chunk_size=5)
    for how in ({"n_neighbors": 41}, {"n_neighbors": 0}):
        with pytest.raises(ValueError, match="Expected n_neighbors") as expected:
            other.kneighbors(QUERIES, **how)
        with pytest.raises(ValueError, match="Expected n_neighbors") as found:
            ours.kneighbors(lazy, **how)
        assert str(found.value) == str(expected.value)
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        ours.kneighbors(n_neighbors=40)
    with pytest.raises(TypeError, match="enter integer value"):
        ours.kneighbors(lazy, 2.5)
    with pytest.raises(ValueError, match="Unsupported mode"):
        ours.kneighbors_graph(lazy, mode="loud")
    with pytest.raises(ValueError, match="return_distance must be True"):
        ours.radius_neighbors(lazy, return_distance=False, sort_results=True)
    with pytest.raises(ValueError, match="features"):
        ours.kneighbors(lazy[:, :2])
    with pytest.raises(NotImplementedError, match="precomputed"):
        NearestNeighbors(metric="precomputed").fit(lazy)
    with pytest.raises(ValueError, match="not valid"):
        NearestNeighbors(algorithm="kd_tree", metric="cosine").fit(lazy)


def test_samples_in_memory_replace_lazy_ones():
    """A second fit forgets the first; lazy queries stay lazy."""
    model = NearestNeighbors(n_neighbors=1).fit(mt.tensor(SAMPLES, chunk_size=9))
    model.fit(QUERIES)
    numbers = model.kneighbors(mt.tensor(QUERIES, chunk_size=5), return_distance=False)
    assert numbers.compute().ravel().tolist() == list(range(12))
