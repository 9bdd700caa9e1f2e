"""Rows that stand for samples have their names."""

from __future__ import annotations

import numpy as np

from marsdask.learn.stand_ins import like_columns
from tests.learn.samples import blobs, in_form


def test_names_are_those_of_the_frame():
    """Of a frame they are named, of a tensor they are an array."""
    rows = np.zeros((1, 4))
    assert like_columns(in_form(blobs(), "tensor"), rows) is rows
    made = like_columns(in_form(blobs(), "our frame"), rows)
    assert list(made.columns) == ["c0", "c1", "c2", "c3"]
