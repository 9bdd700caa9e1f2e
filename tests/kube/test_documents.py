"""What the two documents on Kubernetes show, as it stands there but for numbers of workers."""

import json
import shutil
import subprocess
from typing import Any

import pytest

import marsdask
import marsdask.compat
from tests.deploy.kubernetes.apiserver import ADMIN
from tests.kube.real_server import DEFINITION, VARIABLE, programs
from tests.source import ROOT

JOB = ROOT / "tests/deploy/kubedl/mars-test-demo.yaml"

#: Mars's page "Run on Kubernetes": its programs, in their order.
CREATE = """
from kubernetes import config
from mars.deploy.kubernetes import new_cluster
import mars.tensor as mt

cluster = new_cluster(config.new_client_from_config())

# new cluster will start a session and set it as default one
# execute will then run in the local cluster
a = mt.random.rand(10, 10)
a.dot(a.T).execute()
"""

FIND = """
# obtain information from current cluster
namespace, endpoint = cluster.namespace, cluster.endpoint

# create a new cluster client
from kubernetes import config
from mars.deploy.kubernetes import KubernetesClusterClient

cluster = KubernetesClusterClient(
    config.new_client_from_config(), namespace, endpoint)
"""

CUSTOMIZE = """
from kubernetes import config
from mars.deploy.kubernetes import new_cluster

api_client = config.new_client_from_config()
cluster = new_cluster(api_client, scheduler_num=1, web_num=1, worker_num=100,
                      worker_cpu=4, worker_mem='16g', min_worker_num=95)
"""

RESCALE = """
num_of_workers = 20
cluster.rescale_workers(20)
"""

STOP = """
cluster.stop()
"""


@pytest.fixture
def configured(kube, tmp_path, monkeypatch):
    """Let ``kubectl`` and programs find the server, as the documents assume."""
    cluster = {"server": kube.server.url, "certificate-authority": kube.server.authority}
    context = {"cluster": "here", "user": "me", "namespace": "default"}
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "me", "user": {"token": ADMIN}}],
        "contexts": [{"name": "here", "context": context}],
        "current-context": "here",
    }
    path = tmp_path / "config"
    path.write_text(json.dumps(found))
    monkeypatch.setenv("KUBECONFIG", str(path))
    # The package reads the variable when it is imported.
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(path))
    marsdask.compat.install()
    yield
    marsdask.compat.uninstall()
    marsdask.stop_server()


def run(names, program, **numbers):
    """Run a program of the document, with other numbers."""
    for old, new in numbers.items():
        assert old.removeprefix("n") in program
        program = program.replace(old.removeprefix("n"), new)
    exec(compile(program, "document", "exec"), names)  # noqa: S102 - our own text


def test_the_programs_of_mars(kube, configured):
    """A cluster of no arguments; a second client; other numbers of workers; the end."""
    names: dict[str, Any] = {"__name__": "document"}
    run(names, CREATE)
    first = names["cluster"]
    try:
        run(names, "assert a.dot(a.T).execute().fetch().shape == (10, 10)")
        run(names, FIND)
        assert names["cluster"] is not first
        run(names, RESCALE, n20="2")
        found = kube.store.list("pods", names["namespace"], "app.kubernetes.io/component=worker")
        assert len(found) == 2
    finally:
        first.session.close()
        run(names, STOP)
        first.stop(wait=True, timeout=120)


@pytest.mark.skipif(programs() is None, reason=f"make kube runs it, with {VARIABLE}")
def test_a_cluster_of_other_numbers(kube, configured):
    """The arguments of the document: 2 workers for 100, of which one is waited for."""
    names: dict[str, Any] = {"__name__": "document"}
    run(names, CREATE.partition("cluster = ")[0])
    run(names, CUSTOMIZE, n100="2", n95="1", n16g="1g")
    try:
        run(names, "assert mt.ones((10, 10)).sum().execute().fetch() == 100")
        found = kube.store.list("pods", names["cluster"].namespace)
        assert len(found) == 4
        (web,) = (one for one in found if one["metadata"]["name"].startswith("mars-web"))
        assert web["metadata"]["labels"]["mars/service-type"] == "marsweb"
        run(names, STOP)
    finally:
        names["cluster"].stop(wait=True, timeout=120)


@pytest.mark.skipif(programs() is None, reason=f"make kube runs it, with {VARIABLE}")
@pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl is not there: kubernetes-client"
)
def test_the_commands(kube, configured):
    """KubeDL's document: nodes, the definition, the job, and the two tables that it shows."""

    def kubectl(*words):
        done = subprocess.run(
            ["kubectl", *words], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert kubectl("get", "nodes").splitlines()[1].startswith("node ")
    kubectl("apply", "-f", str(DEFINITION))
    kubectl("create", "-f", str(JOB))
    try:
        status = {"status": {"conditions": [{"type": "Running", "status": "True"}]}}
        kube.store.patch("marsjobs", "default", "mars-test-demo", status, "status")
        heads, row = kubectl("get", "marsjob").splitlines()
        assert heads.split() == ["NAME", "STATE", "AGE", "TTL-AFTER-FINISHED", "MAX-LIFETIME"]
        assert row.split()[:2] == ["mars-test-demo", "Running"]
        told = json.loads(kubectl("get", "marsjob", "mars-test-demo", "-o", "json"))
        assert told["spec"]["webHost"] == "mars.domain.com"
    finally:
        kubectl("delete", "marsjob", "mars-test-demo")
