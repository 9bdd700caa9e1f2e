"""Changes the number of worker pods, from inside a supervisor's pod, with its service account."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from marsdask.scheduler.cluster.scaling import CannotScale

from ..client import KubernetesError, path_of
from .account import PodAccount

#: The variable with the kind and the name of the workers' workload.
WORKLOAD_VARIABLE: Final = "MARS_K8S_WORKLOAD"

#: Pods with a low cost are ended first.
_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


@dataclass
class PodScaler:
    """Scales a workload: a StatefulSet ends its last pods, others those that are told."""

    kind: str
    name: str
    account: PodAccount
    _ending: list[str] = field(default_factory=list)

    @classmethod
    def in_cluster(cls, environ: Mapping[str, str] = os.environ) -> PodScaler | None:
        """Return the scaler of this pod's cluster, ``None`` outside of one."""
        kind, sign, name = environ.get(WORKLOAD_VARIABLE, "").partition("/")
        account = PodAccount.in_cluster(environ)
        return None if not sign or account is None else cls(kind, name, account)

    async def count(self) -> int:
        """Return the number of pods that are asked for."""
        try:
            scale = await asyncio.to_thread(self.account.request, "GET", self._path())
        except KubernetesError as error:
            raise CannotScale(str(error)) from error
        except OSError as error:
            raise self._unanswered(error) from error
        count: int = scale["spec"]["replicas"]
        return count

    async def leaving(self, count: int, hosts: Collection[str]) -> Collection[str]:
        """Return the pods that end when ``count`` of them remain."""
        if self.kind == "StatefulSet":
            pattern = re.compile(re.escape(self.name) + r"-(\d+)")
            matches = [(name, pattern.fullmatch(name)) for name in hosts]
            return [name for name, match in matches if match and int(match[1]) >= count]
        self._ending = sorted(hosts)[count:]
        return self._ending

    async def scale(self, count: int) -> None:
        """Set the number of pods."""
        await asyncio.to_thread(self._scale, count)

    def _scale(self, count: int) -> None:
        try:
            for pod in self._ending:
                annotations = {"metadata": {"annotations": {_COST: "-1000"}}}
                path = path_of("v1", "Pod", self.account.namespace, pod)
                self.account.request("PATCH", path, annotations)
            self.account.request("PATCH", self._path(), {"spec": {"replicas": count}})
        except KubernetesError as error:
            raise CannotScale(str(error)) from error
        except OSError as error:
            raise self._unanswered(error) from error
        finally:
            self._ending = []

    def _unanswered(self, error: OSError) -> CannotScale:
        return CannotScale(f"no answer from Kubernetes at {self.account.server}: {error}")

    def _path(self) -> str:
        version = "v1" if self.kind == "ReplicationController" else "apps/v1"
        return path_of(version, self.kind, self.account.namespace, self.name, "scale")
