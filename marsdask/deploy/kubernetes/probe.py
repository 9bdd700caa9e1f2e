"""Ask the service of this container: ``probe`` whether it is ready, ``probe retire`` to prepare.

Mars's containers are probed by this command. It asks the port of ``MARS_K8S_READINESS_PORT``;
without one, it looks for the process of ``/tmp/mars-service.pid``.
"""

from __future__ import annotations

import os
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence

#: The variable with the port of probes, as Mars calls it.
_VARIABLE = "MARS_K8S_READINESS_PORT"

#: The address of this host where servers that listen on all addresses answer.
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104

#: Seconds for an answer; to move results takes as long as Kubernetes waits for the pod's end.
_PATIENCE = 5.0


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Return 0 if the service is ready, or has retired."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments not in ([], ["retire"]):
        print("usage: probe [retire]", file=sys.stderr)  # noqa: T201 - for kubectl describe
        return 2
    port = environ.get(_VARIABLE)
    if port is None:
        return 0 if arguments or _runs() else 1
    # Servers of pods listen on all addresses, but those of tests have one.
    address = (environ.get("MARS_BIND_HOST") or "0.0.0.0").strip("[]")  # noqa: S104
    host = _LOOPBACK.get(address, f"[{address}]" if ":" in address else address)
    retire = bool(arguments)
    path, data = ("retire", b"") if retire else ("health", None)
    url = f"http://{host}:{port}/{path}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(url, data, timeout=None if retire else _PATIENCE).close()
    except OSError as error:
        print(f"{url}: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _runs() -> bool:
    path = os.path.join(tempfile.gettempdir(), "mars-service.pid")
    try:
        with open(path, encoding="utf-8") as file:
            os.kill(int(file.read()), 0)
    except PermissionError:
        return True  # of another user
    except (OSError, ValueError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
