"""The templates of pods: commands, environment, probes, volumes, resources and rights."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from .spec import READINESS_PORT, ClusterSpec, RoleSpec

Manifest = dict[str, Any]

#: Where secrets are mounted.
TLS_FOLDER: Final = "/etc/marsdask/tls"
TOKEN_FOLDER: Final = "/etc/marsdask/token"  # noqa: S105 - a folder

#: Labels of the cluster and of the role, as Kubernetes recommends them; Mars's word is beside them.
INSTANCE, COMPONENT = "app.kubernetes.io/instance", "app.kubernetes.io/component"
SERVICE_TYPE: Final = "mars/service-type"

#: The container, called as KubeDL calls it.
CONTAINER: Final = "mars"

#: Variables that Kubernetes knows when a pod starts.
_FIELDS: Final = {
    "MARS_K8S_POD_NAME": "metadata.name",
    "MARS_K8S_POD_NAMESPACE": "metadata.namespace",
    "MARS_K8S_POD_UID": "metadata.uid",
    "MARS_K8S_POD_IP": "status.podIP",
    "MARS_CONTAINER_IP": "status.podIP",
}

#: Those for the pod's cores, which Kubernetes rounds up to whole ones, as KubeDL does.
_CORES: Final = ("MARS_CPU_TOTAL", "MKL_NUM_THREADS")

#: Seconds for a pod to start, for instance to wait for supervisors: 600 probes of one second.
_STARTUP: Final = {"periodSeconds": 1, "failureThreshold": 600, "timeoutSeconds": 5}
_READY: Final = {"periodSeconds": 5, "failureThreshold": 3, "timeoutSeconds": 5}
_ALIVE: Final = {"periodSeconds": 10, "failureThreshold": 6, "timeoutSeconds": 10}


def labels(spec: ClusterSpec, role: str | None = None) -> dict[str, str]:
    """Return the labels of an object: of the whole cluster, or of one role."""
    common = {
        "app.kubernetes.io/name": "marsdask",
        INSTANCE: spec.name,
        "app.kubernetes.io/part-of": "marsdask",
        "app.kubernetes.io/managed-by": "marsdask",
    }
    return common if role is None else common | {COMPONENT: role, SERVICE_TYPE: f"mars{role}"}


def selector(spec: ClusterSpec, role: str | None = None) -> dict[str, str]:
    """Return the labels that select pods; they never change."""
    common = {INSTANCE: spec.name}
    return common if role is None else common | {COMPONENT: role}


def template(spec: ClusterSpec, role: str) -> Manifest:
    """Return the template of the pods of a role."""
    of_role = _roles(spec)[role]
    pod: Manifest = {
        "serviceAccountName": spec.object_name("supervisor" if role == "supervisor" else "pod"),
        "automountServiceAccountToken": role == "supervisor",
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": spec.grace if role == "worker" else 30,
        "securityContext": pod_security(spec.user),
        "containers": [_container(spec, role, of_role)],
        "volumes": volumes_of(spec, _all_volumes(spec, role)),
    }
    if spec.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in spec.image_pull_secrets]
    return {"metadata": {"labels": {**of_role.labels, **labels(spec, role)}}, "spec": pod}


def pod_security(user: int) -> Manifest:
    """Return the rights of a pod's processes."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> Manifest:
    """Return the rights of a container's processes."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def _roles(spec: ClusterSpec) -> dict[str, RoleSpec]:
    roles = {"supervisor": spec.supervisor, "worker": spec.worker}
    return roles if spec.web is None else roles | {"web": spec.web}


def _container(spec: ClusterSpec, role: str, of_role: RoleSpec) -> Manifest:
    manifest: Manifest = {
        "name": CONTAINER,
        "image": spec.image,
        "imagePullPolicy": spec.image_pull_policy,
        "command": ["python", "-m", f"marsdask.deploy.kubernetes.{role}"],
        "args": _arguments(spec, role, of_role),
        "workingDir": "/tmp",  # noqa: S108 - a volume of the pod's own
        "env": _environment(spec, role, of_role),
        "ports": _ports(spec, role, of_role),
        "resources": resources(of_role),
        "securityContext": container_security(),
        "volumeMounts": mounts_of(spec, _all_volumes(spec, role)),
        **_probes(spec, role),
    }
    if (hook := pre_stop(spec, role)) is not None:
        manifest["lifecycle"] = {"preStop": {"exec": {"command": hook}}}
    return manifest


def _arguments(spec: ClusterSpec, role: str, of_role: RoleSpec) -> list[str]:
    options = ["-p", str(spec.service.port if role == "web" else of_role.port)]
    if role == "supervisor":
        options += ["-w", str(spec.service.port)]
    return options + (tls_options() if spec.tls else [])


def tls_options() -> list[str]:
    """Return the options of a command that uses the certificates of its pod."""
    names = {"--tls-ca-file": "ca.crt", "--tls-cert": "tls.crt", "--tls-key": "tls.key"}
    return [word for option, name in names.items() for word in (option, f"{TLS_FOLDER}/{name}")]


def _environment(spec: ClusterSpec, role: str, of_role: RoleSpec) -> list[Manifest]:
    """Return variables under Mars's names; secrets are in files."""
    detail = {"cluster": {"supervisor": spec.supervisors}, "task": {"type": role}}
    values: dict[str, str | Manifest] = {
        **{name: {"fieldRef": {"fieldPath": path}} for name, path in _FIELDS.items()},
        **{name: {"resourceFieldRef": {"resource": "requests.cpu"}} for name in _CORES},
        "HOME": "/tmp",  # noqa: S108 - a volume of the pod's own
        "MARS_CLUSTER_DETAIL": json.dumps(detail),
        "MARS_CPU_USE_PROCESS_STAT": "1",
        "MARS_MEM_USE_CGROUP_STAT": "1",
        "MARS_MEMORY_TOTAL": str(of_role.memory),
        "MARS_K8S_SERVICE_NAME": spec.service.name,
        "MARS_K8S_SERVICE_PORT": str(of_role.port),
    }
    if of_role.modules:
        values["MARS_LOAD_MODULES"] = ",".join(of_role.modules)
    if role == "worker":
        values |= _worker_values(spec)
    elif spec.token:
        values["MARS_WEB_TOKEN_FILE"] = f"{TOKEN_FOLDER}/token"
    else:
        values |= own_name(spec.service.host)
    if role == "supervisor":
        values["MARS_K8S_WORKLOAD"] = f"{spec.workload_kind}/{spec.object_name('worker')}"
        if spec.has_lease:
            values["MARS_K8S_LEASE"] = spec.object_name("supervisor")
    values |= of_role.env
    return [
        {"name": name, ("value" if isinstance(value, str) else "valueFrom"): value}
        for name, value in values.items()
    ]


