"""What pandas reads at once becomes lazy."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.io import pandas_readers
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(7)[["u", "f", "k"]]


@pytest.mark.parametrize("kind", ["pickle", "stata"])
def test_files_come_back(kind, tmp_path):
    """In chunks of rows, as pandas reads them."""
    path = str(tmp_path / "x")
    lazy: Any = md.DataFrame(FRAME, chunk_size=3)
    getattr(lazy, f"to_{kind}")(path)
    found = getattr(md, f"read_{kind}")(path, chunk_size=2)
    assert found.npartitions == 4
    equal(found, getattr(pd, f"read_{kind}")(path))


def test_nested_records():
    """Become columns."""
    records = [{"a": {"b": 1}}, {"a": {"b": 2, "c": 3}}]
    equal(md.json_normalize(records), pd.json_normalize(records))


def test_several_objects():
    """Each of a list or of a dict is lazy; what pandas does not own stays."""
    found = pandas_readers._lazily({"a": [FRAME], "b": 3}, None)
    equal(found["a"][0], FRAME)
    assert found["b"] == 3
