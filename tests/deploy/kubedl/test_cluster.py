"""MarsJobs that really run, by an operator as KubeDL's: the document's, and new_cluster's."""

import signal
import socket
import threading
import urllib.request
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import marsdask.tensor as mt
from marsdask.deploy.kubedl import KubeDLClusterClient, new_cluster
from marsdask.deploy.kubedl import cluster as kubedl_cluster
from marsdask.deploy.kubedl.arguments import endpoint
from marsdask.deploy.kubedl.cluster import RunningJob
from marsdask.deploy.kubedl.mars_job import KIND, VERSION
from marsdask.deploy.kubernetes.client import (
    AlreadyExists,
    Forbidden,
    KubernetesApi,
    KubernetesError,
    NotFound,
    Unavailable,
)
from marsdask.deploy.kubernetes.web_port import WebPort
from tests.deploy.kubernetes.apiserver import ApiServer
from tests.deploy.kubernetes.kubelet import SLOW, wait_until
from tests.deploy.kubernetes.store import Denied

#: Seconds for pods to start or end, on a busy machine.
DEADLINE = 120

#: KubeDL's document's job, as it is.
DOCUMENT = Path(__file__).parent / "mars-test-demo.yaml"

#: The document's program, at the address that it gives for users of the same network, on less.
PROGRAM = """
import mars.tensor as mt
import mars.dataframe as md
from mars.session import new_session
new_session('http://mars-test-demo-webservice-0.default:11111').as_default()
a = mt.ones((200, 200), chunk_size=100)
b = mt.inner(a, a)
b.execute()  # submit tensor to cluster
df = md.DataFrame(a).sum()
df.execute()  # submit DataFrame to cluster
assert (b.fetch() == 200).all() and (df.fetch() == 200).all()
"""


def pods(kubedl, job):
    """Return the pods of a job by name."""
    found = kubedl.kube.store.list("pods", "default", f"job-name={job}")
    return {one["metadata"]["name"]: one for one in found}


def condition(kubedl, job):
    """Return the state of a job."""
    found = kubedl.kube.store.get("marsjobs", "default", job)["status"].get("conditions")
    return found[-1]["type"] if found else None


def process(kubedl, name):
    """Return the process of a running pod's container."""
    (pod,) = (
        one
        for one in kubedl.kube.kubelet.pods.values()
        if one.name == name and not one.ended.is_set()
    )
    return pod.process


def test_the_documents_job(kubedl):
    """It runs unchanged: its commands, the operator's variables only, no access to the API."""
    job = yaml.safe_load(DOCUMENT.read_text())
    job["spec"]["webHost"] = kubedl.ingress.host  # the one address that is here
    seen = len(kubedl.kube.server.requests)
    client = new_cluster(
        kubedl.kube.client(),
        job=job,
        slb_endpoint=kubedl.ingress.host,
        timeout=DEADLINE,
        default=False,
    )
    address = f"http://{kubedl.ingress.host}/mars/default/mars-test-demo-webservice-0"
    assert client.endpoint == address
    with client.session.as_default():
        assert mt.ones((100, 10), chunk_size=10).sum().execute().fetch() == 1000
    assert sorted(pods(kubedl, "mars-test-demo")) == [
        f"mars-test-demo-{name}" for name in ("scheduler-0", "webservice-0", "worker-0", "worker-1")
    ]
    kubedl.kube.kubelet.run_in_cluster(PROGRAM)
    users = {user for user, _, _ in kubedl.kube.server.requests[seen:]}
    assert users == {"admin"}  # the client of this test, and no pod
    # The prefix never reaches the service, and a path without its last slash finds its page.
    request = urllib.request.Request(address, headers={"Accept": "text/html"})
    with urllib.request.urlopen(request) as page:
        assert b"<title>marsdask" in page.read()
    again = KubeDLClusterClient(
        kubedl.kube.client(),
        job_name="mars-test-demo",
        slb_endpoint=f"http://{kubedl.ingress.host}",
    )
    assert again.endpoint == client.endpoint
    # A scheduler that is stopped has done its work.
    client.session.close()
    process(kubedl, "mars-test-demo-scheduler-0").send_signal(signal.SIGTERM)
    wait_until(
        lambda: condition(kubedl, "mars-test-demo") == "Succeeded", kubedl.kube.store, DEADLINE
    )
    client.stop(wait=True, timeout=DEADLINE)
    assert not pods(kubedl, "mars-test-demo")
    with pytest.raises(Denied):
        kubedl.kube.store.current("marsjobs", "default", "mars-test-demo")


