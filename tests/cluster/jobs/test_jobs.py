"""Compilations that the supervisor drives: the client sends nodes and gets their progress."""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from distributed import Client

import marsdask
import marsdask.tensor as mt
from marsdask.core.compilation.serialization import SerializedCompilation, can_be_sent
from marsdask.core.errors import MemoryBudgetError
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.remote import job as remote
from marsdask.scheduler.remote.client import SupervisorScheduler
from marsdask.scheduler.supervisor import jobs
from marsdask.scheduler.supervisor.submissions import GraphFailed, SubmittedGraphs
from marsdask.scheduler.testing import SchedulerContract
from marsdask.scheduler.testing.tools import pass_gate
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.failures.test_failures import Heard
from tests.cluster.loop import beside
from tests.scheduler.peer import eventually


@pytest.fixture(scope="module")
def cluster():
    """Start a supervisor and two workers in this process."""
    with beside({"nthreads": 2}, {"nthreads": 2}) as cluster:
        yield cluster


class TestSupervisor(SchedulerContract):
    """The contract of schedulers."""

    nested = False
    counts_tasks = False
    passes_interrupts = False
    depth = 200

    @pytest.fixture(autouse=True)
    def _connect(self, cluster):
        self.cluster = cluster

    def create(self):
        return SupervisorScheduler(self.cluster.scheduler_address)


@pytest.fixture
def session(cluster):
    scheduler = SupervisorScheduler(cluster.scheduler_address)
    with marsdask.new_session(scheduler, default=False) as session:
        yield session
    scheduler.close()


def fetch(session, *tensors):
    """Execute tensors together and return their values."""
    marsdask.execute(*tensors, session=session)
    return [tensor.fetch(session=session) for tensor in tensors]


def last_job(cluster):
    """Return what is known of the job that came last."""
    return list(cluster.scheduler.jobs.jobs.values())[-1]


def test_the_supervisor_compiles(session, cluster):
    """The supervisor drives several stages; the job describes the program."""
    assert session.scheduler.capabilities.compiles
    x = mt.random.RandomState(0).rand(1000, chunk_size=100)
    (found,) = fetch(session, mt.sort(x[x > 0.5]))
    assert np.all(np.diff(found) >= 0)
    assert 400 < len(found) < 600
    told = last_job(cluster).summary()
    assert (told["state"], told["progress"], told["error"]) == ("done", 1.0, None)
    assert told["session_id"] == session.session_id
    assert told["tasks"] == told["tasks_done"] > 1
    assert told["start"] <= told["end"]


def test_an_address_or_a_client_of_a_supervisor_will_do(cluster, monkeypatch):
    """Both ship nodes and functions, a few kilobytes, and the tasks are made there."""
    sent = []
    start = remote.RemoteJob.start

    def spy(self, data, *args):
        sent.append(len(data))
        start(self, data, *args)

    monkeypatch.setattr(remote.RemoteJob, "start", spy)
    offset = 41.0
    address = cluster.scheduler_address
    with Client(address, set_as_default=False) as client:
        for where in (address, client):
            with marsdask.new_session(where, default=False) as session:
                assert session.scheduler.capabilities.compiles
                x = mt.ones(10_000, chunk_size=100)
                with marsdask.option_context({"coalesce": False}):
                    y = x.map_chunk(lambda block: block + offset, dtype=float)
                    assert fetch(session, y.sum()) == [420_000]
    assert len(sent) == 2
    assert max(sent) < 20_000


