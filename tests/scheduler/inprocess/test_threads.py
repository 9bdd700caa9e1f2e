"""The default scheduler: its options, its budget under load, and what is left after errors."""

import gc
import subprocess
import sys
import tempfile
import threading
import weakref
from contextvars import ContextVar
from typing import Any

import dask
import numpy as np
import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler import limits
from marsdask.scheduler.base import Hint, Machine, stopped_by
from marsdask.scheduler.errors import MemoryBudgetError, SchedulerClosed, SpillFull
from marsdask.scheduler.inprocess.inline import InlineScheduler
from marsdask.scheduler.inprocess.threads import ThreadsScheduler
from tests.subprocesses import in_fork

DEADLINE = 60
MIB = 2**20


def files(folder):
    return [p for p in folder.rglob("*") if p.is_file() and p.name != "lock"]


def blocks(count, nbytes=MIB, name="block"):
    return {(name, i): Task((name, i), np.full, nbytes // 8, float(i)) for i in range(count)}


def hints(tasks, nbytes=MIB):
    return dict.fromkeys(tasks, Hint(nbytes=nbytes, peak=nbytes))


def run(scheduler, tasks, keys=None, **options):
    handle = scheduler.submit(tasks, list(tasks if keys is None else keys), **options)
    handle.wait(DEADLINE)
    return handle


@pytest.mark.skipif(sys.platform == "win32", reason="uses fork")
def test_forked_child():
    """It has no threads of its parent's, so a submission there would never end."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        told = in_fork(lambda: run(scheduler, blocks(1)))
        assert "SchedulerClosed('the scheduler belongs to the parent" in told


def test_defaults(monkeypatch):
    """All CPUs, and a share of the memory that leaves room for everything else."""
    monkeypatch.setattr(limits, "memory", lambda: 1000 * MIB)
    monkeypatch.setattr(limits, "cpus", lambda: 3)
    with ThreadsScheduler() as scheduler:
        assert (scheduler.nthreads, scheduler.memory_limit) == (3, 600 * MIB)


@pytest.mark.parametrize(
    "limit, expected",
    [(4096, 4096), (5e6, 5_000_000), ("2 MiB", 2 * MIB), (0.5, 500 * MIB), (1.0, 1000 * MIB)],
)
def test_memory_limit(monkeypatch, limit, expected):
    """Bytes, texts and fractions are understood."""
    monkeypatch.setattr(limits, "memory", lambda: 1000 * MIB)
    with ThreadsScheduler(memory_limit=limit) as scheduler:
        assert scheduler.memory_limit == expected


@pytest.mark.parametrize("allowed", [0, 1])
def test_a_system_that_allows_few_threads(monkeypatch, allowed):
    """Allowed threads are used; without any the submission fails."""
    start = threading.Thread.start
    started: list[threading.Thread] = []

    def limited(thread):
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with ThreadsScheduler(nthreads=4) as scheduler:
        tasks = blocks(20)
        if allowed:
            run(scheduler, tasks)
            assert len(started) == 1
            return
        with pytest.raises(RuntimeError, match="new thread"):
            scheduler.submit(tasks, list(tasks))
        monkeypatch.undo()
        run(scheduler, blocks(4, name="other"))
        with pytest.raises(KeyError):
            scheduler.gather([("block", 0)])


@pytest.mark.parametrize("options", [{"memory_limit": 0}, {"memory_limit": -1}, {"nthreads": -1}])
def test_senseless_options_are_refused(options):
    """Not at the first task, but at the call."""
    with pytest.raises(ValueError, match=next(iter(options))):
        ThreadsScheduler(**options)


def test_options_from_the_configuration(tmp_path):
    """Dask's configuration sets missing arguments."""
    config = {
        "marsdask.nthreads": 3,
        "marsdask.memory-limit": "1 MiB",
        "marsdask.spill-dirs": [str(tmp_path)],
        "marsdask.spill-limit": "1 GiB",
    }
    with dask.config.set(config), ThreadsScheduler() as scheduler:
        assert (scheduler.nthreads, scheduler.memory_limit) == (3, MIB)
        tasks = blocks(3)
        run(scheduler, tasks, hints=hints(tasks))
        assert files(tmp_path)


@pytest.mark.parametrize("hinted", [True, False])
def test_results_beyond_the_budget_are_right(tmp_path, hinted):
    """Spilled results come back as they were, to tasks and to the caller; no file outlives them."""
    with ThreadsScheduler(nthreads=2, memory_limit=4 * MIB, spill_dirs=str(tmp_path)) as scheduler:
        tasks = blocks(20)
        run(scheduler, tasks, hints=hints(tasks) if hinted else None)
        assert files(tmp_path)
        sums = {i: Task(i, np.sum, TaskRef(key)) for i, key in enumerate(tasks)}
        run(scheduler, sums)
        assert scheduler.gather(list(sums)) == [i * MIB / 8 for i in range(20)]
        for i, value in enumerate(scheduler.gather(list(tasks))):
            assert (value == i).all()
            assert value.flags.writeable
        assert scheduler.info(list(tasks))[0].shape == (MIB // 8,)
        scheduler.release([*tasks, *sums])
        assert not files(tmp_path)
    assert not list(tmp_path.iterdir())


def test_results_within_the_budget_never_touch_the_disk(tmp_path):
    """No file is made without need."""
    with ThreadsScheduler(nthreads=2, memory_limit=64 * MIB, spill_dirs=str(tmp_path)) as scheduler:
        run(scheduler, blocks(20))
        assert not list(tmp_path.iterdir())


def test_a_full_disk_fails_the_job_only(tmp_path):
    """SpillFull from wait; earlier results stay, nothing of the job does, and work goes on."""
    with ThreadsScheduler(
        nthreads=2, memory_limit=4 * MIB, spill_dirs=str(tmp_path), spill_limit=3 * MIB
    ) as scheduler:
        kept = blocks(2, name="kept")
        run(scheduler, kept, hints=hints(kept))
        tasks = blocks(30)
        with pytest.raises(SpillFull, match="limit"):
            run(scheduler, tasks, hints=hints(tasks))
        assert [value[0] for value in scheduler.gather(list(kept))] == [0, 1]
        few = blocks(2, name="few")
        run(scheduler, few, hints=hints(few))
        assert set(scheduler._engine.state.items) == {*kept, *few}
        scheduler.release([*kept, *few])
        assert not files(tmp_path)


def test_a_nearly_full_disk_fails_the_job_only(tmp_path):
    """The reserve of a disk stays free, and tasks within memory continue."""

    def usage(folder):
        del folder
        return 100 * MIB, 90 * MIB, 10 * MIB

    settings: dict[str, Any] = {"spill_dirs": str(tmp_path), "disk_usage": usage}
    with ThreadsScheduler(nthreads=2, memory_limit=4 * MIB, **settings) as scheduler:
        tasks = blocks(30)
        with pytest.raises(SpillFull, match="a tenth of the disk stays free"):
            run(scheduler, tasks, hints=hints(tasks))
        few = blocks(2, name="few")
        run(scheduler, few, hints=hints(few))
        assert [value[0] for value in scheduler.gather(list(few))] == [0, 1]
        folders = (str(tmp_path),)
        machine = Machine(threads=2, memory=4 * MIB, spill=0, folders=folders)
        assert scheduler.machine() == machine


@pytest.mark.parametrize("limit", ["abc", -1, 0, "0GiB", float("nan"), True])
@pytest.mark.parametrize("name", ["memory_limit", "spill_limit"])
def test_what_is_no_limit_is_refused(name, limit):
    """In plain words, with what would do."""
    with pytest.raises(
        ValueError, match=f"invalid {name}: .*; give a positive number of bytes.*'4GiB'"
    ):
        ThreadsScheduler(nthreads=1, **{name: limit})


def test_an_unwritable_directory_is_refused(tmp_path):
    """At once, not when the first result has to be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="file"):
        ThreadsScheduler(nthreads=1, spill_dirs=str(tmp_path / "file"))


def test_a_directory_that_becomes_unwritable_is_a_clear_error(tmp_path):
    """The error names the directory."""
    folder = tmp_path / "file"
    with ThreadsScheduler(nthreads=1, memory_limit=2 * MIB, spill_dirs=str(folder)) as scheduler:
        folder.rmdir()
        folder.write_text("")
        tasks = blocks(8)
        with pytest.raises(SpillFull, match="file: "):
            run(scheduler, tasks, hints=hints(tasks))
        assert not scheduler._engine.state.items


def test_a_task_beyond_the_budget_is_refused():
    """It is never started, and the error says what it would need."""
    with ThreadsScheduler(nthreads=1, memory_limit=2 * MIB) as scheduler:
        with pytest.raises(MemoryBudgetError, match=r"full needs 3\.0 MiB"):
            run(scheduler, blocks(1), hints={("block", 0): Hint(peak=3 * MIB)})
        run(scheduler, blocks(1))


def test_unpicklable_results_stay_in_memory(tmp_path):
    """Results that cannot be spilled stay in memory."""
    with ThreadsScheduler(nthreads=1, memory_limit=2 * MIB, spill_dirs=str(tmp_path)) as scheduler:
        tasks = {i: Task(i, with_generator, 200_000) for i in range(5)}
        run(scheduler, tasks)
        assert [next(numbers) for _, numbers in scheduler.gather(list(tasks))] == [0] * 5
        assert scheduler._engine.state.on_disk == 0


def with_generator(size):
    return np.zeros(size), (i for i in range(size))


def test_small_hinted_graphs_run_in_the_callers_thread():
    """Short tasks do not start another thread."""
    with ThreadsScheduler(nthreads=1) as scheduler:
        tasks = {"a": Task("a", threading.get_ident)}
        run(scheduler, tasks, hints={"a": Hint(nbytes=8, peak=8)})
        assert scheduler.gather(["a"]) == [threading.get_ident()]
        scheduler.release(["a"])
        run(scheduler, tasks)
        assert scheduler.gather(["a"]) != [threading.get_ident()]


def test_a_chain_runs_on_one_thread():
    """Each link is continued by the thread that has its input in its cache."""
    with ThreadsScheduler(nthreads=2) as scheduler:
        tasks = {0: Task(0, idents, [])}
        tasks |= {i: Task(i, idents, TaskRef(i - 1)) for i in range(1, 50)}
        run(scheduler, tasks, [49])
        (threads,) = scheduler.gather([49])
        assert len(threads) == 50
        assert len(set(threads)) == 1


def idents(before):
    return [*before, threading.get_ident()]


def test_closed():
    """Everything but release refuses to work with a closed scheduler."""
    scheduler = ThreadsScheduler(nthreads=1)
    run(scheduler, {"a": Task("a", int)})
    scheduler.close()
    for call in (scheduler.gather, scheduler.info, lambda keys: scheduler.submit({}, keys)):
        with pytest.raises(SchedulerClosed):
            call(["a"])
    scheduler.release(["a"])


PEAK = """
import resource
import numpy as np
from dask.task_spec import Task, TaskRef
from marsdask.scheduler.base import Hint
from marsdask.scheduler.inprocess.threads import ThreadsScheduler

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

MIB, SIZE = 2**20, 8

def full(name, i):
    return Task((name, i), np.full, SIZE * MIB // 8, 1.0)

def plus(name, i):
    return Task((name, i), np.add, TaskRef(("a", i)), 1)

def run(scheduler, tasks):
    hints = dict.fromkeys(tasks, Hint(nbytes=SIZE * MIB, peak=SIZE * MIB))
    scheduler.submit(tasks, list(tasks), hints=hints).wait()

with ThreadsScheduler(nthreads=2, memory_limit=128 * MIB, spill_dirs={folder!r}) as scheduler:
    run(scheduler, {{"warm": Task("warm", np.ones, 10)}})
    baseline = peak()
    count = 5 * 128 // SIZE
    run(scheduler, {{("a", i): full("a", i) for i in range(count)}})
    run(scheduler, {{("b", i): plus("b", i) for i in range(count)}})
    for i in range(count):
        assert (scheduler.gather([("b", i)])[0] == 2).all()
    print(baseline, peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures what Linux counts")
def test_peak_memory_stays_within_the_budget(tmp_path):
    """Two generations of held results, five budgets each: the process never exceeds one."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    baseline, peak = map(int, done.stdout.split())
    assert peak <= baseline + 128


class Setting:
    """The value of a context variable."""


SETTING: ContextVar[Setting | None] = ContextVar("SETTING", default=None)


def set_and_divide():
    found = SETTING.get()
    SETTING.set(None)
    return found is not None, np.ones(1) / np.zeros(1)


@pytest.mark.parametrize("create", [ThreadsScheduler, InlineScheduler])
def test_tasks_see_the_submitters_context(create):
    """numpy.errstate applies in each task; changes by a task stay in it."""
    tasks = {key: Task(key, set_and_divide) for key in range(4)}
    with create() as scheduler, np.errstate(divide="ignore"):
        token = SETTING.set(Setting())
        kept = weakref.ref(SETTING.get())
        handle = run(scheduler, tasks)
        assert SETTING.get() is kept()
        assert [seen for seen, _ in scheduler.gather(list(tasks))] == [True] * 4
        SETTING.reset(token)
        del token
        gc.collect()
        assert kept() is None  # though handle and results are there
        del handle


def test_without_directories_nothing_is_written(tmp_path, monkeypatch):
    """An empty list is no default: there is no room on disk, and who needs it fails."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ThreadsScheduler(nthreads=1, memory_limit=2 * MIB, spill_dirs=[]) as scheduler:
        assert scheduler.machine().spill == 0
        assert scheduler.bounds["spill_dirs"] == []
        tasks = blocks(8)
        with pytest.raises(SpillFull, match="there is none"):
            run(scheduler, tasks, hints=hints(tasks))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_a_running_task_is_stopped(end):
    """The work of a task that nobody needs ends, if its function can be stopped."""
    begun, stopped, left = threading.Event(), threading.Event(), threading.Event()

    def work():
        with stopped_by(stopped.set):
            begun.set()
            if stopped.wait(20):
                left.set()

    with ThreadsScheduler(nthreads=1) as scheduler:
        handle = scheduler.submit({"x": Task("x", work)}, ["x"])
        assert begun.wait(30)
        if end == "cancel":
            handle.cancel()
            assert left.wait(30)
    assert left.is_set()


def test_a_task_that_was_cancelled_before_is_stopped_at_once():
    """Whoever registers late is told."""
    begun, cancelled, stopped = (threading.Event() for _ in range(3))

    def work():
        begun.set()
        assert cancelled.wait(30)
        with stopped_by(stopped.set):
            pass

    with ThreadsScheduler(nthreads=1) as scheduler:
        handle = scheduler.submit({"x": Task("x", work)}, ["x"])
        assert begun.wait(30)
        handle.cancel()
        cancelled.set()
        assert stopped.wait(30)


def test_only_work_in_its_block_is_stopped():
    """Neither what ended, nor what is outside a task."""
    calls = []

    def work():
        with stopped_by(lambda: calls.append("ended")):
            pass
        return 1

    with ThreadsScheduler(nthreads=1) as scheduler:
        handle = scheduler.submit({"x": Task("x", work)}, ["x"])
        handle.wait(30)
        scheduler.release(["x"])
        with stopped_by(lambda: calls.append("outside")):
            handle.cancel()
    assert calls == []
