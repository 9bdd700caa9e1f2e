"""``/metrics`` of a supervisor: distributed's figures, and ours beside them."""

import json
import re

from prometheus_client.parser import text_string_to_metric_families

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, cluster, run
from tests.scheduler.web.pages import Visitor
from tests.source import ROOT

DASHBOARD = ROOT / "docs/grafana.json"


def samples(text, address=None):
    """Return the numbers of a page by name and label, of one server only."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if address in (None, sample.labels.pop("address", None)):
                found[sample.name, *sample.labels.values()] = sample.value
    return found


async def read(base):
    answer = await Visitor(base)("/metrics")
    assert answer.code == 200
    return answer.body.decode()


def names(text):
    """Return the names that a page has."""
    return {family.name for family in text_string_to_metric_families(text)}


def test_the_figures_of_a_cluster():
    """Jobs, role, memory, spilled results and room, summed over workers; and each worker's own."""

    async def look():
        workers = [{"memory_limit": 2**30}, {"memory_limit": 2**30, "nthreads": 2}]
        async with cluster(Supervisor, MarsWorker, workers=workers) as (server, client):
            held = await client.scatter({"x": bytes(100_000)}, broadcast=True)
            for worker in server.test_workers:
                await worker.heartbeat()
            text = await read(f"http://{HOST}:{server.http_server.port}")
            found = samples(text, server.address)
            assert found["marsdask_supervisor_active",] == 1
            assert found["marsdask_supervisor_epoch",] == server.failover.epoch >= 1
            assert found["marsdask_jobs", "running"] == 0
            assert found["marsdask_sessions",] == 0
            assert found["marsdask_cluster_memory_bytes", "limit"] == 2**31
            assert (
                0 < found["marsdask_cluster_memory_bytes", "used"] < 2**40
            )  # of this process, which ran other tests
            assert found["marsdask_cluster_memory_bytes", "stored"] >= 200_000
            assert found["marsdask_cluster_memory_bytes", "spilled"] == 0
            assert found["marsdask_cluster_cores", "limit"] == 3
            assert found["marsdask_cluster_workers_full",] == 0
            assert found["marsdask_cluster_spill_free_bytes",] > 0
            assert held
            # distributed's are there, too.
            assert "dask_scheduler_tasks" in names(text)
            worker = server.test_workers[0]
            own = await read(f"http://{HOST}:{worker.http_server.port}")
            mine = samples(own, worker.address)
            assert mine["marsdask_worker_spill_full",] == 0
            assert mine["marsdask_worker_spill_free_bytes",] > 0
            assert mine["marsdask_worker_memory_used_bytes",] > 0
            assert mine["marsdask_worker_memory_promised_bytes",] == 0
            assert mine["marsdask_worker_tasks_held_back",] == 0
            assert "dask_worker_tasks" in names(own)
            told = names(text) | names(own)
            assert asked() <= told, asked() - told

    run(look)


def asked():
    """Return the names that the dashboard asks for."""
    board = json.loads(DASHBOARD.read_text())
    text = " ".join(
        target["expr"] for panel in board["panels"] for target in panel.get("targets", ())
    )
    found = set(re.findall(r"\b((?:dask|marsdask)_\w+)", text))
    return {name.removesuffix("_total") for name in found}


def test_the_dashboard():
    """It is one of Grafana: each panel has its place, its question, and the chosen source."""
    board = json.loads(DASHBOARD.read_text())
    assert board["title"] == "marsdask"
    (source,) = board["templating"]["list"]
    assert (source["type"], source["query"]) == ("datasource", "prometheus")
    places = set()
    for panel in board["panels"]:
        assert panel["datasource"] == {"type": "prometheus", "uid": f"${{{source['name']}}}"}
        assert panel["title"]
        assert panel["targets"]
        places.add((panel["gridPos"]["x"], panel["gridPos"]["y"]))
    assert len(places) == len(board["panels"]) == len({one["id"] for one in board["panels"]})
