"""Limits are read from whatever version of cgroups there is."""

import os

import pytest

from marsdask.scheduler import limits

GIB = 2**30


@pytest.fixture(autouse=True)
def _machine(monkeypatch):
    monkeypatch.setattr(limits, "_physical_memory", lambda: 64 * GIB)
    monkeypatch.setattr(limits, "_affinity", lambda: 16)


@pytest.fixture
def read(tmp_path):
    """Write a membership and files of groups; return the limits read from them."""

    def read(membership, **files):
        (tmp_path / "membership").write_text(membership)
        for name, text in files.items():
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        where = str(tmp_path / "root"), str(tmp_path / "membership")
        return limits.memory(*where), limits.cpus(*where)

    return read


def test_no_cgroups(read):
    """Without cgroups the machine is the limit."""
    assert read("") == (64 * GIB, 16)


def test_version_2(read):
    """memory.max and cpu.max of the process's own group."""
    files = {"a/b/memory.max": f"{GIB}\n", "a/b/cpu.max": "150000 100000\n"}
    assert read("0::/a/b\n", **files) == (GIB, 2)


def test_version_2_unlimited(read):
    """The word max is no limit."""
    files = {"a/memory.max": "max\n", "a/cpu.max": "max 100000\n"}
    assert read("0::/a\n", **files) == (64 * GIB, 16)


def test_outer_groups_limit_too(read):
    """The smallest limit on the way up holds."""
    files = {
        "a/memory.max": str(2 * GIB),
        "a/b/memory.max": str(4 * GIB),
        "a/cpu.max": "100000 100000",
        "a/b/cpu.max": "400000 100000",
    }
    assert read("0::/a/b\n", **files) == (2 * GIB, 1)


def test_a_container_sees_only_its_own_group(read):
    """A path of the host's that does not exist here means the top of the mount."""
    files = {"memory.max": str(GIB), "cpu.max": "50000 100000"}
    assert read("0::/host/path\n", **files) == (GIB, 1)


def test_version_1(read):
    """Controllers have mounts of their own, CPU with or without its companion."""
    files = {
        "memory/job/memory.limit_in_bytes": str(3 * GIB),
        "cpu,cpuacct/job/cpu.cfs_quota_us": "300000",
        "cpu,cpuacct/job/cpu.cfs_period_us": "100000",
    }
    membership = "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/x\n"
    assert read(membership, **files) == (3 * GIB, 3)


def test_version_1_unlimited(read):
    """A huge number and a negative quota are no limits."""
    files = {
        "memory/memory.limit_in_bytes": str(2**63 - 4096),
        "cpu/cpu.cfs_quota_us": "-1",
        "cpu/cpu.cfs_period_us": "100000",
    }
    assert read("5:memory:/\n4:cpu:/\n", **files) == (64 * GIB, 16)


def test_this_machine(monkeypatch):
    """Whatever this machine is, the limits are real."""
    monkeypatch.undo()
    assert limits.memory() > 2**20
    assert 1 <= limits.cpus() <= (os.cpu_count() or 1)
