"""The arguments of new_cluster, of both generations of Mars."""

import dask.config
import pytest

from marsdask.deploy.kubernetes.arguments import cluster_spec
from marsdask.deploy.kubernetes.spec import SpillVolume
from marsdask.scheduler.cluster.autoscale import AutoscaleLimits


class MarsVolume:
    """A volume as Mars's classes describe it."""

    def build(self):
        return {"name": "v", "hostPath": {"path": "/v"}}

    def build_mount(self):
        return {"name": "v", "mountPath": "/mnt/v"}


def test_both_words_mean_supervisors():
    """Schedulers of the old generation are supervisors of the new one."""
    old = cluster_spec(scheduler_num=2, scheduler_cpu=3, scheduler_mem="4g", namespace="n")
    new = cluster_spec(
        supervisor_num=2, supervisor_cpu="3000m", supervisor_mem=4 << 30, namespace="n"
    )
    assert old == new
    with pytest.raises(TypeError, match="not both"):
        cluster_spec(scheduler_num=2, supervisor_num=2)


def test_several_supervisors_have_a_web_service():
    """Which leads to the active one: the others would refuse sessions."""
    web = cluster_spec(supervisor_num=2).web
    assert web is not None
    assert web.count == 1
    assert cluster_spec(supervisor_num=1).web is None
    with pytest.raises(ValueError, match="web_num=0 needs supervisor_num=1"):
        cluster_spec(supervisor_num=2, web_num=0)


def test_the_documents_example():
    """One scheduler, one web service and a hundred workers, of which 95 are enough."""
    spec = cluster_spec(
        scheduler_num=1,
        web_num=1,
        worker_num=100,
        worker_cpu=4,
        worker_mem="16g",
        min_worker_num=95,
    )
    assert spec.web is not None
    assert (spec.supervisor.count, spec.web.count, spec.worker.count) == (1, 1, 100)
    assert (spec.worker.cpu, spec.worker.memory, spec.min_workers) == (4000, 16 << 30, 95)


def test_defaults():
    """Nothing has to be given: it gets a namespace, one worker, the web beside the supervisor."""
    spec = cluster_spec()
    assert spec.namespace.startswith("mars-ns-")
    assert (spec.name, spec.worker.count, spec.min_workers, spec.web) == ("mars", 1, 1, None)
    assert (spec.service.type, spec.service.name, spec.service.port) == (
        "NodePort",
        "marsservice",
        7104,
    )
    assert spec.namespace != cluster_spec().namespace


def test_clusters_of_one_namespace_have_names():
    """Where the namespace is not theirs, no two clusters meet."""
    one, two = (cluster_spec(namespace="team", create_namespace=False) for _ in range(2))
    assert one.namespace == two.namespace == "team"
    assert one.name != two.name
    assert one.service.name == f"{one.name}-service"


def test_roles_have_their_own_parts():
    """What is given for all pods holds for each role, unless it has its own."""
    spec = cluster_spec(
        extra_env={"A": 1, "B": 2},
        worker_extra_env={"A": 3},
        extra_modules="a,b",
        worker_extra_modules=["c"],
        web_cpu=1,
        service_port=8000,
        worker_service_port=8001,
        worker_mem_limit_ratio=1.5,
    )
    assert spec.worker.env == {"A": "3", "B": "2"}
    assert spec.supervisor.env == {"A": "1", "B": "2"}
    assert spec.worker.modules == ("a", "b", "c")
    assert (spec.supervisor.port, spec.worker.port) == (8000, 8001)
    assert (spec.worker.limit_ratio, spec.supervisor.limit_ratio) == (1.5, None)
    assert spec.web is not None


def test_scaling_by_load():
    """The supervisor is told the limits; what is given for it beside them stays."""
    spec = cluster_spec(autoscale=(0, 5), supervisor_extra_env={"A": 1})
    assert spec.supervisor.env == {
        "A": "1",
        "DASK_MARSDASK__AUTOSCALE__ENABLED": "True",
        "DASK_MARSDASK__AUTOSCALE__MIN_WORKERS": "0",
        "DASK_MARSDASK__AUTOSCALE__MAX_WORKERS": "5",
    }
    assert spec.worker.env == {}
    found = dask.config.collect_env(spec.supervisor.env)
    with dask.config.set(found):
        assert AutoscaleLimits.configured() == AutoscaleLimits(0, 5)


