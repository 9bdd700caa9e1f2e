"""The process of one rank of a script: ``python -m marsdask.remote.script_process``."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import Any, BinaryIO

from marsdask.core.session import new_session


def main(source: BinaryIO) -> None:
    """Read the script from a pipe, and run it as ``__main__``."""
    code, filename, argv, cluster, data = pickle.load(source)
    sys.argv = ["script", *argv]
    session = _session(cluster)
    # Only now: what it refers to on the cluster needs the session.
    names: dict[str, Any] = pickle.loads(data)
    module = sys.modules["__main__"]
    vars(module).update({"session": session, "__file__": filename, **names})
    try:
        exec(compile(code, filename, "exec"), vars(module))  # noqa: S102 - the user's script
    except Exception as error:  # noqa: BLE001 - shown as Python shows it, without our frames
        ours = error.__traceback__
        traceback.print_exception(error.with_traceback(ours and ours.tb_next))
        sys.exit(1)


def _session(cluster: Any) -> Any:
    if cluster is None:
        return new_session("threads")
    from distributed import Client

    address, security = cluster
    return new_session(Client(address, security=security, name="marsdask-script"))


if __name__ == "__main__":
    with os.fdopen(os.dup(0), "rb") as pipe:
        main(pipe)
