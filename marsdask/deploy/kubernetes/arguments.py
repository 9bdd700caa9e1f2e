"""The arguments of ``new_cluster``, of both generations of Mars, as a :class:`.ClusterSpec`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args

from marsdask.scheduler.errors import did_you_mean

from .spec import (
    IMAGE,
    READINESS_PORT,
    SERVICE_PORT,
    WEB_PORT,
    ClusterSpec,
    RoleSpec,
    ServiceSpec,
    ServiceType,
    SpillVolume,
    WorkloadKind,
    dns_label,
    memory_bytes,
    memory_share,
    millicores,
    new_name,
)

#: Cores and memory that a pod of each role gets by default.
_DEFAULTS: Final = {"supervisor": (1, "1g"), "worker": (1, "2g"), "web": (0.5, "512m")}

#: Parts of arguments that each role has: ``worker_cpu``.
_OF_ROLES: Final = (
    "num",
    "cpu",
    "mem",
    "mem_limit_ratio",
    "extra_modules",
    "extra_env",
    "extra_labels",
    "service_port",
)

#: All other arguments, with their defaults.
_OTHERS: Final[Mapping[str, Any]] = {
    "cluster_name": None,
    "namespace": None,
    "create_namespace": True,
    "image": None,
    "image_pull_policy": "IfNotPresent",
    "image_pull_secrets": (),
    "workload_kind": "StatefulSet",
    "service_type": None,
    "service_name": None,
    "service_port": SERVICE_PORT,
    "node_port": None,
    "endpoint_host": None,
    "ingress_host": None,
    "ingress_class": None,
    "ingress_tls_secret": None,
    "annotations": None,
    "web_port": WEB_PORT,
    "tls": True,
    "token": True,
    "worker_spill_paths": (),
    "worker_cache_mem": None,
    "worker_min_cache_mem": None,
    "worker_gpu": 0,
    "autoscale": None,
    "min_worker_num": None,
    "extra_volumes": (),
    "extra_modules": (),
    "extra_env": None,
    "extra_labels": None,
    "pre_stop_command": (),
    "termination_grace": 300,
    "run_as_user": 1000,
}

#: What a token consists of.
_TOKEN: Final = re.compile("[!-~]+")

#: Arguments of Mars that mean nothing here.
_IGNORED: Final = ("cluster_cls", "log_when_fail", "mounts", "use_local_image")


def cluster_spec(**arguments: Any) -> ClusterSpec:
    """Return what the arguments of ``new_cluster`` describe; unknown ones raise TypeError."""
    roles = _roles(arguments)
    for name in _IGNORED:
        arguments.pop(name, None)
    for name in arguments:
        if name not in _OTHERS:
            names = [*_OTHERS, *(f"{r}_{p}" for r in _DEFAULTS for p in _OF_ROLES)]
            hint = did_you_mean(name, names)
            raise TypeError(f"new_cluster() got an unexpected keyword argument {name!r}{hint}")
    values = {**_OTHERS, **{name: value for name, value in arguments.items() if value is not None}}
    kind = _choice("workload_kind", values["workload_kind"], WorkloadKind)
    name, namespace = _names(values)
    worker = _role("worker", roles["worker"], values)
    supervisor = _role("supervisor", _autoscaled(roles["supervisor"], values), values)
    # The documents give web_num or the like to ask for pods of their own. Of several supervisors
    # only one accepts sessions: pods of the web service know which one.
    web = _role("web", roles["web"], values) if roles["web"] or supervisor.count > 1 else None
    if supervisor.count > 1 and web is not None and web.count == 0:
        raise ValueError(
            f"web_num=0 needs supervisor_num=1: of {supervisor.count} supervisors sessions find "
            "the active one by the web service"
        )
    service = _service(values, name)
    _check_ports(service, supervisor, worker)
    return ClusterSpec(
        name=name,
        namespace=namespace,
        supervisor=supervisor,
        worker=worker,
        web=None if web is None or web.count == 0 else web,
        service=service,
        workload_kind=kind,
        spill=_spill(values["worker_spill_paths"], kind),
        volumes=tuple(_volume(value, index) for index, value in enumerate(values["extra_volumes"])),
        pre_stop=_command(values["pre_stop_command"]),
        grace=_whole("termination_grace", values["termination_grace"], 1),
        user=_whole("run_as_user", values["run_as_user"], 1),
        min_workers=_least(values["min_worker_num"], worker.count),
        cache=_cache("worker_cache_mem", values, worker.memory),
        min_cache=_cache("worker_min_cache_mem", values, worker.memory),
        **_access(values),
    )


def _access(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the cluster needs of others, and what others need to use it."""
    tls, token = _flag("tls", given["tls"]), given["token"]
    if isinstance(token, str):
        if not _TOKEN.fullmatch(token):
            raise ValueError("invalid token: give printable ASCII characters without spaces")
    elif not _flag("token", token) and tls:
        raise ValueError(
            "token=False needs tls=False: without a token the web port demands certificates of "
            "clients, which neither Kubernetes's probes nor sessions have"
        )
    return {
        "create_namespace": given["create_namespace"],
        "named_here": given["create_namespace"] and given["namespace"] is None,
        "image": given["image"] or IMAGE,
        "image_pull_policy": given["image_pull_policy"],
        "image_pull_secrets": _strings(given["image_pull_secrets"]),
        "tls": tls,
        "token": token,
    }


