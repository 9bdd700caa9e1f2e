"""Windows are no relations: their tests run once, with the chunks as given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from marsdask.core.config import option_context
from tests.dataframe.conftest import MODES


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let chunks be as they are given, and passes be verified."""
    with option_context({"verify": True, **MODES["as given"]}):
        yield
