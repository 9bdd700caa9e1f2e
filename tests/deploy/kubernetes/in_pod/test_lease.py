"""A Lease decides which supervisor is active."""

import asyncio
import copy
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dask.config
import pytest
from distributed import Client
from hypothesis import example, given
from hypothesis import strategies as st

from marsdask.deploy.kubernetes.arguments import cluster_spec
from marsdask.deploy.kubernetes.in_pod.lease import LeaseArbiter
from marsdask.deploy.kubernetes.manifests import manifests
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import free_port
from tests.cluster.loop import HOST, run, until
from tests.deploy.kubernetes.apiserver import ApiServer
from tests.deploy.kubernetes.in_pod.lease_simulation import World
from tests.deploy.kubernetes.store import RESOURCES
from tests.strategies import draws

PLURALS = {kind: plural for plural, (_, kind, _) in RESOURCES.items()}
PATIENCE = 9.0

FAULTS = (
    *("api", "api a", "api b", "answers a", "answers b", "net", "to a", "to b", "slow"),
    *("cut a", "cut b", "freeze a", "freeze b", "crash a", "crash b"),
)


@st.composite
def faults(draw):
    """Return what fails from when to when, in a time of 90 seconds."""
    begin = draw(st.floats(0, 60))
    return begin, begin + draw(st.floats(0, 30)), draw(st.sampled_from(FAULTS))


@example(faults=[(20.0, 60.0, "cut b")], speeds=(1.2, 0.9), seed=0, eager=True)
@example(faults=[(20.0, 60.0, "api b")], speeds=(1.0, 1.0), seed=0, eager=True)
@example(faults=[(20.0, 60.0, "api b"), (30.0, 60.0, "net")], speeds=(1.0, 1.0), seed=0, eager=True)
@given(
    faults=st.lists(faults(), max_size=8),
    eager=st.booleans(),
    speeds=st.tuples(st.floats(0.9, 1.2), st.floats(0.9, 1.2)),
    seed=st.integers(0, 99),
)
@draws(15)
def test_at_most_one_is_active(faults, speeds, seed, eager):
    """Whatever is delayed, lost, frozen or cut off, and one of them after that."""
    assert len(World(faults, speeds, seed, eager).run(90)) == 1


