"""Tokens: equal content, equal token; different content, different token."""

from __future__ import annotations

import functools
import operator
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.sizes import unknown_sizes
from marsdask.core.snapshots import tokens
from marsdask.core.snapshots.tokens import token

atoms = st.one_of(
    st.integers(), st.booleans(), st.none(), st.text(), st.binary(), st.floats(allow_nan=False)
)
values = st.recursive(atoms, lambda item: st.lists(item, max_size=40).map(tuple), max_leaves=60)


def typed(value):
    """Equality that tells 1 from True."""
    if isinstance(value, tuple):
        return tuple(map(typed, value))
    return (type(value), repr(value))


@given(values, values)
def test_tokens_are_equal_exactly_when_values_are(a, b):
    """No collisions, no misses."""
    assert (token(a) == token(b)) == (typed(a) == typed(b))


@pytest.mark.parametrize(
    "pair",
    [
        ((5,) * 40, (5,) * 41),
        ((5,) * 40, (5,) * 39 + (4,)),
        ((5,) * 40 + (4,), (5,) * 39 + (4, 5)),
        ((4,) + (5,) * 40, (5,) * 40 + (4,)),
        ((5,) * 40, (5,) * 3 + (3,) + (5,) * 36),
        (unknown_sizes("a", [9] * 40), unknown_sizes("b", [9] * 40)),
        (unknown_sizes("a", [9] * 40), unknown_sizes("a", [9] * 39 + [8])),
        ((1,) * 40, (1,) * 39 + (True,)),
        (slice(1, 2), slice(1, 3)),
        ({"a": 1}, {"a": 2}),
        (np.dtype("f4"), np.dtype("f8")),
        (np.add, np.subtract),
        (operator.add, operator.sub),
        (np.arange(3), np.arange(4)),
        (np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3).T),
    ],
)
def test_different_parameters_have_different_tokens(pair):
    """Long regular tuples, slices, mappings, dtypes, functions and arrays all count."""
    a, b = pair
    assert token(a) != token(b)


def test_arrays_are_named_by_content():
    """An equal array elsewhere has the same token."""
    assert token(np.arange(5.0)) == token(np.arange(5.0))


def test_local_functions_are_named_by_code():
    """Two closures over different values differ."""

    def scale(factor):
        return lambda x: x * factor

    assert token(scale(2)) != token(scale(3))
    assert token(functools.partial(operator.add, 1)) != token(functools.partial(operator.add, 2))


def test_partial_functions_are_named_by_their_parts(monkeypatch):
    """Without Dask's walk over them, and each part counts."""

    def refused(part):
        raise AssertionError(part)

    monkeypatch.setattr(tokens, "foreign", refused)
    parts = [
        functools.partial(operator.add),
        functools.partial(operator.add, 1),
        functools.partial(operator.sub, 1),
        functools.partial(operator.add, 1, 2),
        functools.partial(dict, a=1),
        functools.partial(dict, b=1),
    ]
    assert len({token(part) for part in parts}) == len(parts)
    assert token(functools.partial(dict, a=1)) == token(parts[4])


def test_what_cannot_be_named_is_unique():
    """An object that nobody can tokenise never shares a name."""
    lock = threading.Lock()
    assert token(lock) != token(lock)


def test_tokens_are_the_same_in_another_process():
    """Hash randomisation and the order of sets have no part in them."""
    code = (
        "import operator\n"
        "from marsdask.core.snapshots.tokens import token\n"
        "print(token({'a': operator.add}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == token({"a": operator.add})


def test_texts_are_told_apart_where_dask_joins_them() -> None:
    """Texts that are equal once joined by dashes, and bytes of the same letters, differ."""
    words = [["a-b", "c"], ["a", "b-c"], [b"a", b"b-c"], [b"a-b", b"c"]]
    assert len({token(np.array(each, object)) for each in words}) == 4
    assert token(np.array(words[0], object)) == token(np.array(words[0], object))
    assert token(np.array([1.5, None], object)) == token(np.array([1.5, None], object))
