"""Which names lead to a web port without a token."""

import asyncio
import socket
from typing import Any

import dask.config
import pytest

from marsdask.scheduler.web.host_header import allowed_names, is_own_name
from tests.scheduler.web.test_authentication import visits


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1:7005", True),
        ("[::1]:7005", True),
        ("10.0.0.7", True),
        ("localhost:7005", True),
        ("supervisor", True),
        ("web.marsdask.svc.cluster.local", True),
        ("host.lan.", True),
        (socket.gethostname(), True),
        ("cluster.example.com:7005", True),
        ("evil.example.com", False),
        ("evil.com:7005", False),
        ("127.0.0.1.evil.com", False),
        ("localhost.evil.com", False),
        ("", False),
        ("[::1", False),
    ],
)
def test_names(host, own):
    """Addresses, names of one part and private ones are, and those that are listed."""
    assert is_own_name(host, ["cluster.example.com"]) is own
    assert is_own_name(host, ["*"]) or not host or host == "[::1"


def test_services_of_the_namespace(monkeypatch):
    """In Kubernetes the cluster's has a name of two parts; others may be a site's."""
    assert not is_own_name("web.dev:7005")
    monkeypatch.setenv("MARS_K8S_POD_NAMESPACE", "dev")
    assert not is_own_name("web.dev:7005")
    assert not is_own_name(".dev")
    monkeypatch.setenv("MARS_K8S_SERVICE_NAME", "web")
    assert is_own_name("web.dev:7005")
    for other in ("web.app", "evil.dev", "a.web.dev"):
        assert not is_own_name(other)


def test_another_name_is_refused():
    """Only without a token: a browser shows that to one name. Programs open websockets by any."""
    evil = {"headers": {"Host": "evil.com"}}
    upgrade = {"headers": {"Host": "evil.com", "Upgrade": "websocket"}}
    asked: list[Any] = [("/status", evil), ("/later", evil), ("/status", {}), ("/status", upgrade)]
    found = asyncio.run(visits(*asked, token=None))
    assert [code for code, _, _ in found] == [403, 403, 200, 200]
    assert "marsdask.web.hosts" in found[0][2]
    with dask.config.set({"marsdask.web.hosts": ["Evil.com"]}):
        assert asyncio.run(visits(("/status", evil), token=None))[0][0] == 200
    assert asyncio.run(visits(("/status", evil)))[0][0] == 401


@pytest.mark.parametrize(
    ("host", "origin", "code"),
    [
        ("evil.com", "http://evil.com", 403),
        ("127.0.0.1", "http://evil.com", 403),
        ("127.0.0.1", "null", 403),
        ("127.0.0.1:7005", "http://127.0.0.1:7005", 200),
        ("supervisor", "https://supervisor:7005", 200),
        ("cluster.example.com", "https://cluster.example.com", 200),
    ],
)
def test_websockets_of_other_pages_are_refused(host, origin, code):
    """Charts have websockets: a page of another site, or of a name that leads here, gets none."""
    headers = {"Host": host, "Origin": origin, "Upgrade": "websocket"}
    with dask.config.set({"marsdask.web.hosts": ["cluster.example.com"]}):
        ((found, _, _),) = asyncio.run(visits(("/status", {"headers": headers}), token=None))
    assert found == code


def test_services_of_kubedl(monkeypatch):
    """Each of its pods has one, by the name of the pod."""
    monkeypatch.setenv("MARS_K8S_POD_NAME", "job-webservice-0")
    assert not is_own_name("job-webservice-0.default")
    monkeypatch.setenv("MARS_K8S_POD_NAMESPACE", "default")
    assert is_own_name("job-webservice-0.default:11111")
    assert not is_own_name("job-webservice-1.default")


def test_what_any_page_may_read():
    """Probes and operators ask by whatever name: for "ok", and for a number."""
    paths = [
        ("/health", 200),
        ("/api/worker?action=count", 200),
        ("/api/worker?action=count&action=", 403),
        ("/api/worker", 403),
        ("/health/x", 403),
    ]
    headers = {"Host": "mars.domain.com"}
    asked: list[Any] = [(path, {"headers": headers}) for path, _ in paths]
    change = ("/api/worker?action=count", {"headers": headers, "method": "PATCH", "body": "{}"})
    found = asyncio.run(visits(*asked, change, token=None))
    assert [code for code, _, _ in found] == [*(code for _, code in paths), 403]


def test_names_as_text():
    """A text is a name, or several with commas. Patterns are refused: they would match nothing."""
    for given in ("a.example.com", "a.example.com, b.example.com", ["A.example.com"]):
        with dask.config.set({"marsdask.web.hosts": given}):
            assert allowed_names()[0] == "a.example.com"
    with dask.config.set({"marsdask.web.hosts": None}):
        assert allowed_names() == []
    with dask.config.set({"marsdask.web.hosts": "*"}):
        assert allowed_names() == ["*"]
    for given in ("*.example.com", ["a.example.com", "*.example.com"]):
        with (
            dask.config.set({"marsdask.web.hosts": given}),
            pytest.raises(ValueError, match="whole"),
        ):
            allowed_names()
