"""The processes that a test has started."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

#: Helpers that live as long as the process, by design of who starts them.
LASTING = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "/kube-apiserver")

#: Processes that compile jobs: those of a supervisor in another process end with that one.
COMPILING = "supervisor.compilation.forkserver"


#: Linux lists the children of each thread here, if the kernel was built so.
THREADS = Path("/proc/self/task")


def children() -> set[psutil.Process]:
    """Return this process's living descendants, but those that Python itself keeps."""
    if is_childless():
        return set()
    return {child for child in psutil.Process().children(recursive=True) if not is_lasting(child)}


def is_childless() -> bool:
    """Say whether this process surely has no child: psutil reads of every process of the host."""
    try:
        return not any((thread / "children").read_bytes() for thread in THREADS.iterdir())
    except OSError:  # a thread has ended, or there is no such file
        return False


def is_lasting(child: psutil.Process) -> bool:
    """Say whether a child is one that Python itself keeps, or is gone."""
    try:
        command = " ".join(child.cmdline())
        if COMPILING in command and child.ppid() != os.getpid():
            return True
        return child.status() == psutil.STATUS_ZOMBIE or any(name in command for name in LASTING)
    except psutil.NoSuchProcess:
        return True


def in_fork(work: Callable[[], Any], seconds: int = 60) -> str:
    """Return the ``repr`` of a function's value or error in a forked child, which must end."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        # From Python 3.12 on, of the parent's threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        signal.alarm(seconds)
        try:
            told = work()
        except BaseException as error:  # noqa: BLE001 - it is reported
            told = error
        os.write(theirs, repr(told).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        told = answer.read().decode()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, f"the child hangs: {told}"
    return told
