"""The objects of a Kubernetes in this process: versions, names, owners, quotas, and who watches."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

#: What the server knows: {plural: (path of its version, kind, whether it is in namespaces)}.
RESOURCES = {
    "namespaces": ("/api/v1", "Namespace", False),
    "nodes": ("/api/v1", "Node", False),
    "pods": ("/api/v1", "Pod", True),
    "configmaps": ("/api/v1", "ConfigMap", True),
    "secrets": ("/api/v1", "Secret", True),
    "serviceaccounts": ("/api/v1", "ServiceAccount", True),
    "services": ("/api/v1", "Service", True),
    "persistentvolumeclaims": ("/api/v1", "PersistentVolumeClaim", True),
    "events": ("/api/v1", "Event", True),
    "resourcequotas": ("/api/v1", "ResourceQuota", True),
    "replicationcontrollers": ("/api/v1", "ReplicationController", True),
    "deployments": ("/apis/apps/v1", "Deployment", True),
    "statefulsets": ("/apis/apps/v1", "StatefulSet", True),
    "roles": ("/apis/rbac.authorization.k8s.io/v1", "Role", True),
    "rolebindings": ("/apis/rbac.authorization.k8s.io/v1", "RoleBinding", True),
    "poddisruptionbudgets": ("/apis/policy/v1", "PodDisruptionBudget", True),
    "networkpolicies": ("/apis/networking.k8s.io/v1", "NetworkPolicy", True),
    "ingresses": ("/apis/networking.k8s.io/v1", "Ingress", True),
    "leases": ("/apis/coordination.k8s.io/v1", "Lease", True),
    "marsjobs": ("/apis/training.kubedl.io/v1alpha1", "MarsJob", True),
}

#: What keeps an object until all that it owns has ended.
FOREGROUND = "foregroundDeletion"

#: Kinds whose status is changed as a part of its own only.
_STATUS_APART = ("marsjobs", "pods", "services", "statefulsets", "poddisruptionbudgets")

#: What the server says of names.
_BAD_NAME = (
    'Invalid value: "%s": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric '
    "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
    "'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def group_of(plural: str) -> str:
    """Return the API group of a kind, empty for the oldest."""
    parts = RESOURCES[plural][0].split("/")
    return parts[2] if parts[1] == "apis" else ""


def qualified(name: str, plural: str) -> str:
    """Return a name of a kind with its group, as messages have it."""
    group = group_of(plural)
    return f"{name}.{group}" if group else name


class Denied(Exception):
    """A request is refused, with a status of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Change:
    """One step in the history of objects of one kind."""

    version: int
    plural: str
    type: str
    object: Object


def merged(old: Any, change: Any) -> Any:
    """Apply a JSON merge patch."""
    if not isinstance(change, Mapping):
        return change
    result = dict(old) if isinstance(old, Mapping) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def has_labels(found: Object, selector: str) -> bool:
    """Say whether an object has the labels of a selector of equalities."""
    labels = found["metadata"].get("labels") or {}
    wanted = (part.split("=", 1) for part in selector.split(",") if part)
    return all(labels.get(name) == value for name, value in wanted)


def has_fields(found: Object, selector: str) -> bool:
    """Say whether an object has the fields of a selector."""
    for part in filter(None, selector.split(",")):
        path, _, value = part.partition("=")
        at: Any = found
        for name in path.split("."):
            at = at.get(name, {}) if isinstance(at, Mapping) else {}
        if at != value:
            return False
    return True


