"""Random states: laws, seeds and arguments."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.core.config import option_context
from marsdask.tensor import random
from marsdask.tensor.operands import as_node
from tests.strategies import chunkings

ARGUMENTS = {"triangular": (1, 2, 4), "p": 0.5, "nsample": 2}
LAWS = sorted(
    name
    for name in random.__all__
    if "size" in inspect.signature(getattr(random, name)).parameters
    and name not in {"choice", "multinomial", "dirichlet", "multivariate_normal"}
)
VECTORS = {
    "multinomial": (5, [0.5, 0.5]),
    "dirichlet": ([1.0, 2.0, 3.0],),
    "multivariate_normal": ([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]]),
}


def arguments(name):
    """Return values for a law's obligatory parameters."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    needed = [
        key
        for key, value in inspect.signature(getattr(random, name)).parameters.items()
        if value.default is value.empty and value.kind is value.POSITIONAL_OR_KEYWORD
    ]
    return [ARGUMENTS.get(key, 3) for key in needed]


@pytest.mark.parametrize("name", LAWS)
def test_laws_give_what_they_announce(name):
    """Shape and dtype are those announced, and the same seed and call give the same numbers."""
    law = getattr(random.RandomState(3), name)
    again = getattr(random.RandomState(3), name)
    lazy = law(*arguments(name), size=(5, 4), chunk_size=3)
    values = lazy.compute()
    assert (values.shape, values.dtype) == (lazy.shape, lazy.dtype) == ((5, 4), lazy.dtype)
    np.testing.assert_array_equal(values, again(*arguments(name), size=(5, 4)).compute())
    assert not np.array_equal(values, law(*arguments(name), size=(5, 4)).compute()) or (
        values.dtype.kind != "f"
    )


@pytest.mark.parametrize("name", ["normal", "poisson", "randint", "gamma"])
@given(data=st.data())
def test_values_do_not_depend_on_chunks(name, data):
    """Any grid, merged or not, holds the same numbers."""
    shape = (330, 700)
    splits = (
        tuple(data.draw(st.sampled_from([(330,), (1, 0, 329), (110, 220), (256, 74)]))),
        tuple(data.draw(st.sampled_from([(700,), (350, 350), (3, 697), (256, 256, 188)]))),
    )
    whole = getattr(random.RandomState(1), name)(*arguments(name), size=shape).compute()
    with option_context({"coalesce": data.draw(st.booleans())}):
        cut = getattr(random.RandomState(1), name)(
            *arguments(name), size=shape, chunk_size=splits
        ).compute()
    np.testing.assert_array_equal(cut, whole)


@given(chunks=chunkings((7, 5)), params=chunkings((5,)))
def test_tensors_as_parameters_broadcast(chunks, params):
    """A tensor of means shifts each column by its own, whatever the chunks of both."""
    means = np.arange(5.0) * 1000
    lazy = wrap(as_node(means, params))
    cut = random.RandomState(1).normal(lazy, 1.0, size=(7, 5), chunk_size=chunks).compute()
    np.testing.assert_array_equal(cut, random.RandomState(1).normal(lazy, size=(7, 5)).compute())
    np.testing.assert_allclose(cut - means, 0, atol=10)


@pytest.mark.parametrize("name", VECTORS)
def test_vector_laws_draw_whole_vectors(name):
    """Multivariate laws add axes of their own, which are not cut."""
    lazy = getattr(random, name)(*VECTORS[name], size=(9,), chunk_size=4)
    extra = np.shape(VECTORS[name][-1])[:1]
    assert lazy.compute().shape == lazy.shape == (9, *extra)
    assert lazy.chunks[1:] == tuple((size,) for size in extra)


def test_moments_are_the_laws():
    """Location and scale arrive, in float32 too."""
    state = random.default_rng(0)
    for dtype in ("f4", "f8"):
        values = state.normal(5.0, 2.0, 40_000, dtype=dtype).compute()
        assert values.dtype == dtype
        assert abs(values.mean() - 5) < 0.05
        assert abs(values.std() - 2) < 0.05
    values = state.uniform(-1, 3, (40_000,)).compute()
    assert -1 <= values.min() < -0.99 < 2.99 < values.max() < 3
    assert abs(state.exponential(4.0, 40_000).compute().mean() - 4) < 0.1


