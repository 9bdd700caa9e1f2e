"""Products equal NumPy's over chunkings and dtypes."""

from __future__ import annotations

import contextvars
import importlib
import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.core.config import option_context
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.tensor.operands import as_node
from tests import grid_pairs
from tests.strategies import chunkings

#: The module, not the function of that name.
contract = importlib.import_module("marsdask.tensor.linalg.contraction")

PAIRS = [
    ((5, 7), (7, 4)),
    ((7,), (7,)),
    ((7,), (7, 3)),
    ((2, 5, 7), (7, 4)),
    ((2, 1, 5, 7), (3, 7, 4)),
    ((7,), (2, 7, 4)),
    ((5, 7), (7,)),
    ((0, 7), (7, 3)),
    ((3, 0), (0, 3)),
    ((1, 1), (1, 1)),
]

SUBSCRIPTS = [
    "ij,jk,kl->il",
    "ij,jk,ki->",
    "ij,jk,kl",
    "ii",
    "ii->i",
    "ij->ji",
    "ij->",
    "...j->...",
    "ij,ij->ij",
    "ij,ij",
    "ij,kl->iljk",
    "ii,jj->",
    "ij,...->i...",
    "i...,i...->...",
    "ij,jk,kl,li->j",
]


_coalesce = grid_pairs.coalesce


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


def filled(shape, dtype="float64", start=0.0):
    """Return an array of small distinct values."""
    values = np.arange(math.prod(shape)).reshape(shape) % 7 - 3 + start
    return values.astype(dtype)


def same(lazy, expected):
    """Assert that a tensor has NumPy's shape, dtype and values."""
    assert lazy.shape == np.shape(expected)
    assert lazy.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["matmul", "dot"])
