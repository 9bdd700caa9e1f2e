"""Pods are killed, evicted and frozen, and the API server is away: results are right, and kept.

On the real server (make kube); one of them is in tests/deploy/kubernetes/test_cluster.py.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

import marsdask.tensor as mt
from marsdask.deploy.kubernetes import new_cluster
from marsdask.deploy.kubernetes.client import KubernetesApi, KubernetesError
from tests.chaos.programs import PROGRAMS
from tests.chaos.steps import ProgressTrigger
from tests.deploy.kubernetes.kubelet import RunningPod, wait_until
from tests.kube.real_server import VARIABLE, programs

#: Seconds for pods to start or end, and for jobs to end although parts of them ran twice.
DEADLINE = 240

#: Seconds without the API server, and of a worker that is frozen.
AWAY, FROZEN = 60, 20

WORKERS = 3

#: The worker to which something happens.
VICTIM = "mars-worker-1"

#: Says whether a failure has ended.
IsOver = Callable[[], bool]

pytestmark = pytest.mark.skipif(
    programs() is None, reason=f"takes minutes: make kube runs it, with {VARIABLE}"
)


@pytest.fixture
def running(kube):
    """Create a cluster of three workers; containers that start again are its own, for one test."""
    arguments: Any = {"worker_num": WORKERS, "worker_mem": "512m", "worker_cpu": 1}
    client = new_cluster(kube.client(), timeout=DEADLINE, default=False, **arguments)
    try:
        yield client
    finally:
        client.stop(wait=True, timeout=DEADLINE)


def container(kube, name) -> RunningPod:
    """Return a pod that runs."""
    (found,) = (p for p in kube.kubelet.pods.values() if p.name == name and not p.ended.is_set())
    running: RunningPod = found
    return running


def restored(kube, client, count=WORKERS) -> None:
    """Wait until so many workers are there, and ready."""
    known = client.session.scheduler.client.nthreads
    wait_until(lambda: len(known()) == count, kube.store, DEADLINE)
    names = [f"mars-worker-{i}" for i in range(count)]

    def ready():
        found = kube.store.list("pods", client.namespace, "app.kubernetes.io/component=worker")
        states = {
            one["metadata"]["name"]: one["status"]["conditions"][-1]["status"]
            for one in found
            if one["status"].get("conditions")
        }
        return states == dict.fromkeys(names, "True")

    wait_until(ready, kube.store, DEADLINE)


@contextlib.contextmanager
def killed(kube, client) -> Iterator[IsOver]:
    """Kill a container, which starts again in its pod; the pod has an event of it."""
    victim = container(kube, VICTIM)
    victim.kill()
    yield lambda: True
    lost = lambda: kube.store.list("events", client.namespace, fields="reason=WorkerLost")
    wait_until(lost, kube.store, DEADLINE)
    assert lost()[0]["involvedObject"]["uid"] == victim.pod["metadata"]["uid"]


def evict(kube, client, name) -> None:
    """Ask Kubernetes to evict a pod."""
    path = f"/api/v1/namespaces/{client.namespace}/pods/{name}/eviction"
    body = {"kind": "Eviction", "metadata": {"name": name, "namespace": client.namespace}}
    KubernetesApi(kube.client()).request("POST", path, body=body)


@contextlib.contextmanager
def evicted(kube, client) -> Iterator[IsOver]:
    """Evict a pod, as `kubectl drain` does: it moves its results first."""
    before = kube.store.get("pods", client.namespace, VICTIM)["metadata"]["uid"]

    def allowed():
        try:
            evict(kube, client, VICTIM)
        except KubernetesError as error:
            if "disruption budget" not in str(error):
                raise
            return False
        return True

    # The budget counts ready pods, and on a busy machine another probe may have come late.
    wait_until(allowed, kube.store, DEADLINE)
    yield lambda: True

    def replaced():
        pods = kube.store.list("pods", client.namespace)
        uids = [one["metadata"]["uid"] for one in pods if one["metadata"]["name"] == VICTIM]
        return bool(uids) and uids != [before]

    wait_until(replaced, kube.store, DEADLINE)


@contextlib.contextmanager
def frozen(kube, client) -> Iterator[IsOver]:
    """Stop the processes of a container for some time; its probe may end them before."""
    processes = container(kube, VICTIM).freeze()

    def resume():
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()

    timer = threading.Timer(FROZEN, resume)
    timer.start()
    try:
        yield lambda: True
    finally:
        timer.join()


@contextlib.contextmanager
def without_server(kube, client) -> Iterator[IsOver]:
    """Kill the API server, and start it again a minute later."""
    kube.server.stop()
    over = threading.Event()
    timer = threading.Timer(AWAY, over.set)
    timer.start()
    try:
        yield over.is_set
    finally:
        over.wait()
        timer.join()
        # Not by the timer: the kernel ends the server with the thread that started it.
        kube.server.start()


FAILURES: dict[str, Callable[[Any, Any], contextlib.AbstractContextManager[IsOver]]] = {
    "killed": killed,
    "evicted": evicted,
    "frozen": frozen,
    "without_server": without_server,
}


def check(found) -> None:
    """Compare the value of a program with the right one."""
    got, right = found
    assert (abs(got - right) <= 1e-9 * abs(right)).all()


@pytest.mark.parametrize(
    ("name", "program"), list(zip(FAILURES, itertools.cycle(PROGRAMS), strict=False))
)
def test_jobs_and_changes_of_the_number_of_workers(kube, running, name, program):
    """A job ends with its value; workers go and come, or this fails in words; nothing is lost."""
    session = running.session
    with session.as_default(), ThreadPoolExecutor(1) as pool:
        kept = mt.random.RandomState(0).rand(1000, chunk_size=50).execute()
        total = kept.fetch().sum()
        trigger = ProgressTrigger(session, 20)
        job = pool.submit(program, session, 1)
        job.add_done_callback(lambda _: trigger.set())
        assert trigger.wait(DEADLINE)
        with FAILURES[name](kube, running) as is_over:
            check(job.result(DEADLINE))
            while not is_over():
                check(program(session, 2))
        assert kept.sum().execute().fetch() == pytest.approx(total)
        restored(kube, running)
        with FAILURES[name](kube, running):
            with contextlib.suppress(KubernetesError):
                running.rescale_workers(2, timeout=DEADLINE)
            assert kept.fetch().sum() == total
        assert running.rescale_workers(WORKERS, timeout=DEADLINE) == WORKERS
        assert kept.fetch().sum() == total
    restored(kube, running)


def test_evictions(kube, running):
    """Data that only an evicted worker holds are in no graph: they move; a supervisor stays."""
    with pytest.raises(KubernetesError, match=r"429.*disruption budget"):
        evict(kube, running, "mars-supervisor-0")
    client = running.session.scheduler.client
    address = kube.store.get("pods", running.namespace, VICTIM)["status"]["podIP"]
    (leaving,) = (one for one in client.nthreads() if address in one)
    sent = client.scatter({f"x{i}": i for i in range(20)}, workers=[leaving], hash=False)
    with evicted(kube, running):
        pass
    assert client.gather(sent) == {f"x{i}": i for i in range(20)}
    restored(kube, running)
