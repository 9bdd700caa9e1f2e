"""Tests of frames run as programs do, with chunks as given, and those of relations with polars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from marsdask.core.config import option_context
from tests import grid_pairs

_session = grid_pairs.session

MODES: dict[str, dict[str, Any]] = {
    "default": {},
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
    """Set no option, or keep the chunks as given, or let an engine run whatever is relational."""
    if frame_mode == "default":
        with grid_pairs.default_options():
            yield
    else:
        with option_context({"verify": True, **MODES[frame_mode]}):
            yield