def grows_and_shrinks(kubedl, client):
    """Add a worker to the job, and end it: what only it holds is there afterwards."""
    with pytest.raises(ValueError, match="invalid new_scale: -1"):
        client.rescale_workers(-1)
    scheduler = client.session.scheduler.client
    sent = scheduler.scatter({f"x{i}": i for i in range(20)}, hash=False)
    with pytest.raises(KubernetesError, match="no other worker has room"):
        client.rescale_workers(0)
    (first,) = scheduler.nthreads()
    assert client.rescale_workers(2, timeout=DEADLINE) == 2
    assert "mine-worker-1" in pods(kubedl, "mine")
    (last,) = set(scheduler.nthreads()) - {first}
    sent = scheduler.scatter({f"y{i}": i for i in range(20)}, workers=[last], hash=False)
    assert client.rescale_workers(1, timeout=DEADLINE) == 1
    assert scheduler.gather(sent) == {f"y{i}": i for i in range(20)}
    assert list(scheduler.nthreads()) == [first]
    store = kubedl.kube.store
    wait_until(lambda: "mine-worker-1" not in pods(kubedl, "mine"), store, DEADLINE)


def last(*indices):
    return [f"j-worker-{index}" for index in indices]


@pytest.mark.parametrize(
    ("others", "vacated", "refusal"),
    [
        ([5], [last(4)], None),
        ([3, 4], [], None),
        ([5, 6, 3], [last(4), last(4, 5), []], None),
        ([3, 2, 3, 2, 3, 2], [], "changed at each of 5 attempts"),
        ([5, 6] * 3, [last(4), last(4, 5), last(4), last(4, 5), []], "changed at each of 5"),
    ],
)
def test_two_that_rescale_at_the_same_time(others, vacated, refusal, tmp_path, monkeypatch):
    """What another one has asked for meanwhile is not undone; workers that remain get tasks."""
    changes, told = iter(others), []

    class SharedApi(KubernetesApi):
        """Another one changes the job after an answer."""

        def get(self, version, kind, namespace, name):
            found = super().get(version, kind, namespace, name)
            if (number := next(changes, None)) is not None:
                self.patch(version, kind, namespace, name, {"spec": workers(number)})
            return found

    def workers(number):
        return {"marsReplicaSpecs": {"Worker": {"replicas": number}}}

    port = SimpleNamespace(
        wait_for=lambda least, most, timeout: least,
        vacate=lambda hosts, timeout=None: told.append(list(hosts)),
    )
    monkeypatch.setattr(kubedl_cluster, "WebPort", lambda *where: port)
    metadata = {"name": "j", "namespace": "default"}
    job = {"apiVersion": VERSION, "kind": KIND, "metadata": metadata, "spec": workers(2)}
    # Not the server where the operator works: it would take the job for one of its own.
    with closing(ApiServer("127.0.0.1", tmp_path)) as server:
        server.store.create("namespaces", "", {"metadata": {"name": "default"}})
        api = KubernetesApi(server.client())
        api.create(job)
        running = RunningJob(SharedApi(server.client()), "default", "j", own_namespace=False)
        client = KubeDLClusterClient(running)
        if refusal is None:
            assert client.rescale_workers(4) == 4
            assert api.get(VERSION, KIND, "default", "j")["spec"] == workers(4)
        else:
            with pytest.raises(KubernetesError, match=refusal):
                client.rescale_workers(4)
        assert told == vacated


def test_a_job_of_arguments(kubedl):
    """Encrypted, and with a token; it grows; a worker that was stopped comes back by its code."""
    client = new_cluster(
        kubedl.kube.client(),
        slb_endpoint=f"http://{kubedl.ingress.host}",
        job_name="mine",
        scheduler_cpu=1,
        scheduler_mem="1g",
        worker_cpu=1,
        worker_mem="1g",
        timeout=DEADLINE,
        default=False,
    )
    try:
        assert client.token
        port = WebPort(client.endpoint)
        with pytest.raises(KubernetesError, match="401"):
            port.count()
        with client.session.as_default():
            a = mt.random.rand(10, 10)
            assert a.dot(a.T).execute().fetch().shape == (10, 10)
        scheduler: Any = client.session.scheduler
        (worker,) = scheduler.client.nthreads()
        assert worker.startswith("tls://")
        grows_and_shrinks(kubedl, client)
        before = pods(kubedl, "mine")["mine-worker-0"]["metadata"]["uid"]
        process(kubedl, "mine-worker-0").send_signal(signal.SIGTERM)
        wait_until(
            lambda: (
                pods(kubedl, "mine").get("mine-worker-0", {}).get("metadata", {}).get("uid", before)
                != before
            ),
            kubedl.kube.store,
            DEADLINE,
        )
    finally:
        client.stop(wait=True, timeout=DEADLINE)
    store = kubedl.kube.store
    wait_until(lambda: not store.list("secrets", "default"), store, DEADLINE)
    # An operator that has not heard of the end may create one more pod, which is deleted after.
    mine = [pod for pod in kubedl.kube.kubelet.pods.values() if pod.name.startswith("mine-")]
    wait_until(lambda: all(pod.ended.is_set() for pod in mine), store, DEADLINE)


