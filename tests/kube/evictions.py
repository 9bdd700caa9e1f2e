"""Evictions of pods, which budgets of disruption may refuse."""

from __future__ import annotations

from typing import Any

from marsdask.deploy.kubernetes.watch import is_ready
from tests.deploy.kubernetes.store import Denied, Object, has_labels


def budgets(store: Any) -> None:
    """Count how many pods of each budget may be evicted now."""
    for one in store.list("poddisruptionbudgets"):
        space, name = one["metadata"]["namespace"], one["metadata"]["name"]
        labels = ",".join("=".join(pair) for pair in one["spec"]["selector"]["matchLabels"].items())
        pods = store.list("pods", space, labels)
        healthy = sum(map(is_ready, pods))
        desired = max(0, len(pods) - one["spec"]["maxUnavailable"])
        status = {
            "observedGeneration": one["metadata"].get("generation", 1),
            "expectedPods": len(pods),
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": max(0, healthy - desired),
        }
        if any(one["status"].get(field) != value for field, value in status.items()):
            store.patch("poddisruptionbudgets", space, name, {"status": status}, "status")


def evict(store: Any, namespace: str, name: str) -> Object:
    """Delete a pod, or raise 429 if a budget does not allow it."""
    pod = store.get("pods", namespace, name)
    for one in store.list("poddisruptionbudgets", namespace):
        wanted = one["spec"]["selector"]["matchLabels"]
        labels = ",".join("=".join(pair) for pair in wanted.items())
        if has_labels(pod, labels) and not one["status"].get("disruptionsAllowed"):
            message = "Cannot evict pod as it would violate the pod's disruption budget."
            raise Denied(429, message)
    store.delete("pods", namespace, name)
    return {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}
