"""Errors of a cluster in our words, which are still of Dask's types."""

import pickle
from types import SimpleNamespace
from typing import Any

import dask.config
import pytest
from distributed import KilledWorker
from distributed.scheduler import NoValidWorkerError, NoWorkerError

from marsdask.scheduler import errors
from marsdask.scheduler.cluster.failures import clear, no_workers_timeout

WORKER: Any = SimpleNamespace(address="tcp://one:1")


@pytest.mark.parametrize(
    ("theirs", "ours", "says"),
    [
        (KilledWorker(("x", 1), WORKER, 3), errors.WorkerDied, "('x', 1) was tried 4 times"),
        (KilledWorker("x", WORKER, 0), errors.WorkerDied, "'x' was tried once"),
        (NoWorkerError("x", 90), errors.MarsdaskError, "'x' within 90"),
        (
            NoValidWorkerError("x", {"b", "a"}, set(), {"GPU": 1}, 90),
            errors.MarsdaskError,
            "no worker with the resources {'GPU': 1} and the host a or b joined for the task 'x'",
        ),
    ],
)
def test_our_words(theirs, ours, says):
    """They say what to do, are caught as either type, and travel with their notes."""
    told = clear(theirs)
    told.add_note("written at line 3")
    assert clear(told) is told
    for error in (told, pickle.loads(pickle.dumps(told))):
        assert isinstance(error, ours)
        assert isinstance(error, type(theirs))
        assert says in str(error)
        assert error.args == theirs.args
        assert error.__notes__ == ["written at line 3"]


def test_errors_of_tasks_stay():
    """They are not the cluster's to reword."""
    error = ValueError("theirs")
    assert clear(error) is error


@pytest.mark.parametrize(
    ("ours", "theirs", "seconds"),
    [(None, None, None), ("5 minutes", None, 300), ("5 minutes", "3s", 3), (0.5, 7, 7)],
)
def test_the_timeout_of_tasks_without_workers(ours, theirs, seconds):
    """Half an hour, and none if ours says so; Dask's option takes precedence."""
    assert no_workers_timeout() == 1800
    names = {
        "marsdask.no-workers-timeout": ours,
        "distributed.scheduler.no-workers-timeout": theirs,
    }
    with dask.config.set(names):
        assert no_workers_timeout() == seconds
