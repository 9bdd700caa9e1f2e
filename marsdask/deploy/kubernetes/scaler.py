"""Changes the number of worker pods, from inside a supervisor's pod, with its service account."""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from marsdask.scheduler.cluster.scaling import CannotScale

from .client import KubernetesError, path_of, raise_for

#: Where Kubernetes mounts the token of a pod's account; the variable is for tests.
_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_ACCOUNT_VARIABLE: Final = "MARS_K8S_SERVICE_ACCOUNT"

#: The variable with the kind and the name of the workers' workload.
WORKLOAD_VARIABLE: Final = "MARS_K8S_WORKLOAD"

#: Pods with a low cost are ended first.
_COST: Final = "controller.kubernetes.io/pod-deletion-cost"

_PATIENCE: Final = 30.0


@dataclass
class PodScaler:
    """Scales a workload: a StatefulSet ends its last pods, others those that are told."""

    kind: str
    name: str
    namespace: str
    server: str
    account: str = _ACCOUNT
    _ending: list[str] = field(default_factory=list)

    @classmethod
    def in_cluster(cls, environ: Mapping[str, str] = os.environ) -> PodScaler | None:
        """Return the scaler of this pod's cluster, ``None`` outside of one."""
        kind, sign, name = environ.get(WORKLOAD_VARIABLE, "").partition("/")
        host = environ.get("KUBERNETES_SERVICE_HOST")
        if not sign or not host:
            return None
        host = f"[{host}]" if ":" in host else host
        port = environ.get("KUBERNETES_SERVICE_PORT", "443")
        account = environ.get(_ACCOUNT_VARIABLE, _ACCOUNT)
        namespace = environ.get("MARS_K8S_POD_NAMESPACE", "default")
        return cls(kind, name, namespace, f"https://{host}:{port}", account)

    async def count(self) -> int:
        """Return the number of pods that are asked for."""
        try:
            found = await asyncio.to_thread(self._request, "GET", self._path())
        except KubernetesError as error:
            raise CannotScale(str(error)) from error
        except OSError as error:
            raise CannotScale(f"no answer from Kubernetes at {self.server}: {error}") from error
        count: int = found["spec"]["replicas"]
        return count

    async def leaving(self, count: int, hosts: Collection[str]) -> Collection[str]:
        """Return the pods that end when ``count`` of them remain."""
        if self.kind == "StatefulSet":
            pattern = re.compile(re.escape(self.name) + r"-(\d+)")
            matches = [(name, pattern.fullmatch(name)) for name in hosts]
            return [name for name, found in matches if found and int(found[1]) >= count]
        self._ending = sorted(hosts)[count:]
        return self._ending

    async def scale(self, count: int) -> None:
        """Set the number of pods."""
        await asyncio.to_thread(self._scale, count)

    def _scale(self, count: int) -> None:
        try:
            for pod in self._ending:
                annotations = {"metadata": {"annotations": {_COST: "-1000"}}}
                path = path_of("v1", "Pod", self.namespace, pod)
                self._request("PATCH", path, annotations)
            self._request("PATCH", self._path(), {"spec": {"replicas": count}})
        except KubernetesError as error:
            raise CannotScale(str(error)) from error
        except OSError as error:
            raise CannotScale(f"no answer from Kubernetes at {self.server}: {error}") from error
        finally:
            self._ending = []

    def _path(self) -> str:
        version = "v1" if self.kind == "ReplicationController" else "apps/v1"
        return path_of(version, self.kind, self.namespace, self.name, "scale")

    def _request(self, method: str, path: str, change: dict[str, Any] | None = None) -> Any:
        with open(f"{self.account}/token", encoding="utf-8") as file:  # it is renewed now and then
            token = file.read().strip()
        request = urllib.request.Request(  # noqa: S310 - https
            self.server + path,
            data=None if change is None else json.dumps(change).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/merge-patch+json",
            },
        )
        context = ssl.create_default_context(cafile=f"{self.account}/ca.crt")
        handlers = [
            urllib.request.ProxyHandler({}),  # inside the cluster
            urllib.request.HTTPSHandler(context=context),
        ]
        try:
            opener = urllib.request.build_opener(*handlers)
            with opener.open(request, timeout=_PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise_for(error.code, error.read(), method, path, None)
