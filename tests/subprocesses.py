"""The processes that a test has started."""

from __future__ import annotations

import os

import psutil

#: Helpers that live as long as the process, by design of who starts them.
LASTING = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "/kube-apiserver")

#: Processes that compile jobs: those of a supervisor in another process end with that one.
COMPILING = "supervisor.compilation.forkserver"


def children() -> set[psutil.Process]:
    """Return this process's living descendants, but those that Python itself keeps."""
    return {child for child in psutil.Process().children(recursive=True) if not is_lasting(child)}


def is_lasting(child: psutil.Process) -> bool:
    """Say whether a child is one that Python itself keeps, or is gone."""
    try:
        command = " ".join(child.cmdline())
        if COMPILING in command and child.ppid() != os.getpid():
            return True
        return child.status() == psutil.STATUS_ZOMBIE or any(name in command for name in LASTING)
    except psutil.NoSuchProcess:
        return True
