"""Products of tall blocks panel by panel are those of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from marsdask.tensor.linalg import panels

RNG = np.random.default_rng(0)
UPPER = np.triu(RNG.normal(size=(5, 5))) + 3 * np.eye(5)


def tall(dtype: str, order: str = "C") -> Any:
    """Return a matrix of many panels."""
    block = RNG.normal(size=(103, 5)) * 9
    return np.asarray(block + 1j * block[::-1] if dtype == "c16" else block, dtype, order=order)  # type: ignore[call-overload]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panels, "PANEL_BYTES", 640)


def test_panels_cover_the_rows() -> None:
    """Panels are as large as said, but no smaller than a square."""
    assert [part.stop for part in panels.panels(np.ones((103, 5)))][:2] == [16, 32]
    assert [part.stop for part in panels.panels(np.ones((60, 30)))] == [30, 60]
    assert not list(panels.panels(np.ones((0, 5))))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_products_of_columns(dtype: str, order: str) -> None:
    """Gram matrices of blocks and of their products, in the type of the factors."""
    block = tall(dtype, order)
    kind = np.result_type(block, np.float32)
    rtol = 1e-4 if kind == np.float32 else 1e-12
    expected = block.conj().T @ block.astype(kind)
    np.testing.assert_allclose(panels.gram(block, kind), expected, rtol=rtol)
    upper = UPPER.astype(kind)
    product = block.astype(kind) @ upper
    np.testing.assert_allclose(
        panels.gram(block, kind, [upper]), product.conj().T @ product, rtol=rtol
    )


@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
def test_one_after_the_other(dtype: str) -> None:
    """Triangles, then any matrix; what a triangle has below its diagonal counts nothing."""
    block, last = tall(dtype), RNG.normal(size=(5, 5))
    kind = np.result_type(block, np.float64)
    upper = UPPER.astype(kind)
    for count in (1, 2, 3):
        expected = block @ np.linalg.matrix_power(upper, count)
        np.testing.assert_allclose(
            panels.apply_inverses(block, [upper] * count), expected, rtol=1e-9
        )
        np.testing.assert_allclose(
            panels.apply_inverses(block, [upper] * count, last.astype(kind)),
            expected @ last,
            rtol=1e-9,
        )
