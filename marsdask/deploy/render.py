"""Print the objects of a cluster for ``kubectl apply``, and the template of the Helm chart.

    python -m marsdask.deploy.render secrets cluster_name=mars namespace=team | kubectl apply -f -
    python -m marsdask.deploy.render manifests cluster_name=mars namespace=team worker_num=4

Arguments are those of ``new_cluster``. ``chart`` prints what is in ``helm/marsdask/templates``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Final

import yaml

from .kubernetes.arguments import cluster_spec
from .kubernetes.manifests import manifests, secrets
from .kubernetes.secrets import new_certificates, token_of
from .kubernetes.spec import ClusterSpec

Manifest = dict[str, Any]

#: Arguments of the chart with a mark in place of each value, and what Helm puts there.
#: Numbers stand for numbers, for they are computed with.
_MARKS: Final[dict[str, tuple[Any, str]]] = {
    "cluster_name": ("helm-release", ".Release.Name"),
    "namespace": ("helm-namespace", ".Release.Namespace"),
    "image": ("helm-image", ".Values.image"),
    "worker_num": (987001, ".Values.worker.num"),
    "worker_cpu": (987002, ".Values.worker.cpu"),
    "worker_mem": (987003, ".Values.worker.memoryBytes"),
    "worker_cache_mem": (987004, ".Values.worker.cacheBytes"),
    "supervisor_cpu": (987005, ".Values.supervisor.cpu"),
    "supervisor_mem": (987006, ".Values.supervisor.memoryBytes"),
    "termination_grace": (987007, ".Values.worker.terminationGrace"),
    "run_as_user": (987008, ".Values.runAsUser"),
}

#: What the marks cannot say, for ``cluster_spec`` checks it: {kind: {field: Helm's value}}.
_SERVICE_TYPE: Final = ("helm-service-type", ".Values.service.type")
_PULL_POLICY: Final = ("helm-pull-policy", ".Values.imagePullPolicy")


def spec_of(words: Sequence[str]) -> ClusterSpec:
    """Return what words such as ``worker_num=4`` describe, in a namespace that exists."""
    arguments: dict[str, Any] = {"namespace": "default", "cluster_name": "mars"}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise ValueError(f"invalid argument: {word!r}; give NAME=VALUE")
        arguments[name] = yaml.safe_load(value)
    return cluster_spec(create_namespace=False, **arguments)


def all_but_secrets(spec: ClusterSpec) -> list[Manifest]:
    """Return the objects that are no secrets."""
    objects = manifests(spec, certificates={}, token="")
    return [manifest for manifest in objects if manifest["kind"] != "Secret"]


def new_secrets(spec: ClusterSpec) -> list[Manifest]:
    """Return secrets of a cluster, made for it."""
    service = f"{spec.service.name}.{spec.namespace}.svc"
    hosts = ["localhost", f"*.{spec.object_name('pods')}.{spec.namespace}.svc", service]
    certificates = new_certificates(spec.name, hosts) if spec.tls else {}
    return secrets(spec, certificates, token_of(spec.token))


def chart_template() -> str:
    """Return the template of the Helm chart: the objects, with Helm's values in place of ours."""
    marks = {name: mark for name, (mark, _) in _MARKS.items()}
    spec = cluster_spec(create_namespace=False, image_pull_policy=_PULL_POLICY[0], **marks)
    objects = all_but_secrets(spec)
    for manifest in objects:
        if manifest["kind"] == "Service" and "type" in manifest["spec"]:
            manifest["spec"]["type"] = _SERVICE_TYPE[0]
        if manifest["kind"] == "ConfigMap":
            manifest["data"]["service"] = f"{_SERVICE_TYPE[0]}/{spec.service.name}"
    text = as_yaml(objects)
    for mark, value in (*_MARKS.values(), _SERVICE_TYPE, _PULL_POLICY):
        text = text.replace(str(mark), f"{{{{ {value} }}}}")
    return text


def as_yaml(objects: Sequence[Manifest]) -> str:
    """Return objects as ``kubectl apply`` reads them."""
    text: str = yaml.safe_dump_all(objects, sort_keys=False, explicit_start=True, width=1000)
    return text


def main(argv: Sequence[str] | None = None) -> None:
    """Print what is asked for."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m marsdask.deploy.render", description=__doc__, formatter_class=form
    )
    parser.add_argument("what", choices=("manifests", "secrets", "chart"))
    parser.add_argument("arguments", nargs="*", metavar="NAME=VALUE")
    values = parser.parse_args(argv)
    try:
        if values.what == "chart":
            text = chart_template()
        else:
            make = all_but_secrets if values.what == "manifests" else new_secrets
            text = as_yaml(make(spec_of(values.arguments)))
    except (TypeError, ValueError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
