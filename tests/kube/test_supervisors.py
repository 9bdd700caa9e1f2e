"""Two supervisors as pods, and the Lease that decides which one is active."""

import contextlib
from typing import Any

import pytest

import marsdask.tensor as mt
from marsdask.deploy.kubernetes import new_cluster
from tests.deploy.kubernetes.kubelet import wait_until
from tests.kube.network_cut import cut_off
from tests.kube.real_server import VARIABLE, programs

#: Seconds for pods to start, and for another supervisor to take over.
DEADLINE = 120

pytestmark = pytest.mark.skipif(
    programs() is None, reason=f"takes a minute: make kube runs it, with {VARIABLE}"
)


@pytest.fixture(scope="module")
def running(kube):
    """Create a cluster of two supervisors and two workers."""
    arguments: Any = {"supervisor_num": 2, "worker_num": 2, "worker_mem": "512m"}
    with new_cluster(kube.client(), timeout=DEADLINE, default=False, **arguments) as client:
        yield client


def holder(kube, client):
    """Return the pod that has the Lease."""
    lease = kube.store.current("leases", client.namespace, "mars-supervisor")
    found = (lease.get("spec") or {}).get("holderIdentity") or ""
    return found.partition("_")[0]


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


def test_one_that_is_frozen_stops_when_it_continues(kube, running):
    """The other one has taken over meanwhile, and the session goes over to it."""
    first = holder(kube, running)
    words = " steps down: "
    before = said(kube, running, first).count(words)
    with running.session.as_default():
        kept = mt.arange(1000, chunk_size=50).execute()
    with frozen(pod(kube, first)):
        second = follows(kube, running, first)
    stepped = lambda: said(kube, running, first).count(words) == before + 1
    wait_until(stepped, kube.store, DEADLINE)
    assert holder(kube, running) == second
    with running.session.as_default():
        assert kept.max().execute().fetch() == 999
