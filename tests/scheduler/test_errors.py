"""The errors of schedulers."""

import pickle

import pytest

from marsdask.scheduler import errors

EXAMPLES = [
    errors.MemoryBudgetError("sort", ("sort-1", 0), 2**31, 2**30, "use chunk_size=100"),
    errors.WorkerDied("key", -9),
    errors.WorkerDied("key", 3),
    errors.UnknownScheduler("treads", ["threads", "inline"]),
    errors.SpillFull("no room"),
    errors.SchedulerClosed("closed"),
    errors.ResultLost("key", "its worker died"),
    errors.VersionMismatch("a and b", ["dask"], "a table"),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=str)
def test_pickle(error):
    """Errors travel between processes with their text, fields and notes."""
    error.add_note("what failed, and where")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_standard_types():
    """Each error is also of the type that Python raises for the like."""
    assert isinstance(EXAMPLES[0], MemoryError)
    assert isinstance(EXAMPLES[3], ValueError)
    assert isinstance(EXAMPLES[4], OSError)
    assert all(isinstance(error, errors.MarsdaskError) for error in EXAMPLES)


def test_memory_budget_text():
    """The text names operation, chunk, bytes, budget and what to do."""
    text = str(EXAMPLES[0])
    for part in ("sort", "('sort-1', 0)", "2,048.0 MiB", "1,024.0 MiB", "chunk_size=100"):
        assert part in text


def test_worker_died_text():
    """The text tells a signal from an exit code."""
    assert "signal 9" in str(EXAMPLES[1])
    assert "exit code 3" in str(EXAMPLES[2])
