"""Two supervisors as pods, and the Lease that decides which one is active."""

import contextlib
from typing import Any

import pytest

import marsdask.tensor as mt
from marsdask.deploy.kubernetes import KubernetesClusterClient, new_cluster
from tests.deploy.kubernetes.kubelet import wait_until
from tests.kube.network_cut import cut_off
from tests.kube.real_server import VARIABLE, programs

#: Seconds for pods to start, and for another supervisor to take over.
DEADLINE = 120

pytestmark = pytest.mark.skipif(
    programs() is None, reason=f"takes a minute: make kube runs it, with {VARIABLE}"
)


@pytest.fixture
def running(kube):
    """Create a cluster of two supervisors and two workers; containers that start again are its."""
    arguments: Any = {"supervisor_num": 2, "worker_num": 2, "worker_mem": "512m"}
    client = new_cluster(kube.client(), timeout=DEADLINE, default=False, **arguments)
    try:
        yield client
    finally:
        client.stop(wait=True, timeout=DEADLINE)


def identity(kube, client):
    """Return who has the Lease: its pod, and its process."""
    lease = kube.store.current("leases", client.namespace, "mars-supervisor")
    found: str = (lease.get("spec") or {}).get("holderIdentity") or ""
    return found


def holder(kube, client):
    """Return the pod that has the Lease."""
    return identity(kube, client).partition("_")[0]


def pod(kube, name):
    """Return the pod of a name that runs."""
    (found,) = (p for p in kube.kubelet.pods.values() if p.name == name and not p.ended.is_set())
    return found


@contextlib.contextmanager
def frozen(one):
    """Stop the processes of a pod, which know nothing of it."""
    processes = one.freeze()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def said(kube, client, name):
    """Return what a pod has written."""
    return kube.kubelet.log(client.namespace, name, False)


def follows(kube, client, before):
    """Wait until another pod has the Lease, and return it."""
    found = [before]

    def other():
        found.append(holder(kube, client))
        return found[-1] not in ("", before)

    wait_until(other, kube.store, DEADLINE)
    return found[-1]


def test_one_that_is_cut_off_stops(kube, running):
    """Before the other one takes over; results are kept, and it remains a standby afterwards."""
    first = holder(kube, running)
    words = " steps down: "
    before = said(kube, running, first).count(words)
    with running.session.as_default():
        kept = mt.arange(1000, chunk_size=50).execute()
        with cut_off(pod(kube, first)):
            second = follows(kube, running, first)
            assert {first, second} == {"mars-supervisor-0", "mars-supervisor-1"}
            assert said(kube, running, first).count(words) == before + 1
            assert kept.sum().execute().fetch() == 499_500
        assert kept.max().execute().fetch() == 999
        assert holder(kube, running) == second


def test_one_that_is_killed(kube, running):
    """Another process takes over, perhaps of the same pod; the job that ran goes on."""
    first = identity(kube, running)
    with running.session.as_default():
        kept = mt.arange(1000, chunk_size=50).execute()
        future = (mt.random.rand(20_000, chunk_size=100) < 2).sum().execute(wait=False)
        pod(kube, holder(kube, running)).kill()
        other = lambda: identity(kube, running) != first
        wait_until(other, kube.store, DEADLINE)
        future.result(DEADLINE)
        assert kept.sum().execute().fetch() == 499_500
    taken = lambda: kube.store.list("events", running.namespace, fields="reason=SupervisorActive")
    wait_until(lambda: len(taken()) > 1, kube.store, DEADLINE)


def test_one_that_is_frozen_stops_when_it_continues(kube, running):
    """The other one takes over meanwhile; a new session waits for that, and the old one goes on."""
    first = holder(kube, running)
    words = " steps down: "
    before = said(kube, running, first).count(words)
    with running.session.as_default():
        kept = mt.arange(1000, chunk_size=50).execute()
        with frozen(pod(kube, first)):
            with KubernetesClusterClient(kube.client(), running.namespace).session as session:
                value = mt.ones(10, chunk_size=5).sum().execute(session=session)
                assert value.fetch(session=session) == 10
            second = follows(kube, running, first)
        stepped = lambda: said(kube, running, first).count(words) == before + 1
        wait_until(stepped, kube.store, DEADLINE)
        assert holder(kube, running) == second
        assert kept.max().execute().fetch() == 999