@pytest.mark.parametrize(("a", "b"), PAIRS)
@given(data=st.data())
def test_products_equal_numpys(name, a, b, data):
    """Matmul and dot agree over every pair of ranks, stacks broadcast."""
    x, y = filled(a), filled(b, start=1)
    lazy_x = tensor(x, chunk_size=data.draw(chunkings(a)))
    lazy_y = tensor(y, chunk_size=data.draw(chunkings(b)))
    try:
        expected = getattr(np, name)(x, y)
    except ValueError:
        with pytest.raises(ValueError, match="length"):
            getattr(mt, name)(lazy_x, lazy_y)
        return
    same(getattr(mt, name)(lazy_x, lazy_y), expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex64", "object"])
def test_dtypes_are_numpys(dtype):
    """Products keep the dtype, whatever multiplies and adds."""
    x, y = filled((5, 4), dtype), filled((4, 6), dtype)
    lazy = mt.matmul(tensor(x, chunk_size=2), tensor(y, chunk_size=3))
    assert lazy.dtype == np.matmul(x, y).dtype
    np.testing.assert_array_equal(lazy.compute(), np.matmul(x, y))


@pytest.mark.parametrize("text", SUBSCRIPTS)
@given(data=st.data())
def test_einsum_equals_numpys(text, data):
    """Each form of subscripts sums what NumPy sums."""
    operands = [filled((4, 4), start=i) for i in range(text.split("->")[0].count(",") + 1)]
    lazy = [tensor(x, chunk_size=data.draw(chunkings(x.shape))) for x in operands]
    same(mt.einsum(text, *lazy), np.einsum(text, *operands))


def test_einsum_takes_lists_of_labels_and_broadcasts():
    """The other spelling works, and axes of length one broadcast."""
    x, y = filled((4, 1)), filled((5, 3))
    lazy_x, lazy_y = tensor(x, chunk_size=2), tensor(y, chunk_size=2)
    same(mt.einsum(lazy_x, [0, 1], lazy_y, [1, 2], [0, 2]), np.einsum(x, [0, 1], y, [1, 2], [0, 2]))
    same(
        mt.einsum("ij,jk,lk", lazy_x, lazy_y, lazy_y, optimize=False),
        np.einsum("ij,jk,lk", x, y, y),
    )


@pytest.mark.parametrize("axes", [0, 1, 2, ([0], [1]), ([0, 1], [1, 0]), (0, 0), ([], [])])
@given(data=st.data())
def test_tensordot_equals_numpys(axes, data):
    """Tensordot sums over the axes that NumPy pairs."""
    x = filled((4, 4))
    lazy = tensor(x, chunk_size=data.draw(chunkings(x.shape)))
    same(mt.tensordot(lazy, lazy, axes), np.tensordot(x, x, axes))


def test_inner_outer_and_vdot():
    """Inner sums over last axes, outer multiplies all, vdot conjugates."""
    x = filled((5, 6)) + 1j
    lazy = tensor(x, chunk_size=(2, 4))
    same(mt.inner(lazy, lazy), np.inner(x, x))
    same(mt.inner(lazy, 2.0), np.inner(x, 2.0))
    same(mt.vdot(lazy, lazy), np.vdot(x, x))
    same(mt.outer(tensor(x[0], chunk_size=4), 3), np.outer(x[0], 3))
    same(mt.outer(lazy, lazy), np.outer(x, x))
    same(mt.vdot(lazy, tensor(x.T, chunk_size=3)), np.vdot(x, x.T))
    same(lazy @ x.T, x @ x.T)
    same(x.T @ lazy, x.T @ x)
    same(lazy.dot(x[0]), x.dot(x[0]))


def test_where_products_go():
    """Into a tensor that is given, or into sparse blocks."""
    x = filled((4, 4))
    lazy = tensor(x, chunk_size=3)
    for call, want in (
        (lambda out: mt.dot(lazy, lazy, out), x @ x),
        (lambda out: mt.matmul(lazy, lazy, out=out), x @ x),
        (lambda out: mt.outer(lazy[0], lazy[1], out), np.outer(x[0], x[1])),
        (lambda out: mt.einsum("ij,kj", lazy, lazy, out=out, dtype="f8"), x @ x.T),
        (lambda out: mt.cumulative_sum(lazy, axis=0, out=out), np.cumsum(x, axis=0)),
    ):
        target = mt.zeros((4, 4))
        assert call(target) is target
        np.testing.assert_allclose(target.compute(), want)
    for lazily in (mt.dot, mt.matmul, mt.inner):
        found = lazily(lazy, lazy, sparse=True).compute()
        assert scipy.sparse.issparse(found)
        np.testing.assert_allclose(found.toarray(), x @ (x.T if lazily is mt.inner else x))
    with pytest.raises(TypeError, match="safe"):
        mt.einsum("ij,jk", lazy, lazy, dtype="f4")


def test_lengths_that_do_not_fit_are_refused_at_the_call():
    """A wrong shape is an error where it is written."""
    words = "core dimension|not aligned|shape-mismatch|reshape|broadcast together"
    x, y = tensor(filled((3, 4))), tensor(filled((3, 5)))
    for product in (mt.matmul, mt.dot, mt.inner, mt.tensordot, mt.vdot):
        with pytest.raises(ValueError, match=words):
            product(x, y)
    with pytest.raises(ValueError, match=words):
        mt.einsum("ij,jk", x, y)
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        mt.matmul(x, 2)


#: Products that sum over axes of one length, of vectors.
STRICT = [mt.dot, mt.inner, mt.matmul, mt.vdot, mt.vecdot, partial(mt.tensordot, axes=1)]


@pytest.mark.parametrize(
    "product", STRICT, ids=["dot", "inner", "matmul", "vdot", "vecdot", "tensordot"]
)
@given(data=st.data())
def test_an_axis_of_length_one_does_not_broadcast(product, data):
    """Lengths that nobody knows at the call are compared before anything is multiplied."""
    length, other = data.draw(st.tuples(st.integers(0, 4), st.sampled_from([1, 1, 3])))
    x, y = filled((4,))[:length], filled((3,))[:other]
    lazy = tensor(filled((4,)), chunk_size=data.draw(chunkings((4,))))
    kept = lazy[mt.arange(4) < length]
    pair = (kept, tensor(y)) if data.draw(st.booleans()) else (tensor(y), kept)
    if length == other:
        np.testing.assert_allclose(product(*pair).compute(), np.dot(x, y))
    else:
        with pytest.raises(ValueError, match="in length"):
            product(*pair).compute()


@pytest.mark.parametrize("text", ["ii", "ii->i", "ii,j->j", "ii,i->i"])
@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (2, 3), (1, 1), (3, 3)])
def test_subscripts_that_one_operand_repeats(text, shape):
    """Axes of one operand do not broadcast against each other, of several they do."""
    x, others = filled(shape), (filled((1,)),) * text.count(",")
    for lazy in (tensor(x), tensor(x)[mt.ones(shape[0], bool)]):
        if shape[0] == shape[1]:
            found = mt.einsum(text, lazy, *others).compute()
            np.testing.assert_allclose(found, np.einsum(text, x, *others))
        else:
            with pytest.raises(ValueError, match="length"):
                mt.einsum(text, lazy, *others).compute()


@pytest.mark.parametrize("product", [mt.dot, mt.inner, mt.vdot, mt.matmul])
def test_products_of_durations_are_refused_at_the_call(product):
    """NumPy's own lose the unit."""
    spans = tensor(np.arange(4, dtype="m8[s]"))
    with pytest.raises(TypeError):
        product(spans, np.arange(4)).dtype  # noqa: B018 - reading it is enough


