"""What Mars's document on Kubernetes shows, as it stands there."""

import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from tests.kube.real_server import VARIABLE, programs

on_real_server = pytest.mark.skipif(
    programs() is None, reason=f"make kube runs it, with {VARIABLE}"
)

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

#: The arguments of the document's tables.
ARGUMENTS = """
from kubernetes import config
from mars.deploy.kubernetes import new_cluster
import mars.tensor as mt

cluster = new_cluster(config.new_client_from_config(), image='mars-image', timeout=120,
                      scheduler_num=1, scheduler_cpu=1, scheduler_mem='512m',
                      worker_num=1, worker_cpu=1, worker_mem='512m',
                      worker_spill_paths=[path], worker_cache_mem='30%', min_worker_num=1,
                      web_num=1, web_cpu=0.5, web_mem='256m')
"""

RESCALE = """
num_of_workers = 20
cluster.rescale_workers(20)
"""

STOP = """
cluster.stop()
"""


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
        # Twenty processes are too much for `make test`.
        run(names, RESCALE, **({} if programs() else {"n20": "2"}))
        found = kube.store.list("pods", names["namespace"], "app.kubernetes.io/component=worker")
        assert len(found) == (20 if programs() else 2)
    finally:
        first.session.close()
        run(names, STOP)
        first.stop(wait=True, timeout=120)


@on_real_server
def test_a_hundred_workers(kube, configured, monkeypatch):
    """The arguments of the document; but for the web service's, pods run nothing and are ready."""
    monkeypatch.setattr(kube.kubelet, "idle", lambda name: name.startswith("mars-worker-"))
    names: dict[str, Any] = {"__name__": "document"}
    run(names, CUSTOMIZE)
    cluster = names["cluster"]
    try:
        found = kube.store.list("pods", cluster.namespace)
        roles = Counter(one["metadata"]["labels"]["mars/service-type"] for one in found)
        assert roles == {"marssupervisor": 1, "marsweb": 1, "marsworker": 100}
        worker = kube.store.get("pods", cluster.namespace, "mars-worker-99")
        (container,) = worker["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "4", "memory": str(16 << 30)}
        run(names, STOP)
    finally:
        cluster.stop(wait=True, timeout=120)


@on_real_server
def test_all_arguments(kube, configured, tmp_path):
    """Those of the document's tables that its example lacks; workers know of them."""
    names: dict[str, Any] = {"__name__": "document", "path": str(tmp_path)}
    run(names, ARGUMENTS)
    cluster = names["cluster"]
    try:
        pods = kube.store.list("pods", cluster.namespace)
        asked = {
            one["metadata"]["labels"]["mars/service-type"]: one["spec"]["containers"][0]
            for one in pods
        }
        assert asked["marssupervisor"]["resources"] == {
            "requests": {"cpu": "1", "memory": str(512 << 20)}
        }
        assert asked["marsweb"]["resources"] == {
            "requests": {"cpu": "500m", "memory": str(256 << 20)}
        }
        worker = asked["marsworker"]
        assert worker["image"] == "mars-image"
        values = {one["name"]: one.get("value") for one in worker["env"]}
        assert int(values["MARS_CACHE_MEM_SIZE"]) == int(0.3 * (512 << 20))
        assert values["MARS_SPILL_DIRS"] == "/mnt/hostpath0"
        run(names, "assert mt.ones((10, 10)).sum().execute().fetch() == 100")
        client = cluster.session.scheduler.client
        (target,) = client.run(memory_target).values()
        assert target == pytest.approx(0.3, abs=1e-3)
    finally:
        cluster.stop(wait=True, timeout=120)


def memory_target():
    """Return the share of a worker's memory from which on results spill."""
    import dask

    return dask.config.get("distributed.worker.memory.target")


@pytest.mark.parametrize("package", ["kubernetes", "pymars[distributed]"])
def test_installations(package):
    """For the documents' packages we have ours: pip knows them, and lacks charts at most."""
    line = f"pip install {package.replace('pymars', 'marsdask')}"
    options = ["--dry-run", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", *line.split(), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "does not provide the extra" not in done.stderr
    lacking = re.findall(r"No matching distribution found for (\w+)", done.stderr)
    assert lacking == ([] if done.returncode == 0 else ["bokeh"]), done.stderr
    assert "Would install" not in done.stdout
