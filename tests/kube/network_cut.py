"""A pod that is cut off: its connections end, and it gets no others, until that is over."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from typing import Any

from tests.deploy.kubernetes.kubelet import RunningPod

#: The number of Linux's call that copies a file of another process, on all architectures.
_PIDFD_GETFD = 438

_LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def cut_off(pod: RunningPod) -> Iterator[None]:
    """Cut a pod off from all others, and from Kubernetes; its processes go on."""
    pod.cut.touch()
    try:
        # All connections end at the same time: those that are left could tell of the others' end.
        processes = pod.freeze()
        for process in processes:
            with contextlib.suppress(OSError):
                _disconnect(process.pid)
        for process in processes:
            process.resume()
        yield
    finally:
        pod.cut.unlink()


def _disconnect(pid: int) -> None:
    """End the connections of a process to other addresses."""
    handle = os.pidfd_open(pid)
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{number}").startswith("socket:"):
                    _shut_down(_copied(handle, int(number)))
    finally:
        os.close(handle)


def _copied(handle: int, number: int) -> socket.socket:
    found: int = _LIBC.syscall(_PIDFD_GETFD, handle, number, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return socket.socket(fileno=found)


def _shut_down(one: Any) -> None:
    with one:
        listens = one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        if one.family == socket.AF_INET and not listens:
            one.shutdown(socket.SHUT_RDWR)
