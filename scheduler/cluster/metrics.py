"""Figures of servers for Prometheus, beside distributed's on its ``/metrics``.

distributed counts tasks and workers by state, transfers, and each worker's memory. Servers publish
what only they know.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from distributed.core import Status

#: What each name begins with.
_PREFIX: Final = "marsdask"

#: The states of servers that have figures.
_SERVING: Final = (Status.running, Status.paused, Status.closing_gracefully)


@dataclass(frozen=True)
class Figure:
    """One number, or one for each value of a label."""

    name: str
    help: str
    values: Mapping[str, float]
    """By the label's value; an empty one means that there is no label."""
    label: str = ""

    @classmethod
    def of(cls, name: str, text: str, value: float) -> Figure:
        """Return a figure of one number."""
        return cls(name, text, {"": float(value)})


@dataclass(eq=False)
class MetricsCollector:
    """The collector for Prometheus's library: the figures of all servers of this process."""

    servers: weakref.WeakKeyDictionary[Any, Callable[[Any], Iterable[Figure]]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    registered: bool = False

    def collect(self) -> Iterator[Any]:
        """Return the metrics, with the address of each server as a label."""
        from prometheus_client.core import GaugeMetricFamily

        families: dict[str, Any] = {}
        for server, measure in list(self.servers.items()):
            if server.status not in _SERVING:
                continue
            for figure in measure(server):
                name, more = f"{_PREFIX}_{figure.name}", [figure.label] if figure.label else []
                if name not in families:
                    labels = ["address", *more]
                    families[name] = GaugeMetricFamily(name, figure.help, labels=labels)
                for value, number in figure.values.items():
                    words = [server.address, value] if more else [server.address]
                    families[name].add_metric(words, number)
        yield from families.values()

    def describe(self) -> list[Any]:
        """Return nothing: metrics are not known before servers are."""
        return []


_COLLECTOR: Final = MetricsCollector()


def publish(server: Any, measure: Callable[[Any], Iterable[Figure]]) -> None:
    """Add a server's figures to ``/metrics``, if prometheus_client is installed."""
    try:
        from prometheus_client import REGISTRY
    except ImportError:
        return  # distributed's page says so
    _COLLECTOR.servers[server] = measure
    if not _COLLECTOR.registered:
        REGISTRY.register(_COLLECTOR)
        _COLLECTOR.registered = True
