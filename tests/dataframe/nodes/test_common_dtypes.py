"""The type of columns together is the one that pandas gives their values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from marsdask.dataframe.nodes.common_dtypes import (
    are_objects,
    number_type,
    type_with_columns,
    type_with_gaps,
)

DTYPES: tuple[Any, ...] = ("int8", "uint8", "float32", "float64", "bool", "str", "Int64", "M8[ns]")


@pytest.mark.parametrize("dtype", DTYPES)
def test_gaps(dtype: Any) -> None:
    """A row without a value changes plain integers and truth values."""
    values = pd.Series([1, 0]).astype(dtype)
    assert type_with_gaps(values.dtype) == values.reindex([0, 1, 2]).dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", ["int16", "float32", "uint16"])
def test_columns_without_rows(dtype: Any, other: Any) -> None:
    """Truth values are numbers beside numbers, as the columns of frames."""
    values, none = pd.Series([1, 0]).astype(dtype), pd.Series([], dtype=other)
    found = type_with_columns(np.dtype(other), [values[:0]])
    blocks = [pd.DataFrame({"a": none}), pd.DataFrame({"a": values[:0].astype(found)})]
    assert pd.concat(blocks).a.dtype == found
    assert number_type(values.dtype, np.dtype(other)) == (
        values.dtype if dtype != "bool" else np.dtype("u1" if other == "uint16" else "i1")
    )


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (("int64", "float64"), False),
        (("int64", "str"), True),
        (("M8[ns]", "M8[ns]"), False),
        (("M8[ns]", "int64"), True),
    ],
)
def test_labels(kinds: tuple[str, ...], wanted: bool) -> None:
    """Only labels of numbers, or of one type, have a type of their own together."""
    assert are_objects({(pd.Series([], dtype=kind).dtype,) for kind in kinds}) is wanted
    assert are_objects({("int64",), ("int64", "int64")})
