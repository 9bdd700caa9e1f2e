"""Results are charged by the buffers that dropping them would free."""

import mmap

import numpy as np
import pandas as pd
import pytest

from marsdask.scheduler.storage.buffers import BufferUsage, charges


def cost(make, ledger=None):
    value = make()
    return sum(nbytes for _, nbytes in charges(value, ledger or BufferUsage()))


def ones():
    return np.ones(1000)


def matrix():
    return np.ones(100).view(np.matrix)


def part_of_a_file():
    return np.frombuffer(mmap.mmap(-1, 8000))[:100]


CHARGES = {
    "an array": (ones, 8000),
    "a slice": (lambda: ones()[::100], 8000),
    "pieces of one array": (lambda: list(np.split(ones(), 4)), 8000),
    "nested containers": (lambda: (1, {"x": ones(), "y": None}), 8000),
    "two arrays": (lambda: [ones(), ones()], 16000),
    "broadcast": (lambda: np.broadcast_to(np.ones(1), (1000, 1000)), 8),
    "a subclass": (matrix, 800),
    "part of a file": (part_of_a_file, 800),
    "empty": (lambda: np.empty(0), 0),
    "None": (lambda: None, 0),
    "a number": (lambda: 3.5, 0),
}


@pytest.mark.parametrize("make, expected", CHARGES.values(), ids=CHARGES)
def test_charges(make, expected):
    """The owner of each buffer is charged once, whatever views of it there are."""
    assert cost(make) == expected


def test_what_the_caller_owns_is_free():
    """Dropping a view of the caller's array frees no memory."""
    mine = ones()
    assert cost(lambda: mine) == 0
    assert cost(lambda: mine[:10]) == 0
    assert cost(lambda: [mine, ones()]) == 8000


def test_what_the_ledger_knows_is_counted_again():
    """A view of a held result counts its buffer, even with other references."""
    ledger = BufferUsage()
    held = ones()
    first = ((id(held), held.nbytes),)
    ledger.add(first)
    view = held[:10]
    second = charges(view, ledger)
    assert second == first
    ledger.add(second)
    assert ledger.nbytes == 8000
    ledger.remove(first)
    assert ledger.nbytes == 8000
    ledger.remove(second)
    assert ledger.nbytes == 0


def test_objects_and_frames_are_measured():
    """Other values count with Dask's size, not only their pointers."""
    words = [f"{i:400}" for i in range(1000)]
    assert cost(lambda: np.array(words, dtype=object)) > 100_000
    assert cost(lambda: pd.DataFrame({"x": np.ones(1000)})) >= 8000
    assert cost(lambda: ["text" * 1000, ones()]) > 12_000


def test_long_texts_of_string_dtype_are_measured():
    """By place: NumPy loses them in slices of ``flat``."""
    texts = np.array(["x" * 50] * 300, np.dtypes.StringDType())
    ((_, nbytes),) = charges(texts, BufferUsage())
    assert nbytes > texts.nbytes + 300 * 50
    assert texts[-1] == "x" * 50
