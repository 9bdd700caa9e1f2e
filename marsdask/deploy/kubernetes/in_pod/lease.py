"""A Lease of Kubernetes that decides which supervisor is active.

Only the Lease's version counts, which changes with each renewal: each supervisor measures by its
own clock for how long it has seen the same one. Times in the Lease are for people.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Generator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar

from marsdask.scheduler.cluster.arbiter import elapsed

from ..client import AlreadyExists, KubernetesError, Manifest, path_of
from .account import PodAccount

T = TypeVar("T")

#: Questions to Kubernetes: ``None`` reads the Lease, and all else is a change to it.
Questions = Generator[Manifest | None, Manifest, T]

#: The group and version of Leases, and the variable with the name of one.
_VERSION: Final = "coordination.k8s.io/v1"
LEASE_VARIABLE: Final = "MARS_K8S_LEASE"

#: The annotation with the epoch of the holder.
_EPOCH: Final = "marsdask/epoch"

#: Attempts to renew a Lease that somebody else changes.
_ATTEMPTS: Final = 3


class LeaseArbiter:
    """Grants tenures by a Lease that exists.

    A holder that has not renewed it for two thirds of ``patience`` seconds stops; others take it
    once they have seen the same version for ``patience``. A holder that is said to have ended may
    only be cut off, so this makes no difference.
    """

    def __init__(
        self,
        account: PodAccount,
        name: str,
        patience: float,
        clock: Callable[[], float] = elapsed,
    ) -> None:
        self.lasts = patience * 2 / 3
        self._account = account
        self._path = path_of(_VERSION, "Lease", account.namespace, name)
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._renewed: Manifest | None = None
        """The Lease after its last change by this process."""
        self._seen: tuple[str | None, float] = None, -math.inf
        """The version that was read last, and when it was read first."""

    @classmethod
    def in_cluster(
        cls, patience: float, environ: Mapping[str, str] = os.environ
    ) -> LeaseArbiter | None:
        """Return the arbiter of this pod's cluster, ``None`` if it has none."""
        name, account = environ.get(LEASE_VARIABLE), PodAccount.in_cluster(environ)
        return None if not name or account is None else cls(account, name, patience)

    def take(self, holder: str, epoch: int, *, ended: str | None = None) -> int | None:
        """Give the tenure to a supervisor, see :class:`~scheduler.cluster.arbiter.Arbiter`."""
        return self._ask(self.taking(holder, epoch))

    def renew(self, holder: str, epoch: int) -> bool:
        """Renew a tenure."""
        return self._ask(self.renewing(holder, epoch))

    def release(self, holder: str) -> None:
        """End a tenure."""
        self._ask(self.releasing(holder))

    def taking(self, holder: str, epoch: int) -> Questions[int | None]:
        """Ask for the tenure; return its epoch, ``None`` while another one renews it."""
        lease = yield None
        version = lease["metadata"]["resourceVersion"]
        if version != self._seen[0]:
            self._seen = version, self._clock()
        silent = self._clock() - self._seen[1] >= self._patience
        if _holder(lease) not in ("", self._name(holder)) and not silent:
            return None
        granted = max(epoch, _epoch(lease) + 1)
        try:
            # Kubernetes refuses the change if another version has followed the one that was read.
            self._renewed = yield self._change(lease, holder, granted)
        except AlreadyExists:
            return None
        return granted

    def renewing(self, holder: str, epoch: int) -> Questions[bool]:
        """Renew the tenure; return whether the supervisor has it."""
        lease = self._renewed if self._renewed is not None else (yield None)
        for _ in range(_ATTEMPTS):
            if _holder(lease) != self._name(holder):
                return False
            try:
                self._renewed = yield self._change(lease, holder, max(epoch, _epoch(lease)))
            except AlreadyExists:  # of the version that was read: an answer was lost, or somebody
                lease = yield None  # has changed something
            else:
                return True
        raise OSError(f"{self._path} changes all the time")

    def releasing(self, holder: str) -> Questions[None]:
        """End the tenure."""
        lease = yield None
        if _holder(lease) == self._name(holder):
            metadata = {"resourceVersion": lease["metadata"]["resourceVersion"]}
            try:
                yield {"metadata": metadata, "spec": {"holderIdentity": ""}}
            except AlreadyExists:
                return

    def _name(self, holder: str) -> str:
        """Return the holder with the name of its pod, for people."""
        return f"{self._account.pod}_{holder}"

    def _change(self, lease: Manifest, holder: str, epoch: int) -> Manifest:
        """Return the change that renews a version of the Lease, or gives it to another holder."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec: Manifest = {
            "holderIdentity": self._name(holder),
            "leaseDurationSeconds": math.ceil(self._patience),
            "renewTime": now,
        }
        if _holder(lease) != spec["holderIdentity"]:
            before = (lease.get("spec") or {}).get("leaseTransitions") or 0
            spec |= {"acquireTime": now, "leaseTransitions": before + 1}
        metadata = {
            "resourceVersion": lease["metadata"]["resourceVersion"],
            "annotations": {_EPOCH: str(epoch)},
        }
        return {"metadata": metadata, "spec": spec}

    def _ask(self, questions: Questions[T]) -> T:
        """Send questions one by one, and return what they found out."""
        with self._lock:  # a question that was given up may still wait for its answer
            step: Callable[[], Any] = partial(next, questions)
            while True:
                try:
                    change = step()
                except StopIteration as end:
                    result: T = end.value
                    return result
                try:
                    step = partial(questions.send, self._answer(change))
                except AlreadyExists as error:
                    step = partial(questions.throw, error)

    def _answer(self, change: Manifest | None) -> Manifest:
        method = "GET" if change is None else "PATCH"
        try:
            answer: Manifest = self._account.request(method, self._path, change, self.lasts / 4)
        except AlreadyExists:
            raise
        except KubernetesError as error:
            raise OSError(str(error)) from error
        return answer


def _holder(lease: Manifest) -> str:
    return (lease.get("spec") or {}).get("holderIdentity") or ""


def _epoch(lease: Manifest) -> int:
    return int((lease["metadata"].get("annotations") or {}).get(_EPOCH, 0))
