"""A small API server of Kubernetes: HTTPS, verbs, subresources, watches, tokens and rights."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from marsdask.deploy.kubernetes.secrets import AUTHORITY, CERTIFICATE, KEY, new_certificates
from tests.deploy.kubernetes.port_forwards import forward
from tests.deploy.kubernetes.store import (
    RESOURCES,
    Change,
    Denied,
    Object,
    Store,
    group_of,
    has_labels,
    qualified,
)
from tests.kube.evictions import evict

VERBS = {"GET": "get", "POST": "create", "PATCH": "patch", "DELETE": "delete"}

#: The server's word for a status.
REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "AlreadyExists",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
}

#: The token of the administrator.
ADMIN = "admin"


@dataclass(frozen=True)
class RequestTarget:
    """What a path means."""

    plural: str
    namespace: str
    name: str = ""
    part: str = ""


def target_of(path: str) -> RequestTarget:
    """Return what a path means, or raise 404."""
    parts = path.strip("/").split("/")
    root, rest = parts[: 2 if parts[0] == "api" else 3], parts[2 if parts[0] == "api" else 3 :]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if not rest or RESOURCES.get(rest[0], ("",))[0] != "/" + "/".join(root):
        raise Denied(404, "the server could not find the requested resource")
    return RequestTarget(rest[0], namespace, *rest[1:3])


def account_user(namespace: str, account: str) -> str:
    """Return the name of a service account as a user."""
    return f"system:serviceaccount:{namespace}:{account}"


def client_of(server: Any, token: str) -> Any:
    """Return the official client of a server."""
    from kubernetes.client import ApiClient, Configuration

    settings = Configuration()
    settings.host, settings.ssl_ca_cert = server.url, server.authority
    settings.api_key = {"authorization": f"Bearer {token}"}
    return ApiClient(settings)


def scale_of(found: Object) -> Object:
    """Return the number of pods of a workload as an object."""
    metadata = {name: found["metadata"][name] for name in ("name", "namespace", "resourceVersion")}
    replicas = {"replicas": found["spec"]["replicas"]}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": replicas}


@dataclass
class ApiServer:
    """Serves a store at ``host``."""

    host: str
    folder: Any
    store: Store = field(default_factory=Store)
    users: dict[str, str] = field(default_factory=lambda: {ADMIN: ADMIN})
    """Who has which token."""
    rules: dict[str, list[Object]] = field(default_factory=dict)
    """Rights of users beside those of roles."""
    log: Callable[[str, str, bool], str] = lambda namespace, pod, previous: ""
    address: Callable[[str, str], str] = lambda namespace, pod: "127.0.0.1"
    """Where a pod is."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = new_certificates("kubernetes", [self.host])
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        self.authority = str(self.folder / AUTHORITY)
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    def client(self, token: str = ADMIN) -> Any:
        """Return the official client."""
        return client_of(self, token)

    def user(self, name: str, *rules: Object) -> Any:
        """Return the client of a user with some rights in all namespaces."""
        self.users[name], self.rules[name] = name, list(rules)
        return self.client(name)

    def account_token(self, namespace: str, account: str) -> str:
        """Return a new token of a service account."""
        token = uuid.uuid4().hex
        self.users[token] = account_user(namespace, account)
        return token

    def start(self) -> None:
        """Listen, at the port of before if there was one."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.folder / CERTIFICATE, self.folder / KEY)
        handler = type("Handler", (_Handler,), {"server_of": self})
        self._http = HttpServer((self.host, self.port), handler)
        self._http.socket = context.wrap_socket(
            self._http.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve nobody any more; the store is kept."""
        self._http.shutdown()
        self._http.server_close()
        self._http.disconnect()
        self._thread.join()

    def close(self) -> None:
        self.stop()

    def check(self, token: str, verb: str, target: RequestTarget) -> None:
        """Raise 401 or 403 unless the user with a token has a right."""
        user = self.users.get(token)
        if user is None:
            raise Denied(401, "Unauthorized")
        if user == ADMIN or any(_allows(rule, verb, target) for rule in self._rules(user, target)):
            return
        resource = "/".join(filter(None, (target.plural, target.part)))
        subject = qualified(target.plural, target.plural)
        subject += f' "{target.name}"' if target.name else ""
        space = (
            f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
        )
        raise Denied(
            403,
            f'{subject} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API '
            f'group "{group_of(target.plural)}" {space}',
        )

    def check_role(self, token: str, target: RequestTarget, role: Object) -> None:
        """Raise 403 if a role would give rights that the user lacks."""
        user = self.users[token]
        held = self._rules(user, target)
        missing = [one for one in role["rules"] if not any(_covers(rule, one) for rule in held)]
        if user != ADMIN and missing:
            subject = f'{qualified("roles", "roles")} "{role["metadata"]["name"]}"'
            raise Denied(
                403,
                f'{subject} is forbidden: user "{user}" (groups=["system:authenticated"]) is '
                "attempting to grant RBAC permissions not currently held:\n"
                + "\n".join(map(_rule_text, missing)),
            )

    def _rules(self, user: str, target: RequestTarget) -> list[Object]:
        found = list(self.rules.get(user, ()))
        for binding in self.store.list("rolebindings", target.namespace):
            if user in (account_user(one["namespace"], one["name"]) for one in binding["subjects"]):
                role = self.store.get("roles", target.namespace, binding["roleRef"]["name"])
                found += role["rules"]
        return found