def test_the_simulation_finds_errors():
    """One that is cut off, and relies on the Lease for too long, is found beside its successor."""
    faults = [(20.0, 60.0, "cut a")]
    assert World(faults, (1.0, 1.0), 0).run(90, 9)
    with pytest.raises(AssertionError, match=r"'a-.*'b-"):
        World(faults, (1.0, 1.0), 0, lasts=30.0).run(90, 9)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server without any controller, with the objects of a cluster."""
    running = ApiServer("127.0.0.1", tmp_path_factory.mktemp("server"))
    spec = cluster_spec(namespace="n", supervisor_num=2, tls=False, token=False)
    for one in manifests(spec, certificates={}, token=None):
        space = one["metadata"].get("namespace", "")
        running.store.create(PLURALS[one["kind"]], space, one)
    folder = Path(running.folder)
    (folder / "ca.crt").write_bytes(Path(running.authority).read_bytes())
    (folder / "token").write_text("of-pod")
    running.users["of-pod"] = "system:serviceaccount:n:mars-supervisor"
    yield running
    running.close()


@pytest.fixture
def lease(server):
    """Return the Lease as it was created, for each test."""
    found = server.store.get("leases", "n", "mars-supervisor")
    server.store.delete("leases", "n", "mars-supervisor")
    content = {"metadata": {"name": "mars-supervisor"}, "spec": {}}
    server.store.create("leases", "n", content)
    return found


def arbiter(server, pod, clock=None, patience=PATIENCE):
    """Return the arbiter of a pod."""
    environ = {
        "MARS_K8S_LEASE": "mars-supervisor",
        "KUBERNETES_SERVICE_HOST": server.host,
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "MARS_K8S_POD_NAMESPACE": "n",
        "MARS_K8S_POD_NAME": pod,
        "MARS_K8S_SERVICE_ACCOUNT": str(server.folder),
    }
    found = LeaseArbiter.in_cluster(patience, environ)
    assert found is not None
    if clock is not None:
        found._clock = clock
    return found


def test_one_at_a_time(server, lease):
    """With the rights of its account: who renews stays, and who does not is followed."""
    now = [0.0]
    one, two = (arbiter(server, pod, lambda: now[0]) for pod in ("s-0", "s-1"))
    assert one.take("one", 5) == 5
    for _ in range(3):
        assert two.take("two", 3, ended="one") is None, "who is cut off may seem to have ended"
        now[0] += PATIENCE - 1
        assert one.renew("one", 5)
    assert two.take("two", 3) is None
    now[0] += PATIENCE
    assert two.take("two", 3) == 6
    assert not one.renew("one", 5), "it continues too late"
    assert two.renew("two", 6)
    found = server.store.get("leases", "n", "mars-supervisor")["spec"]
    assert found["holderIdentity"] == "s-1_two"
    assert found["leaseDurationSeconds"] == 9
    assert found["leaseTransitions"] == 2
    two.release("two")
    one.release("one")
    assert one.take("three", 1) == 7


def test_changes_of_others_are_no_loss(server, lease):
    """A label is a conflict, after which it is renewed; so is a lost answer."""
    one, two = (arbiter(server, pod) for pod in ("s-0", "s-1"))
    assert one.take("one", 1) == 1
    change = {"metadata": {"labels": {"a": "b"}}}
    server.store.patch("leases", "n", "mars-supervisor", change)
    assert one.renew("one", 1)
    known = copy.deepcopy(one._renewed)
    assert one.renew("one", 1)
    one._renewed = known
    assert one.renew("one", 1)
    assert two.take("two", 1) is None


def test_only_one_of_two_takes_it(server, lease, monkeypatch):
    """The other one has read a version that is gone."""
    one, two = (arbiter(server, pod) for pod in ("s-0", "s-1"))
    answer = two._answer

    def late(change):
        if change is not None:
            assert one.take("one", 1) == 1
        return answer(change)

    monkeypatch.setattr(two, "_answer", late)
    assert two.take("two", 1) is None


def test_who_does_not_answer(server, lease):
    """A server that is away, a missing right or a missing Lease: the reason is in the error."""
    away = arbiter(server, "s-0")
    away._account.server = "https://127.0.0.1:1"
    with pytest.raises(OSError, match="refused"):
        away.take("one", 1)
    server.users["of-pod"] = "system:serviceaccount:n:mars-pod"
    with pytest.raises(OSError, match=r'"leases".*"get"'):
        arbiter(server, "s-0").take("one", 1)
    server.users["of-pod"] = "system:serviceaccount:n:mars-supervisor"
    server.store.delete("leases", "n", "mars-supervisor")
    with pytest.raises(OSError, match="not found"):
        arbiter(server, "s-0").renew("one", 1)
    server.store.create("leases", "n", {"metadata": {"name": "mars-supervisor"}, "spec": {}})


def test_where_there_is_none():
    """Outside of a cluster, and with a single supervisor."""
    assert LeaseArbiter.in_cluster(9, {}) is None
    assert LeaseArbiter.in_cluster(9, {"KUBERNETES_SERVICE_HOST": "h"}) is None


@asynccontextmanager
async def two(server):
    """Start an active supervisor with a worker and a client, and a standby."""
    ports = [free_port(), free_port()]
    names = [f"{HOST}:{port}" for port in ports]
    active, standby = (
        Supervisor(
            host=HOST,
            port=port,
            supervisors=names,
            dashboard_address=f"{HOST}:0",
            arbiter=arbiter(server, f"s-{port}", patience=3.0),
        )
        for port in ports
    )
    options: Any = {"host": HOST, "nthreads": 1, "supervisors": names}
    async with active:
        await active.failover._known.wait()
        client = Client(active.address, asynchronous=True, set_as_default=False)
        async with MarsWorker(active.address, **options), client, standby:
            yield active, standby, client


async def polled(supervisor):
    """Wait for the next poll."""
    done, keeps = asyncio.Event(), supervisor.failover._keeps

    async def noted():
        done.set()
        return await keeps()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervisor.failover, "_keeps", noted)
        await done.wait()


def holder(server):
    return server.store.get("leases", "n", "mars-supervisor")["spec"]["holderIdentity"]


def test_who_is_cut_off_stops(server, lease, monkeypatch):
    """It remains active while the standby consents, and its data with it; alone it steps down."""

    async def unreachable(*args, **options):
        raise TimeoutError

    async def main():
        async with two(server) as (active, standby, client):
            (kept,) = await client.scatter([42])
            active.failover._arbitration.arbiter._account.server = "https://127.0.0.1:1"
            end = active.failover._tenure._until
            while active.failover._tenure._until <= end + 3.0:
                await polled(active)
            assert active.failover.active
            assert await client.gather(kept) == 42
            for one in (active, standby):
                monkeypatch.setattr(one.failover, "_answer", unreachable)
            await active.finished()
            assert active.deposed
            assert standby.standby
            await standby.failover._known.wait()
            await until(lambda: standby.workers, standby)
            assert holder(server).endswith(standby.id)
        assert holder(server) == "", "it is released"

    with dask.config.set({"marsdask.failover.timeout": "3s"}):
        run(main)
