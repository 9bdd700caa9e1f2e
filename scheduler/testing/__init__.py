"""The test suite of all schedulers, also for schedulers of other packages.

    class TestMine(SchedulerContract):
        def create(self):
            return MyScheduler()

Attributes switch off the tests of features that a scheduler lacks by design.
"""

from __future__ import annotations

import pytest

# Registered before the import, so that failing assertions show their values.
pytest.register_assert_rewrite(f"{__name__}.jobs", f"{__name__}.results", f"{__name__}.tools")

from .jobs import JobsContract  # noqa: E402
from .results import ResultsContract  # noqa: E402
from .tools import Broken, Gate, Recorder, graph_of, key, run  # noqa: E402

__all__ = ["Broken", "Gate", "Recorder", "SchedulerContract", "graph_of", "key", "run"]


class SchedulerContract(ResultsContract, JobsContract):
    """Inherit it as ``class TestX(SchedulerContract)`` and define ``create``."""
