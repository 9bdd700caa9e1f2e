"""All 22 queries of TPC-H give what pandas gives: values, types, order and labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.rows import queries, tables
from benchmarks.systems import System
from marsdask.core.config import option_context

SCALE = 0.01


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tables."""
    root = tmp_path_factory.mktemp("tpch")
    for name in sorted({name for names in queries.TABLES.values() for name in names.split()}):
        tables.ensure(name, root, SCALE)
    return root


@pytest.mark.parametrize("kernels", ["polars", "pandas"])
@pytest.mark.parametrize("row", queries.ROWS, ids=lambda row: row.name)
def test_a_query_equals_pandas(folder: Path, row: Any, kernels: str) -> None:
    """Whether an engine runs it or pandas, chunk by chunk."""
    plain = System(SCALE, folder)
    lazy = System(SCALE, folder)
    lazy.frames = "marsdask.dataframe"
    (wanted,) = row.run(plain, *row.setup(plain))
    with option_context({"dataframe.kernels": kernels}):
        (found,) = row.run(lazy, *row.setup(lazy))
        found = found.compute()
    if isinstance(wanted, pd.DataFrame):
        if kernels == "pandas":  # whose merges of many rows do not promise an order
            order = list(wanted.columns)
            found, wanted = (one.sort_values(order, ignore_index=True) for one in (found, wanted))
        pd.testing.assert_frame_equal(found, wanted, check_exact=False)
    else:
        np.testing.assert_allclose(found, wanted)
