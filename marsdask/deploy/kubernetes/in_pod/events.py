"""Events about pods, which a supervisor writes for ``kubectl describe pod``.

Kubernetes knows when a container ends, and not that a worker was lost, or that its results are
safe. What the supervisor cannot write, for it may not or Kubernetes is away, is dropped: its log
has it.
"""

from __future__ import annotations

import logging
import math
import os
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from dask.utils import format_bytes
from distributed.diagnostics.plugin import SchedulerPlugin

from ..client import KubernetesError, Manifest, path_of
from .account import PodAccount

logger: Final = logging.getLogger(__name__)

#: The variable with the identity of this process's pod.
UID_VARIABLE: Final = "MARS_K8S_POD_UID"

#: Seconds for which events of one pod and reason are counted instead of written again.
_INTERVAL: Final = 60.0

#: Events that wait to be written, and workers that have left and of which some may follow.
_WAITING, _LEFT = 100, 100

#: Each reason, and whether it is a warning.
REASONS: Final = {
    "WorkerLost": True,
    "WorkerRestarted": True,
    "WorkerRetired": False,
    "CannotRetire": True,
    "CannotRescale": True,
    "SupervisorActive": False,
    "SupervisorDeposed": True,
}


@dataclass(frozen=True)
class Pod:
    """A pod, as an event refers to it."""

    name: str
    uid: str | None = None


class PodEvents(SchedulerPlugin):
    """Writes events about the pods of ``supervisor`` and of its workers.

    Parameters
    ----------
    account : PodAccount
        The account that writes them.
    own : Pod
        The supervisor's pod.
    clock : callable
        Returns seconds.
    """

    name = "marsdask-pod-events"

    def __init__(
        self, account: PodAccount, own: Pod, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._account, self._own, self._clock = account, own, clock
        self._pods: dict[str, Pod] = {}
        """The pods of workers by their addresses."""
        self._left: deque[str] = deque()
        self._told: dict[tuple[str, str], tuple[float, int]] = {}
        """When an event was written last, and how many were not since."""
        self._waiting: queue.Queue[Manifest] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._refused = False

    @classmethod
    def in_cluster(cls, environ: Mapping[str, str] = os.environ) -> PodEvents | None:
        """Return the writer of this pod, ``None`` where nobody may write events."""
        uid, account = environ.get(UID_VARIABLE), PodAccount.in_cluster(environ)
        if not uid or account is None:
            return None
        return cls(account, Pod(account.pod, uid))

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Remember the pod of a worker."""
        report = scheduler.nodes.told.get(worker, {})
        if (name := report.get("k8s_pod_name")) is not None:
            self._pods[worker] = Pod(name, report.get("k8s_pod_uid"))

    def remove_worker(self, scheduler: Any, worker: str, **options: Any) -> None:
        """Forget it, but not at once: the end of its retirement follows."""
        self._left.append(worker)
        if len(self._left) > _LEFT:
            former = self._left.popleft()
            if former not in scheduler.workers:
                self._pods.pop(former, None)

    def log_event(self, topic: str, msg: Any) -> None:
        """Write what distributed and the supervisor record."""
        if not isinstance(msg, Mapping):
            return
        action = msg.get("action")
        if topic == "worker-restart-memory":
            memory = format_bytes(msg["rss"])
            self._of_worker("WorkerRestarted", msg["worker"], f"it used {memory} of memory")
        elif topic == "all" and action == "remove-worker" and not msg["expected"]:
            self._of_worker("WorkerLost", msg["worker"], _loss(msg))
        elif topic == "all" and action == "retire-workers":
            for address in msg["retired"]:
                self._of_worker("WorkerRetired", address, "its results are on other workers")
            for address in msg["could-not-retire"]:
                why = "no other worker has room for its results"
                self._of_worker("CannotRetire", address, why)
        elif topic == "supervisor" and action == "activated":
            self._tell("SupervisorActive", self._own, f"it is active, with epoch {msg['epoch']}")
        elif topic == "supervisor" and action == "deposed":
            self._tell("SupervisorDeposed", self._own, f"it steps down: {msg['reason']}")
        elif topic == "supervisor" and action == "cannot-rescale":
            self._tell("CannotRescale", self._own, f"the number of workers stays: {msg['reason']}")

    def _of_worker(self, reason: str, address: str, message: str) -> None:
        if (pod := self._pods.get(address)) is not None:
            self._tell(reason, pod, f"worker {address}: {message}")

    def _tell(self, reason: str, pod: Pod, message: str) -> None:
        """Let an event be written, unless one of this pod and reason has just been."""
        now = self._clock()
        last, skipped = self._told.get((pod.name, reason), (-math.inf, 0))
        if self._refused:
            return
        if now - last < _INTERVAL:
            self._told[pod.name, reason] = last, skipped + 1
            return
        self._told[pod.name, reason] = now, 0
        try:
            self._waiting.put_nowait(self._event(reason, pod, message, skipped + 1))
        except queue.Full:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="pod-events", daemon=True)
            self._thread.start()

    def _event(self, reason: str, pod: Pod, message: str, count: int) -> Manifest:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        subject = {"apiVersion": "v1", "kind": "Pod", "name": pod.name}
        subject["namespace"] = self._account.namespace
        if pod.uid is not None:  # by which kubectl describe finds it
            subject["uid"] = pod.uid
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{pod.name}.{uuid.uuid4().hex[:16]}"},
            "involvedObject": subject,
            "reason": reason,
            "message": message[:1024],
            "type": "Warning" if REASONS[reason] else "Normal",
            "count": count,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": "marsdask-supervisor"},
            "reportingComponent": "marsdask-supervisor",
            "reportingInstance": self._own.name,
        }

    def _write(self) -> None:
        path = path_of("v1", "Event", self._account.namespace)
        while not self._refused:
            event = self._waiting.get()
            try:
                self._account.request("POST", path, event)
            except KubernetesError as error:
                self._refused = True
                logger.info("no more events of pods: %s", error)
            except OSError as error:
                logger.info("an event of the pod %s is lost: %s", event["metadata"]["name"], error)


def _loss(msg: Mapping[str, Any]) -> str:
    """Return what was lost with a worker."""
    again, scattered = len(msg["lost-computed-tasks"]), len(msg["lost-scattered-tasks"])
    words = "it has ended, or does not answer"
    words += f"; {again} results are computed again" if again else ""
    return words + (f"; {scattered} scattered results are lost" if scattered else "")
