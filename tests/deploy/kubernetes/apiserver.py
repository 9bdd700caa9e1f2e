"""A small API server of Kubernetes: HTTPS, verbs, subresources, watches, tokens and rights."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from marsdask.deploy.kubernetes.secrets import AUTHORITY, CERTIFICATE, KEY, new_certificates
from tests.deploy.kubernetes.store import RESOURCES, Change, Denied, Object, Store, has_labels

VERBS = {"GET": "get", "POST": "create", "PATCH": "patch", "DELETE": "delete"}

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


@dataclass
class ApiServer:
    """Serves a store at ``host``."""

    host: str
    folder: Any
    store: Store = field(default_factory=Store)
    users: dict[str, str] = field(default_factory=lambda: {ADMIN: ADMIN})
    """Who has which token; an account of pods is ``namespace/name``."""
    rules: dict[str, list[Object]] = field(default_factory=dict)
    """Rights of users beside those of roles."""
    log: Callable[[str, str, bool], str] = lambda namespace, pod, previous: ""
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = new_certificates("kubernetes", [self.host])
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        self.authority = str(self.folder / AUTHORITY)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.folder / CERTIFICATE, self.folder / KEY)
        server = self
        self._http = _Http((self.host, 0), type("Handler", (_Handler,), {"server_of": server}))
        self._http.socket = context.wrap_socket(
            self._http.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    def client(self, token: str = ADMIN) -> Any:
        """Return the official client."""
        from kubernetes.client import ApiClient, Configuration

        settings = Configuration()
        settings.host, settings.ssl_ca_cert = self.url, self.authority
        settings.api_key = {"authorization": f"Bearer {token}"}
        return ApiClient(settings)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def check(self, token: str, verb: str, target: RequestTarget) -> None:
        """Raise 401 or 403 unless the user with a token has a right."""
        user = self.users.get(token)
        if user is None:
            raise Denied(401, "Unauthorized")
        if user == ADMIN or any(_allows(rule, verb, target) for rule in self._rules(user, target)):
            return
        resource = "/".join(filter(None, (target.plural, target.part)))
        group = RESOURCES[target.plural][0].split("/")[2] if target.plural != "pods" else ""
        raise Denied(
            403,
            f'{resource} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API '
            f'group "{group}" in the namespace "{target.namespace}"',
        )

    def _rules(self, user: str, target: RequestTarget) -> list[Object]:
        found = list(self.rules.get(user, ()))
        for binding in self.store.list("rolebindings", target.namespace):
            subjects = (f"{one['namespace']}/{one['name']}" for one in binding["subjects"])
            if user in subjects:
                role = self.store.get("roles", target.namespace, binding["roleRef"]["name"])
                found += role["rules"]
        return found


def _allows(rule: Object, verb: str, target: RequestTarget) -> bool:
    path = RESOURCES[target.plural][0]
    group = path.split("/")[2] if path.startswith("/apis/") else ""
    resource = "/".join(filter(None, (target.plural, target.part)))
    names = rule.get("resourceNames")
    return (
        group in rule["apiGroups"]
        and resource in rule["resources"]
        and verb in rule["verbs"]
        and (names is None or target.name in names)
    )


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

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
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            server.requests.append((server.users.get(token, ""), verb, parts.path))
            server.check(token, verb, target)
            if verb == "watch":
                self._watch(target, query)
                return
            found = getattr(self, f"_{verb}")(target, query, body)
            self._send(201 if verb == "create" else 200, found)
        except Denied as error:
            told = {"kind": "Status", "status": "Failure", "message": str(error)}
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
            return {"kind": "Scale", "spec": {"replicas": found["spec"]["replicas"]}}
        return found

    def _create(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        return self._store.create(target.plural, target.namespace, body)

    def _patch(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        if self.headers["Content-Type"] != "application/merge-patch+json":
            raise Denied(415, "the body of the request was in an unknown format")
        name = target.plural, target.namespace, target.name
        return self._store.patch(*name, body, target.part)

    def _delete(self, target: RequestTarget, query: dict[str, str], body: Object) -> Object:
        now = body.get("gracePeriodSeconds") == 0
        return self._store.delete(target.plural, target.namespace, target.name, now=now)

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
