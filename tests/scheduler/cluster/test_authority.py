"""Certificates that name the role of a process, and what a wrong role may not do."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import dask.config
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from distributed.comm import connect, listen
from distributed.security import Security

from marsdask.scheduler.cluster import authority as authority_module
from marsdask.scheduler.cluster.authority import Authority, fingerprint
from marsdask.scheduler.cluster.connections.roles import check_role, role_of
from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.remote.reconnect import ReconnectingClient
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, run

#: Where supervisors listen; the dashboard at any free port.
PLACE: dict[str, Any] = {"host": f"tls://{HOST}", "dashboard_address": f"{HOST}:0"}


@pytest.fixture(scope="module")
def authority():
    return Authority.new()


def only(authority, role):
    """Return a Security that shows the certificate of one role in all of them."""
    certificate, key = (part.decode() for part in authority.issue(role))
    options: dict[str, Any] = {}
    for one in ("scheduler", "worker", "client"):
        options |= {f"tls_{one}_cert": certificate, f"tls_{one}_key": key}
    ca = authority.certificate.decode()
    return Security(require_encryption=True, tls_ca_file=ca, **options)


def test_an_authority_signs_again(authority):
    """Its key and certificate are all that it is."""
    again = Authority(authority.certificate, authority.key)
    assert again.fingerprint == authority.fingerprint == fingerprint(authority.certificate)
    assert len(authority.fingerprint) == 64
    with pytest.raises(ValueError, match="role"):
        authority.issue("king")
    with pytest.raises(ValueError, match="another key"):
        Authority(authority.certificate, Authority.new().key)


def test_certificates_end_with_their_authority(authority, monkeypatch):
    """One is valid for less time, and not longer than the other."""

    def end(certificate):
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc

    now = dt.datetime.now(dt.UTC)
    assert end(authority.issue("worker")[0]) < now + dt.timedelta(days=1826)
    assert authority.end == end(authority.certificate) > now + dt.timedelta(days=3649)
    monkeypatch.setattr(authority_module, "_AUTHORITY_VALID", dt.timedelta(days=7))
    short = Authority.new()
    assert end(short.issue("worker")[0]) == short.end < now + dt.timedelta(days=8)


def test_weak_keys_are_not_signed(authority):
    """Nor what is no request; certificates are for TLS, and for nothing else."""

    def request(key):
        made = x509.CertificateSigningRequestBuilder(x509.Name([])).sign(key, hashes.SHA256())
        return made.public_bytes(serialization.Encoding.PEM)

    signed = authority.sign("worker", request(ec.generate_private_key(ec.SECP256R1())))
    found = x509.load_pem_x509_certificate(signed).extensions
    usage = found.get_extension_for_class(x509.KeyUsage).value
    assert usage.digital_signature
    assert not usage.key_cert_sign
    assert len(list(found.get_extension_for_class(x509.ExtendedKeyUsage).value)) == 2
    for weak in (rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP192R1())):
        with pytest.raises(ValueError, match="key of at least 256 bits"):
            authority.sign("worker", request(weak))


@pytest.mark.parametrize("role", ["scheduler", "worker", "client"])
def test_a_connection_knows_the_role(authority, role):
    """Each end knows that of the other; one of another authority cannot connect."""

    async def main():
        security = authority.security()
        found: asyncio.Queue[str | None] = asyncio.Queue()

        async def accept(comm):
            found.put_nowait(role_of(comm))
            await comm.close()

        async with listen(f"tls://{HOST}:0", accept, **security.get_listen_args("scheduler")) as at:
            comm = await connect(at.contact_address, **security.get_connection_args(role))
            assert await found.get() == role
            assert role_of(comm) == "scheduler"
            check_role(comm, "worker", "scheduler")
            with pytest.raises(PermissionError, match="is for a scheduler, not for a worker"):
                check_role(comm, "worker")
            comm.abort()
            other = Authority.new().security().get_connection_args(role)
            with pytest.raises(OSError, match=r"TLS|certificate|in <"):
                await connect(at.contact_address, timeout=2, **other)

    run(main)


def test_a_worker_is_no_supervisor(authority):
    """Its certificate serves no workers, tells none to obey a new epoch, and stops no standby.

    An epoch that no other could follow is refused from everybody.
    """

    async def main():
        rights = authority.security()
        async with Supervisor(security=rights, **PLACE) as supervisor:
            worker = MarsWorker(
                supervisor.address, host=HOST, security=rights, supervisors=[supervisor.address]
            )
            async with worker:
                for role in ("worker", "client", "scheduler"):
                    arguments = only(authority, role).get_connection_args("client")
                    tell = {"op": "mars_role"}
                    for address, message, allowed in (
                        (worker.address, {"op": "mars_fence", "epoch": 0}, {"scheduler"}),
                        (supervisor.address, tell | {"active": True}, {"scheduler"}),
                        (supervisor.address, tell | {"epoch": 1}, {"scheduler", "worker"}),
                        (supervisor.address, tell | {"epoch": 2**64 - 1}, set()),
                        (supervisor.address, tell | {"epoch": -1}, set()),
                        (supervisor.address, tell, {"scheduler", "worker", "client"}),
                    ):
                        comm = await connect(address, **arguments)
                        await comm.write({**message, "reply": True})
                        answer = await comm.read()
                        refused = (
                            isinstance(answer, dict) and answer.get("status") == "uncaught-error"
                        )
                        assert refused is (role not in allowed), (message, answer)
                        comm.abort()
        imposter = Supervisor(security=only(authority, "worker"), **PLACE)
        async with imposter:
            joining = MarsWorker(
                imposter.address, host=HOST, security=rights, supervisors=[imposter.address]
            )
            with pytest.raises(RuntimeError, match="failed to start") as caught:
                async with joining:
                    pass
            assert isinstance(caught.value.__cause__, NoSupervisor)

    with dask.config.set({"marsdask.failover.keep": "1s"}):
        run(main)


@pytest.mark.parametrize("role", ["scheduler", "web", "client", "worker"])
def test_a_worker_is_no_web_port(authority, tmp_path, role):
    """Sessions refuse its certificate there, and a client's; mars-web has a role of its own."""
    certificate, key = authority.issue(role)
    (tmp_path / "cert").write_bytes(certificate + key)
    (tmp_path / "ca").write_bytes(authority.certificate)
    options: dict[str, Any] = {}
    for one in ("scheduler", "worker", "client"):
        options |= dict.fromkeys((f"tls_{one}_cert", f"tls_{one}_key"), str(tmp_path / "cert"))
    rights = Security(require_encryption=True, tls_ca_file=str(tmp_path / "ca"), **options)

    async def main():
        supervisor = Supervisor(host=f"tls://{HOST}", security=rights, web=(HOST, 0))
        async with supervisor:
            client: Any = ReconnectingClient(
                f"wss://{HOST}:{supervisor.http_server.port}",
                security=rights,
                asynchronous=True,
                set_as_default=False,
            )
            if role in ("worker", "client"):
                with pytest.raises(PermissionError, match=f"for a {role}, not for a scheduler"):
                    await client
            else:
                async with client:
                    assert role_of(client.scheduler_comm.comm) == role

    run(main)
