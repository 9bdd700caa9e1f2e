"""Events of pods, from what a supervisor records to what Kubernetes has."""

import queue
from types import SimpleNamespace
from typing import Any

import pytest

from marsdask.deploy.kubernetes.in_pod.events import REASONS, Pod, PodEvents
from marsdask.scheduler.cluster.scaling import CannotScale
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import HOST, cluster, run
from tests.deploy.kubernetes.in_pod.test_scaler import scaler_of
from tests.deploy.kubernetes.kubelet import wait_until
from tests.source import ROOT


class RecordingAccount:
    """Keeps the events that are written."""

    namespace, pod = "n", "sup-0"

    def __init__(self):
        self.written: queue.Queue[Any] = queue.Queue()

    def request(self, method, path, event):
        self.written.put((method, path, event))

    def next(self):
        """Return the next event: its reason, its pod and its message."""
        method, path, event = self.written.get(timeout=DEADLINE)
        assert (method, path) == ("POST", "/api/v1/namespaces/n/events")
        assert event["type"] == ("Warning" if REASONS[event["reason"]] else "Normal")
        assert event["involvedObject"]["namespace"] == "n"
        pod = event["involvedObject"]
        return event["reason"], (pod["name"], pod["uid"]), event["message"]


class RefusingScaler:
    """Cannot scale."""

    async def count(self):
        return 2

    async def leaving(self, count, hosts):
        raise CannotScale("no permission")


def test_what_a_supervisor_records():
    """Each reason, from the words of distributed and of the supervisor themselves."""
    account: Any = RecordingAccount()
    writer = PodEvents(account, Pod("sup-0", "u-s"))
    own, seen = ("sup-0", "u-s"), []

    def expect(reason, pod, words):
        found = account.next()
        assert found[:2] == (reason, pod)
        assert words in found[2]
        seen.append(reason)

    async def main():
        started = cluster(Supervisor, MarsWorker, workers=({}, {}), scaler=RefusingScaler())
        async with started as (server, client):
            first, second = (worker.address for worker in server.test_workers)
            for number, address in enumerate((first, second)):
                told = {"k8s_pod_name": f"w-{number}", "k8s_pod_uid": f"u-{number}"}
                server.nodes.told[address] |= told
                writer.add_worker(server, address)
            server.add_plugin(writer)
            with pytest.raises(CannotScale):
                await server.rescaling.rescale(1)
            expect("CannotRescale", own, "no permission")
            await server.retire_workers(workers=[second], remove=True, close_workers=True)
            expect("WorkerRetired", ("w-1", "u-1"), "results are on other workers")
            result = client.submit(len, "abc", workers=[first])
            await result
            await server.retire_workers(workers=[first], remove=False, close_workers=False)
            expect("CannotRetire", ("w-0", "u-0"), "no other worker")
            server.log_event("worker-restart-memory", {"worker": first, "rss": 2**30})
            expect("WorkerRestarted", ("w-0", "u-0"), "1.00 GiB")
            await server.remove_worker(first, stimulus_id="test")
            expect("WorkerLost", ("w-0", "u-0"), "1 results are computed again")
        alone = Supervisor(host=HOST, dashboard_address=f"{HOST}:0")
        alone.add_plugin(writer)
        async with alone:
            expect("SupervisorActive", own, "epoch 1")
            await alone.step_down("it was cut off")
            expect("SupervisorDeposed", own, "it was cut off")

    run(main)
    assert set(seen) == set(REASONS)
    assert account.written.empty()


def test_what_happens_often_is_counted():
    """Not more than one event a minute of a pod and a reason; other programs' words are nothing."""
    now = [0.0]
    account: Any = RecordingAccount()
    writer = PodEvents(account, Pod("sup-0"), clock=lambda: now[0])
    told = {f"tcp://{n}": {"k8s_pod_name": f"w-{n}"} for n in range(2)}
    scheduler = SimpleNamespace(nodes=SimpleNamespace(told=told), workers={})
    for worker in told:
        writer.add_worker(scheduler, worker)
    for _ in range(3):
        writer.log_event("worker-restart-memory", {"worker": "tcp://0", "rss": 1})
    writer.log_event("worker-restart-memory", {"worker": "tcp://1", "rss": 1})
    writer.log_event("worker-restart-memory", {"worker": "tcp://unknown", "rss": 1})
    writer.log_event("supervisor", "words of a user's program")
    now[0] = 61.0
    writer.log_event("worker-restart-memory", {"worker": "tcp://0", "rss": 1})
    found = [account.written.get(timeout=DEADLINE)[2] for _ in range(3)]
    assert [(one["involvedObject"]["name"], one["count"]) for one in found] == [
        ("w-0", 1),
        ("w-1", 1),
        ("w-0", 3),
    ]
    assert account.written.empty()


def test_pods_of_long_gone_workers_are_forgotten():
    """The supervisor of a cluster that lives long does not grow."""
    account: Any = RecordingAccount()
    writer = PodEvents(account, Pod("sup-0"))
    told: dict[str, Any] = {}
    scheduler = SimpleNamespace(nodes=SimpleNamespace(told=told), workers={})
    for number in range(1000):
        told[f"tcp://{number}"] = {"k8s_pod_name": "w-0"}
        writer.add_worker(scheduler, f"tcp://{number}")
        writer.remove_worker(scheduler, f"tcp://{number}")
    assert len(writer._pods) == 100


def environment_of(scaler, **more):
    """Return the variables of a pod whose account a scaler has."""
    account = scaler.account
    host, _, port = account.server.removeprefix("https://").rpartition(":")
    return {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "MARS_K8S_POD_NAMESPACE": account.namespace,
        "MARS_K8S_POD_NAME": "mars-supervisor-0",
        "MARS_K8S_SERVICE_ACCOUNT": account.folder,
    } | more


def test_the_supervisors_account_may_write_them(server, tmp_path):
    """And no other account; where nobody may, nobody tries again."""
    scaler, space = scaler_of(server, tmp_path, "StatefulSet")
    assert PodEvents.in_cluster(environment_of(scaler)) is None
    environ = environment_of(scaler, MARS_K8S_POD_UID="u-1")
    writer = PodEvents.in_cluster(environ)
    assert writer is not None
    writer.log_event("supervisor", {"action": "activated", "epoch": 7})
    wait_until(lambda: server.store.list("events", space), server.store, DEADLINE)
    (event,) = server.store.list("events", space)
    assert event["reason"] == "SupervisorActive"
    assert event["involvedObject"]["uid"] == "u-1"
    assert event["message"] == "it is active, with epoch 7"
    (tmp_path / "token").write_text(server.account_token(space, "mars-pod"))
    refused = PodEvents.in_cluster(environ)
    assert refused is not None
    refused.log_event("supervisor", {"action": "activated", "epoch": 8})
    assert refused._thread is not None
    refused._thread.join(DEADLINE)
    assert not refused._thread.is_alive()
    refused.log_event("supervisor", {"action": "deposed", "reason": "x"})
    assert refused._waiting.empty()
    assert len(server.store.list("events", space)) == 1


def test_the_runbook_has_each_reason():
    """What it means, and what to do."""
    page = (ROOT / "docs/runbook.md").read_text().split("## Events of pods\n")[1].split("\n## ")[0]
    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(rows) == sorted(REASONS)
