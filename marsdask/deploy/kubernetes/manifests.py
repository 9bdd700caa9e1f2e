"""The objects of a cluster as manifests: pure functions of a :class:`.ClusterSpec`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

from .pods import Manifest, claims, labels, selector, template
from .spec import ClusterSpec

_ACCOUNTS = ("supervisor", "pod")

#: The annotation of the roots of clusters that ``new_cluster`` has made, and may delete.
MADE_BY: Final = {"marsdask/made-by": "new_cluster"}

#: API groups and plural names of workloads' kinds.
WORKLOADS = {
    "StatefulSet": ("apps/v1", "statefulsets"),
    "Deployment": ("apps/v1", "deployments"),
    "ReplicationController": ("v1", "replicationcontrollers"),
}


def manifests(
    spec: ClusterSpec, *, certificates: Mapping[str, bytes], token: str | None
) -> list[Manifest]:
    """Return all objects of a cluster in the order of their creation.

    The first is the namespace, if it is the cluster's own, and the next the root, which owns all
    others. ``certificates`` are the files of the TLS secret.
    """
    objects = [namespace(spec)] if spec.create_namespace else []
    objects += [root(spec), *secrets(spec, certificates, token)]
    objects += [account(spec, role) for role in _ACCOUNTS]
    objects += [role_of_supervisors(spec), role_binding(spec)]
    objects += [lease(spec)] if spec.has_lease else []
    objects += [headless_service(spec), web_service(spec)]
    if spec.service.type == "Ingress":
        objects.append(ingress(spec))
    objects += [*disruption_budgets(spec), *network_policies(spec)]
    objects.append(_stateful_set(spec, "supervisor", spec.supervisor.count))
    if spec.web is not None:
        objects.append(_deployment(spec, "web", spec.web.count))
    objects.append(workers(spec))
    return objects


def owned(manifest: Manifest, root_object: Mapping[str, Any]) -> Manifest:
    """Return a manifest whose owner is the root, so that the root's end is its end."""
    reference = {
        "apiVersion": root_object["apiVersion"],
        "kind": root_object["kind"],
        "name": root_object["metadata"]["name"],
        "uid": root_object["metadata"]["uid"],
        "blockOwnerDeletion": False,
    }
    metadata = {**manifest["metadata"], "ownerReferences": [reference]}
    return {**manifest, "metadata": metadata}


