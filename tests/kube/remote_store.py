"""The objects of a real API server, with the methods of the store in this process.

Whoever works on it, such as controllers and the node, has nothing but the API: requests, and a
watch of each kind, whose last state is what `list` and `get` return. A change is returned from as
soon as the watch has seen it.
"""

from __future__ import annotations

import contextlib
import copy
import json
import threading
from typing import Any

import urllib3

from tests.deploy.kubernetes.store import (
    RESOURCES,
    Denied,
    Object,
    has_fields,
    has_labels,
    qualified,
)

#: Seconds for an answer, for a watch to see a change, and between two tries of a watch.
_PATIENCE, _SEEN, _PAUSE = 60.0, 60.0, 0.2

#: Seconds after which the server ends a watch that has nothing to say.
_WATCH = 60

#: The server's service for itself.
_API = ("services", "default", "kubernetes")

#: The name of the only node.
NODE = "node"


class RemoteStore:
    """Objects, by plural name of their kind, namespace and name."""

    def __init__(self, url: str, authority: str, token: str) -> None:
        self.url = url
        self.changed = threading.Condition(threading.RLock())
        self.version = 0
        self._headers = {"Authorization": f"Bearer {token}"}
        self._pool = urllib3.PoolManager(ca_certs=authority, maxsize=64, retries=False)
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._seen: dict[str, int] = dict.fromkeys(RESOURCES, 0)
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._watches: set[Any] = set()
        self._paths = {plural: path for plural, (path, _, _) in RESOURCES.items()}

    def start(self) -> None:
        """Watch all kinds."""
        try:
            self.request("GET", self._path("poddisruptionbudgets"))
        except Denied:  # Kubernetes before 1.21
            self._paths["poddisruptionbudgets"] = "/apis/policy/v1beta1"
        for plural in RESOURCES:
            thread = threading.Thread(target=self._follow, args=(plural,), daemon=True)
            thread.start()
            self._threads.append(thread)
        with self.changed:
            complete = self.changed.wait_for(lambda: len(self._objects) == len(RESOURCES), 30)
        assert complete, set(RESOURCES) - set(self._objects)

    def close(self) -> None:
        self._stopped.set()
        for watch in list(self._watches):
            with contextlib.suppress(Exception):
                watch.shutdown()
        for thread in self._threads:
            thread.join(_PATIENCE)
        self._pool.clear()

    def _follow(self, plural: str) -> None:
        while not self._stopped.is_set():
            try:
                self._follow_once(plural)
            except (Denied, urllib3.exceptions.HTTPError, OSError, ValueError):
                self._stopped.wait(_PAUSE)  # the server is away, or the version is too old

    def _follow_once(self, plural: str) -> None:
        listing = self.request("GET", self._path(plural))
        since = listing["metadata"]["resourceVersion"]
        with self.changed:
            found = [self._complete(plural, one) for one in listing["items"]]
            self._objects[plural] = {_key(one): one for one in found}
            self._saw(plural, since)
        while not self._stopped.is_set():
            query = f"?watch=1&resourceVersion={since}&timeoutSeconds={_WATCH}"
            answer = self._pool.request(
                "GET",
                self.url + self._path(plural) + query,
                headers=self._headers,
                preload_content=False,
                timeout=urllib3.Timeout(connect=_PATIENCE, read=_WATCH + _PATIENCE),
            )
            self._watches.add(answer)
            try:
                rest = b""
                for part in answer.stream(amt=None):
                    *lines, rest = (rest + part).split(b"\n")
                    for line in lines:
                        since = self._apply(plural, json.loads(line))
            finally:
                self._watches.discard(answer)
                answer.close()

    def _apply(self, plural: str, change: Object) -> str:
        if change["type"] == "ERROR":
            raise ValueError(change["object"].get("message"))
        found = self._complete(plural, change["object"])
        version: str = found["metadata"]["resourceVersion"]
        with self.changed:
            if change["type"] == "DELETED":
                self._objects[plural].pop(_key(found), None)
            else:
                self._objects[plural][_key(found)] = found
            self._saw(plural, version)
        return version

    def _saw(self, plural: str, version: str) -> None:
        self._seen[plural] = int(version)
        self.version += 1
        self.changed.notify_all()

    def _complete(self, plural: str, found: Object) -> Object:
        path, kind, _ = RESOURCES[plural]
        version = path.removeprefix("/apis/").removeprefix("/api/")
        return {"status": {}} | found | {"apiVersion": version, "kind": kind}

    def _path(self, plural: str, namespace: str = "", name: str = "", part: str = "") -> str:
        inside = f"/namespaces/{namespace}" if namespace and RESOURCES[plural][2] else ""
        return "/".join(filter(None, (f"{self._paths[plural]}{inside}/{plural}", name, part)))

    def request(self, method: str, path: str, body: Object | None = None) -> Object:
        """Send a request and return the answer."""
        kind = "merge-patch+json" if method == "PATCH" else "json"
        try:
            answer = self._pool.request(
                method,
                self.url + path,
                body=None if body is None else json.dumps(body),
                headers={**self._headers, "Content-Type": f"application/{kind}"},
                timeout=_PATIENCE,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Denied(503, f"no answer: {error}") from error
        if answer.status >= 400:
            try:
                message = json.loads(answer.data)["message"]
            except (ValueError, KeyError):
                message = answer.data.decode(errors="replace")
            raise Denied(answer.status, message)
        found: Object = json.loads(answer.data)
        return found

    def _change(self, plural: str, method: str, path: str, body: Object | None) -> Object:
        """Send a change, and wait until the watch has seen it."""
        found = self.request(method, path, body)
        version = found.get("metadata", {}).get("resourceVersion")
        if version is not None and found["kind"] != "Status":
            with self.changed:
                self.changed.wait_for(lambda: self._seen[plural] >= int(version), _SEEN)
            return self._complete(plural, found)
        return found

    def list(
        self, plural: str, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[Object]:
        """Return copies of the objects of a kind."""
        with self.changed:
            found = [
                one
                for (space, _), one in self._objects[plural].items()
                if namespace in ("", space) and not _is_of_server(plural, one)
            ]
            return copy.deepcopy(
                [one for one in found if has_labels(one, labels) and has_fields(one, fields)]
            )

    def get(self, plural: str, namespace: str, name: str) -> Object:
        """Return a copy of an object."""
        with self.changed:
            space = namespace if RESOURCES[plural][2] else ""
            try:
                return copy.deepcopy(self._objects[plural][space, name])
            except KeyError:
                raise Denied(404, f'{qualified(plural, plural)} "{name}" not found') from None

    def current(self, plural: str, namespace: str, name: str) -> Object:
        """Return an object as the server has it now."""
        return self.request("GET", self._path(plural, namespace, name))

    def create(self, plural: str, namespace: str, content: Object) -> Object:
        """Create an object; pods are on the node at once, and quotas begin to hold."""
        made = copy.deepcopy(content)
        path, kind, _ = RESOURCES[plural]
        path = self._paths[plural]
        version = path.removeprefix("/apis/").removeprefix("/api/")
        made |= {"apiVersion": version, "kind": kind}
        made["metadata"].pop("resourceVersion", None)
        if plural == "pods":
            made.setdefault("spec", {})["nodeName"] = NODE
        found = self._change(plural, "POST", self._path(plural, namespace), made)
        if plural == "resourcequotas":  # the work of the quota controller
            hard = made["spec"]["hard"]
            status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
            self.patch(plural, namespace, made["metadata"]["name"], {"status": status}, "status")
        return found

    def patch(
        self, plural: str, namespace: str, name: str, change: Object, part: str = ""
    ) -> Object:
        """Merge a change into an object, its status, or its scale."""
        return self._change(plural, "PATCH", self._path(plural, namespace, name, part), change)

    def delete(self, plural: str, namespace: str, name: str, *, now: bool = False) -> Object:
        """Delete an object; pods and namespaces are marked, and end later."""
        if plural == "namespaces" and now:
            space = self.get(plural, "", name)
            space["spec"] = {"finalizers": []}
            space["apiVersion"] = "v1"
            return self._change(plural, "PUT", self._path(plural, "", name, "finalize"), space)
        options: Object = {"propagationPolicy": "Background"}
        options |= {"gracePeriodSeconds": 0} if now else {}
        old = self.get(plural, namespace, name)
        found = self._change(plural, "DELETE", self._path(plural, namespace, name), options)
        uid, key = old["metadata"]["uid"], _key(old)

        def noticed() -> bool:
            one = self._objects[plural].get(key, {"metadata": {}})["metadata"]
            return one.get("uid") != uid or "deletionTimestamp" in one

        with self.changed:
            self.changed.wait_for(noticed, _SEEN)
        return found

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

    def clear(self) -> None:
        """Delete everything that is not the server's own, without waiting for anybody."""
        for plural in RESOURCES:
            for one in self.list(plural):
                space, name = _key(one)
                if plural == "namespaces" and name == "default":
                    continue
                with contextlib.suppress(Denied):
                    if one["metadata"].get("finalizers"):
                        self.patch(plural, space, name, {"metadata": {"finalizers": None}})
                    self.delete(plural, space, name, now=plural == "pods")
        for one in self.list("namespaces"):
            name = one["metadata"]["name"]
            if "deletionTimestamp" in one["metadata"]:
                with contextlib.suppress(Denied):
                    self.delete("namespaces", "", name, now=True)
        left = lambda: [one for one in self.list("namespaces") if _key(one)[1] != "default"]
        with self.changed:
            assert self.changed.wait_for(lambda: not left(), _SEEN), left()


def _key(found: Object) -> tuple[str, str]:
    metadata = found["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _is_of_server(plural: str, found: Object) -> bool:
    """Say whether the server itself keeps an object."""
    space, name = _key(found)
    own = name.startswith("kube-") if plural == "namespaces" else space.startswith("kube-")
    return (
        own or plural == "nodes" or (plural, space, name) == ("services", "default", "kubernetes")
    )
