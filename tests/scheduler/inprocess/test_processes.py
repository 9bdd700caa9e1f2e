"""The processes scheduler; test_contract.py has the tests of all schedulers."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import CancelledError

import numpy as np
import psutil
import pytest
from dask.task_spec import Task

from marsdask.scheduler.errors import WorkerDied
from marsdask.scheduler.inprocess.processes import ProcessesScheduler
from marsdask.scheduler.testing.tools import DEADLINE, Gate, inc, key, pass_gate, run
from tests.subprocesses import children, in_fork

pytestmark = pytest.mark.skipif(os.name == "nt", reason="uses POSIX signals")


@pytest.fixture
def scheduler(tmp_path):
    with ProcessesScheduler(nprocesses=1, folder=str(tmp_path)) as scheduler:
        yield scheduler
    assert not list(tmp_path.iterdir())


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.close()


def files_of(scheduler):
    return os.listdir(scheduler._engine.folder)


def test_files_go_with_results(scheduler):
    """A released result leaves no file."""
    a = key()
    scheduler.submit({a: Task(a, np.zeros, 100_000)}, [a]).wait(DEADLINE)
    assert len(files_of(scheduler)) == 1
    scheduler.release([a])
    assert not files_of(scheduler)


def test_gathered_results_are_writable_copies(scheduler):
    """``gather`` returns private copies."""
    a = key()
    scheduler.submit({a: Task(a, np.zeros, 100_000)}, [a]).wait(DEADLINE)
    scheduler.gather([a])[0][:] = 1
    assert not scheduler.gather([a])[0].any()
    scheduler.release([a])


def test_number_of_processes():
    """There must be at least one, or nothing would ever run."""
    with pytest.raises(ValueError, match="nprocesses must be positive, not -1"):
        ProcessesScheduler(nprocesses=-1)


@pytest.mark.parametrize("how", ["release", "close", "dispose"])
def test_forked_child(scheduler, how):
    """Files and processes stay when a child drops its copies of the results, or closes."""
    a = key()
    scheduler.submit({a: Task(a, np.zeros, 100_000)}, [a]).wait(DEADLINE)
    before = children()
    work = {
        "release": lambda: scheduler.release([a]),
        "close": scheduler.close,
        "dispose": scheduler._engine.dispose,
    }
    assert in_fork(work[how]) == "None"
    assert len(files_of(scheduler)) == 1
    assert children() == before
    assert not scheduler.gather([a])[0].any()
    scheduler.release([a])
    assert not files_of(scheduler)


def test_death_fails_the_job_only(scheduler):
    """A worker that dies fails its job with key and exit code and is replaced."""
    a, b = key("a"), key("b")
    handle = scheduler.submit({a: Task(a, os._exit, 3), b: Task(b, np.zeros, 100_000)}, [a, b])
    with pytest.raises(WorkerDied, match=f"{a[0]}.*exit code 3"):
        handle.wait(DEADLINE)
    assert handle.failed == a
    assert not files_of(scheduler)
    assert run(scheduler, Task(key(), inc, 1)) == [2]


def test_cancel_kills(scheduler, gate):
    """Cancelling ends the process that runs the task, at once, and leaves no file."""
    a = key()
    handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
    gate.wait_until_reached()
    (process,) = children()
    handle.cancel()
    with pytest.raises(CancelledError):
        handle.wait(DEADLINE)
    process.wait(DEADLINE)
    assert not files_of(scheduler)
    assert run(scheduler, Task(key(), inc, 1)) == [2]


class PickledLate:
    """An argument whose pickling takes as long as the test wants."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()

    def __reduce__(self):
        self.begun.set()
        assert self.go.wait(DEADLINE)
        return int, (1,)


def test_cancel_while_it_is_pickled(scheduler, gate):
    """The task does not reach a process."""
    a, argument = key(), PickledLate()
    handle = scheduler.submit({a: Task(a, pass_gate, gate.address, argument)}, [a])
    assert argument.begun.wait(DEADLINE)
    handle.cancel()
    argument.go.set()
    assert run(scheduler, Task(key(), inc, 1)) == [2]
    with pytest.raises(CancelledError):
        handle.wait(DEADLINE)


def test_close_kills(tmp_path, gate):
    """Closing leaves neither a process nor a file, whatever runs."""
    scheduler = ProcessesScheduler(nprocesses=2, folder=str(tmp_path))
    a, b = key(), key()
    scheduler.submit({a: Task(a, np.zeros, 100_000)}, [a]).wait(DEADLINE)
    scheduler.submit({b: Task(b, pass_gate, gate.address, 1)}, [b])
    gate.wait_until_reached()
    scheduler.close()
    assert not children()
    assert not list(tmp_path.iterdir())


def test_forgotten_scheduler_ends(tmp_path):
    """A scheduler without references ends its processes and removes its files."""
    scheduler = ProcessesScheduler(nprocesses=1, folder=str(tmp_path))
    assert run(scheduler, Task(key(), inc, 1)) == [2]
    del scheduler
    assert not children()
    assert not list(tmp_path.iterdir())


def test_unusable_folder(scheduler):
    """A result that cannot be written fails its job; the scheduler stays usable."""
    folder = scheduler._engine.folder
    os.rmdir(folder)
    with pytest.raises(FileNotFoundError):
        run(scheduler, Task(key(), np.zeros, 100_000))
    assert run(scheduler, Task(key(), inc, 1)) == [2]
    os.mkdir(folder)


SCRIPT = """
import os, socket, sys
from marsdask.scheduler import create
from dask.task_spec import Task

class Mine:
    pass

def work(address):
    if address is None:
        result = Mine()
        result.pid = os.getpid()
        return result
    with socket.create_connection(address) as connection:
        connection.sendall(b"%d" % os.getpid())
        connection.recv(1)

scheduler = create("processes", nprocesses=1, folder=sys.argv[1])
port = int(sys.argv[2])
address = ("127.0.0.1", port) if port else None
scheduler.submit({"x": Task("x", work, address)}, ["x"]).wait()
(result,) = scheduler.gather(["x"])
assert isinstance(result, Mine)
print(result.pid)
"""


@pytest.fixture
def start(tmp_path):
    """Start a script without a ``__main__`` guard whose temporary files are in a folder."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    folder = tmp_path / "files"
    folder.mkdir()
    started = []

    def start(port):
        process = subprocess.Popen(
            [sys.executable, script, folder, str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        started.append(process)
        return process, folder

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_script_without_guard(start):
    """A script needs no guard, its own functions and classes work, and nothing stays behind."""
    process, folder = start(0)
    out, err = process.communicate(timeout=DEADLINE)
    assert not err
    assert process.returncode == 0
    assert not psutil.pid_exists(int(out))
    assert not list(folder.iterdir())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_script(start, gate, how):
    """After a Ctrl-C, or a kill -9 of the parent, no process and no file is left."""
    process, folder = start(gate.address[1])
    gate.wait_until_reached()
    child = psutil.Process(int(gate._waiting[0].recv(100)))
    assert child.ppid() == process.pid
    process.send_signal(how)
    process.wait(DEADLINE)
    gate.open()
    child.wait(DEADLINE)
    assert not list(folder.iterdir())


def test_a_folder_where_others_may_write(tmp_path):
    """Results there are pickles, which others could replace."""
    tmp_path.chmod(0o777)
    with pytest.raises(PermissionError, match="other users may write"):
        ProcessesScheduler(nprocesses=1, folder=str(tmp_path))