def test_volumes():
    """Paths of hosts, sources of volumes, mappings and Mars's own classes."""
    spec = cluster_spec(
        worker_spill_paths=["/a", {"emptyDir": {}}],
        extra_volumes=[MarsVolume(), {"mountPath": "/c", "emptyDir": {}}],
        worker_cache_mem=0.5,
        worker_mem=1000,
        worker_min_cache_mem="20%",
    )
    assert spec.spill == (
        SpillVolume("/mnt/hostpath0", {"hostPath": {"path": "/a", "type": "DirectoryOrCreate"}}),
        SpillVolume("/mnt/spill1", {"emptyDir": {}}),
    )
    assert spec.volumes == (
        ({"name": "v", "hostPath": {"path": "/v"}}, {"name": "v", "mountPath": "/mnt/v"}),
        ({"name": "extra-1", "emptyDir": {}}, {"name": "extra-1", "mountPath": "/c"}),
    )
    assert (spec.cache, spec.min_cache) == (500, 200)


def test_one_secret_of_a_registry():
    """Needs no list around it."""
    for given in ("regcred", ["regcred"]):
        assert cluster_spec(image_pull_secrets=given).image_pull_secrets == ("regcred",)


def test_a_token_of_ones_own():
    """Is used, and not shown."""
    spec = cluster_spec(token="a-token-of-mine")  # noqa: S106
    assert spec.token == "a-token-of-mine"  # noqa: S105
    assert "a-token-of-mine" not in repr(spec)


def test_what_means_nothing_here_is_taken():
    """Programs of Mars pass it."""
    assert cluster_spec(log_when_fail=True, cluster_cls=None)


#: Volumes that only StatefulSets make.
CLAIMS = {"worker_spill_paths": [{"volumeClaimTemplate": {"accessModes": ["ReadWriteOnce"]}}]}

WRONG = (
    ({"wroker_num": 2}, TypeError, "'wroker_num'.*worker_num"),
    ({"worker_num": -1}, ValueError, "worker_num: -1"),
    ({"worker_num": "2"}, ValueError, "worker_num: '2'"),
    ({"supervisor_num": 0}, ValueError, "supervisor_num: 0"),
    ({"worker_cpu": 0}, ValueError, "worker_cpu: 0"),
    ({"worker_cpu": "many"}, ValueError, "worker_cpu: 'many'"),
    ({"worker_mem": "16q"}, ValueError, "worker_mem: '16q'"),
    ({"worker_mem": "50%"}, ValueError, "worker_mem: '50%'"),
    ({"worker_cache_mem": "150%"}, ValueError, "worker_cache_mem: '150%'"),
    ({"worker_mem_limit_ratio": 0.5}, ValueError, "worker_mem_limit_ratio: 0.5"),
    ({"min_worker_num": 2}, ValueError, "min_worker_num=2 exceeds worker_num=1"),
    ({"worker_spill_paths": ["a"]}, ValueError, "absolute"),
    ({"worker_spill_paths": [3]}, ValueError, "host's path"),
    ({"extra_volumes": [{"name": "x"}]}, ValueError, "mountPath"),
    ({"service_type": "nodeport"}, ValueError, "'NodePort', 'ClusterIP'"),
    ({"workload_kind": "Pod"}, ValueError, "'StatefulSet'"),
    ({"service_type": "Ingress"}, TypeError, "ingress_host"),
    ({"create_namespace": False}, TypeError, "namespace="),
    ({"namespace": "Team"}, ValueError, "namespace: 'Team'"),
    ({"namespace": "x" * 64}, ValueError, "63"),
    ({"cluster_name": "-a"}, ValueError, "cluster_name: '-a'"),
    ({"web_port": 70000}, ValueError, "web_port: 70000"),
    ({"web_port": 7103}, ValueError, "web_port=7103 is the service port of supervisors"),
    ({"service_port": 7104, "web_num": 1}, ValueError, "web_port=7104 is the service port"),
    ({"worker_service_port": 15031}, ValueError, "worker_service_port=15031 is the port of probes"),
    ({"token": False}, ValueError, "token=False needs tls=False"),
    ({"token": "two words"}, ValueError, "invalid token: give printable ASCII"),
    ({"token": ""}, ValueError, "invalid token"),
    ({"token": 1}, ValueError, "invalid token: 1; give True or False"),
    ({"tls": "no"}, ValueError, "invalid tls: 'no'; give True or False"),
    ({"create_namespace": "no"}, ValueError, "invalid create_namespace: 'no'"),
    (CLAIMS | {"workload_kind": "Deployment"}, ValueError, "needs workload_kind='StatefulSet'"),
    (CLAIMS | {"workload_kind": "ReplicationController"}, ValueError, "not 'ReplicationContr"),
    ({"autoscale": 3}, ValueError, "autoscale: 3; give .least, most."),
    ({"autoscale": (3, 1)}, ValueError, "the least exceeds the most"),
    ({"autoscale": (-1, 1)}, ValueError, "autoscale: -1"),
)


@pytest.mark.parametrize("arguments, error, words", WRONG, ids=str)
def test_what_is_refused(arguments, error, words):
    """Before anything is created, with the name of the argument and what would do."""
    with pytest.raises(error, match=words):
        cluster_spec(**arguments)