def test_failures_leave_nothing(kubedl):
    """A pod that cannot start, a job that fails, one that is late: one error each, and no job."""
    store = kubedl.kube.store

    def fails(error, words, **arguments):
        with pytest.raises(error, match=words):
            new_cluster(kubedl.kube.client(), job_name="failing", tls=False, **arguments)
        for kind in ("pods", "marsjobs", "secrets"):
            wait_until(lambda kind=kind: not store.list(kind, "default"), store, DEADLINE)

    fails(KubernetesError, "ImagePullBackOff: .*no/such:image", image="no/such:image")
    fails(TimeoutError, "(?s)not ready: .*pod failing-scheduler-0", image=SLOW, timeout=0.1)
    wrong = {"MARS_WEB_TOKEN_FILE": "/none"}
    fails(KubernetesError, "(?s)has failed: .*/none", scheduler_extra_env=wrong)
    store.create(
        "resourcequotas", "default", {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
    )
    fails(Forbidden, "quota is too small: Error creating: .*few")
    store.delete("resourcequotas", "default", "few")
    store.create("marsjobs", "default", {"metadata": {"name": "failing"}, "spec": {}})
    failed = {"status": {"conditions": [{"type": "Failed"}]}}
    store.patch("marsjobs", "default", "failing", failed, "status")
    with pytest.raises(AlreadyExists, match="failing"):
        new_cluster(kubedl.kube.client(), job_name="failing", tls=False)
    assert len(store.list("marsjobs")) == 1
    wait_until(lambda: not store.list("secrets", "default"), store, DEADLINE)


def test_who_may_not(kubedl):
    """The error names the right to ask for; nothing stays."""
    user = kubedl.kube.user("nobody", ("", "secrets", "create,delete"))
    with pytest.raises(Forbidden, match="create marsjobs"):
        new_cluster(user, job_name="theirs", tls=False)
    store = kubedl.kube.store
    wait_until(lambda: not store.list("secrets", "default"), store, DEADLINE)
    with pytest.raises(NotFound):
        KubeDLClusterClient(kubedl.kube.client(), job_name="theirs")
    with pytest.raises(TypeError, match="job_name="):
        KubeDLClusterClient(kubedl.kube.client())


def test_workers_are_counted_by_the_balancers_name(monkeypatch):
    """Below the prefix of the ingress, which the web service does not see."""
    asked = []

    class Ingress(BaseHTTPRequestHandler):
        """Answers for a web service."""

        def do_GET(self):
            asked.append((self.path, self.headers["Host"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"2")

        def log_message(self, *args):
            """Be quiet."""

    real = socket.getaddrinfo
    here = {"mars.domain.com": "127.0.0.1"}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *a, **k: real(here[host], *a, **k))
    with HTTPServer(("127.0.0.1", 0), Ingress) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        balancer = f"mars.domain.com:{server.server_address[1]}"
        job: Any = RunningJob(None, "default", "j", own_namespace=False)  # type: ignore[arg-type]
        job.endpoint = endpoint(balancer, "default", "j")
        kubedl_cluster._wait(job, 2, None, None)
        thread.join()
    assert asked == [("/mars/default/j-webservice-0/api/worker?action=count", balancer)]


def test_kubernetes_may_be_away(monkeypatch):
    """While workers are waited for: the job is not deleted for that."""
    counts = iter([KubernetesError("503"), KubernetesError("503"), 1])
    asked = []

    class AwayApi:
        """Does not answer the first question, nor the fourth."""

        def get(self, *where):
            asked.append(where)
            if len(asked) in (1, 4):
                raise Unavailable("starting")
            return {"metadata": {}}

        def list(self, *where, **query):
            return {"items": []}

    class WaitedPort:
        """Answers at last."""

        def count(self):
            found = next(counts)
            if isinstance(found, Exception):
                raise found
            return found

    monkeypatch.setattr(kubedl_cluster, "WebPort", lambda *where: WaitedPort())
    monkeypatch.setattr(kubedl_cluster, "_ROUND", 0.01)
    monkeypatch.setattr("marsdask.deploy.kubernetes.watch._PAUSE", 0.01)
    api: Any = AwayApi()
    kubedl_cluster._wait(RunningJob(api, "default", "j", own_namespace=False), 1, None, None)
    assert asked


def test_tokens_of_ones_own():
    """Of a job of arguments, and of one that somebody has written."""
    given = "a-token-of-mine"
    _, spec, token = kubedl_cluster._asked(None, "image", None, {"token": given})
    assert spec is not None
    assert token == spec.token == given
    assert kubedl_cluster._asked(DOCUMENT, None, None, {"token": given})[2] == given
    assert kubedl_cluster._asked(DOCUMENT, None, None, {"token": False})[2] is None
    with pytest.raises(TypeError, match="the job says whether there is one"):
        kubedl_cluster._asked(DOCUMENT, None, None, {"token": True})
