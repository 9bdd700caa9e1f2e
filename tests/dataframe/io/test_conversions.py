"""Results of pandas's methods are those of the computed rows."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import table

_coalesce = one_mode.coalesce

FRAME = table(7)[["u", "b", "k"]]

CALLS: dict[str, Any] = {
    "to_dict": lambda f: f.to_dict(),
    "records": lambda f: f.to_dict("records"),
    "to_dict of a series": lambda f: f.u.to_dict(),
    "to_string": lambda f: f.to_string(index=False),
    "to_string of a series": lambda f: f.u.to_string(),
    "to_pickle": lambda f: f.to_pickle(io.BytesIO()),
    "to_stata": lambda f: f.to_stata(io.BytesIO()),
    "to_html": lambda f: f.to_html(),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_pandas(name: str) -> None:
    """With its arguments."""
    assert CALLS[name](md.DataFrame(FRAME, chunk_size=3)) == CALLS[name](FRAME)


def test_records() -> None:
    """Are NumPy's."""
    found = md.DataFrame(FRAME, chunk_size=3).to_records(index=False)
    np.testing.assert_array_equal(found, FRAME.to_records(index=False))


def test_what_is_not_offered_says_what_to_use() -> None:
    """By its name."""
    with pytest.raises(NotImplementedError, match="to_iceberg is not supported; use to_pandas"):
        _ = md.DataFrame(FRAME).to_iceberg
