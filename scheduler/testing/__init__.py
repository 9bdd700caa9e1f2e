"""The suite that every scheduler must pass; a scheduler of your own can, too.

    class TestMine(SchedulerContract):
        def create(self):
            return MyScheduler()

Attributes say what a scheduler cannot do by its nature; everything else is demanded of it.
"""

from __future__ import annotations

import pytest

# Before they are imported, so that a failing assertion shows its values.
pytest.register_assert_rewrite(f"{__name__}.jobs", f"{__name__}.results", f"{__name__}.tools")

from .jobs import JobsContract  # noqa: E402
from .results import ResultsContract  # noqa: E402
from .tools import Broken, Gate, Recorder, graph_of, key, run  # noqa: E402

__all__ = ["Broken", "Gate", "Recorder", "SchedulerContract", "graph_of", "key", "run"]


class SchedulerContract(ResultsContract, JobsContract):
    """Inherit it as ``class TestX(SchedulerContract)`` and define ``create``."""
