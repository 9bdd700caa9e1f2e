"""Requests to Kubernetes with manifests as they are, and errors in words that help.

The connection and its credentials are those of an ``ApiClient`` of the official package. Its calls
differ between releases, and its classes know only their own release's fields.
"""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlencode

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Manifest = dict[str, Any]

#: Seconds for the answer to a request.
_PATIENCE: Final = 30.0

#: Plural names that are not the kind's with an s.
_PLURALS: Final = {"Ingress": "ingresses", "NetworkPolicy": "networkpolicies"}

#: Verbs of rights for methods but GET, and for a GET that watches.
_VERBS: Final = {
    "POST": "create",
    "PATCH": "patch",
    "DELETE": "delete",
    "PUT": "update",
    "WATCH": "watch",
}

#: Kinds that are in no namespace.
_GLOBAL: Final = ("Namespace", "Node", "CustomResourceDefinition")


class KubernetesError(RuntimeError):
    """Kubernetes refuses a request."""


class NotFound(KubernetesError, LookupError):
    """An object, or its namespace, does not exist."""


class AlreadyExists(KubernetesError):
    """There is another object of this name."""


class Forbidden(KubernetesError, PermissionError):
    """The account lacks a right, or the namespace a quota."""


class Refused(KubernetesError, ValueError):
    """Kubernetes finds a manifest invalid."""


class Unavailable(KubernetesError):
    """Kubernetes does not answer, or is overloaded or starting: it may answer later."""


def default_client() -> ApiClient:
    """Return a client with this host's configuration, or with that of this process's pod."""
    try:
        from kubernetes import client, config
    except ImportError:
        raise ImportError(
            "clusters in Kubernetes need the official client: pip install 'marsdask[kubernetes]'"
        ) from None
    settings = client.Configuration()
    try:
        config.load_kube_config(client_configuration=settings)
    except config.ConfigException:
        try:
            config.load_incluster_config(client_configuration=settings)
        except config.ConfigException:
            raise KubernetesError(
                "found no configuration of Kubernetes (~/.kube/config or KUBECONFIG): check "
                "kubectl get nodes, or pass kubernetes.config.new_client_from_config()"
            ) from None
    return client.ApiClient(settings)


def path_of(
    version: str, kind: str, namespace: str | None, name: str | None = None, part: str = ""
) -> str:
    """Return the path of objects of a kind, of one of them, or of a part of it."""
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    where = "" if namespace is None or kind in _GLOBAL else f"/namespaces/{namespace}"
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    return "/".join(filter(None, (f"{root}{where}/{plural}", name, part)))


class KubernetesApi:
    """Creates, reads, watches, changes and deletes objects."""

    def __init__(self, client: ApiClient | None = None) -> None:
        client = default_client() if client is None else client
        self._client = client
        self._settings = client.configuration
        self._pool = client.rest_client.pool_manager

    def create(self, manifest: Manifest) -> Manifest:
        """Create an object and return it as Kubernetes has it."""
        metadata = manifest["metadata"]
        path = path_of(manifest["apiVersion"], manifest["kind"], metadata.get("namespace"))
        return self.request("POST", path, body=manifest)

    def get(self, version: str, kind: str, namespace: str | None, name: str) -> Manifest:
        """Return an object."""
        return self.request("GET", path_of(version, kind, namespace, name))

    def list(
        self, version: str, kind: str, namespace: str | None, selector: str = "", **query: str
    ) -> Manifest:
        """Return the objects with some labels, in ``items``."""
        query |= {"labelSelector": selector} if selector else {}
        return self.request("GET", path_of(version, kind, namespace), query)

    def delete(self, version: str, kind: str, namespace: str | None, name: str) -> None:
        """Delete an object and what it owns, unless it is gone."""
        options = {"propagationPolicy": "Foreground"}
        with contextlib.suppress(NotFound):
            self.request("DELETE", path_of(version, kind, namespace, name), body=options)

    def patch(
        self, version: str, kind: str, namespace: str, name: str, change: Manifest, part: str = ""
    ) -> Manifest:
        """Merge a change into an object, or into a part such as ``status`` or ``scale``."""
        return self.request("PATCH", path_of(version, kind, namespace, name, part), body=change)

    def log(self, namespace: str, pod: str, lines: int, **query: str) -> str:
        """Return the last lines that a pod has written."""
        path = path_of("v1", "Pod", namespace, pod, "log")
        return self._send("GET", path, {"tailLines": str(lines), **query}).decode(errors="replace")

    def watch(
        self,
        version: str,
        kind: str,
        namespace: str | None,
        since: str,
        seconds: float,
        selector: str = "",
    ) -> Iterator[Manifest]:
        """Yield each change of objects with some labels, for some seconds."""
        query = {
            "watch": "1",
            "resourceVersion": since,
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        query |= {"labelSelector": selector} if selector else {}
        path = path_of(version, kind, namespace)
        with self._connection():
            answer = self._open("GET", path, query, patience=seconds + _PATIENCE)
            try:
                tail = b""
                for part in answer.stream(amt=None):
                    *lines, tail = (tail + part).split(b"\n")
                    yield from (json.loads(line) for line in lines if line.strip())
            finally:
                answer.close()

    def websocket(self, path: str, protocol: str) -> Any:
        """Open a connection that lasts, such as to a port of a pod."""
        from kubernetes.stream.ws_client import websocket_proxycare
        from websocket import WebSocket, WebSocketBadStatusException, WebSocketException

        url = self._settings.host.rstrip("/").replace("http", "ws", 1) + path
        options: dict[str, Any] = {"header": self._headers("GET"), "subprotocols": [protocol]}
        options["timeout"] = _PATIENCE
        if self._settings.proxy:
            options = websocket_proxycare(options, self._settings, url, {})
        socket: Any = WebSocket(sslopt=self._encryption(), enable_multithread=True)
        try:
            socket.connect(url, **options)
            socket.settimeout(None)
            return socket
        except WebSocketException as error:
            if isinstance(error, WebSocketBadStatusException):
                content = error.resp_body or b""
                raise_for(error.status_code, content, "GET", path.partition("?")[0], None)
            raise self._no_answer(error) from error

    def _encryption(self) -> dict[str, Any]:
        """Return the options of Python's ssl, as the official package has them."""
        settings = self._settings
        known = {
            "cert_reqs": ssl.CERT_REQUIRED if settings.verify_ssl else ssl.CERT_NONE,
            "check_hostname": settings.verify_ssl and settings.assert_hostname is not False,
            "ca_certs": settings.ssl_ca_cert,
            "certfile": settings.cert_file,
            "keyfile": settings.key_file,
            "server_hostname": getattr(settings, "tls_server_name", None),
        }
        return {name: value for name, value in known.items() if value is not None}

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Manifest | None = None,
    ) -> Manifest:
        """Send a request and return the answer."""
        answer: Manifest = json.loads(self._send(method, path, query, body) or b"{}")
        return answer

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Manifest | None = None,
    ) -> bytes:
        with self._connection():
            answer = self._open(method, path, query, body)
            try:
                content: bytes = answer.read()
                return content
            finally:
                answer.release_conn()

    @contextlib.contextmanager
    def _connection(self) -> Iterator[None]:
        """Tell what fails in the connection, at any part of an answer, as an error of ours."""
        try:
            yield
        except Exception as error:
            if "urllib3" not in type(error).__module__:
                raise
            raise self._no_answer(error) from error

    def _no_answer(self, error: Exception) -> Unavailable:
        return Unavailable(f"no answer from Kubernetes at {self._settings.host}: {error}")

    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Manifest | None = None,
        patience: float = _PATIENCE,
    ) -> Any:
        url = f"{self._settings.host.rstrip('/')}{path}"
        if query:
            url = f"{url}?{urlencode(query)}"
        answer = self._pool.request(
            method,
            url,
            body=None if body is None else json.dumps(body),
            headers=self._headers(method),
            timeout=patience,
            preload_content=False,
            retries=2 if method == "GET" else False,
        )
        if answer.status >= 400:
            method = "WATCH" if query and "watch" in query else method
            raise_for(answer.status, answer.read(), method, path, body)
        return answer

    def _headers(self, method: str) -> dict[str, str]:
        kind = "merge-patch+json" if method == "PATCH" else "json"
        headers = {"Accept": "application/json", "Content-Type": f"application/{kind}"}
        for auth in self._settings.auth_settings().values():  # may renew an expired token
            if auth["in"] == "header" and auth["value"]:
                headers[auth["key"]] = auth["value"]
        return {**self._client.default_headers, **headers}


