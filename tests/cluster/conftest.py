"""Fixtures of all tests of clusters."""

from __future__ import annotations

import pytest

from marsdask.scheduler.testing import Gate
from tests.cluster.commands import Command

#: Lines of each command in the report of a failure.
_LAST = 30


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Add the last output of commands to the report of a failure."""
    report = yield
    if report.failed:
        for command in Command.last:
            report.sections.append((command.line, "\n".join(command.said[-_LAST:])))
    return report


@pytest.fixture
def gate():
    """Return a gate that tasks wait at; it is closed at the end."""
    gate = Gate()
    yield gate
    gate.close()
