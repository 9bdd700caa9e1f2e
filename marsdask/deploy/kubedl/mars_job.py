"""A MarsJob as a manifest: a pure function of what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..kubernetes.pods import (
    CONTAINER,
    TLS_FOLDER,
    TOKEN_FOLDER,
    container_security,
    mounts_of,
    own_name,
    own_volumes,
    pod_security,
    pre_stop,
    probes,
    resources,
    tls_options,
    volumes_of,
)
from ..kubernetes.spec import READINESS_PORT, WEB_PORT, ClusterSpec, RoleSpec

Manifest = dict[str, Any]

#: The operator's definition, and the port of all roles.
VERSION: Final = "training.kubedl.io/v1alpha1"
KIND: Final = "MarsJob"
PORT: Final = 11111

#: Roles as MarsJobs call them: {ours: (theirs, the label's word, the command, what restarts it)}.
ROLES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    # The job ends with its schedulers, and its web service is started again whatever happens.
    "supervisor": ("Scheduler", "marsscheduler", "scheduler", "Never"),
    "web": ("WebService", "marswebservice", "web", "Always"),
    # By the exit code: a worker that was stopped comes back, a wrong setting does not.
    "worker": ("Worker", "marsworker", "worker", "ExitCode"),
}


@dataclass(frozen=True)
class JobSpec:
    """The settings of a MarsJob besides the pods of each role."""

    cluster: ClusterSpec
    spill_dirs: tuple[str, ...] = ()
    web_host: str | None = None
    """The host of the ingress that the operator makes."""
    service_account: str | None = None
    node_selectors: Mapping[str, str] = field(default_factory=dict)

    @property
    def web(self) -> RoleSpec:
        """The pods of the web service."""
        assert self.cluster.web is not None
        return self.cluster.web


def service_name(job: str) -> str:
    """Return the name of the first web service and of its pod."""
    return f"{job}-webservice-0"


def worker_name(job: str, index: int) -> str:
    """Return the name of the pod of a worker."""
    return f"{job}-worker-{index}"


def web_path(namespace: str, job: str) -> str:
    """Return the path at which the operator's ingress shows the web service."""
    return f"/mars/{namespace}/{service_name(job)}"


def mars_job(spec: JobSpec) -> Manifest:
    """Return the manifest of a MarsJob."""
    cluster = spec.cluster
    of_role = {"supervisor": cluster.supervisor, "web": spec.web, "worker": cluster.worker}
    content: Manifest = {
        "cleanPodPolicy": "Running",
        "workerMemoryTuningPolicy": _memory(spec),
        "marsReplicaSpecs": {
            ROLES[role][0]: _replicas(spec, role, pods) for role, pods in of_role.items()
        },
    }
    if spec.web_host is not None:
        content["webHost"] = spec.web_host
    metadata = {"name": cluster.name, "namespace": cluster.namespace, "labels": _labels()}
    return {"apiVersion": VERSION, "kind": KIND, "metadata": metadata, "spec": content}


def _labels() -> dict[str, str]:
    names = ("name", "part-of", "managed-by")
    return {f"app.kubernetes.io/{name}": "marsdask" for name in names}


def _memory(spec: JobSpec) -> Manifest:
    """Return the policy; the document's name of this field is not that of the definition."""
    policy: Manifest = {}
    if spec.spill_dirs:
        policy["spillDirs"] = list(spec.spill_dirs)
    if spec.cluster.cache is not None:
        policy["workerCacheSize"] = str(spec.cluster.cache)
    return policy


def _replicas(spec: JobSpec, role: str, pods: RoleSpec) -> Manifest:
    _, label, _, restart = ROLES[role]
    template = {
        "metadata": {"labels": {**pods.labels, **_labels(), "mars/service-type": label}},
        "spec": _pod(spec, role, pods),
    }
    return {"replicas": pods.count, "restartPolicy": restart, "template": template}