def _object(
    spec: ClusterSpec,
    version: str,
    kind: str,
    name: str,
    role: str | None = None,
    /,
    **content: Any,
) -> Manifest:
    metadata = {"name": name, "namespace": spec.namespace, "labels": labels(spec, role)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def namespace(spec: ClusterSpec) -> Manifest:
    """Return the cluster's own namespace; its pods keep to the restricted standard."""
    hosts = any("hostPath" in volume.source for volume in spec.spill)
    hosts = hosts or any("hostPath" in volume for volume, _ in spec.volumes)
    standard = {} if hosts else {"pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {
        "name": spec.namespace,
        "labels": {"name": spec.namespace, **labels(spec), **standard},
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def root(spec: ClusterSpec) -> Manifest:
    """Return the object that owns all others, and tells how the cluster was made."""
    data = {
        "image": spec.image,
        "supervisors": ",".join(spec.supervisors),
        "workers": f"{spec.workload_kind}/{spec.object_name('worker')}",
        "service": f"{spec.service.type}/{spec.service.name}",
        "namespace": "own" if spec.create_namespace else "shared",
        "claims": str(len(claims(spec))),
    }
    return _object(spec, "v1", "ConfigMap", spec.name, data=data)


def secrets(
    spec: ClusterSpec, certificates: Mapping[str, bytes], token: str | None
) -> list[Manifest]:
    """Return the secrets of a cluster: its certificates and its token."""
    objects = []
    if spec.tls:
        objects.append(_secret(spec, "tls", certificates))
    if spec.token:
        assert token is not None
        objects.append(_secret(spec, "token", {"token": token.encode()}))
    return objects


def _secret(spec: ClusterSpec, name: str, content: Mapping[str, bytes]) -> Manifest:
    data = {key: base64.b64encode(value).decode() for key, value in content.items()}
    return _object(spec, "v1", "Secret", spec.object_name(name), type="Opaque", data=data)


def account(spec: ClusterSpec, role: str) -> Manifest:
    """Return a service account; only that of supervisors has rights, and a token."""
    own = role == "supervisor"
    name = spec.object_name(role)
    return _object(spec, "v1", "ServiceAccount", name, automountServiceAccountToken=own)


def role_of_supervisors(spec: ClusterSpec) -> Manifest:
    """Return the rights of supervisors: to scale workers, renew their Lease, and write events."""
    version, plural = WORKLOADS[spec.workload_kind]
    scale = {
        "apiGroups": [version.rpartition("/")[0]],
        "resources": [f"{plural}/scale"],
        "resourceNames": [spec.object_name("worker")],
        "verbs": ["get", "patch"],
    }
    rules: list[Manifest] = [scale]
    rules.append({"apiGroups": [""], "resources": ["events"], "verbs": ["create"]})
    if spec.workload_kind != "StatefulSet":
        # Which pods end is told by an annotation of theirs.
        rules.append({"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]})
    if spec.has_lease:
        renew = {"resourceNames": [spec.object_name("supervisor")], "verbs": ["get", "patch"]}
        rules.append({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], **renew})
    group = "rbac.authorization.k8s.io/v1"
    return _object(spec, group, "Role", spec.object_name("supervisor"), rules=rules)


def lease(spec: ClusterSpec) -> Manifest:
    """Return what decides which of several supervisors is active; they fill it in."""
    version, name = "coordination.k8s.io/v1", spec.object_name("supervisor")
    return _object(spec, version, "Lease", name, "supervisor", spec={})


def role_binding(spec: ClusterSpec) -> Manifest:
    """Return who has these rights."""
    name, group = spec.object_name("supervisor"), "rbac.authorization.k8s.io"
    return _object(
        spec,
        f"{group}/v1",
        "RoleBinding",
        name,
        roleRef={"apiGroup": group, "kind": "Role", "name": name},
        subjects=[{"kind": "ServiceAccount", "name": name, "namespace": spec.namespace}],
    )


def headless_service(spec: ClusterSpec) -> Manifest:
    """Return the service that gives each pod a name."""
    content = {
        "clusterIP": "None",
        # Supervisors find each other, and workers wait for them, before they are ready.
        "publishNotReadyAddresses": True,
        "selector": selector(spec),
        "ports": [{"name": "service", "port": spec.supervisor.port}],
    }
    return _object(spec, "v1", "Service", spec.object_name("pods"), spec=content)


def web_service(spec: ClusterSpec) -> Manifest:
    """Return the service of the web port."""
    service = spec.service
    port: Manifest = {"name": "web", "port": service.port, "targetPort": "web"}
    if service.node_port is not None:
        port["nodePort"] = service.node_port
    kind = "ClusterIP" if service.type == "Ingress" else service.type
    content = {"type": kind, "selector": selector(spec, _web_role(spec)), "ports": [port]}
    manifest = _object(spec, "v1", "Service", service.name, "web", spec=content)
    manifest["metadata"]["labels"]["mars/service-name"] = service.name
    if service.annotations and service.type != "Ingress":
        manifest["metadata"]["annotations"] = dict(service.annotations)
    return manifest


def _web_role(spec: ClusterSpec) -> str:
    return "supervisor" if spec.web is None else "web"


def ingress(spec: ClusterSpec) -> Manifest:
    """Return the ingress in front of the web service."""
    service = spec.service
    backend = {"service": {"name": service.name, "port": {"name": "web"}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    content: Manifest = {"rules": [{"host": service.host, "http": {"paths": [path]}}]}
    if service.ingress_class is not None:
        content["ingressClassName"] = service.ingress_class
    if service.ingress_tls_secret is not None:
        content["tls"] = [{"hosts": [service.host], "secretName": service.ingress_tls_secret}]
    manifest = _object(spec, "networking.k8s.io/v1", "Ingress", service.name, "web", spec=content)
    protocol = {"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"} if spec.tls else {}
    # Connections of sessions are open as long as sessions.
    patience = {"nginx.ingress.kubernetes.io/proxy-read-timeout": "86400"}
    manifest["metadata"]["annotations"] = {**protocol, **patience, **service.annotations}
    return manifest


def disruption_budgets(spec: ClusterSpec) -> list[Manifest]:
    """Return what evictions are refused: of the only supervisor, of several workers at once."""
    alone = spec.supervisor.count == 1
    return [
        _budget(spec, "supervisor", 0 if alone else 1),
        _budget(spec, "worker", 1),
    ]


def _budget(spec: ClusterSpec, role: str, most: int) -> Manifest:
    content = {"maxUnavailable": most, "selector": {"matchLabels": selector(spec, role)}}
    name = spec.object_name(role)
    return _object(spec, "policy/v1", "PodDisruptionBudget", name, role, spec=content)


def network_policies(spec: ClusterSpec) -> list[Manifest]:
    """Return who may connect: pods of the cluster to each other, everybody to the web port."""
    inside = [{"from": [{"podSelector": {"matchLabels": selector(spec)}}]}]
    web = [{"ports": [{"port": spec.service.port, "protocol": "TCP"}]}]
    return [
        _policy(spec, "pods", selector(spec), inside),
        _policy(spec, "web", selector(spec, _web_role(spec)), web),
    ]


def _policy(
    spec: ClusterSpec, name: str, pods: Mapping[str, str], rules: list[Manifest]
) -> Manifest:
    content = {
        "podSelector": {"matchLabels": dict(pods)},
        "policyTypes": ["Ingress"],
        "ingress": rules,
    }
    version, kind = "networking.k8s.io/v1", "NetworkPolicy"
    return _object(spec, version, kind, spec.object_name(name), spec=content)


def workers(spec: ClusterSpec) -> Manifest:
    """Return the workload of workers."""
    if spec.workload_kind == "StatefulSet":
        return _stateful_set(spec, "worker", spec.worker.count)
    if spec.workload_kind == "Deployment":
        return _deployment(spec, "worker", spec.worker.count)
    content = {
        "replicas": spec.worker.count,
        "selector": selector(spec, "worker"),
        "template": template(spec, "worker"),
    }
    kind, name = "ReplicationController", spec.object_name("worker")
    return _object(spec, "v1", kind, name, "worker", spec=content)


def _stateful_set(spec: ClusterSpec, role: str, count: int) -> Manifest:
    content: Manifest = {
        "replicas": count,
        "serviceName": spec.object_name("pods"),
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": selector(spec, role)},
        "template": template(spec, role),
    }
    if role == "worker" and (templates := claims(spec)):
        content["volumeClaimTemplates"] = templates
        # Spilled results are of no use to another pod.
        content["persistentVolumeClaimRetentionPolicy"] = {
            "whenDeleted": "Delete",
            "whenScaled": "Delete",
        }
    return _object(spec, "apps/v1", "StatefulSet", spec.object_name(role), role, spec=content)


def _deployment(spec: ClusterSpec, role: str, count: int) -> Manifest:
    content: Manifest = {
        "replicas": count,
        "selector": {"matchLabels": selector(spec, role)},
        "template": template(spec, role),
    }
    return _object(spec, "apps/v1", "Deployment", spec.object_name(role), role, spec=content)