class Store:
    """Objects, by plural name of their kind, namespace and name."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str, str], Object] = {}
        self.history: list[Change] = []
        self.changed = threading.Condition(threading.RLock())
        self._versions = itertools.count(1)
        self._ports = itertools.count(30_000 + uuid.uuid4().int % 2000)
        self.version = 0

    def list(
        self, plural: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[Object]:
        """Return copies of the objects of a kind."""
        with self.changed:
            found = [
                one
                for (kind, space, _), one in self._objects.items()
                if kind == plural and namespace in ("", space)
            ]
            return copy.deepcopy(
                [one for one in found if has_labels(one, labels) and has_fields(one, fields)]
            )

    def get(self, plural: str, namespace: str, name: str) -> Object:
        """Return a copy of an object."""
        with self.changed:
            try:
                return copy.deepcopy(self._objects[plural, namespace, name])
            except KeyError:
                raise Denied(404, f'{qualified(plural, plural)} "{name}" not found') from None

    current = get

    def create(self, plural: str, namespace: str, content: Object) -> Object:
        """Create an object, as far as the rules of the real server that matter here allow it."""
        with self.changed:
            made = copy.deepcopy(content)
            metadata = made["metadata"]
            name = metadata.get("name") or metadata["generateName"] + uuid.uuid4().hex[:5]
            self._check(plural, namespace, name, made)
            metadata |= {"name": name, "uid": str(uuid.uuid4())}
            metadata |= {"namespace": namespace} if namespace else {}
            if plural in _STATUS_APART:
                made["status"] = {}
            made.setdefault("status", {})
            if plural == "services":
                self._allocate(name, made["spec"])
            if plural == "marsjobs":  # pruned, for the definition does not have it
                made["spec"].pop("memoryTuningPolicy", None)
            return self._put(plural, "ADDED", made)

    def _check(self, plural: str, namespace: str, name: str, made: Object) -> None:
        kind = qualified(RESOURCES[plural][1], plural)
        if not _NAME.fullmatch(name) or len(name) > 63:
            raise Denied(422, f'{kind} "{name}" is invalid: metadata.name: {_BAD_NAME % name}')
        if namespace:
            space = self._objects.get(("namespaces", "", namespace))
            if space is None:
                raise Denied(404, f'namespaces "{namespace}" not found')
            if "deletionTimestamp" in space["metadata"]:
                raise Denied(
                    403,
                    f'{qualified(plural, plural)} "{name}" is forbidden: unable to create new '
                    f"content in namespace {namespace} because it is being terminated",
                )
        if (plural, namespace, name) in self._objects:
            raise Denied(409, f'{qualified(plural, plural)} "{name}" already exists')
        template = made.get("spec", {}).get("template") if plural != "marsjobs" else None
        if template is not None:
            wanted = made["spec"]["selector"]
            wanted = wanted.get("matchLabels", wanted)
            if not wanted.items() <= template["metadata"]["labels"].items():
                labels = json.dumps(template["metadata"]["labels"], separators=(",", ":"))
                raise Denied(
                    422,
                    f'{kind} "{name}" is invalid: spec.template.metadata.labels: Invalid value: '
                    f"map[string]string{labels}: `selector` does not match template `labels`",
                )
        if plural == "pods":
            self._check_quota(namespace, name)

    def _check_quota(self, namespace: str, name: str) -> None:
        for quota in self.list("resourcequotas", namespace):
            most = int(quota["spec"]["hard"]["pods"])
            if len(self.list("pods", namespace)) >= most:
                title = quota["metadata"]["name"]
                message = (
                    f'pods "{name}" is forbidden: exceeded quota: {title}, limited: pods={most}'
                )
                raise Denied(403, message)

    def _allocate(self, name: str, spec: Object) -> None:
        if spec.get("type") in ("NodePort", "LoadBalancer"):
            for index, port in enumerate(spec["ports"]):
                number = port.setdefault("nodePort", next(self._ports))
                if not 30_000 <= number <= 32_767:
                    raise Denied(
                        422,
                        f'Service "{name}" is invalid: spec.ports[{index}].nodePort: '
                        f"Invalid value: {number}: provided port is not in the valid range. "
                        "The range of valid ports is 30000-32767",
                    )

    def patch(
        self, plural: str, namespace: str, name: str, change: Object, part: str = ""
    ) -> Object:
        """Merge a change into an object, its status, or its scale."""
        with self.changed:
            old = self.get(plural, namespace, name)
            known = change.get("metadata", {}).get("resourceVersion")
            if known not in (None, old["metadata"]["resourceVersion"]):
                raise Denied(409, f'Operation cannot be fulfilled on {plural} "{name}"')
            if part == "scale":
                change = {"spec": {"replicas": change["spec"]["replicas"]}}
            elif part == "status":
                change = {"status": change["status"]}
            elif plural in _STATUS_APART:
                change = {field: value for field, value in change.items() if field != "status"}
            new = merged(old, change)
            metadata = new["metadata"]
            ended = old["metadata"].get("finalizers") and not metadata.get("finalizers")
            if ended and "deletionTimestamp" in metadata and plural not in ("pods", "namespaces"):
                return self.delete(plural, namespace, name, now=True)
            return new if new == old else self._put(plural, "MODIFIED", new)

    def delete(
        self, plural: str, namespace: str, name: str, *, now: bool = False, foreground: bool = False
    ) -> Object:
        """Delete an object; pods and namespaces are marked, and end later.

        What is deleted in the foreground ends after what it owns.
        """
        with self.changed:
            old = self.get(plural, namespace, name)
            if (plural in ("pods", "namespaces") or foreground) and not now:
                if "deletionTimestamp" in old["metadata"]:
                    return old
                old["metadata"]["deletionTimestamp"] = "2026-11-24T00:00:00Z"
                if foreground:
                    old["metadata"]["finalizers"] = [FOREGROUND]
                if plural == "namespaces":
                    old["status"]["phase"] = "Terminating"
                return self._put(plural, "MODIFIED", old)
            self._put(plural, "DELETED", old)
            del self._objects[plural, namespace, name]
            return old

    def _put(self, plural: str, change: str, new: Object) -> Object:
        self.version = next(self._versions)
        path, kind, _ = RESOURCES[plural]
        new |= {"apiVersion": path.removeprefix("/apis/").removeprefix("/api/"), "kind": kind}
        metadata = new["metadata"]
        metadata["resourceVersion"] = str(self.version)
        self._objects[plural, metadata.get("namespace", ""), metadata["name"]] = new
        self.history.append(Change(self.version, plural, change, copy.deepcopy(new)))
        self.changed.notify_all()
        return copy.deepcopy(new)

    def event(self, owner: Object, reason: str, message: str) -> None:
        """Record an event of an object, once."""
        metadata = owner["metadata"]
        name = f"{metadata['name']}.{reason.lower()}"[:63]
        space = metadata["namespace"]
        involved = {"kind": owner["kind"], "name": metadata["name"], "namespace": space}
        content = {"involvedObject": involved, "reason": reason, "message": message}
        with contextlib.suppress(Denied):  # it is there, or the namespace ends
            self.create("events", space, {"metadata": {"name": name}, **content})

    def wait_beyond(self, version: int, seconds: float) -> None:
        """Wait for a change after a version."""
        with self.changed:
            self.changed.wait_for(lambda: self.version > version, seconds)

    def watch(
        self, since: int, seconds: float, wanted: Callable[[Change], bool]
    ) -> Iterator[Change]:
        """Yield the wanted changes after a version, for some seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            with self.changed:
                self.wait_beyond(since, left)
                found = [change for change in self.history if change.version > since]
            since = found[-1].version if found else since
            yield from filter(wanted, found)
