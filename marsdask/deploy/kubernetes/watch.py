"""Wait for pods, and tell people why they do not come: images, crashes, quotas."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from .client import Forbidden, KubernetesApi, KubernetesError, NotFound, Unavailable
from .pods import COMPONENT, INSTANCE

Manifest = dict[str, Any]

T = TypeVar("T")

#: Seconds after which pods are listed again, and events are looked at.
_ROUND: Final = 5.0

#: Seconds for Kubernetes to come back if there is no deadline, and between two questions.
_AWAY, _PAUSE = 60.0, 0.5

#: Restarts of a container after which waiting is in vain.
_RESTARTS: Final = 3

#: Lines of a pod's log, and events of it, in an error.
_LINES, _EVENTS = 15, 5

#: Later than any time of Kubernetes, and the letters of names that Deployments make.
_LATEST, _HASH = "~", "bcdfghjklmnpqrstvwxz2456789"

#: Reasons to wait that do not pass, and what to do.
_HOPELESS: Final = {
    "ImagePullBackOff": "the image cannot be pulled: check image= and image_pull_secrets=",
    "InvalidImageName": "the name of the image is invalid: check image=",
    "ErrImageNeverPull": "the image is not on the node: check image_pull_policy=",
    "CreateContainerConfigError": "the container cannot be configured",
    "CreateContainerError": "the container cannot be created",
    "RunContainerError": "the container cannot be started: does the image have python?",
}


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod serves, and goes on to."""
    conditions = pod.get("status", {}).get("conditions") or ()
    ready = any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )
    return ready and "deletionTimestamp" not in pod["metadata"]


def trouble(pod: Mapping[str, Any]) -> str | None:
    """Return why a pod will not get ready, if that is sure."""
    for container in pod.get("status", {}).get("containerStatuses") or ():
        state = container.get("state", {}).get("waiting") or {}
        reason = state.get("reason", "")
        if (advice := _HOPELESS.get(reason)) is not None:
            return f"{reason}: {advice} ({state.get('message') or container.get('image')})"
        if not container.get("ready") and container.get("restartCount", 0) >= _RESTARTS:
            last = (container.get("lastState") or {}).get("terminated") or {}
            code = last.get("exitCode", "unknown")
            return f"it has ended {container['restartCount']} times, last with exit code {code}"
    return None


def explain(api: KubernetesApi, namespace: str, pod: Mapping[str, Any], why: str) -> str:
    """Return why a pod is not ready, with its last events and lines."""
    name = pod["metadata"]["name"]
    parts = [f"pod {name}: {why}"]
    try:
        parts += [f"  event: {entry}" for entry in _events(api, namespace, name)[-_EVENTS:]]
        statuses = pod.get("status", {}).get("containerStatuses") or ()
        before = any(entry.get("restartCount") and not entry.get("ready") for entry in statuses)
        query = {"previous": "true"} if before else {}
        lines = api.log(namespace, name, _LINES, **query).splitlines() if statuses else []
        parts += [f"  log: {line}" for line in lines]
    except KubernetesError:
        pass  # what is known is better than another error
    return "\n".join(parts)


def _events(api: KubernetesApi, namespace: str, name: str) -> list[str]:
    events = api.list("v1", "Event", namespace, fieldSelector=f"involvedObject.name={name}")
    return [f"{event.get('reason')}: {event.get('message')}" for event in events["items"]]


def retried(ask: Callable[[], T], deadline: float | None) -> T:
    """Return an answer of Kubernetes, which may be away until the deadline, or for a while."""
    last = time.monotonic() + _AWAY if deadline is None else deadline
    while True:
        try:
            return ask()
        except Unavailable:
            if time.monotonic() > last:
                raise
        time.sleep(_PAUSE)


def wait_ready(
    api: KubernetesApi,
    namespace: str,
    instance: str,
    needed: Mapping[str, int],
    timeout: float | None,
    deadline: float | None = None,
) -> dict[str, Manifest]:
    """Wait until enough pods of each role of a cluster are ready, and return all pods by name.

    ``deadline`` is the moment at which ``timeout`` ends, if that has begun. Raises KubernetesError
    as soon as a pod cannot get ready, and TimeoutError, with what the pods said last.
    """
    if deadline is None and timeout is not None:
        deadline = time.monotonic() + timeout

    def ask() -> dict[str, Manifest] | None:
        return _round(api, namespace, instance, needed, timeout, deadline)

    while True:
        if (pods := retried(ask, deadline)) is not None:
            return pods


