"""Texts that are filled with zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.tensor.strings.padding import zfill


@pytest.mark.parametrize("kind", ["S", "U", "T"])
def test_empty_texts_have_no_sign(kind: str) -> None:
    """NumPy reads it from freed memory: here are signs."""
    texts = ["", "+", "-1", "", "abcdef", ""]
    array = np.array(texts, np.dtypes.StringDType() if kind == "T" else kind)
    expected = ["00000", "+0000", "-0001", "00000", "abcdef", "00000"]
    for _ in range(5):
        signs = np.full(6, "-" * 6, "S6" if kind == "S" else "U6")
        del signs
        np.testing.assert_array_equal(zfill(array, 5), np.array(expected).astype(array.dtype.char))
        for chunks in (6, 1):
            lazy: Any = mt.strings.zfill(mt.tensor(array, chunks=chunks), 5)
            np.testing.assert_array_equal(lazy.compute(), zfill(array, 5), strict=True)


@pytest.mark.parametrize(("text", "expected"), [("", "000"), (b"", b"000")], ids=["str", "bytes"])
def test_scalars(text: Any, expected: Any) -> None:
    """They give arrays of no dimensions, as with NumPy."""
    filled = zfill(text, 3)
    assert type(filled) is type(np.strings.zfill(text, 3))
    assert filled == expected
