"""Figures of servers as Prometheus reads them."""

import builtins
from types import SimpleNamespace

from distributed.core import Status
from prometheus_client import CollectorRegistry, generate_latest

from marsdask.scheduler.cluster import metrics
from marsdask.scheduler.cluster.metrics import Figure, MetricsCollector, publish


class MeasuredServer(SimpleNamespace):
    """A server as far as the collector sees it."""

    def __hash__(self):  # type: ignore[override]
        return id(self)


def test_one_line_a_figure():
    """Each server is a label; a figure of several numbers has one more; others are not told."""

    def measure(server):
        yield Figure.of("workers", "Number of workers", server.count)
        yield Figure("memory_bytes", "Memory", {"used": 1, "limit": 2}, "kind")

    servers = [
        MeasuredServer(address=f"tcp://{name}", count=count, status=status)
        for name, count, status in (
            ("a", 1, Status.running),
            ("b", 2, Status.paused),
            ("c", 3, Status.closed),
            ("d", 4, Status.init),
        )
    ]
    collector = MetricsCollector()
    for server in servers:
        collector.servers[server] = measure
    registry = CollectorRegistry()
    registry.register(collector)
    text = generate_latest(registry).decode()
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        'marsdask_workers{address="tcp://a"} 1.0',
        'marsdask_workers{address="tcp://b"} 2.0',
        'marsdask_memory_bytes{address="tcp://a",kind="used"} 1.0',
        'marsdask_memory_bytes{address="tcp://a",kind="limit"} 2.0',
        'marsdask_memory_bytes{address="tcp://b",kind="used"} 1.0',
        'marsdask_memory_bytes{address="tcp://b",kind="limit"} 2.0',
    ]
    assert "# HELP marsdask_workers Number of workers" in text
    del servers, server
    assert not collector.servers  # it keeps nothing alive


def test_without_prometheus(monkeypatch):
    """Servers start without the package."""
    real = builtins.__import__

    def refuse(name, *args, **options):
        if name == "prometheus_client":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    server = MeasuredServer()
    publish(server, lambda _: ())
    assert server not in metrics._COLLECTOR.servers
