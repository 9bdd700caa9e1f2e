"""``new_session(n_worker=...)``: a cluster of processes on this host that ends with its session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client
from distributed.comm import connect

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.errors import ResultsTooLarge
from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.remote import local_cluster
from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.web.authentication import LEAST
from tests.cluster.commands import DEADLINE
from tests.source import ROOT
from tests.subprocesses import children, in_fork


def chatter(block):
    """Print more than a pipe holds."""
    sys.stdout.write("x" * 2**18 + "\n")
    sys.stdout.flush()
    return block


def pid_of(block):
    """Return a block of the number of the process that makes it."""
    return np.full_like(block, os.getpid())


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Start two processes that share two threads and 2 GB."""
    spill = tmp_path_factory.mktemp("spill")
    with marsdask.new_session(
        n_worker=2, n_cpu=2, mem_bytes="2 GB", spill_dirs=str(spill), web=True
    ) as session:
        assert len([path for path in spill.iterdir() if path.is_dir()]) == 2
        yield session
    assert not children()


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check only at the end of the module, which shares the cluster."""


def test_results_beyond_memory_and_disks_are_refused(session):
    """Before anything runs: the processes report their disks; a Dask client knows them as well."""
    x = mt.ones((10**7, 10**7))
    with pytest.raises(ResultsTooLarge, match="spill directories"):
        x.execute(session=session)
    with (
        Client(
            session.scheduler.client.scheduler.address,
            security=session.scheduler.client.security,
            set_as_default=False,
        ) as client,
        marsdask.new_session(client, default=False) as other,
        pytest.raises(ResultsTooLarge, match="spill directories"),
    ):
        x.execute(session=other)


def test_two_processes_compute(session):
    """The work is done by both, neither of which is this one."""
    x = mt.ones(100, chunk_size=10, dtype=int).map_chunk(pid_of)
    pids = set(x.execute(session=session).fetch(session=session))
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_the_memory_is_shared(session):
    """``mem_bytes`` is what all processes get together, and ``n_cpu`` their threads."""
    workers = session.scheduler.client.scheduler_info()["workers"].values()
    assert [worker["memory_limit"] for worker in workers] == [10**9, 10**9]
    assert session.plan().workers == 2


def test_the_web_service(session):
    """Another session reaches it through its web service, on this host only."""
    address, _, token = session.scheduler.web_address.partition("/?token=")
    assert address.startswith("http://127.0.0.1:")
    with marsdask.new_session(session.scheduler.web_address, default=False) as other:
        assert mt.ones(10, chunk_size=5).sum().execute(session=other).fetch(session=other) == 10
    with pytest.raises(PermissionError, match="requires a token"):
        marsdask.new_session(address, default=False)
    assert len(token) >= LEAST


def ports(pid):
    """Return the addresses at which a process and its children listen."""
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # what compiled for an earlier session
            found += process.net_connections("tcp")
    return {one.laddr for one in found if one.status == psutil.CONN_LISTEN}


async def replies(host, port, data):
    """Return what a port answers to some bytes."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(data)
    try:
        async with asyncio.timeout(DEADLINE):
            return await reader.read(64)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_another_user_of_the_host_can_do_nothing(session):
    """No port of the cluster answers without a certificate of this session, or its token."""
    request = b"GET /api/cluster/nodes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    listening = ports(session.scheduler._local.pid)
    assert len(listening) >= 7, "a supervisor, two nannies, two workers, and their web ports"
    kinds: Counter[bool] = Counter()
    for host, port in listening:
        assert host == "127.0.0.1"
        answer = asyncio.run(replies(host, port, request))
        kinds[answer.startswith(b"HTTP/1.1 401")] += 1
        assert answer.startswith(b"HTTP/1.1 401") or b"HTTP" not in answer
        if b"HTTP" not in answer:
            with pytest.raises(OSError, match=r".*"):
                asyncio.run(connect(f"tcp://{host}:{port}", timeout=1))
    assert kinds[True] == 1, "browsers know no authority for the supervisor's page"


