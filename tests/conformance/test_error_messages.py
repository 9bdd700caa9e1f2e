"""Errors of tensors say what NumPy says, with the shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

A, B = np.ones((6, 5)), np.ones(4)
STACK, OTHER = np.ones((2, 3, 4, 5)), np.ones((2, 6, 4))

#: Calls of a library with a function that makes its arrays.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda p, a: a(A) + a(B),
    "add from NumPy": lambda p, a: A + a(B),
    "less": lambda p, a: a(A) < a(B),
    "equal": lambda p, a: p.equal(a(A), a(B)),
    "and": lambda p, a: a(A > 0) & a(B > 0),
    "where": lambda p, a: p.where(a(A > 0), a(A), a(B)),
    "three": lambda p, a: p.clip(a(A), a(B), a(B + 1)),
    "broadcast_to": lambda p, a: p.broadcast_to(a(B), (3, 5)),
    "sum over an axis": lambda p, a: p.sum(a(A), axis=2),
    "sort along an axis": lambda p, a: p.sort(a(A), axis=-3),
    "cumsum along an axis": lambda p, a: p.cumsum(a(A), axis=2),
    "argmax along an axis": lambda p, a: p.argmax(a(A), axis=2),
    "concatenate along an axis": lambda p, a: p.concatenate([a(A), a(A)], axis=2),
    "expand_dims": lambda p, a: p.expand_dims(a(A), 5),
    "transpose": lambda p, a: p.transpose(a(A), (0, 2)),
    "transpose of fewer axes": lambda p, a: p.transpose(a(A), (0,)),
    "moveaxis from": lambda p, a: p.moveaxis(a(A), 3, 0),
    "moveaxis to": lambda p, a: p.moveaxis(a(A), 0, 3),
    "swapaxes": lambda p, a: p.swapaxes(a(A), 0, 2),
    "roll": lambda p, a: p.roll(a(A), 1, axis=2),
    "flip": lambda p, a: p.flip(a(A), axis=2),
    "squeeze": lambda p, a: p.squeeze(a(A), axis=0),
    "reshape": lambda p, a: a(np.ones(6)).reshape(4),
    "reshape to two": lambda p, a: a(np.ones(6)).reshape(4, 2),
    "reshape to the rest": lambda p, a: a(np.ones(6)).reshape(4, -1),
    "reshape to the rest first": lambda p, a: a(np.ones(6)).reshape(-1, 4),
    "reshape to two rests": lambda p, a: a(np.ones(6)).reshape(-1, -1),
    "matmul": lambda p, a: a(A) @ a(A),
    "matmul of stacks": lambda p, a: p.matmul(a(STACK), a(OTHER)),
    "matmul with a vector": lambda p, a: a(A) @ a(B),
    "vecdot": lambda p, a: p.vecdot(a(np.ones(2)), a(np.ones(3))),
    "dot": lambda p, a: p.dot(a(A), a(A)),
    "dot with a vector": lambda p, a: p.dot(a(A), a(B)),
    "dot of stacks": lambda p, a: p.dot(a(STACK), a(OTHER)),
    "inner": lambda p, a: p.inner(a(STACK), a(OTHER)),
    "vdot": lambda p, a: p.vdot(a(A), a(B)),
    "tensordot": lambda p, a: p.tensordot(a(A), a(A), 1),
    "concatenate": lambda p, a: p.concatenate([a(A), a(A[:, :4])]),
    "concatenate of other axes": lambda p, a: p.concatenate([a(A), a(B)]),
    "concatenate nothing": lambda p, a: p.concatenate([]),
    "stack": lambda p, a: p.stack([a(A), a(B)]),
    "vstack": lambda p, a: p.vstack([a(A), a(B)]),
    "hstack": lambda p, a: p.hstack([a(A), a(A[:4])]),
    "split": lambda p, a: p.split(a(A), 4),
    "index": lambda p, a: a(A)[6],
    "negative index": lambda p, a: a(A)[0, -6],
    "too many indices": lambda p, a: a(A)[0, 0, 0],
    "list of indices": lambda p, a: a(A)[[0, 7]],
    "take": lambda p, a: p.take(a(A), [9], axis=0),
    "mask": lambda p, a: a(A)[np.ones(4, bool)],
    "pairs of indices": lambda p, a: a(A)[[0, 1], [0, 1, 2]],
    "assignment": lambda p, a: a(A.copy()).__setitem__((slice(0, 2),), a(B)),
    "convolve": lambda p, a: p.convolve(a(B), a(A)),
    "fft": lambda p, a: p.fft.fft(a(A), 0),
}


def message(call: Callable[[Any, Any], Any], library: Any, make: Any) -> tuple[type, str]:
    """Return the type of what a call raises, and what it says."""
    with pytest.raises((ValueError, IndexError)) as caught:
        call(library, make)
    return caught.type, str(caught.value).strip()


@pytest.mark.parametrize("name", CALLS)
def test_an_error_is_numpys_at_the_call(name: str) -> None:
    """The same type and the same words, without waiting for execute()."""
    expected = message(CALLS[name], np, np.asarray)
    assert message(CALLS[name], mt, lambda x: mt.tensor(x, chunk_size=2)) == expected


@pytest.mark.parametrize("name", ["matmul", "dot", "inner"])
def test_a_product_with_a_number_says_what_to_write(name: str) -> None:
    """Beside NumPy's words where it refuses, which it does for matmul only."""
    if name == "matmul":
        with pytest.raises(ValueError, match=r"does not have enough dimensions .*use \* instead"):
            mt.matmul(mt.ones((2, 2)), 2)
    else:
        assert getattr(mt, name)(mt.ones((2, 2)), 2).shape == (2, 2)
