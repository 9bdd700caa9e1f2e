"""A cluster as a scheduler; test_contract.py has the tests of all schedulers."""

import asyncio
import pickle
import socket
import sys
import threading
from unittest.mock import Mock

import dask
import dask.array as da
import pytest
from dask.task_spec import Task, TaskRef
from distributed import Client, LocalCluster

from marsdask.scheduler import Hint, resolve
from marsdask.scheduler import dask as module
from marsdask.scheduler.base import describe
from marsdask.scheduler.dask import DaskScheduler
from marsdask.scheduler.errors import ResultLost, SchedulerClosed
from marsdask.scheduler.testing.tools import DEADLINE, Gate, inc, key, pass_gate, run
from tests.subprocesses import in_fork


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def scheduler(client):
    scheduler = DaskScheduler(client)
    yield scheduler
    scheduler.close()


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.close()


def test_resolve(client, cluster):
    """A client or an address stands for its cluster; only a client opened here is closed."""
    for obj in (client, cluster.scheduler_address):
        scheduler = resolve(obj)
        assert run(scheduler, Task(key(), inc, 1)) == [2]
        assert isinstance(scheduler, DaskScheduler)
        own = scheduler.client
        scheduler.close()
        assert own.status == ("running" if own is client else "closed")


def test_default_client(cluster):
    """Without an argument it is Dask's current client, and an error if there is none."""
    with pytest.raises(ValueError, match="client"):
        DaskScheduler()
    with Client(cluster) as client:
        assert DaskScheduler().client is client


def test_asynchronous_client():
    """A client that cannot block is refused with what to do."""
    client = Mock(spec=Client, asynchronous=True)
    with pytest.raises(ValueError, match="asynchronous=False"):
        DaskScheduler(client)


def test_cluster_forgets(scheduler, client, cluster):
    """Nothing that was released, failed or cancelled stays on the cluster."""
    a, b, c, d = (key(name) for name in "abcd")
    scheduler.submit({a: Task(a, inc, 1), b: Task(b, inc, TaskRef(a))}, [b]).wait(DEADLINE)
    scheduler.release([b])
    with pytest.raises(TypeError):
        scheduler.submit({c: Task(c, inc, "x"), d: Task(d, inc, 1)}, [c, d]).wait(DEADLINE)
    client.submit(inc, 1).result(DEADLINE)  # comes after what was sent before
    assert not {a, b, c, d} & cluster.scheduler.tasks.keys()


def test_failed_key_can_be_tried_again(scheduler):
    """A key that failed is computed when it is submitted again, not remembered as failed."""
    for _ in range(20):
        a = key()
        with pytest.raises(TypeError):
            scheduler.submit({a: Task(a, inc, "x")}, [a]).wait(DEADLINE)
        assert run(scheduler, Task(a, inc, 1)) == [2]


def test_info_stays_on_the_cluster(scheduler, client):
    """Describing a large result moves a description only."""
    a = key()
    scheduler.submit({a: Task(a, bytes, 1_000_000)}, [a]).wait(DEADLINE)
    (info,) = scheduler.info([a])
    assert info == describe(bytes(1_000_000))
    assert info.sample is None
    scheduler.release([a])


def test_a_closed_scheduler_describes_nothing(client):
    """As it fetches nothing."""
    scheduler = DaskScheduler(client)
    scheduler.close()
    with pytest.raises(SchedulerClosed, match="closed"):
        scheduler.info(["one"])


@pytest.mark.skipif(sys.platform == "win32", reason="uses fork")
@pytest.mark.parametrize("method", ["submit", "gather", "info"])
def test_a_forked_child_is_refused(scheduler, method):
    """The client's loop runs in the parent only, so every answer would be waited for forever."""
    a = key()
    scheduler.submit({a: Task(a, inc, 1)}, [a]).wait(DEADLINE)
    arguments = ({a: Task(a, inc, 1)}, [a]) if method == "submit" else ([a],)
    told = in_fork(lambda: getattr(scheduler, method)(*arguments))
    assert "SchedulerClosed('the scheduler belongs to the parent" in told
    assert in_fork(scheduler.close) == "None"
    assert scheduler.gather([a]) == [2]
    scheduler.release([a])


