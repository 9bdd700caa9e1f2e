"""Clusters in Kubernetes: create one, find one again, change the number of workers, stop."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from marsdask.core.session import Session, new_session

from .arguments import cluster_spec
from .client import AlreadyExists, Forbidden, KubernetesApi, KubernetesError, NotFound
from .manifests import MADE_BY, manifests, owned
from .pods import INSTANCE, SERVICE_TYPE
from .port_forward import PortForward
from .secrets import AUTHORITY, new_certificates, token_of
from .spec import ClusterSpec
from .watch import is_ready, late_pods, retried, wait_ready
from .web_port import WebPort

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

#: Seconds for the web service to answer a new session: a takeover lasts up to two timeouts.
_ANSWER: Final = 30.0

#: Seconds between two looks at what is not watched.
_PAUSE: Final = 0.2

#: The variable that every pod has: names of services are known there.
INSIDE: Final = "KUBERNETES_SERVICE_HOST"

#: Versions of groups with the same fields, for Kubernetes 1.20 and before.
_OLDER: Final = {"policy/v1": "policy/v1beta1"}


@dataclass
class RunningCluster:
    """A cluster that exists: where it is, and how to reach and delete it."""

    api: KubernetesApi
    namespace: str
    name: str
    own_namespace: bool
    endpoint: str = ""
    token: str | None = None
    authority: bytes | None = None
    """The certificate of the authority of the web port, if it is the cluster's own."""
    made_here: bool = True
    """Whether ``new_cluster`` has made it, rather than Helm or ``kubectl apply``."""
    _forward: PortForward | None = field(default=None, repr=False, compare=False)

    @contextlib.contextmanager
    def authority_file(self) -> Iterator[str | None]:
        """Give the name of a file with the certificate of the authority."""
        if self.authority is None:
            yield None
            return
        with tempfile.NamedTemporaryFile(suffix=".crt", delete=False) as file:
            file.write(self.authority)
        try:
            yield file.name
        finally:
            os.unlink(file.name)

    def web_pod(self) -> dict[str, Any]:
        """Return a pod that serves the web port."""
        for role in ("marsweb", "marssupervisor"):
            selector = f"{INSTANCE}={self.name},{SERVICE_TYPE}={role}"
            listing: Any = self.api.list("v1", "Pod", self.namespace, selector)
            for pod in filter(is_ready, listing["items"]):
                web: dict[str, Any] = pod
                return web
        raise KubernetesError("no pod of the web service is ready")

    def forward(self, port: int) -> str:
        """Return an address of this host, of which Kubernetes forwards connections to the web port.

        It is open until the cluster is stopped, or nobody refers to it.
        """
        if self._forward is None:
            choose = partial(_web_pod_name, weakref.ref(self))
            self._forward = PortForward(self.api, self.namespace, port, choose)
            weakref.finalize(self, self._forward.close)
        return self._forward.address

    def secret(self, name: str, key: str) -> bytes:
        """Return the content of a secret; NotFound if there is none."""
        secret = self.api.get("v1", "Secret", self.namespace, f"{self.name}-{name}")
        return base64.b64decode(secret["data"][key])

    def delete(self) -> None:
        """Delete all objects, unless the cluster was made by other means."""
        if self._forward is not None:
            self._forward.close()
        if not self.made_here:
            return
        claims = [] if self.own_namespace else self._claims()
        self.api.delete("v1", "ConfigMap", self.namespace, self.name)
        for name in claims:
            self.api.delete("v1", "PersistentVolumeClaim", self.namespace, name)
        if self.own_namespace:
            self.api.delete("v1", "Namespace", None, self.namespace)

    def _claims(self) -> list[str]:
        """Return the claims of its workers, which a StatefulSet keeps before Kubernetes 1.27."""
        try:
            root = self.api.get("v1", "ConfigMap", self.namespace, self.name)
            if root.get("data", {}).get("claims", "0") == "0":
                return []
            kind, selector = "PersistentVolumeClaim", f"{INSTANCE}={self.name}"
            claims = self.api.list("v1", kind, self.namespace, selector)["items"]
        except (NotFound, Forbidden):
            return []
        return [claim["metadata"]["name"] for claim in claims]

    def wait_deleted(self, timeout: float | None) -> None:
        """Wait until nothing is left."""
        deadline = None if not timeout else time.monotonic() + timeout
        while self.made_here and self.exists():
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"{self.namespace} still exists after {timeout} s")
            time.sleep(_PAUSE)

    def exists(self) -> bool:
        """Return whether something of it is left."""
        try:
            if self.own_namespace:
                self.api.get("v1", "Namespace", None, self.namespace)
                return True
            selector = f"{INSTANCE}={self.name}"
            return bool(self.api.list("v1", "Pod", self.namespace, selector)["items"])
        except NotFound:
            return False


