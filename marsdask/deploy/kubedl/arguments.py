"""The arguments of KubeDL's ``new_cluster``: Mars's, and those of pods that Kubernetes has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from ..kubernetes.arguments import cluster_spec
from ..kubernetes.spec import dns_label, new_name
from .mars_job import PORT, JobSpec, service_name, web_path

#: Mars's defaults.
_DEFAULTS: Final[Mapping[str, Any]] = {
    "scheduler_cpu": 2,
    "scheduler_mem": "4g",
    "worker_cpu": 8,
    "worker_mem": "32g",
    "worker_cache_mem": "45%",
    "web_num": 1,
    "web_cpu": 1,
    "web_mem": "4g",
}

#: Where workers spill to unless paths are given.
_SPILL: Final = "/tmp/spill-dir"  # noqa: S108 - a volume of the pod's own

#: What the operator decides, and Kubernetes's ``new_cluster`` takes.
_OPERATORS: Final = (
    "annotations",
    "autoscale",
    "cluster_name",
    "create_namespace",
    "endpoint_host",
    "ingress_class",
    "ingress_host",
    "ingress_tls_secret",
    "node_port",
    "service_name",
    "service_port",
    "service_type",
    *(f"{role}_service_port" for role in ("scheduler", "supervisor", "web", "worker")),
    "web_port",
    "workload_kind",
)


def job_spec(
    *,
    job_name: str | None = None,
    namespace: str | None = None,
    slb_endpoint: str | None = None,
    worker_spill_paths: str | Sequence[str] | None = None,
    service_account: str | None = None,
    node_selectors: Mapping[str, str] | None = None,
    **arguments: Any,
) -> JobSpec:
    """Return what the arguments of ``new_cluster`` describe; unknown ones raise TypeError."""
    for name in _OPERATORS:
        if name in arguments:
            raise TypeError(f"{name}= is KubeDL's to decide; see deploy.kubernetes.new_cluster")
    values = _with_defaults({name: value for name, value in arguments.items() if value is not None})
    name = new_name("mars-job")[:17] if job_name is None else job_name
    cluster = cluster_spec(
        cluster_name=dns_label("job_name", name, 40),
        namespace=namespace or "default",
        create_namespace=False,
        **values,
    )
    if cluster.web is None:
        raise ValueError("invalid web_num: 0; sessions use the web service")
    return JobSpec(
        cluster,
        spill_dirs=_spill_dirs(worker_spill_paths),
        web_host=None if slb_endpoint is None else urlsplit(with_protocol(slb_endpoint)).netloc,
        service_account=service_account,
        node_selectors=node_selectors or {},
    )


def _with_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """Add Mars's defaults, unless the other word for the same is given."""
    synonyms = {name: name.replace("scheduler_", "supervisor_") for name in _DEFAULTS}
    return {
        **{name: default for name, default in _DEFAULTS.items() if synonyms[name] not in given},
        **given,
    }


def _spill_dirs(paths: str | Sequence[str] | None) -> tuple[str, ...]:
    folders = (paths,) if isinstance(paths, str) else tuple(paths or (_SPILL,))
    for path in folders:
        if not isinstance(path, str) or not path.startswith("/") or "," in path:
            raise ValueError(
                f"invalid worker_spill_paths: {path!r}; give absolute paths, which KubeDL makes "
                "volumes of"
            )
    return folders


def with_protocol(address: str) -> str:
    """Return an address of the web, which is HTTP unless it says otherwise."""
    return (address if "://" in address else f"http://{address}").rstrip("/")


def endpoint(slb_endpoint: str | None, namespace: str, job: str) -> str:
    """Return the address of the web service: below the load balancer's, or inside the cluster."""
    if slb_endpoint is None:
        return f"http://{service_name(job)}.{namespace}:{PORT}"
    return with_protocol(slb_endpoint) + web_path(namespace, job)


def replaced_image(job: Mapping[str, Any], image: str | None) -> Mapping[str, Any]:
    """Return a MarsJob whose containers have another image."""
    if image is None:
        return job
    specs = dict(job["spec"]["marsReplicaSpecs"])
    for role, replicas in specs.items():
        template = replicas["template"]
        containers = [{**container, "image": image} for container in template["spec"]["containers"]]
        template = {**template, "spec": {**template["spec"], "containers": containers}}
        specs[role] = {**replicas, "template": template}
    return {**job, "spec": {**job["spec"], "marsReplicaSpecs": specs}}


def worker_count(job: Mapping[str, Any]) -> int:
    """Return how many workers a MarsJob asks for."""
    workers = job["spec"]["marsReplicaSpecs"].get("Worker") or {"replicas": 0}
    count: int = workers.get("replicas", 1)
    return count


def least_workers(given: int | None, count: int) -> int:
    """Return how many workers are waited for."""
    if given is None:
        return count
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= count:
        raise ValueError(f"invalid min_worker_num: {given!r}; give an integer from 0 to {count}")
    return given
