"""Fixtures of all tests of clusters."""

from __future__ import annotations

import pytest

from marsdask.scheduler.testing import Gate
from tests.cluster.command_reports import pytest_runtest_makereport  # noqa: F401 - a hook


@pytest.fixture
def gate():
    """Return a gate that tasks wait at; it is closed at the end."""
    gate = Gate()
    yield gate
    gate.close()