def own_name(address: str | None) -> dict[str, str]:
    """Return the variable of a web port that browsers ask for by a name, without a token."""
    host = urlsplit(f"//{address or ''}").hostname
    return {} if host is None else {"DASK_MARSDASK__WEB__HOSTS": json.dumps([host])}


def _worker_values(spec: ClusterSpec) -> dict[str, str]:
    values = {"MARS_K8S_READINESS_PORT": str(READINESS_PORT)}
    if spec.spill:
        values["MARS_SPILL_DIRS"] = ":".join(volume.path for volume in spec.spill)
    if spec.cache is not None:
        values["MARS_CACHE_MEM_SIZE"] = str(spec.cache)
    if spec.min_cache is not None:
        values["MARS_MIN_CACHE_MEM_SIZE"] = str(spec.min_cache)
    if not spec.worker.gpu:
        values["CUDA_VISIBLE_DEVICES"] = ""
    return values


def _ports(spec: ClusterSpec, role: str, of_role: RoleSpec) -> list[Manifest]:
    web = {"name": "web", "containerPort": spec.service.port}
    if role == "web":
        return [web]
    service = {"name": "service", "containerPort": of_role.port}
    if role == "worker":
        return [service, {"name": "readiness", "containerPort": READINESS_PORT}]
    return [service, web]


def resources(of_role: RoleSpec) -> Manifest:
    """Return what a pod requests, and its limits."""
    requests = {"cpu": _quantity(of_role.cpu), "memory": str(of_role.memory)}
    limits: dict[str, str] = {}
    if of_role.limit_ratio is not None:
        limits = {"cpu": requests["cpu"], "memory": str(int(of_role.memory * of_role.limit_ratio))}
    if of_role.gpu:
        limits["nvidia.com/gpu"] = str(of_role.gpu)
    return {"requests": requests, "limits": limits} if limits else {"requests": requests}


