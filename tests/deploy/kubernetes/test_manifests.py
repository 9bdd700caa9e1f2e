"""The manifests of clusters, held against the schemas of Kubernetes."""

import json
import re

import kubernetes_validate
import pytest
from kubernetes_validate import utils

from marsdask.deploy.kubernetes.arguments import cluster_spec
from marsdask.deploy.kubernetes.manifests import manifests, owned
from tests.source import ROOT

#: The oldest and the newest release whose schemas are installed.
RELEASES = [utils.all_versions()[end] for end in (0, -1)]

CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}

#: Arguments of new_cluster that change kinds or parts of objects.
ARGUMENTS = {
    "default": {},
    "documents": {
        "scheduler_num": 2,
        "web_num": 1,
        "worker_num": 100,
        "worker_cpu": 4,
        "worker_mem": "16g",
        "min_worker_num": 95,
        "worker_spill_paths": ["/data/spill"],
        "worker_cache_mem": "40%",
        "extra_env": {"A": 1},
        "extra_labels": {"team": "x"},
        "extra_modules": ["math"],
        "pre_stop_command": ["rm", "-rf", "/tmp/x"],
    },
    "volumes": {
        "worker_spill_paths": [
            {"emptyDir": {"sizeLimit": "10Gi"}},
            {"volumeClaimTemplate": CLAIM},
        ],
        "extra_volumes": [{"name": "data", "mountPath": "/data", "hostPath": {"path": "/d"}}],
        "image_pull_secrets": ["registry"],
    },
    "ingress": {"ingress_host": "mars.example.com", "ingress_class": "nginx", "web_num": 2},
    "edge": {"ingress_host": "mars.example.com", "ingress_tls_secret": "edge", "tls": False},
    "deployment": {"workload_kind": "Deployment", "service_type": "LoadBalancer", "worker_gpu": 2},
    "controller": {"workload_kind": "ReplicationController", "tls": False, "token": False},
    "shared": {"namespace": "team", "create_namespace": False, "service_type": "ClusterIP"},
}

TOKEN = "secret-token"  # noqa: S105

CERTIFICATES = {"ca.crt": b"authority", "tls.crt": b"certificate", "tls.key": b"private"}


#: Manifests that were found valid.
VALID: set[str] = set()


def made(**arguments):
    """Return the manifests of a cluster."""
    return manifests(cluster_spec(**arguments), certificates=CERTIFICATES, token=TOKEN)


def one(found, kind, name=""):
    """Return the manifest of a kind whose name ends so."""
    (chosen,) = (m for m in found if m["kind"] == kind and m["metadata"]["name"].endswith(name))
    return chosen


def templates(found):
    return [m["spec"]["template"] for m in found if "template" in m.get("spec", {})]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_manifests_are_valid(name):
    """Each is one of Kubernetes's schemas, strictly: no unknown field, no wrong type."""
    for manifest in made(**{"namespace": "n", **ARGUMENTS[name]}):
        if (text := json.dumps(manifest, sort_keys=True)) in VALID:
            continue  # another cluster has the same one, and reading schemas takes time
        VALID.add(text)
        for release in RELEASES:
            kubernetes_validate.validate(manifest, release, strict=True)


def test_the_schemas_refuse_errors():
    """A misspelt field would be found."""
    broken = made()[-1]
    broken["spec"]["replcas"] = 1
    with pytest.raises(kubernetes_validate.ValidationError, match="replcas"):
        kubernetes_validate.validate(broken, RELEASES[-1], strict=True)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_selectors_find_their_pods(name):
    """What the schemas cannot tell: labels, names of secrets, volumes, accounts and services."""
    found = made(**ARGUMENTS[name])
    names = {kind: {m["metadata"]["name"] for m in found if m["kind"] == kind} for kind in KINDS}
    pods = templates(found)
    for manifest in found:
        spec = manifest.get("spec", {})
        wanted = spec.get("selector") or spec.get("podSelector")
        if wanted is not None:
            wanted = wanted.get("matchLabels", wanted).items()
            assert any(wanted <= pod["metadata"]["labels"].items() for pod in pods), manifest
        if "template" in spec:
            assert wanted <= spec["template"]["metadata"]["labels"].items()
        if "serviceName" in spec:
            assert spec["serviceName"] in names["Service"]
    for pod in pods:
        assert pod["spec"]["serviceAccountName"] in names["ServiceAccount"]
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        claimed = {"spill-1"} if name == "volumes" else set()
        (container,) = pod["spec"]["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes | claimed
        secrets = {v["secret"]["secretName"] for v in pod["spec"]["volumes"] if "secret" in v}
        assert secrets <= names["Secret"]


KINDS = ("Service", "ServiceAccount", "Secret")


@pytest.mark.parametrize("name", ARGUMENTS)
def test_pods_are_restricted(name):
    """Pods keep to the restricted standard of Kubernetes, and limits where documents have them."""
    for pod in templates(made(**ARGUMENTS[name])):
        security = pod["spec"]["securityContext"]
        assert security["runAsNonRoot"]
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["spec"]["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert ("memory" in container["resources"].get("limits", {})) == (
            pod["metadata"]["labels"]["mars/service-type"] == "marsworker"
        )
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)


