"""A real etcd and kube-apiserver on loopback, with what the tests' API server offers."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from marsdask.deploy.kubernetes.secrets import AUTHORITY, CERTIFICATE, KEY, new_certificates
from tests.cluster.commands import BOUND, free_port
from tests.deploy.kubernetes.apiserver import ADMIN, client_of
from tests.deploy.kubernetes.store import Denied, Object
from tests.kube.node_logs import NodeLogs
from tests.kube.remote_store import NODE, RemoteStore

#: The variable with the folder of the two programs.
VARIABLE = "MARSDASK_KUBE_APISERVER"

#: Seconds for the server to be ready, or to end.
_START, _END = 300.0, 30.0

#: Whose requests are the tests' controllers, node and fixtures.
HARNESS = "harness"

#: KubeDL's definition of MarsJobs, as far as tests need it.
DEFINITION = Path(__file__).parent / "marsjobs.yaml"

_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["ResponseStarted", "ResponseComplete", "Panic"],
    "rules": [{"level": "Metadata"}],
}


def programs() -> Path | None:
    """Return the folder of the two programs, `None` if the tests' own server is wanted."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


class RealServer:
    """Starts the two programs at ``host``."""

    def __init__(self, folder: Path, host: str) -> None:
        self.host, self.folder = host, folder
        self.port, self._etcd_port, self._peer_port = free_port(), free_port(), free_port()
        self.log: Callable[[str, str, bool], str] = lambda namespace, pod, previous: ""
        self.address: Callable[[str, str], str] = lambda namespace, pod: self.host
        self._write_files()
        self.authority = str(folder / AUTHORITY)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.store = RemoteStore(self.url, self.authority, HARNESS)
        self._logs = NodeLogs(self)
        try:
            self._start("etcd", self._etcd_options())
            self.start()
            self._define()
            self.store.start()
            self._register()
        except BaseException:
            self.close()
            raise

    def _register(self) -> None:
        """Make the node known, with the port where its logs are."""
        node: Object = {"metadata": {"name": NODE}}
        self.store.create("nodes", "", node)
        address = {"type": "InternalIP", "address": self.host}
        endpoint = {"kubeletEndpoint": {"Port": self._logs.port}}
        status = {"addresses": [address], "daemonEndpoints": endpoint}
        self.store.patch("nodes", "", NODE, {"status": status}, "status")

    def _write_files(self) -> None:
        for name, content in new_certificates("kubernetes", [self.host]).items():
            (self.folder / name).write_bytes(content)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        (self.folder / "accounts.key").write_bytes(private)
        users = "".join(f"{one},{one},{one},system:masters\n" for one in (ADMIN, HARNESS))
        (self.folder / "tokens.csv").write_text(users + "guest,guest,guest\n")
        (self.folder / "audit.yaml").write_text(json.dumps(_AUDIT))

    def _etcd_options(self) -> list[str]:
        url, peer = (f"http://{self.host}:{port}" for port in (self._etcd_port, self._peer_port))
        options = {
            "data-dir": self.folder / "etcd",
            "listen-client-urls": url,
            "advertise-client-urls": url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
        }
        return [*(f"--{name}={value}" for name, value in options.items()), "--unsafe-no-fsync"]

    def _server_options(self) -> list[str]:
        options = {
            "etcd-servers": f"http://{self.host}:{self._etcd_port}",
            "bind-address": self.host,
            "advertise-address": self.host,
            "secure-port": self.port,
            "insecure-port": 0,
            "tls-cert-file": self.folder / CERTIFICATE,
            "tls-private-key-file": self.folder / KEY,
            "cert-dir": self.folder / "certificates",
            "token-auth-file": self.folder / "tokens.csv",
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.96.0.0/16",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": self.folder / "accounts.key",
            "service-account-signing-key-file": self.folder / "accounts.key",
            "disable-admission-plugins": "ServiceAccount",
            "allow-privileged": "true",
            "audit-policy-file": self.folder / "audit.yaml",
            "audit-log-path": self.folder / "audit.log",
        }
        return [f"--{name}={value}" for name, value in options.items()]

    def _start(self, name: str, options: list[str]) -> None:
        folder = programs()
        assert folder is not None
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [*BOUND, str(folder / name), *options],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"GOMAXPROCS": "2"},
            )

    def start(self) -> None:
        """Start the API server, and wait until it is ready."""
        self._start("kube-apiserver", self._server_options())
        deadline = time.monotonic() + _START
        while not self._ready():
            process = self._processes["kube-apiserver"]
            if process.poll() is not None or time.monotonic() > deadline:
                said = (self.folder / "kube-apiserver.log").read_text(errors="replace")
                raise RuntimeError(f"kube-apiserver does not start:\n{said[-3000:]}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Kill the API server, as a node that fails does; its store is kept."""
        process = self._processes.pop("kube-apiserver")
        process.kill()
        process.wait(_END)

    def _ready(self) -> bool:
        import ssl

        context = ssl.create_default_context(cafile=self.authority)
        headers = {"Authorization": f"Bearer {HARNESS}"}
        request = urllib.request.Request(f"{self.url}/readyz", headers=headers)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        try:
            opener.open(request, timeout=5).close()
        except OSError:
            return False
        return True

    def _define(self) -> None:
        definition = yaml.safe_load(DEFINITION.read_text())
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        with contextlib.suppress(Denied):
            self.store.request("POST", path, definition)

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    def client(self, token: str = ADMIN) -> Any:
        """Return the official client."""
        return client_of(self, token)

    def user(self, name: str, *rules: Object) -> Any:
        """Return the client of a user with some rights in all namespaces."""
        group = "rbac.authorization.k8s.io"
        role = {"metadata": {"name": name}, "rules": list(rules)}
        subject = {"apiGroup": group, "kind": "User", "name": name}
        reference = {"apiGroup": group, "kind": "ClusterRole", "name": name}
        binding = {"metadata": {"name": name}, "subjects": [subject], "roleRef": reference}
        for plural, kind, one in (
            ("clusterroles", "ClusterRole", role),
            ("clusterrolebindings", "ClusterRoleBinding", binding),
        ):
            path = f"/apis/{group}/v1/{plural}"
            with contextlib.suppress(Denied):
                self.store.request("DELETE", f"{path}/{name}")
            self.store.request("POST", path, {"apiVersion": f"{group}/v1", "kind": kind, **one})
        for rule in rules:
            self._wait_right(name, rule)
        client = self.client()
        client.set_default_header("Impersonate-User", name)
        return client

    def _wait_right(self, user: str, rule: Object, namespace: str = "") -> None:
        """Wait until the server has noticed a right."""
        attributes = {
            "group": rule["apiGroups"][0],
            "resource": rule["resources"][0].partition("/")[0],
            "subresource": rule["resources"][0].partition("/")[2],
            "verb": rule["verbs"][0],
            "namespace": namespace,
            "name": (rule.get("resourceNames") or [""])[0],
        }
        version = "authorization.k8s.io/v1"
        review = {"apiVersion": version, "kind": "SubjectAccessReview"}
        review["spec"] = {"user": user, "resourceAttributes": attributes}  # type: ignore[assignment]
        deadline = time.monotonic() + _END
        while time.monotonic() < deadline:
            path = f"/apis/{version}/subjectaccessreviews"
            if self.store.request("POST", path, review)["status"]["allowed"]:
                return
            time.sleep(0.05)
        raise TimeoutError(f"{user} has no right {rule}")

    def account_token(self, namespace: str, account: str) -> str:
        """Return a token of a service account, which is made where nobody has made it."""
        place = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        with contextlib.suppress(Denied):
            self.store.create("serviceaccounts", namespace, {"metadata": {"name": account}})
        found = self.store.request("POST", f"{place}/{account}/token", {**request, "spec": {}})
        user = f"system:serviceaccount:{namespace}:{account}"
        for binding in self.store.list("rolebindings", namespace):
            if any(one["name"] == account for one in binding.get("subjects") or ()):
                role = self.store.get("roles", namespace, binding["roleRef"]["name"])
                for rule in role["rules"]:
                    self._wait_right(user, rule, namespace)
        token: str = found["status"]["token"]
        return token

    @property
    def requests(self) -> list[tuple[str, str, str]]:
        """Who has asked what, but for the tests themselves and the server."""
        return list(self._audited())

    def _audited(self) -> Iterator[tuple[str, str, str]]:
        for line in (self.folder / "audit.log").read_text().splitlines():
            with contextlib.suppress(ValueError):  # a line that is being written
                found = json.loads(line)
                user = found["user"]["username"]
                if user not in (HARNESS, "system:apiserver", "system:anonymous"):
                    yield user, found["verb"], found["requestURI"].partition("?")[0]

    def close(self) -> None:
        self.store.close()
        self._logs.close()
        for process in reversed(self._processes.values()):
            process.send_signal(signal.SIGKILL)
            process.wait(_END)
