"""The numbers of the runs of Dask's shuffles."""

import time
from typing import Any

from distributed.shuffle._core import ShuffleRunSpec

from marsdask.scheduler.supervisor.failover import shuffle_runs  # noqa: F401 - for its effect


def test_each_supervisor_process_has_numbers_of_its_own():
    """Those of one that starts later are higher, and each is used once."""
    spec: Any = None
    runs = [ShuffleRunSpec[int](spec=spec, worker_for={}, span_id=None) for _ in range(3)]
    first = runs[0].run_id
    assert [run.run_id for run in runs] == [first, first + 1, first + 2]
    assert time.time() - 3600 < first / 1000 <= time.time()
