"""Clusters of KubeDL: write a MarsJob, wait for its workers, give the session, stop."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..kubernetes.client import AlreadyExists, Forbidden, KubernetesApi, KubernetesError, NotFound
from ..kubernetes.cluster import ClusterClient, RunningCluster, deleted_on_failure
from ..kubernetes.manifests import owned, secrets
from ..kubernetes.secrets import new_certificates, token_of
from ..kubernetes.spec import ClusterSpec
from ..kubernetes.watch import explain, late_pods, refusals, retried, trouble
from ..kubernetes.web_port import WebPort
from .arguments import endpoint, job_spec, least_workers, replaced_image, worker_count
from .mars_job import KIND, VERSION, mars_job, worker_name
from .reading import read_job

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

#: The label of a job's pods with its name.
_JOB: Final = "job-name"

#: Seconds between two questions how many workers there are.
_ROUND: Final = 0.5

#: How often a change is tried, if others change the job at the same time.
_ATTEMPTS: Final = 5


@dataclass
class RunningJob(RunningCluster):
    """A MarsJob that exists."""

    def delete(self) -> None:
        """Delete the job, and what it owns."""
        self.api.delete(VERSION, KIND, self.namespace, self.name)

    def exists(self) -> bool:
        """Return whether something of it is left."""
        with contextlib.suppress(NotFound):
            self.api.get(VERSION, KIND, self.namespace, self.name)
            return True
        pods = self.api.list("v1", "Pod", self.namespace, f"{_JOB}={self.name}")
        return bool(pods["items"])


class KubeDLClusterClient(ClusterClient):
    """A MarsJob with a session on its web service.

    Parameters
    ----------
    kube_api_client : kubernetes.client.ApiClient
        The connection to Kubernetes.
    namespace, job_name : str
        Where the job is.
    slb_endpoint : str, optional
        The address of the load balancer in front of the ingress; by default the web service is
        reached inside the cluster.
    token : str, optional
        The token of the web service, for accounts that may not read secrets.
    """

    def __init__(
        self,
        kube_api_client: ApiClient | RunningJob | None = None,
        namespace: str = "default",
        job_name: str | None = None,
        *,
        slb_endpoint: str | None = None,
        token: str | None = None,
    ) -> None:
        if isinstance(kube_api_client, RunningJob):
            super().__init__(kube_api_client)
            return
        if job_name is None:
            raise TypeError("KubeDLClusterClient needs job_name=")
        api = KubernetesApi(kube_api_client)
        api.get(VERSION, KIND, namespace, job_name)
        running_job = RunningJob(api, namespace, job_name, own_namespace=False, token=token)
        running_job.endpoint = endpoint(slb_endpoint, namespace, job_name)
        if token is None:
            with contextlib.suppress(NotFound):
                running_job.token = running_job.secret("token", "token").decode()
        super().__init__(running_job)

    def rescale_workers(
        self,
        new_scale: int,
        min_workers: int | None = None,
        wait: bool = True,
        timeout: float | None = None,
    ) -> int:
        """Change the number of workers of the MarsJob, and return how many there are.

        KubeDL ends the last ones, which move their results to others first. More workers are
        waited for until ``min_workers`` of them, by default all, have joined.
        """
        cluster = self._cluster
        if isinstance(new_scale, bool) or not isinstance(new_scale, int) or new_scale < 0:
            raise ValueError(f"invalid new_scale: {new_scale!r}; give an integer of at least 0")
        least = new_scale if min_workers is None else least_workers(min_workers, new_scale)
        port = WebPort(cluster.endpoint, cluster.token)
        self._scale(new_scale, port, timeout)
        return port.wait_for(least, new_scale, timeout) if wait else port.count()

    def _scale(self, workers: int, port: WebPort, timeout: float | None) -> None:
        """Vacate the last workers, if there will be fewer, and change the job."""
        vacated = False
        try:
            for job in self._attempts():
                leaving = range(workers, worker_count(job))
                if leaving or vacated:
                    vacated = True
                    port.vacate([worker_name(self._cluster.name, i) for i in leaving], timeout)
                if self._changed(job, workers):
                    return
        except BaseException:
            if vacated:
                with contextlib.suppress(KubernetesError, OSError):
                    port.vacate(())  # they remain, and get tasks again
            raise

    def _attempts(self) -> Iterator[dict[str, Any]]:
        """Yield the job as it is now; if it has changed meanwhile, again."""
        cluster = self._cluster
        for _ in range(_ATTEMPTS):
            yield cluster.api.get(VERSION, KIND, cluster.namespace, cluster.name)
        raise KubernetesError(
            f"the MarsJob {cluster.name} has changed at each of {_ATTEMPTS} attempts to change its "
            "number of workers; try again"
        )

    def _changed(self, job: dict[str, Any], workers: int) -> bool:
        """Change the number of workers, unless the job is another one than it was."""
        cluster = self._cluster
        if "Worker" not in job["spec"]["marsReplicaSpecs"]:
            raise ValueError(f"the MarsJob {cluster.name} has no template of workers")
        change = {
            "metadata": {"resourceVersion": job["metadata"]["resourceVersion"]},
            "spec": {"marsReplicaSpecs": {"Worker": {"replicas": workers}}},
        }
        try:
            cluster.api.patch(VERSION, KIND, cluster.namespace, cluster.name, change)
        except AlreadyExists:  # the job has changed meanwhile
            return False
        return True


def new_cluster(
    kube_api_client: ApiClient | None = None,
    image: str | None = None,
    *,
    job: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    slb_endpoint: str | None = None,
    min_worker_num: int | None = None,
    timeout: float | None = None,
    keep_on_failure: bool = False,
    default: bool = True,
    **arguments: Any,
) -> KubeDLClusterClient:
    """Create a MarsJob, which KubeDL's operator runs, and start a session on it.

    Parameters
    ----------
    kube_api_client : kubernetes.client.ApiClient, optional
        The connection to Kubernetes; by default that of ``kubectl``.
    image : str, optional
        The image of all pods.
    job : str, path or mapping, optional
        A MarsJob, or a YAML file with one, instead of the arguments of pods.
    slb_endpoint : str, optional
        The address of the load balancer in front of the ingress that KubeDL makes.
    min_worker_num : int, optional
        Workers that are waited for; by default all.
    timeout : float, optional
        Seconds for the workers to join; then the job is deleted.
    keep_on_failure : bool
        Whether to keep the job, to look at it.
    default : bool
        Whether the session becomes the default session.
    **arguments
        Numbers and resources of pods, and others: see the page "KubeDL".

    Returns
    -------
    KubeDLClusterClient
        The cluster.

    Raises
    ------
    KubernetesError
        If Kubernetes refuses the job, or the job fails.
    TimeoutError
        If too few workers join in time.
    """
    manifest, cluster, token = _asked(job, image, slb_endpoint, arguments)
    least = least_workers(min_worker_num, worker_count(manifest))
    deadline = None if timeout is None else time.monotonic() + timeout
    running_job = _create(KubernetesApi(kube_api_client), manifest, cluster, token)
    with deleted_on_failure(running_job, keep=keep_on_failure):
        running_job.endpoint = endpoint(slb_endpoint, running_job.namespace, running_job.name)
        _wait(running_job, least, timeout, deadline)
        client = KubeDLClusterClient(running_job)
        client.start(default=default)
    return client


def _asked(
    job: str | os.PathLike[str] | Mapping[str, Any] | None,
    image: str | None,
    slb_endpoint: str | None,
    arguments: dict[str, Any],
) -> tuple[dict[str, Any], ClusterSpec | None, str | None]:
    """Return the job that is asked for, what it consists of, and the token that it needs."""
    if not arguments.pop("verify_ssl", True):
        raise NotImplementedError(
            "verify_ssl=False is not supported: let SSL_CERT_FILE name the certificate of the "
            "load balancer's authority"
        )
    if job is not None:
        return _given(job, image, arguments)
    spec = job_spec(slb_endpoint=slb_endpoint, image=image, **arguments)
    return mars_job(spec), spec.cluster, token_of(spec.cluster.token)


def _given(
    job: str | os.PathLike[str] | Mapping[str, Any], image: str | None, arguments: dict[str, Any]
) -> tuple[dict[str, Any], None, str | None]:
    """Return a job that somebody has written, and the token that its web service needs."""
    token = arguments.pop("token", None) or None
    if arguments:
        raise TypeError(f"{', '.join(arguments)}: the job says this; give image= at most")
    if token is not None and not isinstance(token, str):
        raise TypeError("token: the job says whether there is one; give that one")
    manifest = replaced_image(read_job(job), image)
    metadata = {"namespace": "default", **(manifest.get("metadata") or {})}
    if "name" not in metadata and "generateName" not in metadata:
        metadata["generateName"] = "mars-job-"
    return {**manifest, "metadata": metadata}, None, token


def _create(
    api: KubernetesApi,
    manifest: dict[str, Any],
    cluster: ClusterSpec | None,
    token: str | None,
) -> RunningJob:
    """Create the secrets of a job, which pods wait for, and the job, which owns them."""
    namespace: str = manifest["metadata"]["namespace"]
    if cluster is None:
        name = api.create(manifest)["metadata"]["name"]
        return RunningJob(api, namespace, name, own_namespace=False, token=token)
    hosts = [f"*.{namespace}.svc", f"*.{namespace}"]
    certificates = new_certificates(cluster.name, hosts) if cluster.tls else {}
    objects = secrets(cluster, certificates, token)
    created: list[dict[str, Any]] = []
    try:
        for secret in objects:
            api.create(secret)
            created.append(secret)
        root = api.create(manifest)
    except BaseException:
        for secret in created:
            with contextlib.suppress(KubernetesError):
                api.delete("v1", "Secret", namespace, secret["metadata"]["name"])
        raise
    running_job = RunningJob(api, namespace, cluster.name, own_namespace=False, token=token)
    try:
        for secret in objects:
            references = owned(secret, root)["metadata"]["ownerReferences"]
            change = {"metadata": {"ownerReferences": references}}
            api.patch("v1", "Secret", namespace, secret["metadata"]["name"], change)
    except BaseException:
        running_job.delete()
        raise
    return running_job


def _wait(running: RunningJob, least: int, timeout: float | None, deadline: float | None) -> None:
    """Wait for workers; raise the error of a job that fails, or of a pod that will not start."""
    port = WebPort(running.endpoint, running.token)
    while True:
        try:
            count = port.count()
        except (OSError, ValueError, KubernetesError) as error:
            state = str(error)  # what is in front of the web service may answer for it
        else:
            if count >= least:
                return
            state = f"{count} of {least} workers have joined"
        pods, refusals = retried(partial(_state, running), deadline)
        if deadline is not None and time.monotonic() > deadline:
            lines = [f"after {timeout} s the MarsJob {running.name} is not ready: {state}"]
            if pods is not None:
                lines += late_pods(running.api, running.namespace, pods, refusals)
            raise TimeoutError("\n".join(lines))
        time.sleep(_ROUND)


def _state(running: RunningJob) -> tuple[list[dict[str, Any]] | None, list[str]]:
    return _pods(running), _refusals(running)


def _refusals(running: RunningJob) -> list[str]:
    """Return why the operator could not create pods; a quota that is too small is an error."""
    job = running.api.get(VERSION, KIND, running.namespace, running.name)
    start = job["metadata"].get("creationTimestamp") or ""
    return refusals(
        running.api, running.namespace, re.escape(running.name), start, "FailedCreatePod"
    )


def _pods(running: RunningJob) -> list[dict[str, Any]] | None:
    """Return the pods of a job that may still start, ``None`` without the right to see them."""
    api, namespace, name = running.api, running.namespace, running.name
    status = api.get(VERSION, KIND, namespace, name).get("status") or {}
    pods: list[dict[str, Any]] | None = None
    with contextlib.suppress(Forbidden):
        pods = api.list("v1", "Pod", namespace, f"{_JOB}={name}")["items"]
    for condition in status.get("conditions") or ():
        if condition["type"] == "Failed" and condition["status"] == "True":
            lines = [f"the MarsJob {name} has failed: {condition.get('message')}"]
            failed = [one for one in pods or () if one["status"].get("phase") == "Failed"]
            lines += [explain(api, namespace, one, "Failed") for one in failed]
            raise KubernetesError("\n".join(lines))
    for pod in pods or ():
        if (why := trouble(pod)) is not None:
            raise KubernetesError(explain(api, namespace, pod, why))
    return pods
