"""The process of one rank of a script: ``python -m marsdask.remote.script_process``."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from typing import Any, BinaryIO

import __main__
from marsdask.core.session import new_session
from marsdask.scheduler.storage.private_folder import check, is_private
from marsdask.scheduler.worker_client import client_at

from .ranks import GRACE


def main(source: BinaryIO) -> None:
    """Read the script from a pipe and run it as ``__main__``, until the pipe's other end closes."""
    code, filename, argv, cluster, data = pickle.load(source)
    threading.Thread(target=_end_with, args=(source.fileno(),), daemon=True).start()
    sys.argv = ["script", *argv]
    if os.path.isabs(filename):
        _find_modules_in(os.path.dirname(filename))
    session = _session(cluster)
    # Only now: what it refers to on the cluster needs the session.
    names: dict[str, Any] = pickle.loads(data)
    space = vars(__main__)
    space.update({"session": session, "__file__": filename, **names})
    try:
        exec(compile(code, filename, "exec"), space)  # noqa: S102 - the user's script
    except Exception as error:  # noqa: BLE001 - shown as Python shows it, without our frames
        ours = error.__traceback__
        traceback.print_exception(error.with_traceback(ours and ours.tb_next))
        sys.exit(1)


def _find_modules_in(folder: str) -> None:
    """Import modules from the script's folder, as Python does, unless others may put some there.

    Another host may have a folder of the same name, of whomever.
    """
    try:
        check(folder)
        own = is_private(folder)
    except FileNotFoundError:
        return
    except OSError:
        own = False
    if own:
        sys.path.insert(0, folder)
    else:
        sys.stderr.write(f"importing nothing from {folder}, where others may write\n")


def _end_with(pipe: int) -> None:
    """End this process and its children when the one that started it closes the pipe, or dies."""
    os.read(pipe, 1)
    os.killpg(os.getpgrp(), signal.SIGTERM)
    time.sleep(GRACE)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _session(cluster: Any) -> Any:
    if cluster is None:
        return new_session("threads")
    return new_session(client_at(*cluster))


if __name__ == "__main__":
    # Never closed: a thread waits for its end as long as this process lives.
    pipe = os.fdopen(os.dup(0), "rb", closefd=False)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # the script's input is empty
    main(pipe)
