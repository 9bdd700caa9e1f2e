"""Functions of the stored values of matrices."""

from __future__ import annotations

from typing import Any

from marsdask.core.public import public
from marsdask.learn.lazy import adopted
from marsdask.tensor.elementwise.ufuncs import multiply, not_equal
from marsdask.tensor.manipulation.shape import expand_dims
from marsdask.tensor.operands import as_node
from marsdask.tensor.reduction.reductions import sum as sum_of

__all__ = ["count_nonzero"]


@public
def count_nonzero(X: Any, axis: int | None = None, sample_weight: Any = None) -> Any:
    """Count the values that are not zero, those of a sample by its weight.

    See sklearn.utils.sparsefuncs.count_nonzero.

    Examples
    --------
    >>> from marsdask.learn.utils.sparsefuncs import count_nonzero
    >>> count_nonzero(mt.tensor([[1, 0], [2, 3]]), axis=1).compute()
    array([1, 2])
    """
    nonzero = not_equal.node(as_node(adopted(X)), 0)
    if sample_weight is None:
        return sum_of.node(nonzero, axis=axis)
    weight = as_node(adopted(sample_weight))
    # Lengths that differ must not be broadcast.
    if isinstance(weight.shape[0], int) and weight.shape[0] != nonzero.shape[0]:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {nonzero.shape[:1]}!")
    return sum_of.node(multiply.node(nonzero, expand_dims.node(weight, 1)), axis=axis)
