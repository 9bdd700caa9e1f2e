"""Wait for pods, and tell people why they do not come: images, crashes, quotas."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any, Final

from .client import Forbidden, KubernetesApi, KubernetesError
from .pods import COMPONENT

Manifest = dict[str, Any]

#: Seconds after which pods are listed again, and events are looked at.
_ROUND: Final = 5.0

#: Restarts of a container after which waiting is in vain.
_RESTARTS: Final = 3

#: Lines of a pod's log, and events of it, in an error.
_LINES, _EVENTS = 15, 5

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
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def trouble(pod: Mapping[str, Any]) -> str | None:
    """Return why a pod will not get ready, if that is sure."""
    for container in pod.get("status", {}).get("containerStatuses") or ():
        waiting = container.get("state", {}).get("waiting") or {}
        reason = waiting.get("reason", "")
        if (advice := _HOPELESS.get(reason)) is not None:
            return f"{reason}: {advice} ({waiting.get('message') or container.get('image')})"
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
        parts += [f"  event: {one}" for one in _events(api, namespace, name)[-_EVENTS:]]
        started = pod.get("status", {}).get("containerStatuses") or ()
        before = any(one.get("restartCount") and not one.get("ready") for one in started)
        query = {"previous": "true"} if before else {}
        lines = api.log(namespace, name, _LINES, **query).splitlines() if started else []
        parts += [f"  log: {line}" for line in lines]
    except KubernetesError:
        pass  # what is known is better than another error
    return "\n".join(parts)


def _events(api: KubernetesApi, namespace: str, name: str) -> list[str]:
    found = api.list("v1", "Event", namespace, fieldSelector=f"involvedObject.name={name}")
    return [f"{one.get('reason')}: {one.get('message')}" for one in found["items"]]


def wait_ready(
    api: KubernetesApi,
    namespace: str,
    selector: str,
    needed: Mapping[str, int],
    timeout: float | None,
    deadline: float | None = None,
) -> dict[str, Manifest]:
    """Wait until enough pods of each role are ready, and return all pods by name.

    ``deadline`` is the moment at which ``timeout`` ends, if that has begun. Raises KubernetesError
    as soon as a pod cannot get ready, and TimeoutError, with what the pods said last.
    """
    if deadline is None and timeout is not None:
        deadline = time.monotonic() + timeout
    while True:
        listing = api.list("v1", "Pod", namespace, selector)
        pods = {pod["metadata"]["name"]: pod for pod in listing["items"]}
        since = listing["metadata"]["resourceVersion"]
        if _enough(api, namespace, pods, needed):
            return pods
        _refuse_quota(api, namespace)
        left = _ROUND if deadline is None else min(_ROUND, deadline - time.monotonic())
        if left <= 0:
            raise TimeoutError(_late(api, namespace, pods, needed, timeout))
        for change in api.watch("v1", "Pod", namespace, since, left, selector):
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


def _refuse_quota(api: KubernetesApi, namespace: str) -> None:
    """Raise the error that controllers report as an event only: a quota that is too small."""
    try:
        events = api.list("v1", "Event", namespace, fieldSelector="reason=FailedCreate")["items"]
    except Forbidden:
        return
    for event in events:
        if "exceeded quota" in event.get("message", ""):
            raise Forbidden(f"the namespace's quota is too small: {event['message']}")


def _late(
    api: KubernetesApi,
    namespace: str,
    pods: Mapping[str, Manifest],
    needed: Mapping[str, int],
    timeout: float | None,
) -> str:
    wanted = ", ".join(f"{count} {role}" for role, count in needed.items())
    lines = [f"after {timeout} s not all pods are ready ({wanted})"]
    return "\n".join(lines + late_pods(api, namespace, pods.values()))


def late_pods(api: KubernetesApi, namespace: str, pods: Collection[Manifest]) -> list[str]:
    """Return what pods that are not ready said last."""
    if not pods:
        return ["there are no pods: does a controller of Kubernetes run?"]
    late = [pod for pod in pods if not is_ready(pod)]
    return [explain(api, namespace, pod, _phase(pod)) for pod in late[:3]]


def _phase(pod: Mapping[str, Any]) -> str:
    phase: str = pod.get("status", {}).get("phase", "Pending")
    return phase