def test_types_are_those_of_the_values(session):
    """Reported types replace declared ones, and all chunks have one type."""
    left = pd.DataFrame({"k": range(6), "a": range(6)})
    for right in (left.rename(columns={"a": "v"}), pd.DataFrame({"k": [0, 1], "v": [2, 3]})):
        lazy = md.DataFrame(left, chunk_size=2).merge(md.DataFrame(right), how="left")
        wanted = left.merge(right, how="left")
        lazy.execute(session=session)
        assert list(lazy.dtypes) == list(wanted.dtypes)
        pd.testing.assert_frame_equal(lazy.fetch(), wanted)
        assert (lazy.v * 2).dtype == wanted.v.dtype
        pd.testing.assert_series_equal((lazy.v * 2).compute(session=session), wanted.v * 2)


def test_what_tasks_print_blocks_nobody(session):
    """More output than a pipe holds is taken."""
    x = mt.ones(10, chunk_size=5).map_chunk(chatter)
    assert x.sum().execute(session=session).fetch(session=session) == 10


@pytest.mark.skipif(sys.platform == "win32", reason="uses fork")
def test_a_forked_child(session):
    """It computes in a session of its own, and neither reads nor ends its parent's cluster."""
    x = mt.arange(6, chunk_size=3).execute(session=session)
    assert session.default is session
    assert in_fork(lambda: int((mt.ones(3) + 1).sum().execute().fetch())) == "6"
    assert "SchedulerClosed('the scheduler belongs to the parent" in in_fork(x.fetch)
    assert in_fork(session.close) == "None"
    assert in_fork(session.scheduler.leave) == "None"
    assert (x + 1).sum().execute(session=session).fetch() == 21


def test_it_ends_with_its_parent(tmp_path):
    """A parent that is killed leaves no process behind, and needs no ``__main__`` guard.

    A forked child that lives on does not change that.
    """
    script = (
        "import marsdask, os, signal\n"
        "session = marsdask.new_session(n_worker=1, n_cpu=1)\n"
        "if not (child := hasattr(os, 'fork') and os.fork()):\n"
        "    os.closerange(1, 3)\n"
        f"    signal.alarm({2 * DEADLINE})\n"
        "    signal.pause()\n"
        "print(session.scheduler._local.pid, child, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "unguarded.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, path],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE,
        check=False,
    )
    assert done.stdout, done.stderr
    pid, child = map(int, done.stdout.split())
    try:
        if psutil.pid_exists(pid):
            psutil.Process(pid).wait(DEADLINE)
    finally:
        os.kill(child, signal.SIGKILL)


def test_it_ends_without_a_word():
    """Everything is closed and removed once, also by a script that has no file.

    Somebody else's copy of the pipe to the cluster does not delay that.
    """
    script = (
        "import marsdask, marsdask.tensor as mt, os\n"
        "with marsdask.new_session(n_worker=2, n_cpu=2) as session:\n"
        "    mt.ones(8, chunk_size=2).execute(session=session)\n"
        "    process = session.scheduler._local._process\n"
        "    os.dup(process.stdin.fileno())\n"
        "assert process.returncode == 0, process.returncode\n"
    )
    done = subprocess.run(
        [sys.executable, "-"],
        input=script,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("settings", [{"n_worker": 0}, {"n_worker": 1, "n_cpu": -1}])
def test_bad_numbers(settings):
    """They are refused before any process starts."""
    with pytest.raises(ValueError, match="at least 1"):
        SupervisorScheduler(**settings)


def test_a_cluster_that_cannot_start_says_so(capfd):
    """The process has ended, and the error refers to its log."""
    with pytest.raises(NoSupervisor, match="log"):
        local_cluster.LocalProcess(n_worker=1, surprise=True)
    assert "surprise" in capfd.readouterr().err
