"""A process's description for web pages: versions, machine and command line, without secrets."""

from __future__ import annotations

import functools
import os
import platform
import re
import shlex
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import limits
from ..inprocess.thread_frames import current_frames

#: Packages whose versions affect results.
_PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "scikit-learn", "dask", "distributed")

#: Names of secret options; names of files are not secret.
_WORDS = "(token|password|passwd|secret|credential|api[-_]?key|join)"
_SECRET = re.compile(f"{_WORDS}(?!.*file)", re.IGNORECASE)
_DEFINE = "--define="  # the name of a setting follows
_WITHIN = re.compile(_WORDS, re.IGNORECASE)


@functools.cache
def installed(package: str) -> str:
    """Return the version of a package, "unknown" if it is not installed.

    It is looked up once a process: that reads files, and servers compare versions often.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def redacted(arguments: Sequence[str]) -> str:
    """Return a command line with dots in place of the values of secret options."""
    parts: list[str] = []
    hide = False
    for argument in arguments:
        if hide and not argument.startswith("-"):
            parts.append("...")
            hide = False
            continue
        before, brace, content = argument.partition("{")
        if brace and _WITHIN.search(content):  # a configuration as JSON
            parts.append(f"{before}...")
            continue
        define = _DEFINE if argument.startswith(_DEFINE) else ""
        name, sign, _ = argument.removeprefix(define).partition("=")
        secret = _SECRET.search(name) is not None
        hide = secret and not sign and argument.startswith("-")
        parts.append(f"{define}{name}=..." if secret and sign else argument)
    return " ".join(part if part == "..." else shlex.quote(part) for part in parts)


def environment() -> dict[str, Any]:
    """Describe this process, with Mars's keys."""
    facts: dict[str, Any] = {
        "command_line": redacted(sys.argv),
        "platform": platform.platform(),
        "host_name": socket.gethostname(),
        "python_version": platform.python_version(),
        "mars_version": installed("marsdask"),
        "cpu_total": limits.cpus(),
        "memory_total": limits.memory(),
        "package_versions": {name: installed(name) for name in _PACKAGES},
        "git_info": None,
        "pid": os.getpid(),
    }
    if pod := os.environ.get("MARS_K8S_POD_NAME"):
        facts["k8s_pod_name"] = pod
    if uid := os.environ.get("MARS_K8S_POD_UID"):
        facts["k8s_pod_uid"] = uid
    return facts


def stacks() -> dict[str, list[str]]:
    """Return the stack of each thread of this process: {"process:thread": lines}."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        f"{os.getpid()}:{names.get(ident, ident)}": traceback.format_stack(frame)
        for ident, frame in current_frames().items()
    }
