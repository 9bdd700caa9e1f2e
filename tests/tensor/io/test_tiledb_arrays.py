"""TileDB arrays, where the package is there, and what is said where it is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same

X = np.arange(30.0).reshape(5, 6)
MISSING = importlib.util.find_spec("tiledb") is None


@pytest.mark.skipif(MISSING, reason="tiledb is optional")
def test_there_and_back(tmp_path: Path) -> None:
    """As Mars and as Dask name the arguments."""
    uri, other = str(tmp_path / "a"), str(tmp_path / "b")
    mt.totiledb(uri, mt.tensor(X, chunk_size=(2, 4))).execute()
    lazy = mt.from_tiledb(uri)
    assert_same(lazy + 1, X + 1)
    assert_same(mt.fromtiledb(uri, chunk_size=3).sum(axis=0), X.sum(axis=0))
    stored = mt.tensor(X, chunk_size=4).to_tiledb(other, return_stored=True)
    assert_same(stored, X)
    with pytest.raises(ValueError, match="element"):
        mt.to_tiledb(uri, mt.ones(0))


@pytest.mark.skipif(not MISSING, reason="tiledb is installed")
def test_without_the_package() -> None:
    """The error names it."""
    for call in (lambda: mt.from_tiledb("x"), lambda: mt.to_tiledb("x", X)):
        with pytest.raises(ImportError, match="pip install tiledb"):
            call()


def test_vineyard_has_no_place_here() -> None:
    """The error says what does its work."""
    for call in (mt.from_vineyard, mt.to_vineyard, mt.fromvineyard, mt.tovineyard):
        with pytest.raises(NotImplementedError, match="share"):
            call(X)
