"""The templates of pods: commands, environment, probes, volumes, resources and rights."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final

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

#: Seconds for a pod to start, for instance to wait for supervisors: 600 probes of one second.
_STARTUP: Final = {"periodSeconds": 1, "failureThreshold": 600, "timeoutSeconds": 5}
_READY: Final = {"periodSeconds": 5, "failureThreshold": 3, "timeoutSeconds": 5}
_ALIVE: Final = {"periodSeconds": 10, "failureThreshold": 6, "timeoutSeconds": 10}


def labels(spec: ClusterSpec, role: str | None = None) -> dict[str, str]:
    """Return the labels of an object: of the whole cluster, or of one role."""
    found = {
        "app.kubernetes.io/name": "marsdask",
        INSTANCE: spec.name,
        "app.kubernetes.io/part-of": "marsdask",
        "app.kubernetes.io/managed-by": "marsdask",
    }
    return found if role is None else found | {COMPONENT: role, SERVICE_TYPE: f"mars{role}"}


def selector(spec: ClusterSpec, role: str | None = None) -> dict[str, str]:
    """Return the labels that select pods; they never change."""
    found = {INSTANCE: spec.name}
    return found if role is None else found | {COMPONENT: role}


def template(spec: ClusterSpec, role: str) -> Manifest:
    """Return the template of the pods of a role."""
    of_role = _roles(spec)[role]
    volumes = [*_volumes(spec, role), *(dict(volume) for volume, _ in spec.volumes)]
    pod: Manifest = {
        "serviceAccountName": spec.object_name("supervisor" if role == "supervisor" else "pod"),
        "automountServiceAccountToken": role == "supervisor",
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": spec.grace if role == "worker" else 30,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": spec.user,
            "runAsGroup": spec.user,
            "fsGroup": spec.user,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(spec, role, of_role)],
        "volumes": volumes,
    }
    if spec.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in spec.image_pull_secrets]
    return {"metadata": {"labels": {**of_role.labels, **labels(spec, role)}}, "spec": pod}


def _roles(spec: ClusterSpec) -> dict[str, RoleSpec]:
    found = {"supervisor": spec.supervisor, "worker": spec.worker}
    return found if spec.web is None else found | {"web": spec.web}


def _container(spec: ClusterSpec, role: str, of_role: RoleSpec) -> Manifest:
    found: Manifest = {
        "name": CONTAINER,
        "image": spec.image,
        "imagePullPolicy": spec.image_pull_policy,
        "command": ["python", "-m", f"marsdask.deploy.kubernetes.{role}"],
        "args": _arguments(spec, role, of_role),
        "workingDir": "/tmp",  # noqa: S108 - a volume of the pod's own
        "env": _environment(spec, role, of_role),
        "ports": _ports(spec, role, of_role),
        "resources": _resources(of_role),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [*_mounts(spec, role), *(dict(mount) for _, mount in spec.volumes)],
        **_probes(spec, role),
    }
    if (hook := _pre_stop(spec, role)) is not None:
        found["lifecycle"] = {"preStop": {"exec": {"command": hook}}}
    return found


def _arguments(spec: ClusterSpec, role: str, of_role: RoleSpec) -> list[str]:
    found = ["-p", str(spec.service.port if role == "web" else of_role.port)]
    if role == "supervisor":
        found += ["-w", str(spec.service.port)]
    if spec.tls:
        for option, name in (
            ("--tls-ca-file", "ca.crt"),
            ("--tls-cert", "tls.crt"),
            ("--tls-key", "tls.key"),
        ):
            found += [option, f"{TLS_FOLDER}/{name}"]
    return found


def _environment(spec: ClusterSpec, role: str, of_role: RoleSpec) -> list[Manifest]:
    """Return variables under Mars's names; secrets are in files."""
    fields = {
        "MARS_K8S_POD_NAME": "metadata.name",
        "MARS_K8S_POD_NAMESPACE": "metadata.namespace",
        "MARS_K8S_POD_IP": "status.podIP",
        "MARS_CONTAINER_IP": "status.podIP",
    }
    detail = {"cluster": {"supervisor": spec.supervisors}, "task": {"type": role}}
    values = {
        "HOME": "/tmp",  # noqa: S108 - a volume of the pod's own
        "MARS_CLUSTER_DETAIL": json.dumps(detail),
        "MARS_CPU_TOTAL": str(of_role.cores),
        "MARS_CPU_USE_PROCESS_STAT": "1",
        "MARS_MEM_USE_CGROUP_STAT": "1",
        "MARS_MEMORY_TOTAL": str(of_role.memory),
        "MARS_K8S_SERVICE_NAME": spec.service.name,
        "MARS_K8S_SERVICE_PORT": str(of_role.port),
        "MKL_NUM_THREADS": str(of_role.cores),
    }
    if of_role.modules:
        values["MARS_LOAD_MODULES"] = ",".join(of_role.modules)
    if role == "worker":
        values |= _worker_values(spec)
    elif spec.token:
        values["MARS_WEB_TOKEN_FILE"] = f"{TOKEN_FOLDER}/token"
    if role == "supervisor":
        values["MARS_K8S_WORKLOAD"] = f"{spec.workload_kind}/{spec.object_name('worker')}"
    values |= of_role.env
    return [
        *(
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in fields.items()
        ),
        *({"name": name, "value": value} for name, value in values.items()),
    ]


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