def plan_of(*operands, labels, out, **machine):
    """Return how a contraction would be cut for a machine, by default of two threads."""
    context = contextvars.copy_context()
    context.run(current_plan.set, Plan(**{"workers": 2, **machine}))
    node = contract.contract([as_node(x) for x in operands], labels, out)
    compilation = node.tile(*(operand.tile() for operand in node.operands))
    with pytest.raises(StopIteration) as done:
        context.run(next, compilation)
    return done.value.value


def test_few_large_tasks_are_halved():
    """Nine products that two cores cannot share evenly become eighteen, with the same result."""
    x = filled((24, 24))
    with pytest.MonkeyPatch.context() as patch, option_context({"coalesce": False}):
        patch.setattr(contract, "HALVED", 8)
        lazy, other = tensor(x, 8), tensor(x + 1, 8)
        grid = plan_of(lazy, other, labels=[(0, 1), (1, 2)], out=(0, 2))
        assert grid.numblocks == (6, 3)
        same(mt.matmul(lazy, other), x @ (x + 1))


@pytest.mark.parametrize(
    ("workers", "chunks", "width"),
    [(2, 8, 2), (2, 12, 2), (16, 6, 4), (20, 6, 1), (2, (8, 1), 12), (100, (8, 1), 4)],
)
def test_processes_share_few_blocks_by_parts_of_their_sums(workers, chunks, width):
    """Blocks stay whole, and the operands of a part are no smaller than its result."""
    x = tensor(filled((24, 24)), chunks)
    y = tensor(filled((24, 24), start=1), chunks if isinstance(chunks, int) else chunks[::-1])
    labels, out = [(0, 1), (1, 2)], (0, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract, "HALVED", 8)
        grid = plan_of(x, y, labels=labels, out=out, workers=workers, shared_memory=False)
        halved = plan_of(x, y, labels=labels, out=out, workers=workers)
    assert panels(grid) == [width]
    assert grid.numblocks == (len(x.chunks[0]),) * 2
    assert set(panels(halved)) == {len(x.chunks[1])}, "threads of one process move nothing"


@given(data=st.data())
def test_sums_in_parts(data):
    """Products equal NumPy's, also of an array with itself, whatever the number of threads."""
    shape = st.tuples(*[st.integers(3, 9)] * 2)
    x = filled(data.draw(shape), data.draw(st.sampled_from(["int64", "float64", "complex128"])))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    pairs = [(lazy.T, x.T), (tensor(x.T + 1, 2), x.T + 1)]
    other, expected = data.draw(st.sampled_from(pairs))
    machine = Plan(workers=data.draw(st.integers(1, 40)), shared_memory=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract, "current_plan", SimpleNamespace(get=lambda: machine))
        same(mt.matmul(lazy, other), x @ expected)


MIRRORED = ["ik,jk->ij", "ki,kj->ji", "bik,bjk->bij", "ik,jk->kji"]


@pytest.mark.parametrize("text", MIRRORED)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@given(data=st.data())
def test_an_array_with_itself_is_half_the_work(text, dtype, data):
    """Products of an array with itself equal NumPy's, whichever blocks are made of others."""
    x = filled((5, 6, 7)[: len(text.split(",")[0])], dtype)
    lazy = tensor(x, chunk_size=data.draw(chunkings(x.shape)))
    same(mt.einsum(text, lazy, lazy), np.einsum(text, x, x))


def test_mirrored_blocks_are_views():
    """Ten blocks of sixteen are computed, also where one operand is written as a transpose."""
    x = tensor(filled((8, 8)), 2)
    for lazy in (mt.inner(x, x), x @ x.T, x.T @ x):
        grid = plan_of(*lazy.node.operands, labels=lazy.node.labels, out=lazy.node.out)  # type: ignore[union-attr]
        calls = [grid.rule.cell(index).func for index in grid.indices()]
        assert calls.count(contract.swap_axes) == 6
    other = plan_of(x, tensor(filled((8, 8), start=1), 2), labels=[(0, 1), (2, 1)], out=(0, 2))
    assert not isinstance(other.rule, contract.SymmetricBlocks)


def test_one_block_of_an_array_with_itself_is_cut_both_ways():
    """Two workers share the three parts of a product that is one block."""
    x = filled((16, 24))
    with pytest.MonkeyPatch.context() as patch, option_context({"coalesce": False}):
        patch.setattr(contract, "HALVED", 8)
        lazy = tensor(x, (16, 2))
        grid = plan_of(lazy, lazy, labels=[(0, 1), (2, 1)], out=(0, 2))
        assert grid.numblocks == (2, 2)
        same(mt.inner(lazy, lazy), x @ x.T)


