"""What was executed keeps its values, whatever becomes of the array it was made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

#: Functions that only look at an array in another way.
VIEWS: dict[str, Any] = {
    "itself": lambda t: t,
    "copy": mt.copy,
    "slice": lambda t: t[1:5, ::2],
    "row": lambda t: t[2],
    "transposed": lambda t: t.T,
    "reshaped": lambda t: t.reshape(3, 8),
    "flat": lambda t: t.ravel(),
    "real": lambda t: t.real,
    "imaginary": lambda t: t.view("c16").imag,
    "bytes": lambda t: t.view("i8"),
    "wider": lambda t: mt.broadcast_to(t, (2, *t.shape)),
    "squeezed": lambda t: t[None].squeeze(),
    "same type": lambda t: t.astype(t.dtype, copy=False),
    "recut": lambda t: t.rechunk(6),
    "joined": lambda t: mt.concatenate([t, t]),
    "half": lambda t: mt.split(t, 2)[1],
    "blocks": lambda t: t.blocks[0],
    "users": lambda t: t.map_blocks(np.asarray),
    "masked": lambda t: mt.ma.masked_array(t, t > 3),
    "diagonal": lambda t: t.diagonal(),
    "windows": lambda t: mt.sliding_window_view(t, 2, axis=0),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("size", [3, 4, 24])
def test_results_own_their_memory(name: str, size: int) -> None:
    """Views of the user's array are copied when they are kept; what is computed shares nothing."""
    array = np.arange(24.0).reshape(6, 4)
    kept = VIEWS[name](mt.tensor(array, chunk_size=size)).execute()
    before = np.array(kept.fetch())
    computed = VIEWS[name](mt.tensor(array, chunk_size=size)).compute()
    array[...] = -7.5
    np.testing.assert_array_equal(kept.fetch(), before)
    np.testing.assert_array_equal(computed, before)
