"""Failover between two supervisors with TLS."""

from __future__ import annotations

import asyncio
from contextlib import closing

import dask.config

import marsdask
from marsdask.scheduler.cluster.leader import query_role
from marsdask.scheduler.testing import Gate
from tests.cluster.certificates import make, needs_openssl
from tests.cluster.commands import DEADLINE, running
from tests.cluster.failover.test_standby import Supervisors, Work

pytestmark = needs_openssl


class SecureSupervisors(Supervisors):
    """As in the open, asked with a certificate."""

    def __init__(self, commands, certificates):
        self.certificates = certificates
        flags = f"--require-secure {certificates.flags}"
        super().__init__(commands, flags, "tls")

    def role(self, number):
        """Return the role of a supervisor."""
        arguments = self.certificates.security.get_connection_args("client")
        return asyncio.run(query_role(self.addresses[number], arguments, DEADLINE))


def test_the_standby_takes_over_in_mid_job(tmp_path, monkeypatch):
    """Workers and the session go over to it with their certificates, and the job ends right."""
    monkeypatch.setenv("MARS_WEB_TOKEN", "hush-hush-hush-hush")
    certificates = make(tmp_path)
    (folder := tmp_path / "runs").mkdir()
    with (
        closing(Gate()) as gate,
        running() as commands,
        dask.config.set(certificates.config),
    ):
        cluster = SecureSupervisors(commands, certificates)
        active, standby = cluster.roles()
        with marsdask.new_session(cluster.addresses[active], default=False) as session:
            work = Work(session, gate, folder)
            cluster.supervisors[active].kill()
            cluster.wait_for_workers()
            assert cluster.role(standby).active
            work.check()
