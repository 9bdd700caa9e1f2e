"""The schedulers without threads, beyond the contract."""

import threading
import traceback

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler import limits
from marsdask.scheduler.base import Machine
from marsdask.scheduler.inprocess.inline import InlineScheduler, SynchronousScheduler


def where():
    return threading.current_thread()


def broken(value):
    local = value
    raise ValueError(local)


def kernel_variables(scheduler):
    handle = scheduler.submit({"a": Task("a", broken, 3)}, ["a"])
    with pytest.raises(ValueError, match="3") as caught:
        handle.wait()
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    return next(f.f_locals for f in frames if f.f_code is broken.__code__)


@pytest.mark.parametrize("kind", [InlineScheduler, SynchronousScheduler])
def test_tasks_run_inside_submit(kind):
    """The caller's thread does the work, and the handle is done at once."""
    with kind() as scheduler:
        handle = scheduler.submit({"a": Task("a", where)}, ["a"])
        assert handle.done()
        assert scheduler.gather(["a"]) == [threading.current_thread()]


@pytest.mark.parametrize("kind", [InlineScheduler, SynchronousScheduler])
def test_results_are_kept_in_memory_only(kind):
    """A planner is told how much there is, and that nothing goes to disk."""
    with kind() as scheduler:
        assert scheduler.machine() == Machine(threads=1, memory=limits.memory(), spill=0)


def test_inline_clears_the_frames_of_a_failure():
    """The traceback shows the kernel's lines but keeps none of its arrays."""
    with InlineScheduler() as scheduler:
        assert kernel_variables(scheduler) == {}


def test_synchronous_keeps_the_frames_of_a_failure():
    """A debugger finds the kernel's variables."""
    with SynchronousScheduler() as scheduler:
        assert kernel_variables(scheduler) == {"value": 3, "local": 3}


def test_a_failure_shows_the_kernels_frames_only():
    """Between the caller's frame and the kernel's there is only ``wait``."""
    with InlineScheduler() as scheduler:
        handle = scheduler.submit(
            {"a": Task("a", broken, 3), "b": Task("b", str, TaskRef("a"))}, "b"
        )
        for _ in range(2):
            with pytest.raises(ValueError, match="3") as caught:
                handle.wait()
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-1] == "broken"
        assert "evaluate" not in names
