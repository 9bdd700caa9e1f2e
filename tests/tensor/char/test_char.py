"""The functions of numpy.char: those of numpy.strings, and its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import draws, grids
from tests.tensor.strings.test_strings import CALLS as STRINGS
from tests.tensor.strings.test_strings import (
    CHUNKS,
    OTHERS,
    TEXTS,
    assert_as_numpy,
    assert_texts,
    calls_of,
    texts_and_chunks,
)

#: Functions that ``strings`` does not have, or has in another way.
CALLS: dict[str, Any] = {
    **calls_of(
        "equal not_equal less less_equal greater greater_equal join",
        lambda f, a, b, n, t: f(a, b),
    ),
    **calls_of(
        "split rsplit",
        lambda f, a, b, n, t: f(a),
        lambda f, a, b, n, t: f(a, t("a"), maxsplit=1),
    ),
    **calls_of("splitlines", lambda f, a, b, n, t: f(a)),
    **{name: STRINGS[name] for name in ("multiply", "partition", "rpartition")},
}
REFUSED = ("array", "asarray", "chararray", "compare_chararrays")


@pytest.mark.parametrize("name", CALLS)
@draws(8)
@given(case=texts_and_chunks(), merged=st.booleans())
def test_functions_are_numpys(name: str, case: Any, merged: bool) -> None:
    """Of texts, bytes and StringDType, with arguments that broadcast."""
    with grids(merged=merged):
        for call in CALLS[name]:
            assert_as_numpy(call, np.char, mt.char, *case)


def test_every_name_of_numpy_is_there() -> None:
    """Those that are not of its own are those of ``strings``."""
    assert set(mt.char.__all__) == set(np.char.__all__)
    for name in {*np.char.__all__} - {*CALLS, *REFUSED}:
        assert getattr(mt.char, name) is getattr(mt.strings, name)


@pytest.mark.parametrize("name", CALLS)
def test_numpys_functions_are_lazy(name: str) -> None:
    """Of tensors."""
    lazy, others = (mt.tensor(array, chunks=CHUNKS) for array in (TEXTS, OTHERS))
    call = CALLS[name][0]
    numbers = mt.arange(6, chunk_size=4)
    assert_texts(
        call(np.char, lazy, others, numbers, str), call(np.char, TEXTS, OTHERS, np.arange(6), str)
    )


@pytest.mark.parametrize("name", REFUSED)
def test_character_arrays_are_refused_by_name(name: str) -> None:
    """The error says what to use."""
    args = (TEXTS, TEXTS, "==", True) if name == "compare_chararrays" else (TEXTS,)
    with pytest.raises(NotImplementedError, match=r"use (char\.equal|tensor\.)"):
        getattr(mt.char, name)(*args)
