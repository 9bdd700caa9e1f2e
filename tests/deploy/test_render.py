"""The chart and plain manifests: the same objects as new_cluster's."""

import base64
import json
import re

import kubernetes_validate
import pytest
import yaml
from kubernetes_validate import utils

from marsdask.deploy import render
from marsdask.deploy.kubernetes.arguments import cluster_spec
from marsdask.deploy.kubernetes.manifests import manifests
from tests.source import ROOT

HELM = ROOT / "helm"
CHART = HELM / "marsdask"

RELEASES = [utils.all_versions()[end] for end in (0, -1)]

_VALUE = re.compile(r"\{\{ (.*?) \}\}")


def helm(values, name="mars", namespace="default"):
    """Render the chart as Helm does: its templates consist of plain values only."""
    known = {"Release": {"Name": name, "Namespace": namespace}, "Values": values}

    def value(match):
        found = known
        for part in match[1].removeprefix(".").split("."):
            found = found[part]
        return str(found)

    text = (CHART / "templates/cluster.yaml").read_text()
    return list(yaml.safe_load_all(_VALUE.sub(value, text)))


def defaults():
    return yaml.safe_load((CHART / "values.yaml").read_text())


def test_the_files_are_rendered():
    """What is in helm/ is what the command prints: run it again after a change of manifests."""
    assert (CHART / "templates/cluster.yaml").read_text() == render.chart_template()
    # The chart's default of the memory for results, which is half of all.
    spec = render.spec_of(["worker_cache_mem=50%"])
    plain = render.as_yaml(render.all_but_secrets(spec))
    assert (HELM / "marsdask.yaml").read_text() == plain


#: Other values than the chart's defaults, and the arguments of new_cluster that they stand for.
VALUES = {
    "image": "registry/marsdask@sha256:0",
    "imagePullPolicy": "Always",
    "runAsUser": 2000,
    "service": {"type": "LoadBalancer"},
    "supervisor": {"cpu": 2, "memoryBytes": str(2**31)},
    "worker": {
        "num": 5,
        "cpu": 4,
        "memoryBytes": str(2**34),
        "cacheBytes": str(2**32),
        "terminationGrace": 60,
    },
}
ARGUMENTS = {
    "image": "registry/marsdask@sha256:0",
    "image_pull_policy": "Always",
    "run_as_user": 2000,
    "service_type": "LoadBalancer",
    "supervisor_cpu": 2,
    "supervisor_mem": "2g",
    "worker_num": 5,
    "worker_cpu": 4,
    "worker_mem": "16g",
    "worker_cache_mem": "4g",
    "termination_grace": 60,
}


def test_the_chart_and_plain_manifests_agree():
    """By default; each value is the argument of new_cluster that it is named for."""
    assert helm(defaults()) == list(yaml.safe_load_all((HELM / "marsdask.yaml").read_text()))
    parts = [
        {name: set(one) for name, one in values.items() if isinstance(one, dict)}
        for values in (VALUES, defaults())
    ]
    assert parts[0] == parts[1]
    names = {"cluster_name": "prod", "namespace": "team", "create_namespace": False}
    spec = cluster_spec(**names, **ARGUMENTS)
    wanted = [one for one in manifests(spec, certificates={}, token="") if one["kind"] != "Secret"]
    found = helm(VALUES, "prod", "team")
    assert json.loads(json.dumps(wanted)) == found


@pytest.mark.parametrize("cpu", [0.5, "500m"])
def test_parts_of_a_core(cpu):
    """Processes are told whole cores, whose number Kubernetes rounds up."""
    values = defaults()
    for role in ("supervisor", "worker"):
        values[role]["cpu"] = cpu
    sets = [one for one in helm(values) if one["kind"] == "StatefulSet"]
    assert len(sets) == 2
    for one in sets:
        (container,) = one["spec"]["template"]["spec"]["containers"]
        told = {v["name"]: v for v in container["env"]}
        assert container["resources"]["requests"]["cpu"] == str(cpu)
        for name in ("MARS_CPU_TOTAL", "MKL_NUM_THREADS"):
            cores = {"resourceFieldRef": {"resource": "requests.cpu"}}
            assert told[name] == {"name": name, "valueFrom": cores}


