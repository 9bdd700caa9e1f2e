"""For tests of files and of Dask's words, whose claims do not depend on how chunks are computed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from marsdask.core.config import option_context
from tests.grid_pairs import default_options


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Take the place of the fixture of all modes: every test runs once, as users run programs."""
    with default_options():
        yield


coalesce = _coalesce


@pytest.fixture(autouse=True)
def as_given() -> Iterator[None]:
    """Take the place of the fixture of all modes: every test runs once, on the chunks it says."""
    with option_context({"verify": True, "coalesce": False}):
        yield