def raise_for(
    status: int, content: bytes, method: str, path: str, body: Manifest | None
) -> NoReturn:
    """Raise the error of an answer: what failed, why, and what would help."""
    try:
        told = json.loads(content)
        message = str(told.get("message") or told)
    except (ValueError, AttributeError):
        told, message = {}, content.decode(errors="replace").strip()
    kind = (body or {}).get("kind", "")
    subject = f"{kind} {(body or {}).get('metadata', {}).get('name', '')}".strip() or path
    if status == 404 and message.startswith("namespaces "):
        raise NotFound(f"there is no such namespace: {message}; create it for {subject}")
    if status == 404:
        raise NotFound(f"Kubernetes does not know {subject}: {message}")
    if status == 409:
        raise AlreadyExists(f"Kubernetes refuses {subject}: {message}")
    if status == 401:
        raise Forbidden(f"Kubernetes does not accept the credentials: {message}")
    if status == 403:
        raise Forbidden(_forbidden(message, method, path, subject, body))
    if status in (400, 422):
        raise Refused(f"Kubernetes finds {subject} invalid: {message}")
    kind_of = Unavailable if status == 429 or status >= 500 else KubernetesError
    raise kind_of(f"Kubernetes answers {status} for {method} {path}: {message}")


def _forbidden(message: str, method: str, path: str, subject: str, body: Manifest | None) -> str:
    """Return why a request is forbidden: by a quota, a right, or a rule of the cluster."""
    if "exceeded quota" in message:
        return f"the namespace's quota is too small for {subject}: {message}"
    if "being terminated" in message:
        return f"the namespace is being deleted, wait or choose another one: {message}"
    if "permissions not currently held" in message:
        # The right to create roles is there. Nobody may give rights that they lack.
        rules = json.dumps((body or {}).get("rules", []))
        advice = f"ask for a Role with its rules {rules}"
        return f"{subject} gives rights that you lack: {advice} ({message})"
    if " cannot " in message:
        return _no_right(message, method, path)
    return f"Kubernetes forbids {subject}: {message}"


def _no_right(message: str, method: str, path: str) -> str:
    """Return who needs which right, and the rule of a Role that gives it."""
    parts = path.strip("/").split("/")
    group, segments = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    inside = len(segments) > 2 and segments[0] == "namespaces"
    namespace, segments = (segments[1], segments[2:]) if inside else (None, segments)
    resource = "/".join((segments[0], *segments[2:]))
    verb = _VERBS.get(method, "get" if len(segments) > 1 else "list")
    kind, where = ("Role", f" in the namespace {namespace}") if inside else ("ClusterRole", "")
    rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
    advice = f"ask for a {kind} with the rule {json.dumps(rule)}"
    if resource == "namespaces":
        advice += ", or give a namespace of yours: namespace=..., create_namespace=False"
    return f"no permission to {verb} {resource}{where}: {advice} ({message})"
