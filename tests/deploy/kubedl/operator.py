"""KubeDL's operator for MarsJobs, as far as containers see it: pods, services, variables, ends."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

from tests.deploy.kubernetes.controllers import owned, reference, wanted_objects
from tests.deploy.kubernetes.store import Denied, Object, Store

PORT = 11111

#: {name in the job: its word in names and labels}, in the order in which they start.
ROLES = {"Scheduler": "scheduler", "WebService": "webservice", "Worker": "worker"}

#: Restart policies of roles that say nothing, and exit codes after which ExitCode restarts.
POLICIES = {"Scheduler": "Never", "WebService": "Always", "Worker": "ExitCode"}
RETRYABLE = (130, 137, 143)

_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "m": 1e-3, "": 1}


def quantity(text: Any) -> float:
    """Return the number of a quantity of Kubernetes."""
    text = str(text)
    unit = next(one for one in _UNITS if text.endswith(one))
    return float(text.removesuffix(unit)) * _UNITS[unit]


def requested(container: Object, name: str) -> float:
    """Return what is requested, else the limit, else 0."""
    resources = container.get("resources", {})
    for kind in ("requests", "limits"):
        if name in resources.get(kind, {}):
            return quantity(resources[kind][name])
    return 0


def cache_size(policy: Object, memory: int) -> int:
    """Return the bytes of a worker's cache: a size, a percentage of its memory, or none."""
    if "workerCacheSize" in policy:
        return int(quantity(policy["workerCacheSize"]))
    return int(memory * min(policy.get("workerCachePercentage", 0), 100) // 100)


def variables(job: Object, role: str, index: int, container: Object) -> dict[str, str]:
    """Return what the operator sets, but for fields of the pod."""
    cores = math.ceil(requested(container, "cpu"))
    memory = int(requested(container, "memory"))
    name, space = job["metadata"]["name"], job["metadata"]["namespace"]
    task: Object = {"type": ROLES[role], "index": index}
    found = {
        "MARS_CPU_TOTAL": str(cores),
        "MARS_MEMORY_TOTAL": str(memory),
        "MARS_CPU_USE_PROCESS_STAT": "1",
        "MARS_MEM_USE_CGROUP_STAT": "1",
        "MARS_BIND_PORT": str(PORT),
        "MARS_K8S_GROUP_LABELS": "job-name",
    }
    if role == "Worker":
        task["resources"] = {"cpu_procs": cores, "phy_mem": memory}
        policy = job["spec"].get("workerMemoryTuningPolicy") or {}
        found["MARS_PLASMA_DIRS"] = policy.get("plasmaStore", "/dev/shm")
        found["MARS_LOCK_FREE_FILEIO"] = str(int(policy.get("lockFreeFileIO", True)))
        if policy.get("spillDirs"):
            found["MARS_SPILL_DIRS"] = ",".join(policy["spillDirs"])
        if cache := cache_size(policy, memory):
            found["MARS_CACHE_MEM_SIZE"] = str(cache)
    replicas = job["spec"]["marsReplicaSpecs"]
    cluster = {
        ROLES[one]: [
            f"{name}-{ROLES[one]}-{i}.{space}.svc:{PORT}" for i in range(replicas[one]["replicas"])
        ]
        for one in ("Scheduler", "WebService")
        if one in replicas
    }
    return found | {"MARS_CLUSTER_DETAIL": json.dumps({"cluster": cluster, "task": task})}


FIELDS = {
    "MARS_CONTAINER_IP": "status.podIP",
    "MARS_K8S_POD_NAME": "metadata.name",
    "MARS_K8S_POD_NAMESPACE": "metadata.namespace",
}


def pod_of(job: Object, role: str, index: int) -> Object:
    """Return the pod of a replica."""
    replica = job["spec"]["marsReplicaSpecs"][role]
    template = copy.deepcopy(replica["template"])
    (container,) = (one for one in template["spec"]["containers"] if one["name"] == "mars")
    set_here = variables(job, role, index, container)
    kept = [one for one in container.get("env") or () if one["name"] not in set_here]
    container["env"] = [
        *kept,
        *({"name": name, "value": value} for name, value in set_here.items()),
        *(
            {"name": n, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for n, path in FIELDS.items()
        ),
    ]
    ports = container.setdefault("ports", [])
    if not any(port["name"] == "mars-port" for port in ports):
        ports.append({"name": "mars-port", "containerPort": PORT})
    _mount(job, role, template["spec"], container)
    policy = replica.get("restartPolicy") or POLICIES[role]
    template["spec"]["restartPolicy"] = "Never" if policy == "ExitCode" else policy
    labels = template["metadata"].get("labels", {}) | labels_of(job, role, index)
    metadata = {"name": name_of(job, role, index), "labels": labels}
    return {"metadata": metadata | {"ownerReferences": [reference(job)]}, "spec": template["spec"]}


def _mount(job: Object, role: str, spec: Object, container: Object) -> None:
    policy = job["spec"].get("workerMemoryTuningPolicy") or {}
    if role != "Worker":
        return
    found = {f"mars-empty-dir-{i}": path for i, path in enumerate(policy.get("spillDirs", []))}
    if cache_size(policy, int(requested(container, "memory"))):
        found["mars-shared-cache"] = policy.get("plasmaStore", "/dev/shm")
    for name, path in found.items():
        spec.setdefault("volumes", []).append({"name": name, "emptyDir": {}})
        container.setdefault("volumeMounts", []).append({"name": name, "mountPath": path})


def name_of(job: Object, role: str, index: int) -> str:
    return f"{job['metadata']['name']}-{ROLES[role]}-{index}"


def labels_of(job: Object, role: str, index: int) -> dict[str, str]:
    return {
        "group-name": "training.kubedl.io",
        "job-name": job["metadata"]["name"],
        "replica-type": ROLES[role],
        "replica-index": str(index),
    }


def mars_jobs(store: Store) -> None:
    """Bring every job one step on."""
    for job in wanted_objects(store, "marsjobs"):
        conditions = {one["type"] for one in job["status"].get("conditions") or ()}
        if not conditions & {"Succeeded", "Failed"}:
            _reconcile(store, job)


def _reconcile(store: Store, job: Object) -> None:
    pods = owned(store, job)
    running = False
    for role, replica in _ordered(job):
        for index in range(replica["replicas"]):
            _replica(store, job, role, index, pods)
        for name in owned_beyond(pods, job, role, replica["replicas"]):
            store.delete("pods", job["metadata"]["namespace"], name)
        mine = [pods.get(name_of(job, role, i)) for i in range(replica["replicas"])]
        phases = [pod["status"].get("phase") if pod else None for pod in mine]
        if role == "Scheduler":
            if "Failed" in phases:
                _finish(store, job, "Failed", "a scheduler has failed")
                return
            if phases and all(phase == "Succeeded" for phase in phases):
                _finish(store, job, "Succeeded", "all schedulers have ended")
                return
            if "Running" not in phases:
                return  # the others start after them
        running = role == "Worker" and "Running" in phases
    if running and not job["status"].get("conditions"):
        _finish(store, job, "Running", "a worker runs")


def owned_beyond(pods: dict[str, Object], job: Object, role: str, count: int) -> list[str]:
    """Return the pods of a role whose index is not below a number; the job has had more."""
    labels = {name: pod["metadata"]["labels"] for name, pod in pods.items()}
    return [
        name
        for name, told in labels.items()
        if told["replica-type"] == ROLES[role]
        and int(told["replica-index"]) >= count
        and "deletionTimestamp" not in pods[name]["metadata"]
    ]


def _ordered(job: Object) -> list[tuple[str, Object]]:
    replicas = job["spec"]["marsReplicaSpecs"]
    return [(role, replicas[role]) for role in ROLES if role in replicas]


def _replica(store: Store, job: Object, role: str, index: int, pods: dict[str, Object]) -> None:
    """Create a pod and its service; replace a pod that ended in a way that its policy forgives."""
    name, space = name_of(job, role, index), job["metadata"]["namespace"]
    pod = pods.get(name)
    if pod is None:
        try:
            store.create("pods", space, pod_of(job, role, index))
        except Denied as error:
            if error.status == 403:
                store.event(job, "FailedCreatePod", f"Error creating: {error}")
            raise
    elif pod["status"].get("phase") == "Failed":
        policy = job["spec"]["marsReplicaSpecs"][role].get("restartPolicy") or POLICIES[role]
        (container,) = pod["status"]["containerStatuses"]
        if policy == "ExitCode" and container["state"]["terminated"]["exitCode"] in RETRYABLE:
            store.delete("pods", space, name)
    if not any(one["metadata"]["name"] == name for one in store.list("services", space)):
        _serve(store, job, role, index)


def _serve(store: Store, job: Object, role: str, index: int) -> None:
    name, space = name_of(job, role, index), job["metadata"]["namespace"]
    labels = labels_of(job, role, index)
    metadata = {"name": name, "labels": labels, "ownerReferences": [reference(job)]}
    ports = [{"name": "mars-port", "port": PORT}]
    spec = {"clusterIP": "None", "selector": labels, "ports": ports}
    store.create("services", space, {"metadata": metadata, "spec": spec})
    host = job["spec"].get("webHost")
    if role != "WebService" or host is None:
        return
    path = f"/mars/{space}/{name}"
    backend = {"service": {"name": name, "port": {"number": PORT}}}
    kind = {"pathType": "ImplementationSpecific"}
    paths = [{"path": one, "backend": backend, **kind} for one in (path, f"{path}/(.*)")]
    annotations = {"nginx.ingress.kubernetes.io/rewrite-target": "/$1"}
    metadata = {"name": name, "annotations": annotations, "ownerReferences": [reference(job)]}
    # The port is one of these tests; a host of the document has none.
    rules = [{"host": host.partition(":")[0], "http": {"paths": paths}}]
    store.create("ingresses", space, {"metadata": metadata, "spec": {"rules": rules}})


def _finish(store: Store, job: Object, kind: str, message: str) -> None:
    condition = {"type": kind, "status": "True", "message": message}
    old = job["status"].get("conditions") or []
    status = {"conditions": [*old, condition]}
    name, space = job["metadata"]["name"], job["metadata"]["namespace"]
    store.patch("marsjobs", space, name, {"status": status}, "status")