def test_the_chart_is_valid():
    """Rendered, it keeps to the schemas of Kubernetes; its notes name the release."""
    for manifest in helm(defaults()):
        for release in RELEASES:
            kubernetes_validate.validate(manifest, release, strict=True)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["apiVersion"], chart["name"]) == ("v2", "marsdask")
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert chart["version"] == chart["appVersion"] == version[1]
    assert "{{ .Release.Name }}" in (CHART / "templates/NOTES.txt").read_text()


def test_secrets(capsys):
    """Made anew for each cluster, under the names that its pods mount."""
    render.main(["secrets", "cluster_name=prod", "namespace=team"])
    text = capsys.readouterr().out
    found = {one["metadata"]["name"]: one for one in yaml.safe_load_all(text)}
    assert set(found) == {"prod-tls", "prod-token"}
    assert set(found["prod-tls"]["data"]) == {"ca.crt", "tls.crt", "tls.key"}
    render.main(["secrets", "cluster_name=prod", "namespace=team"])
    assert capsys.readouterr().out != text
    render.main(["secrets", "cluster_name=prod", "token=a-token-of-mine"])
    (token,) = (
        one["data"]["token"]
        for one in yaml.safe_load_all(capsys.readouterr().out)
        if one["metadata"]["name"] == "prod-token"
    )
    assert base64.b64decode(token) == b"a-token-of-mine"
    render.main(["manifests", "cluster_name=prod", "worker_num=3"])
    text = capsys.readouterr().out
    assert {"secretName: prod-tls", "secretName: prod-token"} <= {
        line.strip() for line in text.splitlines()
    }
    assert "kind: Secret" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["manifests", "worker_num"], "give NAME=VALUE"),
        (["manifests", "worker_number=1"], "Did you mean 'worker_num'"),
        (["manifests", "worker_num=x"], "invalid worker_num: 'x'"),
        (["objects"], "invalid choice"),
    ],
)
def test_what_is_refused(words, message, capsys):
    """One line, and status 2."""
    with pytest.raises(SystemExit) as caught:
        render.main(words)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_the_cluster_of_dasks_operator():
    """Names, ports and labels are those that the operator makes and looks for."""
    cluster = yaml.safe_load((HELM / "daskcluster.yaml").read_text())
    assert (cluster["apiVersion"], cluster["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    assert set(cluster["spec"]) == {"worker", "scheduler"}
    scheduler, worker = cluster["spec"]["scheduler"], cluster["spec"]["worker"]
    assert set(scheduler) == {"spec", "service"}
    assert set(worker) == {"replicas", "spec"}
    for spec in (scheduler["spec"], worker["spec"]):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        kubernetes_validate.validate(pod, RELEASES[-1], strict=True)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    service["spec"] = scheduler["service"]
    kubernetes_validate.validate(service, RELEASES[-1], strict=True)
    (container,) = scheduler["spec"]["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert ports == {"tcp-comm": 8786, "http-dashboard": 8787}
    assert {one["targetPort"] for one in scheduler["service"]["ports"]} == set(ports)
    labels = scheduler["service"]["selector"]
    assert labels["dask.org/cluster-name"] == cluster["metadata"]["name"]
    assert labels["dask.org/component"] == "scheduler"
    assert container["args"][:2] == ["dask", "scheduler"]
    assert container["args"][-2:] == ["--preload", "marsdask.scheduler.preload"]
    # One process has the name of its pod, by which the operator ends the pods of retired workers.
    assert worker["spec"]["containers"][0]["args"][:3] == ["mars-worker", "--processes", "1"]