def test_secrets_are_nowhere_else():
    """Neither the token nor keys are in commands, variables or other objects."""
    found = made()
    rest = json.dumps([m for m in found if m["kind"] != "Secret"])
    for secret in (TOKEN, "private"):
        assert secret not in rest
    assert one(found, "Secret", "token")["data"] == {"token": "c2VjcmV0LXRva2Vu"}


def test_rights_are_the_least():
    """Only supervisors have rights: to scale the one workload of their workers, to write events."""
    rule, events = one(made(), "Role")["rules"]
    assert events == {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}
    assert rule == {
        "apiGroups": ["apps"],
        "resources": ["statefulsets/scale"],
        "resourceNames": ["mars-worker"],
        "verbs": ["get", "patch"],
    }
    found = made(web_num=1)
    (subject,) = one(found, "RoleBinding")["subjects"]
    assert subject["name"] == "mars-supervisor"
    mounted = {
        pod["metadata"]["labels"]["mars/service-type"]: pod["spec"]["automountServiceAccountToken"]
        for pod in templates(found)
    }
    assert mounted == {"marssupervisor": True, "marsweb": False, "marsworker": False}


def test_the_root_owns_all_others():
    """Every object but the namespace ends with the root."""
    found = made(**ARGUMENTS["ingress"])
    assert [m["kind"] for m in found[:2]] == ["Namespace", "ConfigMap"]
    root = found[1] | {"metadata": found[1]["metadata"] | {"uid": "u-1"}}
    for manifest in found[2:]:
        mine = owned(manifest, root)
        (reference,) = mine["metadata"]["ownerReferences"]
        assert reference["uid"] == "u-1"
        kubernetes_validate.validate(mine, RELEASES[-1], strict=True)


def test_workers_end_in_order():
    """A pod that ends moves its results first, and has the time for it."""
    pod = one(made(termination_grace=99), "StatefulSet", "worker")["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 99
    hook = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert hook == ["python", "-m", "marsdask.deploy.kubernetes.probe", "retire"]
    pod = templates(made(pre_stop_command=["rm", "a b"]))[-1]["spec"]
    assert pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"] == [
        "/bin/sh",
        "-c",
        "rm 'a b'; python -m marsdask.deploy.kubernetes.probe retire",
    ]


def test_the_environment_has_mars_names():
    """Cores, memory, caches, spill directories and modules are told as KubeDL and Mars do."""
    found = made(**ARGUMENTS["documents"])
    (container,) = one(found, "StatefulSet", "worker")["spec"]["template"]["spec"]["containers"]
    told = {v["name"]: v.get("value", v.get("valueFrom")) for v in container["env"]}
    cores = {"resourceFieldRef": {"resource": "requests.cpu"}}
    assert told["MARS_CPU_TOTAL"] == told["MKL_NUM_THREADS"] == cores
    assert container["resources"]["requests"]["cpu"] == "4"
    assert told["MARS_MEMORY_TOTAL"] == str(16 << 30)
    assert told["MARS_CACHE_MEM_SIZE"] == str(int(0.4 * (16 << 30)))
    assert told["MARS_SPILL_DIRS"] == "/mnt/hostpath0"
    assert told["MARS_LOAD_MODULES"] == "math"
    assert told["MARS_CONTAINER_IP"] == {"fieldRef": {"fieldPath": "status.podIP"}}
    assert told["MARS_K8S_POD_UID"] == {"fieldRef": {"fieldPath": "metadata.uid"}}
    assert told["A"] == "1"
    pod = templates(made(extra_env={"MARS_CPU_TOTAL": 3}))[-1]["spec"]["containers"][0]
    assert [v for v in pod["env"] if v["name"] == "MARS_CPU_TOTAL"] == [
        {"name": "MARS_CPU_TOTAL", "value": "3"}
    ]
    space = found[0]["metadata"]["name"]
    assert json.loads(told["MARS_CLUSTER_DETAIL"])["cluster"]["supervisor"] == [
        f"mars-supervisor-{index}.mars-pods.{space}.svc:7103" for index in range(2)
    ]


