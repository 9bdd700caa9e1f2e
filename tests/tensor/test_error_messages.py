"""Calls that fail say so as NumPy does: its type of error, its words, and the shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

Call = Callable[[Any, Any], Any]

#: Calls of a module and an array of shape (3, 4) that NumPy refuses, with the words of its message.
REFUSED: dict[str, tuple[Call, str]] = {
    "sorter of another size": (
        lambda xp, x: xp.searchsorted([1, 2, 3], 2, sorter=[0, 1]),
        "sorter.size must equal a.size",
    ),
    "sorter of floats": (
        lambda xp, x: xp.searchsorted([1, 2], 2, sorter=[0.0, 1.0]),
        "sorter must only contain integers",
    ),
    "sorter that is a mask": (
        lambda xp, x: xp.searchsorted([1, 2], 2, sorter=[True, False]),
        "sorter must only contain integers",
    ),
    "sorter of two axes": (
        lambda xp, x: xp.searchsorted([1, 2], 2, sorter=[[0, 1]]),
        "could not parse sorter argument",
    ),
    "searchsorted of a matrix": (
        lambda xp, x: xp.searchsorted(x, 2),
        "object too deep for desired array",
    ),
    "searchsorted of a number": (
        lambda xp, x: xp.searchsorted(np.array(1), 2),
        "object of too small depth for desired array",
    ),
    "transpose": (lambda xp, x: x.transpose(0, 1, 2), "axes don't match array"),
    "transpose twice": (lambda xp, x: x.transpose(0, 0), "repeated axis in transpose"),
    "moveaxis": (
        lambda xp, x: xp.moveaxis(x, (0, 1), (0,)),
        "arguments must have the same number of elements",
    ),
    "diagonal": (lambda xp, x: x.diagonal(0, 0, 0), "axis1 and axis2 cannot be the same"),
    "rot90": (lambda xp, x: xp.rot90(x, 1, (0, 0)), "Axes must be different"),
    "percentile": (
        lambda xp, x: xp.percentile(x, 101),
        r"Percentiles must be in the range \[0, 100",
    ),
    "nanpercentile": (lambda xp, x: xp.nanpercentile(x, -1), r"must be in the range \[0, 100\]"),
    "quantile": (lambda xp, x: xp.quantile(x, 2), r"Quantiles must be in the range \[0, 1\]"),
    "quantile method": (
        lambda xp, x: xp.quantile(x, 0.5, method="x"),
        "'x' is not a valid method. Use one of: ",
    ),
    "key of a float": (lambda xp, x: x[1.5], "only integers, slices .* are valid indices"),
    "key of a list of floats": (lambda xp, x: x[[1.5]], "only integers, slices .* are valid ind"),
    "key of text": (lambda xp, x: x["a"], "only integers, slices .* are valid indices"),
    "key of an array": (
        lambda xp, x: x[np.array([1.5])],
        r"arrays used as indices must be of integer \(or boolean\) type",
    ),
    "choice of too many": (
        lambda xp, x: xp.random.choice(3, 5, replace=False),
        "Cannot take a larger sample than population when 'replace=False'",
    ),
    "choice of other weights": (
        lambda xp, x: xp.random.choice(3, 2, p=[0.5, 0.5]),
        "'a' and 'p' must have same size",
    ),
    "choice of large weights": (
        lambda xp, x: xp.random.choice(2, 2, p=[0.5, 0.6]),
        "probabilities do not sum to 1",
    ),
    "choice of negative weights": (
        lambda xp, x: xp.random.choice(2, 2, p=[1.5, -0.5]),
        "probabilities are not non-negative",
    ),
    "choice of nothing": (
        lambda xp, x: xp.random.choice(0, 2),
        "a must be greater than 0 unless no samples are taken",
    ),
    "sum by an axis twice": (lambda xp, x: x.sum(axis=(0, 0)), "duplicate value in 'axis'"),
    "sum by a float": (
        lambda xp, x: x.sum(axis=1.5),
        "'float' object cannot be interpreted as an integer",
    ),
    "argmax by a float": (
        lambda xp, x: x.argmax(axis=1.5),
        "'float' object cannot be interpreted as an integer",
    ),
    "concatenate by a float": (
        lambda xp, x: xp.concatenate([x, x], axis=1.5),
        "'float' object cannot be interpreted as an integer",
    ),
    "out of integers": (
        lambda xp, x: xp.add(x, 1, out=xp.ones((3, 4), dtype=int)),
        "Cannot cast ufunc 'add' output from dtype.'float64'. to dtype.'int64'. with casting rule",
    ),
    "in-place sum of integers": (
        lambda xp, x: xp.ones((3, 4), dtype=int).__iadd__(x),
        "Cannot cast ufunc 'add' output from",
    ),
    "out of another shape": (
        lambda xp, x: xp.add(x, x, out=xp.ones((2, 2))),
        r"operands could not be broadcast together with shapes \(3,4\) \(3,4\) \(2,2\)",
    ),
    "where of another shape": (
        lambda xp, x: xp.add(x, x, where=xp.ones((2, 2), dtype=bool), out=xp.ones((3, 4))),
        r"broadcast together with shapes \(3,4\) \(3,4\) \(3,4\) \(2,2\)",
    ),
    "where": (
        lambda xp, x: xp.where(x > 1, xp.ones(5), x),
        r"operands could not be broadcast together with shapes \(3,4\) \(5,\) \(3,4\)",
    ),
    "positional arguments": (
        lambda xp, x: xp.add(x),
        r"add\(\) takes from 2 to 3 positional arguments but 1 w",
    ),
    "solve": (
        lambda xp, x: xp.linalg.solve(xp.ones((6, 6)), xp.ones(4)),
        "Input operand 1 has a mismatch in its core dimension 0.*size 4 is different from 6",
    ),
    "tensordot": (lambda xp, x: xp.tensordot(x, x, ((0, 1), (0,))), "shape-mismatch for sum"),
    "qr mode": (lambda xp, x: xp.linalg.qr(x, mode="x"), "Unrecognized mode 'x'"),
    "sort kind": (
        lambda xp, x: xp.sort(x, kind="x"),
        "sort kind must be one of 'quick', 'heap', o",
    ),
    "choose mode": (
        lambda xp, x: xp.choose([0, 1], [[1, 2], [3, 4]], mode="x"),
        r"clipmode must be one of 'clip', 'raise', or 'wrap' \(got 'x'\)",
    ),
    "fft norm": (lambda xp, x: xp.fft.fft(x, norm="x"), "Invalid norm value x; should be"),
    "einsum of nothing": (
        lambda xp, x: xp.einsum("ij"),
        "must specify the einstein sum subscripts",
    ),
    "einsum of more": (lambda xp, x: xp.einsum("ij", x, x), "(more|fewer) operands provided to"),
    "einsum of fewer": (lambda xp, x: xp.einsum("ij,jk", x), "(more|fewer) operands provided to"),
    "einsum of three axes": (
        lambda xp, x: xp.einsum("ijk", x),
        "einstein sum subscripts string contains too many subscripts for operand 0",
    ),
    "einsum of one axis": (
        lambda xp, x: xp.einsum("i", x),
        "operand has more dimensions than subscripts given in einstein sum",
    ),
    "einsum of a sign": (lambda xp, x: xp.einsum("i$", x), r"invalid subscript '\$' in einstein"),
    "einsum of a dot": (lambda xp, x: xp.einsum("i.j", x), "not part of an ellipsis"),
    "einsum to no subscript": (
        lambda xp, x: xp.einsum("ij->k", x),
        "included output subscript 'k' which never appeared in an input",
    ),
    "einsum to a subscript twice": (
        lambda xp, x: xp.einsum("ij->ii", x),
        "includes output subscript 'i' multiple times",
    ),
    "einsum of a diagonal": (
        lambda xp, x: xp.einsum("ii", x),
        r"dimensions .*for collapsing index.* don't match.* \(3 != 4\)",
    ),
    "position out of bounds": (
        lambda xp, x: xp.unravel_index([1, 99], (3, 4)),
        "index 99 is out of bounds for array with size 12",
    ),
    "count of negatives": (
        lambda xp, x: xp.bincount([1, -1]),
        "'list' argument must have no negative elements",
    ),
    "sum into another length": (
        lambda xp, x: xp.sum(x, axis=1, out=xp.ones(5)),
        r"together with remapped shapes .*: \(5,\)->\(5,newaxis\) \(3,4\)",
    ),
    "mean into another length": (
        lambda xp, x: xp.mean(x, axis=0, out=xp.ones(3)),
        r"together with remapped shapes .*: \(3,\)->\(3\) \(3,4\)",
    ),
    "maximum into another length": (
        lambda xp, x: xp.max(x, axis=0, keepdims=True, out=xp.ones((1, 5))),
        r"together with remapped shapes .*: \(1,5\)->\(1,5\) \(3,4\)",
    ),
    "product into more axes": (
        lambda xp, x: xp.prod(x, out=xp.ones(3)),
        "reduction operation multiply has the wrong number of dimensions: Found 1 but expected 0",
    ),
    "variance into more axes": (
        lambda xp, x: xp.var(x, axis=0, out=xp.ones((2, 4))),
        "reduction operation add has the wrong number of dimensions: Found 2 but expected 1",
    ),
    "reshape to a float": (
        lambda xp, x: x.reshape(2.5),
        "expected a sequence of integers or a single integer, got '2.5'",
    ),
    "reshape to text": (
        lambda xp, x: x.reshape("a"),
        "'str' object cannot be interpreted as an integer",
    ),
    "norm by an axis twice": (
        lambda xp, x: xp.linalg.norm(x, axis=(1, -1)),
        "Duplicate axes given.",
    ),
    "norm by text": (
        lambda xp, x: xp.linalg.norm(x, axis="a"),
        "'axis' must be None, an integer or a tuple of integers",
    ),
    "order of a matrix norm": (
        lambda xp, x: xp.linalg.norm(x, 3),
        "Invalid norm order for matrices.",
    ),
    "take by floats": (
        lambda xp, x: xp.take(x, xp.ones(2)),
        "Cannot cast array data from .*'float64'.* to .*'int64'.* according to the rule",
    ),
    "take by text": (
        lambda xp, x: xp.take(x, "a"),
        r"invalid literal for int\(\) with base 10: 'a'",
    ),
    "take by nan": (lambda xp, x: xp.take(x, np.nan), "cannot convert float NaN to integer"),
    "condition too long": (
        lambda xp, x: xp.compress([True, False, True, False, True], x, axis=0),
        "index 4 is out of bounds for axis 0 with size 3",
    ),
    "condition of two axes": (
        lambda xp, x: xp.compress([[True]], x),
        "condition must be a 1-d array",
    ),
    "choices of other shapes": (
        lambda xp, x: xp.choose([0, 1], [x, x]),
        r"cannot be broadcast to a single shape.*between arg 0 with shape \(3, 4\) and arg 2",
    ),
    "choose by floats": (
        lambda xp, x: xp.choose([0.0, 1.0], [[1, 2], [3, 4]]),
        "Cannot cast array data from .*'float64'.* to .*'int64'.* according to the rule 'safe'",
    ),
}

#: Calls of a module and a vector of which only the values tell that NumPy refuses them.
REFUSED_BY_VALUES: dict[str, tuple[Call, str]] = {
    "position out of bounds": (
        lambda xp, v: xp.unravel_index(v, (3, 4))[0],
        "index 99 is out of bounds for array with size 12",
    ),
    "count of negatives": (
        lambda xp, v: xp.bincount(v),
        "'list' argument must have no negative elements",
    ),
}

#: Our messages, where they tell the shapes or sizes that NumPy leaves out.
SHAPES: dict[str, tuple[Call, str]] = {
    "sorter of another size": (
        lambda xp, x: xp.searchsorted([1, 2, 3], 2, sorter=[0, 1]),
        r"sorter has 2 elements, a 3",
    ),
    "solve": (
        lambda xp, x: xp.linalg.solve(xp.ones((6, 6)), xp.ones(4)),
        r"shapes \(6,6\) \(4,\)",
    ),
    "choice of other weights": (
        lambda xp, x: xp.random.choice(3, 2, p=[0.5, 0.5]),
        r"3 elements and shape \(2,\)",
    ),
    "store": (
        lambda xp, x: xp.store(x, np.empty((2, 2))),
        r"could not broadcast input array from shape \(3,4\) into shape \(2,2\)",
    ),
    "searchsorted of a matrix": (lambda xp, x: xp.searchsorted(x, 2), r"a has shape \(3,4\)"),
}


def matrix() -> np.ndarray:
    """Return the array of the calls."""
    return np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses(name):
    """The type of error and the words are NumPy's, before anything is computed."""
    call, words = REFUSED[name]
    with pytest.raises(Exception, match=words) as expected:
        call(np, matrix())
    with pytest.raises(expected.type, match=words):
        call(mt, mt.tensor(matrix(), chunk_size=2))