def _web_pod_name(cluster: weakref.ref[RunningCluster]) -> str:
    running_cluster = cluster()
    if running_cluster is None:
        raise KubernetesError("the cluster's client has ended")
    name: str = running_cluster.web_pod()["metadata"]["name"]
    return name


class ClusterClient:
    """A cluster, with a session on it."""

    def __init__(self, cluster: RunningCluster) -> None:
        self._cluster = cluster
        self._session: Session | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.namespace}/{self._cluster.name} {self.endpoint}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def namespace(self) -> str:
        """The namespace of the cluster."""
        return self._cluster.namespace

    @property
    def endpoint(self) -> str:
        """The address of the web service."""
        return self._cluster.endpoint

    @property
    def token(self) -> str | None:
        """The token of the web service."""
        return self._cluster.token

    @property
    def session(self) -> Session:
        """The session on the cluster."""
        if self._session is None or self._session.closed:
            self.start(default=False)
        assert self._session is not None
        return self._session

    def start(self, *, default: bool = True) -> None:
        """Start a session on the cluster, and make it the default one."""
        cluster = self._cluster
        options: dict[str, Any] = {} if cluster.token is None else {"token": cluster.token}
        with cluster.authority_file() as path:
            options |= {} if path is None else {"ca_file": path}
            options["connect_timeout"] = _ANSWER
            self._session = new_session(cluster.endpoint, default=default, **options)

    def stop(self, wait: bool = False, timeout: float = 0) -> None:
        """Close the session and delete the cluster; ``wait`` until nothing of it is left.

        Only a cluster that ``new_cluster`` has made is deleted.
        """
        try:
            if self._session is not None:
                self._session.close()
                self._session = None
        finally:
            self._cluster.delete()
        if wait:
            self._cluster.wait_deleted(timeout)


