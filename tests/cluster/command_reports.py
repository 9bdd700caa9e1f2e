"""The last output of commands, in the reports of tests that fail."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.cluster.commands import Command

#: Lines of each command.
_LAST = 100


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the last output of commands to the report of a failure."""
    report = yield
    if report.failed:
        for command in Command.last:
            report.sections.append((command.line, "\n".join(command.said[-_LAST:])))
    return report