#: Calls that NumPy accepts, though the arguments are of another type or length.
ACCEPTED: dict[str, Call] = {
    "take by a float": lambda xp, x: xp.take(x, 1.5),
    "take by a list of floats": lambda xp, x: xp.take(x, [1.5, 0.0], axis=0),
    "take by nothing": lambda xp, x: xp.take(x, []),
    "condition past the axis": lambda xp, x: xp.compress([True, False, True, False], x, axis=0),
    "reshape to a number in an array": lambda xp, x: x.reshape(np.array(12)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_numpy_accepts(name):
    """The values are NumPy's."""
    call, array = ACCEPTED[name], matrix()
    found = call(mt, mt.tensor(array, chunk_size=2)).compute()
    np.testing.assert_array_equal(found, call(np, array), strict=True)


@pytest.mark.parametrize("name", REFUSED_BY_VALUES)
def test_what_numpy_refuses_by_values(name):
    """What only values tell is refused when they are computed, in NumPy's words."""
    call, words = REFUSED_BY_VALUES[name]
    values = np.array([1, 99, -1])
    with pytest.raises(Exception, match=words) as expected:
        call(np, values)
    lazy = call(mt, mt.tensor(values, chunk_size=1))
    with pytest.raises(expected.type, match=words):
        lazy.compute()


@pytest.mark.parametrize("name", SHAPES)
def test_messages_tell_shapes(name):
    """Where shapes do not fit the message has them."""
    call, words = SHAPES[name]
    with pytest.raises(ValueError, match=words):
        call(mt, mt.tensor(matrix(), chunk_size=2))
