"""Tests of frames run with merged chunks and as given; those of relations with polars too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from marsdask.core.config import option_context
from tests import grid_pairs

_session = grid_pairs.session

MODES: dict[str, dict[str, Any]] = {
    "merged": {"dataframe.kernels": "pandas"},
    "as given": {"coalesce": False, "dataframe.kernels": "pandas"},
    "polars": {"dataframe.kernels": "polars"},
}
#: Tests of operations that an engine can run.
RELATIONAL = {
    *(
        "test_accessor",
        "test_arithmetic",
        "test_expressions",
        "test_filter",
        "test_group_aggregation",
    ),
    *(
        "test_groupby",
        "test_iloc",
        "test_merge",
        "test_parquet",
        "test_reductions",
        "test_row_numbers",
    ),
    *("test_rowwise", "test_sort_values", "test_unique", "test_values"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test in the modes of its module."""
    if "frame_mode" in metafunc.fixturenames:
        is_relational = metafunc.module.__name__.rpartition(".")[2] in RELATIONAL
        modes = [mode for mode in MODES if mode != "polars" or is_relational]
        metafunc.parametrize("frame_mode", modes)


@pytest.fixture(autouse=True)
def _coalesce(frame_mode: str) -> Iterator[None]:
    """Let chunks be merged, or not, or an engine run whatever is relational."""
    with option_context({"verify": True, **MODES[frame_mode]}):
        yield