def test_tiles_are_independent():
    """No two tiles of a large array repeat each other, nor do two calls."""
    state = random.RandomState(0)
    values = state.rand(2**18).compute()
    assert len(np.unique(values)) == 2**18
    assert abs(np.corrcoef(values, state.rand(2**18).compute())[0, 1]) < 0.01


def test_seeds_restart_and_no_seed_differs():
    """seed() begins the same sequence again; without one, two draws differ."""
    random.seed(7)
    first = random.rand(3).compute(), random.rand(3).compute()
    random.seed(7)
    np.testing.assert_array_equal(random.rand(3).compute(), first[0])
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(
        random.RandomState().rand(3).compute(), random.RandomState().rand(3).compute()
    )
    generator = random.default_rng([1, 2])
    assert random.default_rng(generator) is generator


def test_integers_include_what_numpys_do():
    """High is excluded, unless asked for; one bound starts from zero."""
    state = random.default_rng(0)
    assert set(state.integers(3, size=200).compute()) == {0, 1, 2}
    assert set(state.integers(1, 3, 200, endpoint=True).compute()) == {1, 2, 3}
    assert state.randint(0, 2, 5, dtype="i1").dtype == np.int8
    assert set(state.random_integers(2, size=200).compute()) == {1, 2}


def test_choice():
    """Elements come from the vector, by the weights, once each without replacement."""
    state = random.RandomState(0)
    items = np.array([10.0, 20.0, 30.0])
    values = state.choice(items, 400, p=[0.7, 0.0, 0.3]).compute()
    assert set(values) == {10.0, 30.0}
    assert 0.6 < (values == 10).mean() < 0.8
    assert set(state.choice(3, (50, 2), chunk_size=7).compute().ravel()) == {0, 1, 2}


def test_permutation_of_a_range():
    """Each number comes once, in another order."""
    values = random.RandomState(0).permutation(500).compute()
    assert sorted(values) == list(range(500))
    assert not np.array_equal(values, np.arange(500))


def test_shuffles_move_rows():
    """Rows stay whole, and a tensor is shuffled in place."""
    x = np.arange(60).reshape(20, 3)
    lazy = wrap(as_node(x, 4))
    moved = random.RandomState(0).permutation(lazy).compute()
    np.testing.assert_array_equal(moved[np.argsort(moved[:, 0])], x)
    random.RandomState(0).shuffle(lazy)
    np.testing.assert_array_equal(lazy.compute(), moved)
    drawn = random.RandomState(0).choice(wrap(as_node(x[:, 0], 4)), 9, replace=False).compute()
    assert len(set(drawn) & set(x[:, 0])) == 9


def test_wrong_arguments_are_refused_at_the_call():
    """NumPy's own errors, before anything runs."""
    state = random.RandomState(0)
    with pytest.raises(ValueError, match="scale"):
        state.gamma(1.0, -1.0, 5)
    with pytest.raises(ValueError, match="low >= high"):
        state.randint(5, 2, 3)
    with pytest.raises(TypeError, match="float64 or float32"):
        state.normal(size=3, dtype="i4")
    with pytest.raises(ValueError, match="negative"):
        state.rand(-1)
    with pytest.raises(ValueError, match="sum to 1"):
        state.choice(2, 3, p=[0.5, 0.6])
    with pytest.raises(ValueError, match=r"Output size .* is not compatible"):
        state.normal(np.zeros((3, 1)), 1.0, (4,))


def test_every_method_of_numpy_is_there():
    """What NumPy's generators and states can do, these can."""

    def public(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(np.random.Generator) <= public(random.Generator)
    assert public(np.random.RandomState) <= public(random.RandomState)


@pytest.mark.parametrize(
    "make",
    [
        lambda: 5,
        lambda: np.array([1, 2]),
        lambda: np.random.SeedSequence(3),
        lambda: np.random.PCG64(4),
        lambda: np.random.default_rng(4),
        lambda: np.random.RandomState(4),
    ],
    ids=["int", "array", "sequence", "bits", "generator", "state"],
)
def test_seeds_are_all_that_numpy_takes(make):
    """Equal seeds give equal numbers, whatever kind of seed."""
    one, two = (random.default_rng(make()).random(20).compute() for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, random.default_rng(99).random(20).compute())


def test_states_are_saved_and_exchanged():
    """A saved state repeats what came after it; NumPy's states come and go."""
    state = random.RandomState(3)
    state.rand(2)
    saved = state.get_state()
    values = state.rand(5).compute()
    state.set_state(saved)
    np.testing.assert_array_equal(state.rand(5).compute(), values)
    with pytest.raises(ValueError, match="get_state"):
        state.set_state("nonsense")
    theirs = np.random.RandomState(4)
    before = theirs.get_state(legacy=False)["state"]["key"]
    ours = random.RandomState.from_numpy(theirs)
    np.testing.assert_array_equal(before, theirs.get_state(legacy=False)["state"]["key"])
    assert ours.to_numpy().randint(10**6) == ours.to_numpy().randint(10**6)
    children = random.default_rng(0).spawn(2)
    again = random.default_rng(0).spawn(2)
    first, second = (child.random(4).compute() for child in children)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again[0].random(4).compute())
    assert isinstance(children[0].bit_generator, np.random.BitGenerator)