def test_plans_know_the_workers():
    """A task larger than the largest worker is refused before anything runs, by its chunk."""
    with (
        beside({"memory_limit": 2**31}, {"memory_limit": 2**30}) as cluster,
        marsdask.new_session(cluster.scheduler_address, default=False) as session,
    ):
        plan = session.plan()
        assert (plan.workers, plan.budget, plan.task_limit) == (2, 3 * 2**30 * 3 // 4, 2**31)
        assert plan.shared_memory
        # What a function of the user sees is not cut.
        x = mt.ones(2**29, chunk_size=2**29).map_chunk(lambda block: block + 1, dtype=float)
        with pytest.raises(MemoryBudgetError, match="would fit"):
            mt.sort(x).execute(session=session)
        assert fetch(session, mt.ones(8).sum()) == [8]


@pytest.mark.parametrize(("second", "more"), [(MarsWorker, False), (distributed.Worker, True)])
def test_views_are_tasks_only_where_results_travel(second, more):
    """Workers of one host cut what they exchange where it is needed; a stock one is sent parts."""
    with (
        beside({}, {"cls": second}) as cluster,
        marsdask.new_session(cluster.scheduler_address, default=False) as session,
        marsdask.option_context({"coalesce": False}),
    ):
        x = mt.random.RandomState(0).rand(6000, chunk_size=1000)
        (found,) = fetch(session, mt.sort(x))
        (job,) = cluster.scheduler.jobs.jobs.values()
        assert (job.total > 6 * 6) is more
        assert np.all(np.diff(found) >= 0)


def test_results_are_used_where_they_lie(session):
    """Executed results are inputs of later jobs by their keys."""
    x = mt.ones((2000, 500), chunk_size=250) * 3
    x.execute(session=session)
    graph = Graph([session.lookup(x.node)])
    assert len(pickle.dumps(SerializedCompilation(graph, Plan(), check=False))) < 10_000
    total, again = fetch(session, (x + 1).sum(), x)
    assert total == 4e6
    assert again.shape == (2000, 500)


def test_the_client_ships_nodes(session):
    """The pickle of ten thousand chunks is as large as that of one."""
    sizes = [
        len(
            pickle.dumps(
                SerializedCompilation(
                    Graph([mt.ones(10_000, chunk_size=size).node]), Plan(), check=False
                )
            )
        )
        for size in (1, 10_000)
    ]
    assert sizes[0] < sizes[1] + 50_000


def test_nothing_is_left_there(session, cluster):
    """When the last reference goes, the supervisor forgets every key."""
    before = set(cluster.scheduler.tasks)
    x = mt.ones((30, 30), chunk_size=7) + 1
    x.execute(session=session)
    assert set(cluster.scheduler.tasks) - before
    del x
    client = session.scheduler.client
    client.sync(asyncio.sleep, 0)  # a release takes two turns of the client's loop, a task one
    client.submit(abs, -1).result()  # comes after what was sent before
    assert not {
        key for key in cluster.scheduler.tasks if key not in before and "abs" not in key[:3]
    }


def test_large_jobs_go_in_batches(session, cluster, monkeypatch):
    """The number of waiting tasks is limited, and results between batches are released."""
    monkeypatch.setattr(jobs, "BATCH", 50)
    monkeypatch.setattr(jobs, "AHEAD", 150)
    waiting, starts = [], set()
    send = SubmittedGraphs.send

    def spy(self, prepared):
        send(self, prepared)
        starts.update(list(prepared.annotations.get("mars_band", {}).values())[:1])
        states = [ts.state for ts in cluster.scheduler.tasks.values()]
        waiting.append(sum(state not in ("memory", "released") for state in states))

    monkeypatch.setattr(SubmittedGraphs, "send", spy)
    x = mt.ones((1000, 4), chunk_size=(1, 4))
    with marsdask.option_context({"coalesce": False}):
        (found,) = fetch(session, ((x - x.mean(axis=0)) * 2 + 1).sum())
    assert found == 4000
    assert len(waiting) > 20
    assert max(waiting) <= 150 + 50
    assert len(starts) > 1, "the batches of a turn share the workers"
    job = last_job(cluster)
    assert job.total == job.done > 1000
    # The client claims the results in a message that may arrive after it has fetched them.
    eventually(lambda: f"marsdask-job-{job.id}" not in cluster.scheduler.clients)


def broken(block):
    """Fail as users' functions do."""
    raise OSError(7, "broken on purpose")


def test_failures_come_home(session, cluster):
    """The task's own exception, what failed, and the user's line; the job remembers it."""
    x = mt.ones((4, 4), chunk_size=2).map_chunk(broken, dtype=float)
    with pytest.raises(OSError, match="on purpose") as caught:
        x.execute(session=session)
    notes = "\n".join(caught.value.__notes__)
    assert "map" in notes
    assert __file__ in notes
    job = last_job(cluster)
    assert job.state == "failed"
    assert "on purpose" in job.error
    assert fetch(session, mt.ones(3).sum()) == [3]


def test_failures_that_the_supervisor_cannot_load(session, monkeypatch):
    """As of classes that only workers know: the job fails all the same, with what was said."""

    def unknown(self):
        raise ModuleNotFoundError("No module named 'theirs'")

    monkeypatch.setattr(GraphFailed, "_unpickled", unknown)
    x = mt.ones((4, 4), chunk_size=2).map_chunk(broken, dtype=float)
    with pytest.raises(RuntimeError, match="on purpose") as caught:
        x.execute(session=session, wait=False).result(60)
    assert "No module named 'theirs'" in "\n".join(caught.value.__notes__)


def test_failures_that_cannot_be_told(session, monkeypatch):
    """An error while an error is handled ends the job."""

    def unknown(self):
        raise ArithmeticError("while it was loaded")

    monkeypatch.setattr(GraphFailed, "error", unknown)
    x = mt.ones((4, 4), chunk_size=2).map_chunk(broken, dtype=float)
    with pytest.raises(ArithmeticError, match="while it was loaded"):
        x.execute(session=session, wait=False).result(60)


def test_a_release_that_arrives_late(session, cluster, monkeypatch):
    """Keys of an earlier job are kept for a later one, which ends before their release arrives.

    Releases and requests have connections of their own.
    """
    client = session.scheduler.client
    before = set(cluster.scheduler.tasks)
    late: list[Any] = []
    send = client.scheduler_comm.send

    def expression():
        return mt.ones((30, 30), chunk_size=7) + 3

    expression().execute(session=session)  # nothing refers to it
    first = expression().execute(session=session)
    monkeypatch.setattr(client.scheduler_comm, "send", lambda *messages: late.extend(messages))
    del first
    again = expression().execute(session=session)
    eventually(lambda: any(message["op"] == "client-releases-keys" for message in late))

    async def deliver():  # in the client's loop: no message comes in between
        monkeypatch.undo()
        send(*late)

    client.sync(deliver)
    client.submit(abs, -2).result()  # comes after what was sent before
    np.testing.assert_array_equal(again.fetch(session=session), np.full((30, 30), 4.0))
    del again
    eventually(lambda: set(cluster.scheduler.tasks) <= before)
    known = cluster.scheduler.clients
    eventually(lambda: not any(name.startswith("marsdask-job-") for name in list(known)))


def test_what_is_remembered(session, cluster, gate, monkeypatch):
    """Of jobs that have ended so many, whichever began first; and no outcome twice."""
    monkeypatch.setattr(jobs, "_REMEMBERED", 3)
    x = mt.ones(2).map_chunk(_at_gate, args=(gate.address,), dtype=float)
    future = x.execute(session=session, wait=False)
    gate.wait_until_reached()
    longest = last_job(cluster)
    for _ in range(4):
        assert fetch(session, mt.ones(3).sum()) == [3]
        job = last_job(cluster)
        eventually(partial(getattr, job, "settled"))
    gate.open()
    assert len(cluster.scheduler.jobs.jobs) == 3
    assert cluster.scheduler.jobs.jobs[longest.id] is longest
    known = cluster.scheduler.jobs.jobs
    eventually(lambda: not any(job.outcome for job in known.values() if job.ended))
    assert future.result(60).fetch(session=session).sum() == 2


def test_cancelling(session, cluster, gate):
    """A cancelled job stops there, keeps nothing, and says so."""
    x = mt.ones(2).map_chunk(_at_gate, args=(gate.address,), dtype=float)
    future = x.execute(session=session, wait=False)
    gate.wait_until_reached()
    assert future.cancel()
    with pytest.raises(CancelledError):
        future.result(60)
    gate.open()
    assert fetch(session, mt.ones(3).sum()) == [3]


def test_cancelling_too_late(session, cluster, monkeypatch):
    """Delivered results of the job are released."""
    delivering, go, hand_over = threading.Event(), threading.Event(), SubmittedGraphs.hand_over

    async def slowly(self, keys, client):
        await hand_over(self, keys, client)
        delivering.set()
        assert await asyncio.to_thread(go.wait, 60)

    monkeypatch.setattr(SubmittedGraphs, "hand_over", slowly)
    future = mt.ones(4, chunk_size=2).execute(session=session, wait=False)
    assert delivering.wait(60)
    wanted = cluster.scheduler.clients[session.scheduler.client.id].wants_what
    assert wanted
    assert future.cancel()
    go.set()
    with pytest.raises(CancelledError):
        future.result(60)
    eventually(lambda: not wanted)


def test_questions_that_get_no_answer_are_asked_again(session, cluster, gate):
    """A connection that breaks, and is not the client's own, is the end of no job."""
    client = session.scheduler.client
    before = len(cluster.scheduler.jobs.jobs)

    async def cut():
        for comm in [comm for held in client.rpc.occupied.values() for comm in held]:
            comm.abort()
            return True
        return False

    with dask.config.set({"marsdask.failover.keep": "1s"}):
        x = mt.ones(2).map_chunk(_at_gate, args=(gate.address,), dtype=float)
        future = x.execute(session=session, wait=False)
        gate.wait_until_reached()
        eventually(lambda: client.sync(cut))
        gate.open()
        assert future.result(60).fetch(session=session).sum() == 2
    assert client.generation == 0
    job = last_job(cluster).id
    nothing: Any = {"client": "", "session": "", "name": "", "compilation": b""}
    assert client.sync(client.scheduler.mars_compile, job=job, **nothing) == job
    assert len(cluster.scheduler.jobs.jobs) == before + 1


def test_a_client_that_was_given_up_goes_on(session, cluster):
    """A job that ended with its client's connection does not count as cancelled."""
    _REACHED.clear()
    _OPEN.clear()
    future = mt.ones(2).map_chunk(_held_up, dtype=float).execute(session=session, wait=False)
    assert _REACHED.wait(60)
    client = session.scheduler.client

    async def cut():
        cluster.scheduler.client_comms[client.id].abort()

    cluster.sync(cut)
    assert client.sync(client.resumed, 0)
    _OPEN.set()
    assert future.result(60).fetch(session=session).sum() == 2


_REACHED, _OPEN = threading.Event(), threading.Event()


def _held_up(block):
    if block.size == 1:  # made up, when the expression is made
        return block
    _REACHED.set()
    assert _OPEN.wait(60)
    return block


def _at_gate(block, address):
    # Called with an item when the expression is made, to see what it returns.
    return pass_gate(address, block) if block.size > 1 else block


def test_progress_counts_every_task(session):
    """A monitor hears of all tasks, not of the wanted ones only."""
    future = (mt.ones((40, 40), chunk_size=10) + 1).sum().execute(session=session, wait=False)
    assert future.result(60).fetch(session=session) == 3200
    assert future.progress() == 1


def test_options_travel(session):
    """Tiling there obeys the options set here."""
    with marsdask.option_context({"split_every": 2}):
        (found,) = fetch(session, mt.ones((64,), chunk_size=1).sum())
    assert found == 64


def test_adopted_graphs_are_compiled_here(session):
    """Programs with a client's own graph are compiled by the client."""
    x = mt.from_dask(da.ones((10, 10), chunks=5)) + 1
    assert not can_be_sent(Graph([x.node]))
    assert fetch(session, x.sum()) == [200]


def test_without_workers_a_job_says_so():
    """The client logs how to start workers; the job runs once a worker joins."""
    logger = logging.getLogger(remote.__name__)
    logger.addHandler(heard := Heard())
    try:
        with (
            beside() as cluster,
            marsdask.new_session(
                SupervisorScheduler(cluster.scheduler_address), default=False
            ) as session,
        ):
            future = mt.ones(10).sum().execute(session=session, wait=False)
            assert heard.first.wait(60)
            endpoint = cluster.scheduler_address.removeprefix("tcp://")
            assert f"mars-worker -s {endpoint}" in heard.said[0]
            scheduler: Any = session.scheduler
            client = scheduler.client
            (job,) = client.sync(client.scheduler.mars_jobs)
            assert "no workers" in job["reason"]
            assert job["progress"] == 0
            cluster.scale(1)
            assert future.result(60).fetch(session=session) == 10
            (job,) = client.sync(client.scheduler.mars_jobs)
            assert job["reason"] is None
            scheduler.close()
    finally:
        logger.removeHandler(heard)