def _check_ports(service: ServiceSpec, supervisor: RoleSpec, worker: RoleSpec) -> None:
    """Refuse a port that two servers of one pod would have."""
    if service.port == supervisor.port:
        raise ValueError(
            f"web_port={service.port} is the service port of supervisors, too; give another one"
        )
    if worker.port == READINESS_PORT:
        raise ValueError(f"worker_service_port={worker.port} is the port of probes")


def _roles(arguments: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Take the arguments of each role out; ``scheduler_`` is the old word for ``supervisor_``."""
    roles: dict[str, dict[str, Any]] = {role: {} for role in _DEFAULTS}
    for word, role in (("scheduler", "supervisor"), *((role, role) for role in _DEFAULTS)):
        for part in _OF_ROLES:
            value = arguments.pop(f"{word}_{part}", None)
            if value is not None and part in roles[role]:
                raise TypeError(f"give scheduler_{part} or supervisor_{part}, not both")
            if value is not None:
                roles[role][part] = value
    return roles


def _role(role: str, given: Mapping[str, Any], common: Mapping[str, Any]) -> RoleSpec:
    cpu, memory = _DEFAULTS[role]
    ratio = given.get("mem_limit_ratio", 1.0 if role == "worker" else None)
    if ratio is not None and not ratio >= 1:
        raise ValueError(f"invalid {role}_mem_limit_ratio: {ratio!r}; give a number of at least 1")
    env = {**(common["extra_env"] or {}), **given.get("extra_env", {})}
    return RoleSpec(
        count=_whole(f"{role}_num", given.get("num", 1), 1 if role == "supervisor" else 0),
        cpu=millicores(f"{role}_cpu", given.get("cpu", cpu)),
        memory=memory_bytes(f"{role}_mem", given.get("mem", memory)),
        limit_ratio=ratio,
        modules=(*_words(common["extra_modules"]), *_words(given.get("extra_modules", ()))),
        env={str(name): str(value) for name, value in env.items()},
        labels={**(common["extra_labels"] or {}), **given.get("extra_labels", {})},
        port=_port(f"{role}_service_port", given.get("service_port", common["service_port"])),
        gpu=_whole("worker_gpu", common["worker_gpu"], 0) if role == "worker" else 0,
    )


def _autoscaled(supervisor: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a supervisor's arguments with the variables that tell it how many workers may be."""
    limits = given["autoscale"]
    if limits is None:
        return supervisor
    if not isinstance(limits, Sequence) or isinstance(limits, str) or len(limits) != 2:
        raise ValueError(f"invalid autoscale: {limits!r}; give (least, most)")
    least, most = (_whole("autoscale", limit, 0) for limit in limits)
    if least > most:
        raise ValueError(f"invalid autoscale: {limits!r}; the least exceeds the most")
    section = "DASK_MARSDASK__AUTOSCALE__"
    env = {"ENABLED": "True", "MIN_WORKERS": least, "MAX_WORKERS": most}
    variables = {f"{section}{name}": value for name, value in env.items()}
    return supervisor | {"extra_env": variables | dict(supervisor.get("extra_env") or {})}


def _names(given: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the cluster and its namespace: one of its own by default."""
    own = _flag("create_namespace", given["create_namespace"])
    if not own and given["namespace"] is None:
        raise TypeError("create_namespace=False needs namespace=")
    namespace = given["namespace"] or new_name("mars-ns")
    # Clusters that share a namespace need names; pods' names, which are longer, are labels too.
    name = given["cluster_name"] or ("mars" if own else new_name("mars")[:13])
    return dns_label("cluster_name", name, 40), dns_label("namespace", namespace)


def _service(given: Mapping[str, Any], name: str) -> ServiceSpec:
    choice = given["service_type"] or ("Ingress" if given["ingress_host"] else "NodePort")
    kind = _choice("service_type", choice, ServiceType)
    if kind == "Ingress" and given["ingress_host"] is None:
        raise TypeError("service_type='Ingress' needs ingress_host=")
    default = "marsservice" if given["create_namespace"] else f"{name}-service"
    node_port = given["node_port"]
    return ServiceSpec(
        type=kind,
        name=dns_label("service_name", given["service_name"] or default),
        port=_port("web_port", given["web_port"]),
        node_port=None if node_port is None else _port("node_port", node_port),
        host=given["ingress_host"] or given["endpoint_host"],
        annotations=given["annotations"] or {},
        ingress_class=given["ingress_class"],
        ingress_tls_secret=given["ingress_tls_secret"],
    )


def _spill(paths: str | Sequence[Any], workload: str) -> tuple[SpillVolume, ...]:
    """Return the volumes of spill paths: directories of hosts, or sources of volumes."""
    volumes = []
    for index, path in enumerate([paths] if isinstance(paths, str) else paths):
        if isinstance(path, str):
            if not path.startswith("/"):
                raise ValueError(f"invalid worker_spill_paths: {path!r}; give absolute paths")
            source: Mapping[str, Any] = {
                "hostPath": {"path": path, "type": "DirectoryOrCreate"},
            }
        elif isinstance(path, Mapping) and len(path) == 1:
            source = path
        else:
            raise ValueError(
                f"invalid worker_spill_paths: {path!r}; give a host's path, or the source of a "
                "volume such as {'emptyDir': {'sizeLimit': '10Gi'}}"
            )
        if "volumeClaimTemplate" in source and workload != "StatefulSet":
            raise ValueError(
                f"invalid worker_spill_paths: {path!r}; a volumeClaimTemplate needs "
                f"workload_kind='StatefulSet', not {workload!r}"
            )
        kind = "hostpath" if "hostPath" in source else "spill"
        volumes.append(SpillVolume(f"/mnt/{kind}{index}", source))
    return tuple(volumes)


def _volume(volume: Any, index: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return a volume and its mount, of a mapping or of an object as Mars has it."""
    if not isinstance(volume, Mapping):
        return volume.build(), volume.build_mount()
    source = dict(volume)
    name = source.pop("name", f"extra-{index}")
    path = source.pop("mountPath", None) or source.pop("mount_path", None)
    if path is None or len(source) != 1:
        raise ValueError(
            f"invalid extra_volumes: {volume!r}; give for instance "
            "{'name': 'data', 'mountPath': '/data', 'hostPath': {'path': '/data'}}"
        )
    return {"name": name, **source}, {"name": name, "mountPath": path}


def _cache(name: str, given: Mapping[str, Any], memory: int) -> int | None:
    return None if given[name] is None else memory_share(name, given[name], memory)


def _least(given: Any, count: int) -> int:
    least = count if given is None else _whole("min_worker_num", given, 0)
    if least > count:
        raise ValueError(f"min_worker_num={least} exceeds worker_num={count}")
    return least


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"invalid {name}: {value!r}; give an integer of at least {least}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"invalid {name}: {value!r}; give True or False")
    return value


def _port(name: str, value: Any) -> int:
    number = _whole(name, value, 1)
    if number > 65535:
        raise ValueError(f"invalid {name}: {value!r}; ports end at 65535")
    return number


def _words(value: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(value.split(",")) if isinstance(value, str) else tuple(value)


def _strings(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _command(value: str | Iterable[str]) -> tuple[str, ...]:
    return ("/bin/sh", "-c", value) if isinstance(value, str) else tuple(value)


def _choice(name: str, value: Any, choices: Any) -> Any:
    if value not in get_args(choices):
        options = ", ".join(map(repr, get_args(choices)))
        raise ValueError(f"invalid {name}: {value!r}; choose from {options}")
    return value
