"""The checked parts of a cluster: counts, resources, names, volumes and ports."""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

#: Ports of Mars's documents: of supervisors and workers, of the web service, and of probes.
SERVICE_PORT, WEB_PORT, READINESS_PORT = 7103, 7104, 15031

#: The image of the documents is Mars's own; ours is built by ``bin/kube-image-tool.sh``.
IMAGE = "marsdask/marsdask:latest"

WorkloadKind = Literal["StatefulSet", "Deployment", "ReplicationController"]
ServiceType = Literal["NodePort", "ClusterIP", "LoadBalancer", "Ingress"]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgtp]?)(?:i?b?)", re.IGNORECASE)
_UNITS: Final = {unit: 1024**power for power, unit in enumerate(["", "k", "m", "g", "t", "p"])}


def memory_bytes(name: str, value: float | str) -> int:
    """Return the bytes of a size: ``4g``, ``4Gi`` and ``4GiB`` are powers of 1024, as in Mars."""
    match = _SIZE.fullmatch(str(value).strip())
    nbytes = 0 if match is None else int(float(match[1]) * _UNITS[match[2].lower()])
    if nbytes <= 0 or isinstance(value, bool):
        raise ValueError(f"invalid {name}: {value!r}; give bytes, or a size such as '4g' or '4Gi'")
    return nbytes


def memory_share(name: str, value: float | str, total: int) -> int:
    """Return the bytes of a size, or of a share of ``total``: ``0.4`` or ``"40%"``."""
    text = str(value).strip()
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return memory_bytes(name, value)
    if 0 < share <= 1:
        return int(share * total)
    if text.endswith("%"):
        raise ValueError(f"invalid {name}: {value!r}; give more than 0% and at most 100%")
    return memory_bytes(name, value)


def millicores(name: str, value: float | str) -> int:
    """Return thousandths of a core: of ``2``, ``0.5`` or ``"500m"``."""
    text = str(value).strip()
    try:
        count = float(text[:-1]) if text.endswith("m") else float(text) * 1000
    except ValueError:
        count = math.nan
    if isinstance(value, bool) or not 1 <= count < math.inf:
        raise ValueError(f"invalid {name}: {value!r}; give a number of cores, such as 2 or '500m'")
    return math.ceil(count)


def dns_label(name: str, value: str, longest: int = 63) -> str:
    """Return a name that Kubernetes accepts, or raise ValueError."""
    if not isinstance(value, str) or not _LABEL.fullmatch(value) or len(value) > longest:
        raise ValueError(
            f"invalid {name}: {value!r}; give at most {longest} lower-case letters, digits and "
            "'-', which begin and end with a letter or digit"
        )
    return value


def new_name(prefix: str) -> str:
    """Return a name that no other cluster has."""
    return f"{prefix}-{uuid.uuid4().hex}"


@dataclass(frozen=True)
class SpillVolume:
    """A directory for results that exceed memory: its path in the pod, and its source."""

    path: str
    source: Mapping[str, Any]
    """A volume's source, such as ``{"emptyDir": {}}``, or ``{"volumeClaimTemplate": spec}``."""


@dataclass(frozen=True)
class RoleSpec:
    """The pods of one role."""

    count: int
    cpu: int
    """Thousandths of a core."""
    memory: int
    limit_ratio: float | None = None
    """The memory limit as a multiple of the request; ``None`` for no limit."""
    modules: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    port: int = SERVICE_PORT
    gpu: int = 0


@dataclass(frozen=True)
class ServiceSpec:
    """How the web service is reached."""

    type: ServiceType = "NodePort"
    name: str = "marsservice"
    port: int = WEB_PORT
    node_port: int | None = None
    host: str | None = None
    """The host of an Ingress, or the one to use instead of a node's."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    ingress_class: str | None = None
    ingress_tls_secret: str | None = None
    """The secret of the certificate that an Ingress shows."""


@dataclass(frozen=True)
class ClusterSpec:
    """A whole cluster."""

    name: str
    namespace: str
    supervisor: RoleSpec
    worker: RoleSpec
    web: RoleSpec | None = None
    """Pods of their own for the web service; without them supervisors serve it."""
    create_namespace: bool = True
    named_here: bool = False
    """Whether the namespace's name was made for this cluster, so that nobody else has it."""
    image: str = IMAGE
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()
    workload_kind: WorkloadKind = "StatefulSet"
    service: ServiceSpec = ServiceSpec()
    tls: bool = True
    token: bool | str = field(default=True, repr=False)
    """Whether the web port has a token, or which one."""
    spill: tuple[SpillVolume, ...] = ()
    cache: int | None = None
    min_cache: int | None = None
    volumes: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...] = ()
    """Other volumes of all pods, with their mounts."""
    pre_stop: tuple[str, ...] = ()
    grace: int = 300
    """Seconds for a worker that ends to move its results."""
    user: int = 1000
    min_workers: int = 1

    @property
    def scheme(self) -> str:
        """The protocol of the web service."""
        return "https" if self.tls else "http"

    @property
    def has_lease(self) -> bool:
        """Whether a Lease decides which supervisor is active."""
        return self.supervisor.count > 1

    def object_name(self, role: str) -> str:
        """Return the name of a role's objects."""
        return f"{self.name}-{role}"

    @property
    def supervisors(self) -> list[str]:
        """The endpoints of all supervisors, in order of precedence."""
        name, pods = self.object_name("supervisor"), self.object_name("pods")
        where = f"{pods}.{self.namespace}.svc:{self.supervisor.port}"
        return [f"{name}-{index}.{where}" for index in range(self.supervisor.count)]
