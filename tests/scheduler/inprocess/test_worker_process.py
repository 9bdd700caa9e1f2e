"""A worker process and the parent's end of it."""

import os
import signal
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.base import describe
from marsdask.scheduler.errors import SchedulerClosed, WorkerDied
from marsdask.scheduler.inprocess.worker_process import Blob, WorkerProcess, dumps
from marsdask.scheduler.testing.tools import DEADLINE, Gate, pass_gate
from tests.subprocesses import children


class Awkward(Exception):
    """Cannot be pickled as it is: its constructor wants two arguments, and it has a lock."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")
        self.one = one
        self.lock = threading.Lock()


class Mute(Exception):
    """Cannot be made anew, nor say what it is."""

    def __new__(cls, one):
        return super().__new__(cls)

    def __init__(self, one):
        super().__init__()

    def __str__(self):
        raise RuntimeError("no text")

    def __reduce__(self):
        raise TypeError("no pickle")


def raise_mute():
    raise Mute(1)


@dataclass(frozen=True)
class Frozen(Exception):
    """Refuses notes, and to be given a traceback by Python's own modules."""

    one: int


def raise_frozen():
    raise Frozen(1)


def raise_awkward():
    raise Awkward(1, 2)


def multiply(values, by):
    values *= by
    return values


@pytest.fixture
def child(tmp_path):
    child = WorkerProcess(str(tmp_path), native_threads=3)
    yield child
    child.kill(for_good=True)


def run(child, function, *args, **values):
    return child.run("key", Task("key", function, *args), values)


def test_small_values_use_the_pipe(child, tmp_path):
    """Small results are no files."""
    blob = run(child, max, 1, 2)
    assert blob.load() == 2
    assert blob.info() == describe(2)
    assert not list(tmp_path.iterdir())


def test_large_values_are_files(child, tmp_path):
    """A large result is a file, described without being read, that goes with the blob."""
    blob = run(child, np.arange, 100_000)
    assert len(list(tmp_path.iterdir())) == 1
    assert blob.nbytes == blob.info().nbytes == 800_000
    assert blob.info().shape == (100_000,)
    np.testing.assert_array_equal(blob.load(), np.arange(100_000))
    del blob
    assert not list(tmp_path.iterdir())


def test_inputs_are_private(child, tmp_path):
    """A task that changes its input changes no other's."""
    source = Blob.of(np.ones(100_000), str(tmp_path / "source"))
    assert run(child, multiply, TaskRef("x"), 2, x=source).load().max() == 2
    assert source.load().max() == 1


def test_exception(child):
    """The exception of a task is raised, with the child's traceback in its note."""
    with pytest.raises(ValueError, match="invalid literal") as caught:
        run(child, int, "x")
    assert "In a worker process:\nTraceback" in caught.value.__notes__[0]


def test_awkward_exception(child):
    """An exception arrives with its type and those attributes that can be pickled."""
    with pytest.raises(Awkward, match="1 and 2") as caught:
        run(child, raise_awkward)
    assert "In a worker process:\nTraceback" in caught.value.__notes__[0]
    assert caught.value.one == 1
    assert not hasattr(caught.value, "lock")


def test_frozen_exception(child):
    """It arrives without a note."""
    with pytest.raises(Frozen):
        run(child, raise_frozen)


def test_exception_without_text(child):
    """It ends neither the process nor the name of its type."""
    with pytest.raises(RuntimeError, match=r"Mute: <exception str\(\) failed>"):
        run(child, raise_mute)


def test_unpicklable_result(child):
    """A result that cannot travel is an error of its task; the child lives on."""
    with pytest.raises(TypeError, match="pickle"):
        run(child, threading.Lock)
    assert run(child, max, 1, 2).load() == 2


def test_death(child):
    """A child that exits is reported with the key and its code, and replaced."""
    before = run(child, os.getpid).load()
    with pytest.raises(WorkerDied, match=r"'key' died \(exit code 7\)"):
        run(child, os._exit, 7)
    assert run(child, os.getpid).load() not in (before, os.getpid())


def test_kill_from_outside(child):
    """A killed child is reported with the signal."""
    gate = Gate()
    errors = []

    def wait():
        try:
            run(child, pass_gate, gate.address, 1)
        except WorkerDied as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    gate.wait_until_reached()
    (process,) = children()
    process.kill()
    thread.join(DEADLINE)
    gate.close()
    assert errors[0].exitcode == -signal.SIGKILL
    assert not children()


def test_ended_for_good(child):
    """A child of a closed scheduler does not come back."""
    run(child, max, 1, 2)
    child.kill(for_good=True)
    with pytest.raises(SchedulerClosed):
        run(child, max, 1, 2)


def test_native_threads(child, monkeypatch):
    """The native pools of a child get their share, unless the user said otherwise."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    assert run(child, os.getenv, "OMP_NUM_THREADS").load() == "3"
    assert run(child, os.getenv, "MKL_NUM_THREADS").load() == "5"


def test_dumps_main_by_value():
    """Definitions of `__main__` are pickled by value, because the child has another one."""
    namespace = {"__name__": "__main__"}
    exec("def function(): return 42", namespace)  # noqa: S102
    assert b"cloudpickle" in dumps(namespace["function"])
    assert b"cloudpickle" not in dumps(os.getcwd)
