"""Rows that stand for samples have their names."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.learn.representative_rows import first_row, like_columns, result_of
from tests.learn.samples import blobs, in_form


def test_names_are_those_of_the_frame():
    """Of a frame they are named, of a tensor they are an array."""
    rows = np.zeros((1, 4))
    assert like_columns(in_form(blobs(), "tensor"), rows) is rows
    made = like_columns(in_form(blobs(), "our frame"), rows)
    assert list(made.columns) == ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize("form", ["tensor", "our frame", "unknown rows"])
def test_a_row_of_the_samples_stands_in_for_zeros(form):
    """Only if these are refused."""
    samples = blobs()
    lazy = in_form(samples, form)

    def positive(rows):
        if not np.asarray(rows).all():
            raise ValueError("zeros")
        return np.asarray(rows)

    assert result_of(positive, lazy, np.ones((1, 4))).tolist() == [[1.0] * 4]
    np.testing.assert_array_equal(result_of(positive, lazy, np.zeros((1, 4))), samples[:1])
    np.testing.assert_array_equal(first_row(lazy), samples[:1])
