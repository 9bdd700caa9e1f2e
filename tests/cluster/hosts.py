"""Hosts that only differ in their network and their disks: they need root, and Linux."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest


@functools.cache
def problem() -> str | None:
    """Return why this process cannot make networks and file systems, ``None`` if it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("ip") is None:
        return "networks and disks of one's own are made by root, with the command ip"
    tried = (
        "ip link add mars1 type bridge && ip link add mars2 type veth && mount -t tmpfs none /mnt"
    )
    probe = ["unshare", "--net", "--mount", "sh", "-c", tried]
    try:
        subprocess.run(probe, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"root may not make networks and disks here ({error})"
    return None


def skip(reason: str) -> NoReturn:
    """Skip a test that needs root, and fail it where there is root."""
    if problem() is None:
        pytest.fail(f"there is root here, so this may not be skipped: {reason}")
    pytest.skip(f"NOT TESTED WITHOUT ROOT: {problem()}")


def _ip(line: str) -> None:
    subprocess.run(["ip", *line.split()], check=True, capture_output=True)


class Hosts:
    """Namespaces of the network, each with one cable to a switch that is here."""

    def __init__(self, count: int) -> None:
        # Names of interfaces have fifteen letters; addresses are of a network for tests only.
        self.switch = f"mars{os.getpid()}"
        self.network = f"198.18.{os.getpid() % 250}"
        self.address = f"{self.network}.1"
        self.names = [f"{self.switch}-{number}" for number in range(count)]
        _ip(f"link add {self.switch} type bridge")
        _ip(f"addr add {self.address}/24 dev {self.switch}")
        _ip(f"link set {self.switch} up")
        for number, name in enumerate(self.names):
            _ip(f"netns add {name}")
            _ip(f"link add {name} type veth peer name eth0 netns {name}")
            _ip(f"link set {name} master {self.switch} up")
            _ip(f"-n {name} addr add {self.ip(number)}/24 dev eth0")
            _ip(f"-n {name} link set eth0 up")
            _ip(f"-n {name} link set lo up")

    def ip(self, number: int) -> str:
        """Return the address of a host."""
        return f"{self.network}.{number + 2}"

    def within(self, number: int) -> tuple[str, ...]:
        """Return how to run a command on a host."""
        return "ip", "netns", "exec", self.names[number]

    def plug(self, number: int, state: str) -> None:
        """Put a host's cable ``up`` or take it ``down``."""
        _ip(f"link set {self.names[number]} {state}")

    def close(self) -> None:
        """Remove all of it."""
        for name in self.names:
            subprocess.run(["ip", "link", "del", name], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.switch], check=False, capture_output=True)


class Disk:
    """A file system of some megabytes, in memory."""

    def __init__(self, path: Path, megabytes: int) -> None:
        self.path = path
        options = f"size={megabytes}m"
        line = ["mount", "-t", "tmpfs", "-o", options, "marsdask-test", str(path)]
        subprocess.run(line, check=True, capture_output=True)

    def close(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)