def _resources(of_role: RoleSpec) -> Manifest:
    requests = {"cpu": _quantity(of_role.cpu), "memory": str(of_role.memory)}
    limits: dict[str, str] = {}
    if of_role.limit_ratio is not None:
        limits = {"cpu": requests["cpu"], "memory": str(int(of_role.memory * of_role.limit_ratio))}
    if of_role.gpu:
        limits["nvidia.com/gpu"] = str(of_role.gpu)
    return {"requests": requests, "limits": limits} if limits else {"requests": requests}


def _quantity(millicores: int) -> str:
    whole, rest = divmod(millicores, 1000)
    return f"{millicores}m" if rest else str(whole)


def _probes(spec: ClusterSpec, role: str) -> Manifest:
    if role == "worker":
        port, alive, scheme = "readiness", "/live", "HTTP"
    else:
        port, alive, scheme = "web", "/health", "HTTPS" if spec.tls else "HTTP"
    health = {"httpGet": {"path": "/health", "port": port, "scheme": scheme}}
    if role == "web":
        # It answers for supervisors; a restart would not help if there is none.
        living: Manifest = {"tcpSocket": {"port": port}}
    else:
        living = {"httpGet": {"path": alive, "port": port, "scheme": scheme}}
    return {
        "startupProbe": health | _STARTUP,
        "readinessProbe": health | _READY,
        "livenessProbe": living | _ALIVE,
    }


def _pre_stop(spec: ClusterSpec, role: str) -> list[str] | None:
    """Return the hook of a pod that ends: a worker moves its results first."""
    retire = ["python", "-m", "marsdask.deploy.kubernetes.probe", "retire"]
    if role != "worker":
        return list(spec.pre_stop) or None
    if not spec.pre_stop:
        return retire
    return ["/bin/sh", "-c", f"{shlex.join(spec.pre_stop)}; {shlex.join(retire)}"]


def _named(spec: ClusterSpec, role: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return our own volumes: {name: (path, source)}."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {
        "tmp": ("/tmp", {"emptyDir": {}})  # noqa: S108
    }
    if spec.tls:
        secret = {"secretName": spec.object_name("tls"), "defaultMode": 0o440}
        found["tls"] = TLS_FOLDER, {"secret": secret}
    if spec.token and role != "worker":
        secret = {"secretName": spec.object_name("token"), "defaultMode": 0o440}
        found["token"] = TOKEN_FOLDER, {"secret": secret}
    if role == "worker":
        limit = {"sizeLimit": str(spec.cache or spec.worker.memory // 2)}
        found["shared"] = "/dev/shm", {"emptyDir": {"medium": "Memory", **limit}}  # noqa: S108
        for index, volume in enumerate(spec.spill):
            found[f"spill-{index}"] = volume.path, volume.source
    return found


def _volumes(spec: ClusterSpec, role: str) -> list[Manifest]:
    return [
        {"name": name, **source}
        for name, (_, source) in _named(spec, role).items()
        if "volumeClaimTemplate" not in source
    ]


def _mounts(spec: ClusterSpec, role: str) -> list[Manifest]:
    return [
        {"name": name, "mountPath": path} | ({"readOnly": True} if "secret" in source else {})
        for name, (path, source) in _named(spec, role).items()
    ]


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
