"""Functions of columns take lists, arrays and pandas's objects too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
from tests.conformance.arguments.case import computed, equal

TEXTS = ["2020-01-03", "2021-02-01", "2020-01-03"]
NUMBERS = pd.Series([3.0, 1.0, 2.0], name="v", index=["a", "b", "c"])

#: A program for each function, of pandas or of ours, and the kinds of its result.
PROGRAMS: dict[str, tuple[Any, Any]] = {
    "to_datetime of a list": (lambda m: m.to_datetime(TEXTS), md.Index),
    "to_datetime of a text": (lambda m: m.to_datetime(TEXTS[0]), pd.Timestamp),
    "to_datetime of parts": (
        lambda m: m.to_datetime({"year": [2020], "month": [1], "day": [2]}),
        md.Series,
    ),
    "to_timedelta": (lambda m: m.to_timedelta(["1h", "2h"]), md.Index),
    "to_numeric of a list": (lambda m: m.to_numeric(["1", "2"]), marsdask.tensor.Tensor),
    "to_numeric of rows": (lambda m: m.to_numeric(NUMBERS.astype(str)), md.Series),
    "cut": (lambda m: m.cut(NUMBERS, 2), md.Series),
    "cut of an array": (lambda m: m.cut(np.arange(3), [0, 1, 3]), pd.Categorical),
    "qcut": (lambda m: m.qcut(NUMBERS, 2, retbins=True), tuple),
    "get_dummies": (lambda m: m.get_dummies(["a", "b", "a"]), md.DataFrame),
    "factorize": (lambda m: m.factorize(NUMBERS), tuple),
    "crosstab": (lambda m: m.crosstab(["a", "b", "a"], [1, 2, 1]), md.DataFrame),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_in_memory(name: str) -> None:
    """Pandas computes of them, and rows, labels and arrays become lazy."""
    program, kind = PROGRAMS[name]
    found = program(md)
    assert isinstance(found, kind)
    wanted, values = computed(program(pd)), computed(found)
    if isinstance(wanted, pd.Categorical):
        wanted, values = pd.Series(wanted), pd.Series(values)
    assert equal(wanted, values)


@pytest.mark.parametrize(
    "program",
    [lambda m: m.factorize([1]), lambda m: m.to_numeric("x")],
    ids=["factorize", "to_numeric"],
)
def test_errors_are_those_of_pandas(program: Any) -> None:
    """What pandas refuses is refused."""
    with pytest.raises((TypeError, ValueError)) as wanted:
        program(pd)
    with pytest.raises(wanted.type):
        program(md)
