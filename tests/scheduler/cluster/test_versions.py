"""Which versions work together."""

import dask.config
import pytest

from marsdask.scheduler.cluster import environment
from marsdask.scheduler.cluster.versions import check, reported_versions, versions
from marsdask.scheduler.errors import VersionMismatch


@pytest.mark.parametrize(
    ("package", "mine", "theirs", "together"),
    [
        ("python", "3.11.7", "3.11.9", True),
        ("python", "3.11.7", "3.12.7", False),
        ("marsdask", "1.2.0", "1.9.1", True),
        ("marsdask", "1.2.0", "2.0.0", False),
        ("marsdask", "0.1.0", "0.1.5", True),
        ("marsdask", "0.1.0", "0.2.0", False),
        ("dask", "2026.8.0", "2026.11.1", True),
        ("distributed", "2026.8.0", "2027.1.0", False),
        ("distributed", "2026.8.0", "unknown", True),
        ("numpy", "1.26.0", "2.4.0", True),
    ],
)
def test_series(package, mine, theirs, together):
    """Different major versions are refused with a table of all versions."""
    here, there = versions() | {package: mine}, versions() | {package: theirs}
    if together:
        check("this client", here, "the supervisor", there)
        return
    with pytest.raises(VersionMismatch) as caught:
        check("this client", here, "the supervisor", there)
    assert caught.value.packages == (package,)
    (marked,) = [line for line in str(caught.value).splitlines() if "<-" in line]
    assert marked.split()[:3] == [package, mine, theirs]
    for name in versions():
        assert name in caught.value.table
    with dask.config.set({"marsdask.versions": "warn"}):
        check("this client", here, "the supervisor", there)


def test_what_is_told():
    """Stock clients and workers tell nothing of marsdask, which is no reason to refuse them."""
    found = reported_versions(
        {"packages": {"python": "3.11.7.final.0", "dask": "2026.8.0", "lz4": None}}
    )
    assert found == {"python": "3.11.7", "dask": "2026.8.0"}
    check("the supervisor", versions() | {"python": "3.11.0"}, "the client", found)
    assert reported_versions({}, {"mars_version": "0.1.0"})["marsdask"] == "0.1.0"


def test_packages_are_looked_up_once(monkeypatch):
    """Servers compare versions with each client and worker that joins."""
    first = versions()
    monkeypatch.setattr(environment, "version", lambda package: pytest.fail(f"again: {package}"))
    assert versions() == first
    assert versions() is not first, "who changes its copy changes no other"
