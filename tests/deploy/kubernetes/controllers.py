"""Controllers: pods of workloads, the end of what has no owner, and of namespaces."""

from __future__ import annotations

import copy
import threading
import traceback
import uuid
from collections.abc import Callable
from typing import Any

from tests.deploy.kubernetes.store import FOREGROUND, RESOURCES, Denied, Object, Store
from tests.kube.evictions import budgets

#: Seconds after which everything is looked at again.
_RESYNC = 5.0


class Controllers:
    """Brings the objects of a store to what they ask for, at each change."""

    def __init__(self, store: Any, *more: Callable[[Any], None]) -> None:
        self.store = store
        self._tasks = (stateful_sets, replicas, garbage, namespaces, load_balancers, budgets, *more)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            version = self.store.version
            for task in self._tasks:
                try:
                    task(self.store)
                except Denied:
                    pass  # something has changed meanwhile: the next round sees it
                except Exception:  # noqa: BLE001 - one broken object stops no others
                    traceback.print_exc()
            self.store.wait_beyond(version, _RESYNC)

    def close(self) -> None:
        self._stopped.set()
        with self.store.changed:
            self.store.changed.notify_all()
            self.store.version += 1
        self._thread.join()


def reference(owner: Object) -> Object:
    """Return the reference to an owner."""
    metadata = owner["metadata"]
    found = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    return {**found, "name": metadata["name"], "uid": metadata["uid"], "controller": True}


def wanted_objects(store: Store, plural: str) -> list[Object]:
    """Return the objects of a kind but for those that are being deleted."""
    return [one for one in store.list(plural) if "deletionTimestamp" not in one["metadata"]]


def owned(store: Store, owner: Object) -> dict[str, Object]:
    """Return the pods of an owner by name."""
    uid = owner["metadata"]["uid"]
    return {
        pod["metadata"]["name"]: pod
        for pod in store.list("pods", owner["metadata"]["namespace"])
        if any(one["uid"] == uid for one in pod["metadata"].get("ownerReferences") or ())
    }


def new_pod(store: Store, owner: Object, name: str, template: Object, **more: str) -> None:
    """Create a pod of an owner, or tell why that is impossible."""
    metadata = copy.deepcopy(template["metadata"])
    metadata |= {"name": name, "ownerReferences": [reference(owner)]}
    metadata["labels"] = {**metadata.get("labels", {}), **more}
    try:
        content = {"metadata": metadata, "spec": copy.deepcopy(template["spec"])}
        store.create("pods", owner["metadata"]["namespace"], content)
    except Denied as error:
        if error.status == 403:
            store.event(owner, "FailedCreate", f"create Pod {name} failed: {error}")


def stateful_sets(store: Store) -> None:
    """Create pods with numbers from 0, and end the last ones."""
    for one in wanted_objects(store, "statefulsets"):
        name, count = one["metadata"]["name"], one["spec"]["replicas"]
        pods = owned(store, one)
        wanted = [f"{name}-{index}" for index in range(count)]
        for pod in wanted:
            if pod not in pods:
                new_pod(store, one, pod, one["spec"]["template"])
        for pod in set(pods) - set(wanted):
            if "deletionTimestamp" not in pods[pod]["metadata"]:
                store.delete("pods", one["metadata"]["namespace"], pod)


def replicas(store: Store) -> None:
    """Keep the number of pods of other workloads; end the cheapest."""
    kinds = "deployments", "replicationcontrollers"
    for one in (found for kind in kinds for found in wanted_objects(store, kind)):
        name, space = one["metadata"]["name"], one["metadata"]["namespace"]
        pods = [
            pod for pod in owned(store, one).values() if "deletionTimestamp" not in pod["metadata"]
        ]
        for _ in range(one["spec"]["replicas"] - len(pods)):
            new_pod(store, one, f"{name}-{uuid.uuid4().hex[:5]}", one["spec"]["template"])
        pods.sort(key=_cost)
        for pod in pods[: max(0, len(pods) - one["spec"]["replicas"])]:
            store.delete("pods", space, pod["metadata"]["name"])


def _cost(pod: Object) -> int:
    annotations = pod["metadata"].get("annotations") or {}
    return int(annotations.get("controller.kubernetes.io/pod-deletion-cost", 0))


def garbage(store: Store) -> None:
    """End what has lost its owner, and then owners that wait for that."""
    found = [(plural, one) for plural in RESOURCES for one in store.list(plural)]
    waiting = {
        one["metadata"]["uid"]
        for _, one in found
        if FOREGROUND in (one["metadata"].get("finalizers") or ())
    }
    alive = {one["metadata"]["uid"] for _, one in found} - waiting
    owning = set()
    for plural, one in found:
        metadata = one["metadata"]
        owners = {owner["uid"] for owner in metadata.get("ownerReferences") or ()}
        owning |= owners
        if owners and not owners & alive and "deletionTimestamp" not in metadata:
            if any(_lives(store, metadata, one, waiting) for one in metadata["ownerReferences"]):
                continue
            store.delete(plural, metadata.get("namespace", ""), metadata["name"])
    for plural, one in found:
        metadata = one["metadata"]
        if metadata["uid"] in waiting - owning:
            done: Object = {"metadata": {"finalizers": None}}
            store.patch(plural, metadata.get("namespace", ""), metadata["name"], done)


def _lives(store: Store, metadata: Object, owner: Object, waiting: set[str]) -> bool:
    """Ask the server itself: kinds are not watched in one order."""
    plural = next(plural for plural, (_, kind, _) in RESOURCES.items() if kind == owner["kind"])
    try:
        found = store.current(plural, metadata.get("namespace", ""), owner["name"])
    except Denied:
        return False
    return found["metadata"]["uid"] == owner["uid"] and owner["uid"] not in waiting


def namespaces(store: Store) -> None:
    """Empty namespaces that end, then end them."""
    for space in store.list("namespaces"):
        name = space["metadata"]["name"]
        if "deletionTimestamp" not in space["metadata"]:
            continue
        inside = [(kind, one) for kind in RESOURCES for one in store.list(kind, name)]
        inside = [(kind, one) for kind, one in inside if one["metadata"].get("namespace") == name]
        for plural, one in inside:
            if "deletionTimestamp" not in one["metadata"]:
                store.delete(plural, name, one["metadata"]["name"])
        if not inside:
            store.delete("namespaces", "", name, now=True)


def load_balancers(store: Store) -> None:
    """Give services of the kind an address."""
    for service in store.list("services"):
        if service["spec"].get("type") == "LoadBalancer" and not service["status"].get(
            "loadBalancer"
        ):
            status = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
            name = service["metadata"]["name"]
            space = service["metadata"]["namespace"]
            store.patch("services", space, name, {"status": status}, "status")
