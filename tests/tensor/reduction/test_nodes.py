"""Several reductions of one array: the same values, from blocks that are read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask import compute
from marsdask.core.compilation.rules.node_fusion import join
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.node import Part
from marsdask.tensor.reduction.nodes import Reduction, Reductions, shared_reductions
from marsdask.tensor.reduction.reductions import mean, std, var
from tests.strategies import arrays_and_chunks, tensor_of

NAMES = ("sum", "mean", "max", "std", "var", "any", "prod", "ptp")


def joint(*tensors: Any) -> list[Any]:
    """Return the nodes of tensors after reductions of the same were put together."""
    return list(join(Graph([tensor.node for tensor in tensors]), Plan()).roots)


def test_reductions_of_the_same_are_one_node() -> None:
    """What is reduced once stays alone; the others share a node, wherever they are needed."""
    x, y = mt.ones((4, 4), chunk_size=2), mt.zeros(4)
    first, second, other, scaled = joint(x.mean(0), x.std(1), y.sum(), (x - x.mean(0)) / x.max())
    assert isinstance(first, Part)
    assert first.source is second.source
    assert isinstance(first.source, Reductions)
    assert first.source in Graph([scaled]).nodes
    assert len(first.source.several) == 3
    assert isinstance(other, Reduction)


def test_a_shared_prologue_is_taken_in() -> None:
    """What only reductions need never exists as an array."""
    y = mt.sqrt(mt.tensor(np.full((600, 600), 4.0), chunk_size=300) + 5)
    total, most = compute(y.sum(), y.max(axis=0))
    assert total == 3 * 600 * 600
    assert np.array_equal(most, np.full(600, 3.0))


def wanted(reduced: mt.Tensor) -> Any:
    """Return what a reduction is to find."""
    assert isinstance(reduced.node, Reduction)
    return reduced.node.spec


def test_a_mean_comes_from_moments() -> None:
    """The mean and the variances along one axis are made of the same partial results."""
    x = mt.ones((4, 4))
    several = [wanted(t) for t in (mean(x, axis=0), var(x, axis=0), std(x, axis=0, ddof=1))]
    assert len(set(shared_reductions(tuple(several)))) == 1
    apart = [wanted(t) for t in (mean(x, axis=0), var(x, axis=1), var(x, axis=0, dtype="f4"))]
    assert len(set(shared_reductions(tuple(apart)))) == 3


@given(
    arrays_and_chunks(dtypes=("f8", "i4"), min_dims=2, max_dims=2),
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from([None, 0, 1]), st.booleans()),
        min_size=2,
        max_size=4,
    ),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_together_as_alone(case: tuple[Any, Any], wanted: list[tuple[str, Any, bool]]) -> None:
    """Reductions that share blocks give what NumPy gives for each."""
    array, chunks = case
    if 0 in array.shape:
        wanted = [item for item in wanted if item[0] not in ("max", "ptp")]
    lazy = tensor_of(array, chunks)
    with np.errstate(all="ignore"):
        results = compute(*(getattr(mt, n)(lazy, axis=a, keepdims=k) for n, a, k in wanted))
        for result, (name, axis, keepdims) in zip(results, wanted, strict=True):
            expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_infinity_stays_one() -> None:
    """A mean made of moments is the mean even where variances are not numbers."""
    array = np.ones((700, 700))
    array[3, 3] = np.inf
    with np.errstate(invalid="ignore"):
        average, spread = compute(*(f(mt.tensor(array), axis=0) for f in (mean, var)))
    assert average[3] == np.inf
    assert np.isnan(spread[3])
    assert not np.delete(spread, 3).any()