def _quantity(millicores: int) -> str:
    whole, remainder = divmod(millicores, 1000)
    return f"{millicores}m" if remainder else str(whole)


def _probes(spec: ClusterSpec, role: str) -> Manifest:
    if role == "worker":
        port, alive, scheme = "readiness", "/live", "HTTP"
    else:
        port, alive, scheme = "web", "/health", "HTTPS" if spec.tls else "HTTP"
    # A web service answers for supervisors. While there is none, as in a takeover, a restart would
    # not help, nor would refused connections: sessions wait for the answer.
    return probes(port, None if role == "web" else alive, scheme)


def probes(port: str, alive: str | None, scheme: str = "HTTP") -> Manifest:
    """Return the probes of a container: does it answer, and live, at a port.

    Without a path for the second question, it is whether somebody listens there.
    """
    health: Manifest = {"httpGet": {"path": "/health", "port": port, "scheme": scheme}}
    listens: Manifest = {"tcpSocket": {"port": port}}
    lives: Manifest = {"httpGet": {"path": alive, "port": port, "scheme": scheme}}
    ready, living = (listens, listens) if alive is None else (health, lives)
    return {
        "startupProbe": health | _STARTUP,
        "readinessProbe": ready | _READY,
        "livenessProbe": living | _ALIVE,
    }


def pre_stop(spec: ClusterSpec, role: str) -> list[str] | None:
    """Return the hook of a pod that ends: a worker moves its results first."""
    retire = ["python", "-m", "marsdask.deploy.kubernetes.probe", "retire"]
    if role != "worker":
        return list(spec.pre_stop) or None
    if not spec.pre_stop:
        return retire
    return ["/bin/sh", "-c", f"{shlex.join(spec.pre_stop)}; {shlex.join(retire)}"]


#: A pod's volumes: {name: (path, source)}.
Volumes = dict[str, tuple[str, Mapping[str, Any]]]


def own_volumes(spec: ClusterSpec, role: str) -> Volumes:
    """Return the volumes that every pod has: temporary files, and the secrets of its role."""
    volumes: Volumes = {"tmp": ("/tmp", {"emptyDir": {}})}  # noqa: S108
    if spec.tls:
        volumes["tls"] = TLS_FOLDER, _secret(spec, "tls")
    if spec.token and role != "worker":
        volumes["token"] = TOKEN_FOLDER, _secret(spec, "token")
    return volumes


def _secret(spec: ClusterSpec, name: str) -> Manifest:
    return {"secret": {"secretName": spec.object_name(name), "defaultMode": 0o440}}


def _all_volumes(spec: ClusterSpec, role: str) -> Volumes:
    volumes = own_volumes(spec, role)
    if role == "worker":
        limit = {"sizeLimit": str(spec.cache or spec.worker.memory // 2)}
        volumes["shared"] = "/dev/shm", {"emptyDir": {"medium": "Memory", **limit}}  # noqa: S108
        for index, volume in enumerate(spec.spill):
            volumes[f"spill-{index}"] = volume.path, volume.source
    return volumes


def volumes_of(spec: ClusterSpec, found: Volumes) -> list[Manifest]:
    """Return the volumes of a pod; those of claims are in no pod's template."""
    own = [
        {"name": name, **source}
        for name, (_, source) in found.items()
        if "volumeClaimTemplate" not in source
    ]
    return own + [dict(volume) for volume, _ in spec.volumes]


def mounts_of(spec: ClusterSpec, found: Volumes) -> list[Manifest]:
    """Return where a container has them."""
    own = [
        {"name": name, "mountPath": path} | ({"readOnly": True} if "secret" in source else {})
        for name, (path, source) in found.items()
    ]
    return own + [dict(mount) for _, mount in spec.volumes]


def claims(spec: ClusterSpec) -> list[Manifest]:
    """Return the templates of claims for spilled results."""
    return [
        {
            "metadata": {"name": f"spill-{index}", "labels": selector(spec)},
            "spec": dict(volume.source["volumeClaimTemplate"]),
        }
        for index, volume in enumerate(spec.spill)
        if "volumeClaimTemplate" in volume.source
    ]
