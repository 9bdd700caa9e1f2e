"""Fixtures: each test runs on the chunks as given and on merged ones, every pass verified."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from marsdask import new_session
from marsdask.core.config import option_context
from marsdask.core.session import Session


@pytest.fixture(scope="package", autouse=True)
def session() -> Iterator[Session]:
    """Run everything in one session that computes where the test runs."""
    with new_session("synchronous") as made:
        yield made


@pytest.fixture(params=[True, False], ids=["merged", "as given"], autouse=True)
def coalesce(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let chunks be merged, or not."""
    with option_context({"coalesce": request.param, "verify": True}):
        yield