def _allows(rule: Object, verb: str, target: RequestTarget) -> bool:
    group = group_of(target.plural)
    resource = "/".join(filter(None, (target.plural, target.part)))
    names = rule.get("resourceNames")
    return (
        group in rule["apiGroups"]
        and resource in rule["resources"]
        and verb in rule["verbs"]
        and (names is None or target.name in names)
    )


def _covers(rule: Object, other: Object) -> bool:
    """Say whether a rule gives all that another one gives."""
    names = rule.get("resourceNames")
    fields = "apiGroups", "resources", "verbs"
    return all(set(other[name]) <= set(rule[name]) for name in fields) and (
        names is None or set(other.get("resourceNames") or [None]) <= set(names)
    )


def _rule_text(rule: Object) -> str:
    """Return a rule as messages of the server have it."""
    words = {
        "APIGroups": "apiGroups",
        "Resources": "resources",
        "ResourceNames": "resourceNames",
        "Verbs": "verbs",
    }
    parts = (
        f"{word}:[{' '.join(map(json.dumps, rule[name]))}]"
        for word, name in words.items()
        if name in rule
    )
    return "{" + ", ".join(parts) + "}"


class HttpServer(ThreadingHTTPServer):
    """Serves each connection by a thread, which ends with the process."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *args: Any) -> None:
        self.connections: set[Any] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def disconnect(self) -> None:
        """End all connections."""
        for one in list(self.connections):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may leave."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: ClassVar[ApiServer]

    def log_message(self, *args: Any) -> None:
        """Be quiet."""

    def _answer(self) -> None:
        server = self.server_of
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or "{}")
        try:
            target = target_of(parts.path)
            verb = VERBS[self.command]
            verb = "list" if verb == "get" and not target.name else verb
            verb = "watch" if query.get("watch") else verb
            token = self._token
            server.requests.append((server.users.get(token, ""), verb, parts.path))
            server.check(token, verb, target)
            if verb == "watch":
                self._watch(target, query)
                return
            if target.part == "portforward":
                self._store.get(target.plural, target.namespace, target.name)
                address = server.address(target.namespace, target.name)
                forward(self, address, int(query["ports"]))
                return
            found = getattr(self, f"_{verb}")(target, query, body)
            self._send(201 if verb == "create" else 200, found)
        except Denied as error:
            told = {"kind": "Status", "status": "Failure", "message": str(error)}
            told["reason"] = REASONS[error.status]
            self._send(error.status, told | {"code": error.status})

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

    def _send(self, status: int, content: Any) -> None:
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    @property
    def _token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")

    @property
    def _store(self) -> Store:
        return self.server_of.store

    def _list(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        with self._store.changed:
            selectors = query.get("labelSelector", ""), query.get("fieldSelector", "")
            items = self._store.list(target.plural, target.namespace, *selectors)
            return {"items": items, "metadata": {"resourceVersion": str(self._store.version)}}

    def _get(self, target: RequestTarget, query: dict[str, str], body: Object) -> Any:
        found = self._store.get(target.plural, target.namespace, target.name)
        if target.part == "log":
            previous = query.get("previous") == "true"
            text = self.server_of.log(target.namespace, target.name, previous)
            return "".join(text.splitlines(keepends=True)[-int(query.get("tailLines", 1000)) :])
        if target.part == "scale":
            return scale_of(found)
        return found

    def _create(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        if target.part == "eviction":
            return evict(self._store, target.namespace, target.name)
        if target.plural == "roles":
            self.server_of.check_role(self._token, target, body)
        return self._store.create(target.plural, target.namespace, body)

    def _patch(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        if self.headers["Content-Type"] != "application/merge-patch+json":
            raise Denied(415, "415: Unsupported Media Type")
        name = target.plural, target.namespace, target.name
        found = self._store.patch(*name, body, target.part)
        return scale_of(found) if target.part == "scale" else found

    def _delete(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        options = {
            "now": body.get("gracePeriodSeconds") == 0,
            "foreground": body.get("propagationPolicy") == "Foreground",
        }
        return self._store.delete(target.plural, target.namespace, target.name, **options)

    def _watch(self, target: RequestTarget, query: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

        def wanted(change: Change) -> bool:
            space = change.object["metadata"].get("namespace", "")
            return (
                change.plural == target.plural
                and target.namespace in ("", space)
                and has_labels(change.object, query.get("labelSelector", ""))
            )

        seconds = float(query.get("timeoutSeconds", "10"))
        with contextlib.suppress(OSError):
            for change in self._store.watch(int(query["resourceVersion"]), seconds, wanted):
                line = json.dumps({"type": change.type, "object": change.object}).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