def test_products_of_an_array_of_unknown_length_with_itself():
    """What a filter leaves is multiplied with itself both ways."""
    x = filled((24, 6))
    lazy = tensor(x, 4)
    kept, expected = lazy[lazy[:, 0] > 0], x[x[:, 0] > 0]
    np.testing.assert_allclose((kept.T @ kept).compute(), expected.T @ expected)
    np.testing.assert_allclose((kept @ kept.T).compute(), expected @ expected.T)


def test_a_task_multiplies_what_the_budget_takes():
    """The panels of one task take a share of the budget, and the sum is split."""
    x, y = tensor(filled((40, 40)), 10), tensor(filled((40, 40), start=1), 10)
    wide = plan_of(x, y, labels=[(0, 1), (1, 2)], out=(0, 2))
    tight = plan_of(x, y, labels=[(0, 1), (1, 2)], out=(0, 2), budget=16 * 1600)
    assert panels(wide) == [4]
    assert panels(tight) == [2]


def panels(grid):
    """Return how many products the tasks of a grid sum."""
    found, stack = [], [grid]
    while stack:
        rule = stack.pop().rule
        found += [rule.width] if isinstance(rule, contract.PanelSums) else []
        stack.extend(rule.inputs)
    return found


@given(data=st.data())
def test_matrices_with_vectors(data):
    """Stacks broadcast, and vectors on the left are conjugated."""
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(3, 4, 5)) + 1j, rng.normal(size=(3, 5)) - 2j
    t = wrap(as_node(x, data.draw(chunkings(x.shape))))
    for vector in (v, v[0]):
        lazy = wrap(as_node(vector, data.draw(chunkings(vector.shape))))
        np.testing.assert_allclose(mt.matvec(t, lazy).compute(), np.matvec(x, vector))
        flipped = t.transpose(0, 2, 1)
        expected = np.vecmat(vector, x.transpose(0, 2, 1))
        np.testing.assert_allclose(mt.vecmat(lazy, flipped).compute(), expected)


@pytest.mark.parametrize("name", ["vecdot", "matvec", "vecmat"])
def test_keywords_of_products(name):
    """Results go where they should, products are of the type asked for."""
    x, v = np.arange(24.0).reshape(2, 4, 3) + 0.5, np.arange(3)
    v = np.arange(4) if name == "vecmat" else v
    operands = (v, x) if name == "vecmat" else (x, v)
    func, expected = getattr(mt, name), getattr(np, name)(*operands, dtype="f4")
    out = mt.zeros(expected.shape, chunk_size=2)
    lazy = [mt.tensor(item, chunk_size=2) for item in operands]
    assert getattr(np, name)(*lazy, out=out, dtype="f4") is out
    np.testing.assert_array_equal(out.compute(), expected)
    assert func(*lazy, dtype="f4").dtype == expected.dtype
    with pytest.raises(TypeError, match="same_kind"):
        func(*lazy, dtype="i4")
    with pytest.raises(ValueError, match="output operand"):
        func(*lazy, out=mt.zeros(1))
    if name == "vecdot":
        x, y = x[..., None], x[..., None] - 1
        found = mt.vecdot(x, mt.tensor(y, chunk_size=2), axis=1, keepdims=True)
        np.testing.assert_allclose(found.compute(), np.sum(x * y, axis=1, keepdims=True))


@pytest.mark.parametrize("name", ["dot", "inner", "tensordot"])
def test_products_drop_no_units(name: str) -> None:
    """NumPy's result has no unit any more: that is refused, also where nothing is summed."""
    spans = np.array([1, 2], "m8[s]")
    with pytest.raises(TypeError, match="durations"):
        getattr(mt, name)(
            mt.tensor(spans), mt.tensor([1, 2]), *([0] if name == "tensordot" else [])
        )
    with pytest.raises(TypeError, match="durations"):
        mt.dot(2, mt.tensor(spans))
    np.testing.assert_array_equal(mt.outer(spans, [1, 2]).compute(), np.outer(spans, [1, 2]))


@pytest.mark.parametrize("subscripts", ["ii", "ii->"])
def test_sums_of_diagonals_read_no_other_elements(subscripts: str) -> None:
    """As trace: of 10**12 elements those on the diagonal are made."""
    tensor = mt.ones((10**6, 10**6), chunk_size=10**5, dtype="i8")
    assert mt.einsum(subscripts, tensor).compute() == 10**6
    assert mt.einsum("ii->i", mt.ones((10**12, 10**12)))[5:7].compute().tolist() == [1, 1]