def test_browsers_may_ask_by_the_address_that_is_given():
    """Without a token a web port refuses names that may be another site's."""
    told = "DASK_MARSDASK__WEB__HOSTS"
    arguments = {"ingress_host": "Mars.example.com", "web_num": 1, "tls": False}
    for token, hosts in ((True, None), (False, '["mars.example.com"]')):
        for pod in templates(made(**arguments, token=token)):
            values = {v["name"]: v.get("value") for v in pod["spec"]["containers"][0]["env"]}
            is_worker = pod["metadata"]["labels"]["mars/service-type"] == "marsworker"
            assert values.get(told) == (None if is_worker else hosts)
    open_port = templates(made(tls=False, token=False))
    assert told not in json.dumps(open_port)


def test_a_web_service_is_ready_during_a_takeover():
    """It starts when a supervisor answers; then it listens, and lets sessions wait for one."""
    port, health = {"tcpSocket": {"port": "web"}}, {"path": "/health", "port": "web"}
    (web,) = one(made(web_num=1), "Deployment")["spec"]["template"]["spec"]["containers"]
    assert web["startupProbe"]["httpGet"] == health | {"scheme": "HTTPS"}
    assert web["readinessProbe"].items() >= port.items()
    assert web["livenessProbe"].items() >= port.items()
    (alone,) = one(made(), "StatefulSet", "supervisor")["spec"]["template"]["spec"]["containers"]
    assert alone["readinessProbe"]["httpGet"]["path"] == "/health"


def test_devices_are_requested():
    """GPUs are limits; pods without them see none."""
    for count, variable in ((0, ""), (2, None)):
        pod = templates(made(worker_gpu=count))[-1]["spec"]["containers"][0]
        told = {v["name"]: v.get("value") for v in pod["env"]}
        assert told.get("CUDA_VISIBLE_DEVICES") == variable
        assert pod["resources"]["limits"].get("nvidia.com/gpu") == (str(count) if count else None)


def test_who_may_be_evicted():
    """The only supervisor may not; of several, and of workers, one at a time."""
    for count, most in ((1, 0), (2, 1)):
        found = made(supervisor_num=count)
        assert one(found, "PodDisruptionBudget", "supervisor")["spec"]["maxUnavailable"] == most
        assert one(found, "PodDisruptionBudget", "worker")["spec"]["maxUnavailable"] == 1


def test_who_may_connect():
    """Pods of the cluster to each other; everybody to the web port."""
    inside, web = (m["spec"] for m in made(web_num=1) if m["kind"] == "NetworkPolicy")
    assert "ports" not in inside["ingress"][0]
    assert inside["ingress"][0]["from"][0]["podSelector"] == inside["podSelector"]
    assert web["ingress"] == [{"ports": [{"port": 7104, "protocol": "TCP"}]}]
    assert web["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"


def row(pod):
    """Return the line of the documentation on a role's pods."""
    spec, role = pod["spec"], pod["metadata"]["labels"]["app.kubernetes.io/component"]
    (container,) = spec["containers"]
    ports = ", ".join(f"{one['name']} {one['containerPort']}" for one in container["ports"])
    secrets = [v["secret"]["secretName"] for v in spec["volumes"] if "secret" in v]
    hook = "moves its results" if "lifecycle" in container else "-"
    cells = [f"`mars-{role}-…`", f"`{' '.join(container['command'])}`", ports]
    cells += [f"`{spec['serviceAccountName']}`", ", ".join(f"`{one}`" for one in secrets)]
    return "| " + " | ".join([*cells, hook, f"{spec['terminationGracePeriodSeconds']} s"]) + " |"


def test_the_picture_has_every_pod_and_object():
    """The documentation shows what is made, as it is made."""
    page = (ROOT / "docs/kubernetes.md").read_text()
    found = made(supervisor_num=2, web_num=1)
    for pod in templates(found):
        assert row(pod) in page
    tree = page.split("```")[3]
    for manifest in found[1:]:
        name = manifest["metadata"]["name"]
        (line,) = (x for x in tree.splitlines() if re.search(rf"\b{manifest['kind']}\b", x))
        named = manifest["kind"] not in ("PodDisruptionBudget", "NetworkPolicy", "StatefulSet")
        assert not named or name in line
