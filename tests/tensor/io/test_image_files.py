"""Images as tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same

Image = pytest.importorskip("PIL.Image", reason="pillow is optional")

PICTURES = np.random.default_rng(0).integers(0, 256, (3, 5, 4, 3), dtype="u1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for position, picture in enumerate(PICTURES):
        Image.fromarray(picture).save(tmp_path / f"{position}.png")
    return tmp_path


def test_one_image(folder: Path) -> None:
    """Rows, columns, channels; cut as said."""
    lazy = mt.images.imread(folder / "0.png", chunk_size=3)
    assert lazy.chunks == ((3, 2), (3, 1), (3,))
    assert_same(lazy, PICTURES[0])


def test_several_images(folder: Path) -> None:
    """A list or a pattern, along a first axis, whole images a chunk."""
    lazy = mt.imread(str(folder / "*.png"), chunk_size=2)
    assert lazy.chunks == ((2, 1), (5,), (4,), (3,))
    assert_same(lazy, PICTURES)
    assert_same(mt.imread([folder / "2.png", folder / "0.png"]), PICTURES[[2, 0]])
    assert_same(mt.imread([folder / "1.png"]).mean(axis=0), PICTURES[[1]].mean(axis=0))
    with pytest.raises(FileNotFoundError, match="jpg"):
        mt.imread(str(folder / "*.jpg"))


def test_images_of_other_shapes_are_refused(folder: Path) -> None:
    """By name, when they are read."""
    Image.fromarray(PICTURES[0, 1:]).save(folder / "9.png")
    with pytest.raises(ValueError, match=r"9\.png"):
        mt.imread(str(folder / "*.png")).compute()