def _pod(spec: JobSpec, role: str, pods: RoleSpec) -> Manifest:
    cluster = spec.cluster
    manifest: Manifest = {
        "automountServiceAccountToken": False,  # the operator tells all that they have to know
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": cluster.grace if role == "worker" else 30,
        "securityContext": pod_security(cluster.user),
        "containers": [_container(spec, role, pods)],
        # The operator adds those of its policy.
        "volumes": volumes_of(cluster, own_volumes(cluster, role)),
    }
    if spec.service_account is not None:
        manifest["serviceAccountName"] = spec.service_account
    if spec.node_selectors:
        manifest["nodeSelector"] = dict(spec.node_selectors)
    if cluster.image_pull_secrets:
        manifest["imagePullSecrets"] = [{"name": name} for name in cluster.image_pull_secrets]
    return manifest


def _container(spec: JobSpec, role: str, pods: RoleSpec) -> Manifest:
    cluster = spec.cluster
    manifest: Manifest = {
        "name": CONTAINER,  # which the operator looks for
        "image": cluster.image,
        "imagePullPolicy": cluster.image_pull_policy,
        "command": ["python", "-m", f"marsdask.deploy.kubernetes.{ROLES[role][2]}"],
        "args": _arguments(cluster, role),
        "workingDir": "/tmp",  # noqa: S108 - a volume of the pod's own
        "env": [{"name": name, "value": value} for name, value in _values(spec, role).items()],
        "ports": _ports(role),
        "resources": resources(pods),
        "securityContext": container_security(),
        "volumeMounts": mounts_of(cluster, own_volumes(cluster, role)),
        **_probes(cluster, role),
    }
    if (hook := pre_stop(cluster, role)) is not None:
        manifest["lifecycle"] = {"preStop": {"exec": {"command": hook}}}
    return manifest


def _arguments(cluster: ClusterSpec, role: str) -> list[str]:
    """Return options; the operator's variables tell addresses and resources."""
    options = ["-w", str(WEB_PORT)] if role == "supervisor" else []
    # The operator's ingress speaks HTTP with the web service.
    return options + (tls_options() if cluster.tls and role != "web" else [])


def _values(spec: JobSpec, role: str) -> dict[str, str]:
    """Return the variables beside those of the operator."""
    cluster = spec.cluster
    pods = {"supervisor": cluster.supervisor, "worker": cluster.worker}.get(role) or spec.web
    values = {"HOME": "/tmp"}  # noqa: S108 - a volume of the pod's own
    if pods.modules:
        values["MARS_LOAD_MODULES"] = ",".join(pods.modules)
    if role == "worker":
        values["MARS_K8S_READINESS_PORT"] = str(READINESS_PORT)
        if cluster.min_cache is not None:
            values["MARS_MIN_CACHE_MEM_SIZE"] = str(cluster.min_cache)
        if not pods.gpu:
            values["CUDA_VISIBLE_DEVICES"] = ""
    elif cluster.token:
        values["MARS_WEB_TOKEN_FILE"] = f"{TOKEN_FOLDER}/token"
    else:
        values |= own_name(spec.web_host)
    if role == "web" and cluster.tls:
        # Certificates for its connections only, as a client of schedulers.
        section = "DASK_DISTRIBUTED__COMM__TLS__"
        values[f"{section}CA_FILE"] = f"{TLS_FOLDER}/ca.crt"
        values[f"{section}CLIENT__CERT"] = f"{TLS_FOLDER}/tls.crt"
        values[f"{section}CLIENT__KEY"] = f"{TLS_FOLDER}/tls.key"
    return values | dict(pods.env)


def _ports(role: str) -> list[Manifest]:
    port = {"name": "mars-port", "containerPort": PORT}
    if role == "supervisor":
        return [port, {"name": "web", "containerPort": WEB_PORT}]
    if role == "worker":
        return [port, {"name": "readiness", "containerPort": READINESS_PORT}]
    return [port]


def _probes(cluster: ClusterSpec, role: str) -> Manifest:
    if role == "worker":
        return probes("readiness", "/live")
    if role == "web":
        return probes("mars-port", None)
    return probes("web", "/health", "HTTPS" if cluster.tls else "HTTP")