def test_hints_are_annotations(scheduler, cluster, gate):
    """Hints arrive in the cluster's task states."""
    a, b = key("a"), key("b")
    graph = {a: Task(a, pass_gate, gate.address, 1), b: Task(b, inc, TaskRef(a))}
    handle = scheduler.submit(graph, [b], hints={a: Hint(nbytes=10, peak=20)})
    gate.wait_until_reached()
    assert cluster.scheduler.tasks[a].annotations == {"mars_mem": 20, "mars_out": 10}
    gate.open()
    handle.wait(DEADLINE)
    scheduler.release([b])


def test_user_annotations(scheduler, cluster, gate):
    """``dask.annotate`` works as with the client itself."""
    a = key()
    with dask.annotate(priority=3):
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
    gate.wait_until_reached()
    assert cluster.scheduler.tasks[a].annotations["priority"] == 3
    gate.open()
    handle.wait(DEADLINE)
    scheduler.release([a])


def test_persisted_collections(scheduler, client):
    """A graph may refer to what the client holds otherwise."""
    array = client.persist(da.ones(10, chunks=5))
    first = array.__dask_keys__()[0]
    assert run(scheduler, Task(key(), sum, TaskRef(first))) == [5]


def test_futures(scheduler, client):
    """Futures of held results are references of their own."""
    a = key()
    scheduler.submit({a: Task(a, inc, 1)}, [a]).wait(DEADLINE)
    (future,) = scheduler.futures([a])
    scheduler.release([a])
    assert future.client is scheduler.client is client
    assert future.result(DEADLINE) == 2
    with pytest.raises(KeyError):
        scheduler.futures([a])


def test_lost_when_it_is_fetched(scheduler, client):
    """A lost result raises an error with advice."""
    (future,) = client.scatter([41])
    scheduler.submit({}, [future.key]).wait(DEADLINE)
    client.cancel([future])
    with pytest.raises(ResultLost, match="execute it again") as caught:
        scheduler.gather([future.key])
    assert caught.value.key == future.key
    scheduler.release([future.key])


def test_results_of_one_that_is_closed(client):
    """The error says so; sessions on it say that they are closed."""
    closed = DaskScheduler(client)
    task = Task(key(), inc, 1)
    assert run(closed, task) == [2]
    closed.close()
    with pytest.raises(SchedulerClosed):
        closed.gather([task.key])


def test_cancelled_by_others(scheduler, client, gate):
    """A result that another client cancels raises an error with its key."""
    a = key()
    handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
    gate.wait_until_reached()
    client.cancel(scheduler._held.get([a]))
    with pytest.raises(ResultLost, match=a[0]):
        handle.wait(DEADLINE)
    gate.open()
    with pytest.raises(KeyError):
        scheduler.gather([a])


def test_nobody_answers():
    """One line with the address, the deadline and what would work; no thread is left."""
    with socket.socket() as taken:  # bound, so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        before = set(threading.enumerate())
        with pytest.raises(ConnectionError, match="no Dask scheduler answered") as caught:
            DaskScheduler(address, connect_timeout=0.2)
    assert set(threading.enumerate()) <= before
    assert f"{address} within 0.2 s" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(ValueError, match="unknown address scheme 'bogus'"):
        DaskScheduler("bogus://x")


def test_who_listens_does_not_answer():
    """As a frozen scheduler, or none at all: that is no reason to wait for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=r"within 0.1 s \(the server there does not"):
            DaskScheduler(address, connect_timeout=0.1)


def test_a_cluster_that_does_not_say_whose_fault_it_is(scheduler, cluster, monkeypatch):
    """The failure is reported without it."""

    async def forever(keys):
        await asyncio.Event().wait()

    monkeypatch.setattr(module, "PATIENCE", 0.1)
    monkeypatch.setitem(cluster.scheduler.handlers, "get_error_cause", forever)
    a = key()
    with pytest.raises(TypeError):
        scheduler.submit({a: Task(a, inc, "x")}, [a]).wait(DEADLINE)
