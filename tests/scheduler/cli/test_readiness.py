"""The port that Kubernetes probes."""

import asyncio
import ipaddress

import pytest
from tornado.httpclient import AsyncHTTPClient

from marsdask.scheduler.cli.readiness import ReadinessServer
from marsdask.scheduler.cli.sizes import ConfigError
from tests.cluster.commands import free_port


class RetiringWorkers:
    """Workers that are told to retire."""

    def __init__(self):
        self.ready, self.retired = False, 0

    async def retire(self):
        self.retired += 1


def test_it_tells_what_the_service_says():
    """Live at once, healthy once it is ready; asked to retire by this host only."""

    async def main():
        workers, port = RetiringWorkers(), free_port()
        server = ReadinessServer.start(workers, "127.0.0.1", {"MARS_K8S_READINESS_PORT": str(port)})
        client = AsyncHTTPClient(force_instance=True)

        async def code(path, **options):
            url = f"http://127.0.0.1:{port}{path}"
            return (await client.fetch(url, raise_error=False, **options)).code

        try:
            assert (await code("/live"), await code("/health")) == (200, 503)
            workers.ready = True
            assert await code("/health") == 200
            assert (await code("/retire"), workers.retired) == (405, 0)
            assert (await code("/retire", method="POST", body=""), workers.retired) == (200, 1)
            forwarded = {"X-Real-Ip": "127.0.0.1"}
            assert await code("/none", headers=forwarded) == 404
        finally:
            client.close()
            server.close()

    asyncio.run(main())


def test_other_hosts_may_not_retire(monkeypatch):
    """A request from another address is refused."""

    async def main():
        workers, port = RetiringWorkers(), free_port()
        server = ReadinessServer.start(workers, "127.0.0.1", {"MARS_K8S_READINESS_PORT": str(port)})
        elsewhere = ipaddress.ip_address("10.0.0.1")
        monkeypatch.setattr("ipaddress.ip_address", lambda text: elsewhere)
        client = AsyncHTTPClient(force_instance=True)
        try:
            url = f"http://127.0.0.1:{port}/retire"
            answer = await client.fetch(url, method="POST", body="", raise_error=False)
            assert (answer.code, workers.retired) == (403, 0)
        finally:
            client.close()
            server.close()

    asyncio.run(main())


def test_errors_name_the_variable(monkeypatch):
    """No port is one; a taken one is told."""

    async def main():
        ReadinessServer.start(RetiringWorkers(), "127.0.0.1", {}).close()
        with pytest.raises(ConfigError, match="invalid port: 'x'"):
            ReadinessServer.start(RetiringWorkers(), "127.0.0.1", {"MARS_K8S_READINESS_PORT": "x"})

        def taken(self, host, port):
            raise OSError("in use")

        monkeypatch.setattr(ReadinessServer, "listen", taken)
        with pytest.raises(ConfigError, match=r"MARS_K8S_READINESS_PORT=1 \(in use\)"):
            ReadinessServer.start(RetiringWorkers(), "127.0.0.1", {"MARS_K8S_READINESS_PORT": "1"})

    asyncio.run(main())


def test_all_addresses_of_ipv6():
    """A probe within the pod asks 127.0.0.1."""

    async def main():
        port, client = free_port(), AsyncHTTPClient(force_instance=True)
        environ = {"MARS_K8S_READINESS_PORT": str(port)}
        server = ReadinessServer.start(RetiringWorkers(), "[::]", environ)
        try:
            assert (await client.fetch(f"http://127.0.0.1:{port}/live")).code == 200
        finally:
            client.close()
            server.close()

    asyncio.run(main())
