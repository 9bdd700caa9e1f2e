"""What polars computes equals what pandas does, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal

DIVISIONS: list[Callable[[Any], Any]] = [
    lambda d: d.u / 7,
    lambda d: d.f / 0.1,
    lambda d: d.f / -0.0,
    lambda d: d.g / np.float32(3),
    lambda d: d.f / d.seven,
    lambda d: d.f / d.zero,
    lambda d: d.u / d.u.sum(),
    lambda d: 7 / d.f,
]


def quotients(number: int) -> tuple[pd.DataFrame, Callable[[Any], Any]]:
    """Return rows with values at the ends of floats, and a program with a division."""
    values = np.random.default_rng(0).normal(size=1000)
    values[::99] = [np.nan, np.inf, 0.0, -0.0, 1e-310, 1e308, -np.inf, 1, 2, 3, 4]
    frame = pd.DataFrame({"u": range(1000), "f": values, "key": np.arange(1000) % 3})
    frame["g"] = frame.u.astype("float32")

    def program(frame: Any) -> Any:
        frame = frame.assign(seven=7.0, zero=-0.0)
        frame = frame.assign(quotient=DIVISIONS[number](frame))
        return frame[frame.key > 0][["quotient"]]

    return frame, program


@pytest.mark.parametrize("number", range(len(DIVISIONS)))
def test_quotients_are_those_of_pandas_to_the_last_bit(number: int) -> None:
    """A reciprocal times the values rounds twice, and then equal keys do not meet."""
    frame, program = quotients(number)
    wanted = program(frame)
    with option_context({"dataframe.kernels": "polars", "verify": True}):
        lazy = program(md.DataFrame(frame, chunk_size=500))
        equal(lazy, wanted, check_exact=True)
        found = lazy.execute().fetch()
    assert np.signbit(found.quotient).tolist() == np.signbit(wanted.quotient).tolist()
