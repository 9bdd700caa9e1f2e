"""Every test of frames runs with the chunks as given, with merged ones and with polars."""

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


@pytest.fixture(params=MODES, autouse=True)
def _coalesce(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let chunks be merged, or not, or an engine run whatever is relational."""
    with option_context({"verify": True, **MODES[request.param]}):
        yield
