"""What the commands of a cluster said before a step failed."""

from tests.cluster.command_reports import pytest_runtest_makereport  # noqa: F401 - a hook
