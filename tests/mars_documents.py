"""The programs of Mars's documents, word for word, and how a test runs them through the alias."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest

import marsdask.compat
from marsdask.session import Session, get_default_session, new_session, stop_server

_COLUMNS: Final = (slice(None), slice(2))
ADDRESS: Final = "'http://<web_ip>:<web_port>'"

_ONES: Final = """
import mars.tensor as mt
import mars.dataframe as md
from mars.session import new_session
new_session('http://<web_ip>:<web_port>').as_default()
a = mt.ones((2000, 2000), chunk_size=200)
b = mt.inner(a, a)
b.execute()  # submit tensor to cluster
df = md.DataFrame(a).sum()
df.execute()  # submit DataFrame to cluster
"""

_RANDOM: Final = """
import mars
import mars.tensor as mt
import mars.dataframe as md
# create a default session that connects to the cluster
mars.new_session('http://<web_ip>:<web_port>')
a = mt.random.rand(2000, 2000, chunk_size=200)
b = mt.inner(a, a)
b.execute()  # submit tensor to cluster
df = md.DataFrame(a).sum()
df.execute()  # submit DataFrame to cluster
"""

#: By their documents.
PROGRAMS: Final = {
    "a job with KubeDL": _ONES,
    "Kubernetes": """
from kubernetes import config
from mars.deploy.kubernetes import new_cluster
import mars.tensor as mt

cluster = new_cluster(config.new_client_from_config())

# new cluster will start a session and set it as default one
# execute will then run in the local cluster
a = mt.random.rand(10, 10)
a.dot(a.T).execute()

# obtain information from current cluster
namespace, endpoint = cluster.namespace, cluster.endpoint

# create a new cluster client
from kubernetes import config
from mars.deploy.kubernetes import KubernetesClusterClient

cluster = KubernetesClusterClient(
    config.new_client_from_config(), namespace, endpoint)

# after all jobs executed, you can turn off the cluster
cluster.stop()
""",
    "a cluster": _RANDOM,
    "an older cluster": _ONES,
    "notes of a user": _RANDOM
    + """
import mars.tensor as mt
a = mt.random.rand(100, 10)
future = a.mean().execute(wait=False)
future.done()
future.result()
""",
}


_sessions: list[Session] = []


class _Cluster:
    """A cluster as Kubernetes would run it, somewhere else."""

    namespace = "mars-test"

    def __init__(self, address: str | None) -> None:
        self.endpoint = address
        self.session = new_session(address)
        _sessions.append(self.session)

    def stop(self) -> None:
        """End it; the session is left to the test."""
        assert get_default_session() is self.session


def _found(client: None, namespace: str, endpoint: str | None) -> _Cluster:
    assert namespace == _Cluster.namespace
    return _Cluster(endpoint)


def run_program(name: str, address: str | None, patches: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a program, on a cluster or in this process; return its names.

    Of Kubernetes's program only Kubernetes is replaced.
    """
    program = PROGRAMS[name].replace(ADDRESS, repr(address) if address else "")
    kubernetes: Any = ModuleType("kubernetes")
    kubernetes.config = SimpleNamespace(new_client_from_config=lambda: None)
    patches.setitem(sys.modules, "kubernetes", kubernetes)
    patches.setattr("marsdask.deploy.kubernetes.new_cluster", lambda client: _Cluster(address))
    patches.setattr("marsdask.deploy.kubernetes.KubernetesClusterClient", _found)
    names: dict[str, Any] = {"__name__": name}
    marsdask.compat.install()
    try:
        exec(compile(program, name, "exec"), names)  # noqa: S102 - our own text
        if "df" in names:
            sums = names["df"].fetch()
            assert sums.shape == (2000,)
            assert sums.between(900, 2000).all()
            corner = names["b"][:2, :2].execute().fetch()
            assert ((corner > 400) & (corner <= 2000)).all()
            if "future" not in names:  # else the program has made another ``a`` since
                rows, columns = (names["a"][key].execute().fetch() for key in (slice(2), _COLUMNS))
                np.testing.assert_allclose(corner, rows @ rows.T)
                np.testing.assert_allclose(sums[:2], columns.sum(axis=0))
        if "future" in names:
            assert 0.3 < float(names["future"].result()) < 0.7
        if "cluster" in names:
            a = names["a"].execute().fetch()
            found = names["a"].dot(names["a"].T).execute().fetch()
            np.testing.assert_allclose(found, a @ a.T)
    finally:
        marsdask.compat.uninstall()
        stop_server()
        while _sessions:  # the program has started two
            _sessions.pop().close()
    return names
