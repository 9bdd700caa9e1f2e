"""Fixtures: each test runs as programs without options do, and on the chunks as given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from marsdask import new_session
from marsdask.core.config import option_context
from marsdask.core.session import Session


@pytest.fixture(scope="package", autouse=True)
def session() -> Iterator[Session]:
    """Run everything in one session that computes where the test runs."""
    with new_session("synchronous") as made:
        yield made


@contextmanager
def default_options() -> Iterator[None]:
    """Compute as a program does that sets no options: on threads, and nothing verified."""
    with new_session(new=True), option_context({"verify": False}):
        yield


@pytest.fixture(params=["default", "as given"], autouse=True)
def coalesce(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set no options, or compute chunks as given and verify every pass."""
    if request.param == "default":
        with default_options():
            yield
    else:
        with option_context({"coalesce": False, "verify": True}):
            yield