def test_order_at_random_along_any_axis():
    """``permutation``, ``shuffle`` and ``permuted`` move whole slices, or each lane by itself."""
    rng = random.default_rng(0)
    array = np.arange(40).reshape(4, 10)
    lazy = wrap(as_node(array, 3))
    columns = rng.permutation(lazy, axis=1).compute()
    np.testing.assert_array_equal(np.sort(columns, axis=1), array)
    np.testing.assert_array_equal(np.diff(columns, axis=0), 10)
    rng.shuffle(lazy, axis=1)
    assert sorted(lazy.compute()[0]) == list(range(10))
    lanes = rng.permuted(array, axis=1).compute()
    np.testing.assert_array_equal(np.sort(lanes, axis=1), array)
    assert len({tuple(row % 10) for row in lanes}) > 1
    assert sorted(rng.permuted(array).compute().ravel()) == list(range(40))
    target = wrap(as_node(array))
    assert rng.permuted(target, axis=0, out=target) is target


def test_choice_by_weights_without_replacement():
    """Nothing is drawn twice, nor what has no weight, and heavy elements come more often."""
    rng = random.default_rng(0)
    weights = np.array([0.0, 0.7, 0.1, 0.1, 0.1])
    drawn = [rng.choice(5, 2, replace=False, p=weights).compute() for _ in range(40)]
    assert all(len(set(pair)) == 2 and 0 not in pair for pair in drawn)
    assert sum(1 in pair for pair in drawn) > 25
    rows = rng.choice(np.arange(12).reshape(3, 4), 2, axis=1, replace=False).compute()
    np.testing.assert_array_equal(np.diff(rows, axis=0), 4)
    with pytest.raises(ValueError, match="non-zero"):
        rng.choice(5, 5, replace=False, p=weights)


def test_sparse_integers():
    """``density`` says how much of a sparse tensor is drawn, as in Mars."""
    lazy = random.RandomState(0).randint(1, 9, (100, 100), density=0.1, chunk_size=40)
    assert lazy.issparse()
    assert 0.07 < lazy.compute().nnz / 10_000 < 0.13
    with pytest.raises(ValueError, match="density"):
        random.randint(3, size=2, density=2)


def test_out_and_the_rest_of_the_arguments():
    """``out=`` rebinds, vectors of counts sum up, covariances are checked at the call."""
    rng = random.default_rng(0)
    target = rng.random(5)
    before = target.compute()
    assert rng.standard_normal(out=target) is target
    assert not np.array_equal(target.compute(), before)
    counts = rng.multivariate_hypergeometric([3, 4, 5], 6, size=7).compute()
    np.testing.assert_array_equal(counts.sum(axis=1), 6)
    assert rng.standard_exponential(3, method="inv").shape == (3,)
    assert random.RandomState(0).tomaxint(4).dtype == np.int64
    with pytest.raises(ValueError, match="method"):
        rng.standard_exponential(3, method="guess")
    with pytest.raises(ValueError, match="positive-semidefinite"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise")


def test_nothing_is_drawn_from_nothing() -> None:
    """As of NumPy: empty, of the type of what there would be."""
    state = mt.random.default_rng(0)
    assert state.choice(np.array([]), 0).compute().dtype == np.float64
    assert state.choice(0, size=0).compute().shape == (0,)
    with pytest.raises(TypeError, match="out must be a Tensor, not ndarray"):
        state.random(out=np.zeros(3))