def _round(
    api: KubernetesApi,
    namespace: str,
    instance: str,
    needed: Mapping[str, int],
    timeout: float | None,
    deadline: float | None,
) -> dict[str, Manifest] | None:
    """List pods, and watch them for some seconds; return them once there are enough."""
    selector = f"{INSTANCE}={instance}"
    listing = api.list("v1", "Pod", namespace, selector)
    pods = {pod["metadata"]["name"]: pod for pod in listing["items"]}
    since = listing["metadata"]["resourceVersion"]
    if _enough(api, namespace, pods, needed):
        return pods
    reasons = _refusals(api, namespace, instance)
    seconds = _ROUND if deadline is None else min(_ROUND, deadline - time.monotonic())
    if seconds <= 0:
        raise TimeoutError(_late(api, namespace, pods, needed, timeout, reasons))
    for change in api.watch("v1", "Pod", namespace, since, seconds, selector):
        pod = change["object"]
        if change["type"] == "ERROR":
            break  # too old: the list is taken again
        if change["type"] == "DELETED":
            pods.pop(pod["metadata"]["name"], None)
        else:
            pods[pod["metadata"]["name"]] = pod
        if _enough(api, namespace, pods, needed):
            return pods
        if deadline is not None and time.monotonic() > deadline:
            break
    return None


def _enough(
    api: KubernetesApi, namespace: str, pods: Mapping[str, Manifest], needed: Mapping[str, int]
) -> bool:
    counts = dict.fromkeys(needed, 0)
    for pod in pods.values():
        role = pod["metadata"].get("labels", {}).get(COMPONENT)
        if role in counts and is_ready(pod):
            counts[role] += 1
    if all(counts[role] >= needed[role] for role in needed):
        return True
    for pod in pods.values():
        if (why := trouble(pod)) is not None:
            raise KubernetesError(explain(api, namespace, pod, why))
    return False


def refusals(
    api: KubernetesApi, namespace: str, owners: str, begun: str, reason: str = "FailedCreate"
) -> list[str]:
    """Return why pods could not be created since a moment; controllers report it as events only.

    ``owners`` is a pattern of their workloads' names, since others of the namespace have events.
    """
    try:
        events = api.list("v1", "Event", namespace, fieldSelector=f"reason={reason}")["items"]
    except KubernetesError:
        return []  # what else is known is better than another error
    messages = [
        event.get("message") or ""
        for event in events
        if re.fullmatch(owners, event["involvedObject"].get("name", ""))
        and (event.get("lastTimestamp") or _LATEST) >= begun
    ]
    for message in messages:
        if "exceeded quota" in message:
            raise Forbidden(f"the namespace's quota is too small: {message}")
    return messages


def _refusals(api: KubernetesApi, namespace: str, instance: str) -> list[str]:
    """Return why pods of a cluster could not be created; a quota that is too small is an error."""
    try:
        root = api.get("v1", "ConfigMap", namespace, instance)
    except NotFound:
        return []
    # A cluster of before may have had the name.
    start = root["metadata"].get("creationTimestamp") or ""
    owners = rf"{re.escape(instance)}-(supervisor|web|worker)(-[{_HASH}]+)?"
    return refusals(api, namespace, owners, start)


def _late(
    api: KubernetesApi,
    namespace: str,
    pods: Mapping[str, Manifest],
    needed: Mapping[str, int],
    timeout: float | None,
    refused: Sequence[str],
) -> str:
    counts = ", ".join(f"{count} {role}" for role, count in needed.items())
    lines = [f"after {timeout} s not all pods are ready ({counts})"]
    return "\n".join(lines + late_pods(api, namespace, pods.values(), refused))


def late_pods(
    api: KubernetesApi, namespace: str, pods: Collection[Manifest], refused: Sequence[str] = ()
) -> list[str]:
    """Return what pods that are not ready said last, and why others could not be created."""
    if not pods and not refused:
        return ["there are no pods: does a controller of Kubernetes run?"]
    late = [pod for pod in pods if not is_ready(pod)]
    lines = [explain(api, namespace, pod, _phase(pod)) for pod in late[:3]]
    if refused:
        lines += [
            "pods that could not be created:",
            *(f"  event: {reason}" for reason in refused[-_EVENTS:]),
        ]
    return lines


def _phase(pod: Mapping[str, Any]) -> str:
    phase: str = pod.get("status", {}).get("phase", "Pending")
    return phase