class KubernetesClusterClient(ClusterClient):
    """A cluster in Kubernetes, with a session on it.

    Parameters
    ----------
    kube_api_client : kubernetes.client.ApiClient
        The connection to Kubernetes.
    namespace, endpoint : str
        Those of another client of the cluster.
    cluster_name : str, optional
        Which cluster of the namespace, if there are several.
    token : str, optional
        The token of the web service, for accounts that may not read secrets.
    ca_file : str or path, optional
        The certificate of the authority of the web service, which is a secret too.
    """

    def __init__(
        self,
        kube_api_client: ApiClient | RunningCluster | None = None,
        namespace: str | None = None,
        endpoint: str | None = None,
        *,
        cluster_name: str | None = None,
        token: str | None = None,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(kube_api_client, RunningCluster):
            super().__init__(kube_api_client)
            return
        if namespace is None:
            raise TypeError("KubernetesClusterClient needs namespace= and endpoint=")
        api = KubernetesApi(kube_api_client)
        root = _find_root(api, namespace, cluster_name)
        super().__init__(_of_root(api, namespace, root, token, ca_file, endpoint))

    def rescale_workers(
        self,
        new_scale: int,
        min_workers: int | None = None,
        wait: bool = True,
        timeout: float | None = None,
    ) -> int:
        """Change the number of workers, and return how many there are.

        Workers that end move their results to others first. More workers are waited for until
        ``min_workers`` of them, by default all, have joined.
        """
        cluster = self._cluster
        port = WebPort(cluster.endpoint, cluster.token, cluster.authority)
        try:
            return port.rescale(new_scale, min_workers, wait=wait, timeout=timeout)
        except TimeoutError as error:
            selector = f"{INSTANCE}={cluster.name},{SERVICE_TYPE}=marsworker"
            lines = [str(error)]
            with contextlib.suppress(KubernetesError):
                pods = cluster.api.list("v1", "Pod", cluster.namespace, selector)["items"]
                lines += late_pods(cluster.api, cluster.namespace, pods)
            raise TimeoutError("\n".join(lines)) from None


def _find_root(api: KubernetesApi, namespace: str, name: str | None) -> dict[str, Any]:
    """Return the root of the cluster of a namespace."""
    roots = [
        config
        for config in api.list("v1", "ConfigMap", namespace, "app.kubernetes.io/name=marsdask")[
            "items"
        ]
        if name in (None, config["metadata"]["name"])
    ]
    if len(roots) != 1:
        names = ", ".join(sorted(config["metadata"]["name"] for config in roots))
        problem = (
            f"several clusters, {names}: choose one with cluster_name=" if roots else "no cluster"
        )
        raise LookupError(f"the namespace {namespace} has {problem}")
    root: dict[str, Any] = roots[0]
    return root


def _of_root(
    api: KubernetesApi,
    namespace: str,
    root: dict[str, Any],
    token: str | None,
    ca_file: str | os.PathLike[str] | None,
    endpoint: str | None,
) -> RunningCluster:
    """Return a cluster, with its secrets unless they are given."""
    metadata, data = root["metadata"], root["data"]
    running_cluster = RunningCluster(
        api, namespace, metadata["name"], data.get("namespace") == "own"
    )
    running_cluster.made_here = MADE_BY.items() <= (metadata.get("annotations") or {}).items()
    running_cluster.token = token
    if ca_file is not None:
        running_cluster.authority = Path(ca_file).read_bytes()
    elif not data.get("service", "").startswith("Ingress/"):  # which shows another certificate
        # Whoever may not read it has to say where the web port is, and whether it is encrypted.
        with contextlib.suppress(NotFound, *((Forbidden,) if endpoint else ())):
            running_cluster.authority = running_cluster.secret("tls", AUTHORITY)
    if token is None:
        with contextlib.suppress(NotFound):
            running_cluster.token = running_cluster.secret("token", "token").decode()
    running_cluster.endpoint = endpoint or _endpoint(running_cluster)
    return running_cluster


def new_cluster(
    kube_api_client: ApiClient | None = None,
    image: str | None = None,
    *,
    timeout: float | None = None,
    keep_on_failure: bool = False,
    default: bool = True,
    **arguments: Any,
) -> KubernetesClusterClient:
    """Create a cluster in Kubernetes and start a session on it, as the default one.

    Parameters
    ----------
    kube_api_client : kubernetes.client.ApiClient, optional
        The connection to Kubernetes; by default that of ``kubectl``.
    image : str, optional
        The image of all pods.
    timeout : float, optional
        Seconds for all pods to get ready; then all that was created is deleted.
    keep_on_failure : bool
        Whether to keep what was created, to look at it.
    default : bool
        Whether the session becomes the default session.
    **arguments
        Numbers and resources of pods, and others: see the page "Kubernetes".

    Returns
    -------
    KubernetesClusterClient
        The cluster.

    Raises
    ------
    KubernetesError
        If Kubernetes refuses an object, or a pod cannot get ready.
    TimeoutError
        If pods are not ready in time.
    """
    spec = cluster_spec(image=image, **arguments)
    api = KubernetesApi(kube_api_client)
    deadline = None if timeout is None else time.monotonic() + timeout
    cluster = _create(api, spec, keep_on_failure)
    with deleted_on_failure(cluster, keep=keep_on_failure):
        counts = {"supervisor": spec.supervisor.count, "worker": spec.min_workers}
        if spec.web is not None:
            counts["web"] = spec.web.count
        wait_ready(api, spec.namespace, spec.name, counts, timeout, deadline)
        find = partial(_endpoint, cluster, spec.service.host, deadline)
        cluster.endpoint = retried(find, deadline)
        if spec.service.type == "Ingress":
            cluster.authority = None  # the ingress shows a certificate of its own
        client = KubernetesClusterClient(cluster)
        client.start(default=default)
    return client


@contextlib.contextmanager
def deleted_on_failure(
    cluster: RunningCluster, *, keep: bool, unless: tuple[type[BaseException], ...] = ()
) -> Iterator[None]:
    """Delete a cluster if the block fails; its error says more than one of the deletion."""
    try:
        yield
    except unless:
        raise
    except BaseException:
        if not keep:
            with contextlib.suppress(KubernetesError):
                cluster.delete()
        raise


def _create(api: KubernetesApi, spec: ClusterSpec, keep: bool) -> RunningCluster:
    """Create all objects of a cluster, or none."""
    token = token_of(spec.token)
    hosts = ["localhost", f"*.{spec.object_name('pods')}.{spec.namespace}.svc"]
    hosts += [f"{spec.service.name}.{spec.namespace}.svc"]
    certificates = new_certificates(spec.name, hosts) if spec.tls else {}
    cluster = RunningCluster(api, spec.namespace, spec.name, spec.create_namespace)
    cluster.token, cluster.authority = token, certificates.get(AUTHORITY)
    root: dict[str, Any] | None = None
    # What somebody else has created under the name of the first object stays. A namespace whose
    # name was made here may be there though its answer was lost.
    exceptions: Any = (AlreadyExists, Forbidden) if spec.named_here else (BaseException,)
    for manifest in manifests(spec, certificates=certificates, token=token):
        is_root = manifest["kind"] == "ConfigMap"
        if is_root:
            manifest["metadata"]["annotations"] = dict(MADE_BY)
        with deleted_on_failure(cluster, keep=keep, unless=exceptions):
            created_object = _create_object(
                api, manifest if root is None else owned(manifest, root)
            )
        exceptions = ()
        root = created_object if is_root else root
    return cluster


def _create_object(api: KubernetesApi, manifest: dict[str, Any]) -> dict[str, Any]:
    try:
        return api.create(manifest)
    except NotFound:
        older = _OLDER.get(manifest["apiVersion"])
        if older is None:
            raise
        return api.create({**manifest, "apiVersion": older})


def _endpoint(
    cluster: RunningCluster, host: str | None = None, deadline: float | None = None
) -> str:
    """Return the address of the web service, for clients where this process runs."""
    api, namespace = cluster.api, cluster.namespace
    root = api.get("v1", "ConfigMap", namespace, cluster.name)
    kind, _, name = root["data"]["service"].partition("/")
    scheme = "http" if cluster.authority is None else "https"
    if kind == "Ingress":
        ingress = api.get("networking.k8s.io/v1", "Ingress", namespace, name)["spec"]
        return f"{'https' if ingress.get('tls') else 'http'}://{ingress['rules'][0]['host']}"
    service = api.get("v1", "Service", namespace, name)
    (port,) = service["spec"]["ports"]
    if kind == "ClusterIP" and host is not None:
        return f"{scheme}://{host}:{port['port']}"
    if kind == "ClusterIP" and INSIDE in os.environ:
        return f"{scheme}://{name}.{namespace}.svc:{port['port']}"
    if kind == "ClusterIP":
        return f"{scheme}://{cluster.forward(port['port'])}"
    if kind == "LoadBalancer":
        return f"{scheme}://{host or _balancer(cluster, name, deadline)}:{port['port']}"
    return f"{scheme}://{host or _host_ip(cluster)}:{port['nodePort']}"


def _host_ip(cluster: RunningCluster) -> str:
    """Return the address of a node with a pod that serves."""
    address: str = cluster.web_pod()["status"]["hostIP"]
    return f"[{address}]" if ":" in address else address


def _balancer(cluster: RunningCluster, name: str, deadline: float | None) -> str:
    """Wait until the load balancer has an address."""
    while True:
        service = cluster.api.get("v1", "Service", cluster.namespace, name)
        for entry in service.get("status", {}).get("loadBalancer", {}).get("ingress") or ():
            address: str = entry.get("hostname") or entry["ip"]
            return f"[{address}]" if ":" in address else address
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError(f"the load balancer of the service {name} has no address yet")
        time.sleep(_PAUSE)
