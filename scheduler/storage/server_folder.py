"""The folders of servers: private, and not where Python looks for modules.

distributed uses ``/tmp/dask-scratch-space``, whoever owns it, and puts each server's folder before
the standard library. Here only modules that clients upload are found, in a folder of their own.
Processes that a command starts look in their working directory no more than the command does.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import cache_from_source
from typing import Any, Final

import dask.config
from distributed.core import Status

from . import private_folder

#: The name that distributed adds to folders, unless they have it.
_SCRATCH: Final = "dask-scratch-space"

#: The variable for interpreters that do not look in their working directory, and our value of it.
_VARIABLE, _VALUE = "PYTHONSAFEPATH", "marsdask"

#: The folders of uploaded modules on ``sys.path``.
_uploads: set[str] = set()


def server_folder(given: str | os.PathLike[str] | None = None) -> str:
    """Return the private folder in which servers make their own, and create it.

    The default is that of Dask's configuration, else the one for temporary files.
    """
    default = given or dask.config.get("temporary-directory", None) or tempfile.gettempdir()
    base = os.path.abspath(os.fspath(default))
    if _SCRATCH not in base:  # else a nanny has chosen it for its worker
        base = os.path.join(private_folder.within(base), _SCRATCH)
    return private_folder.within(base)


def own_path() -> list[str]:
    """Return ``sys.path`` without what clients have uploaded."""
    return [path for path in sys.path if path not in _uploads]


@contextlib.contextmanager
def safe_children() -> Iterator[None]:
    """Have interpreters that start meanwhile not look for modules in their working directory.

    Python passes this on to children only from a process that was started so.
    """
    if os.environ.get(_VARIABLE):
        yield
        return
    os.environ[_VARIABLE] = _VALUE
    try:
        yield
    finally:
        forget_safe_path()


def forget_safe_path() -> None:
    """Let programs that users start from here find modules as they do elsewhere."""
    if os.environ.get(_VARIABLE) == _VALUE:
        del os.environ[_VARIABLE]


class PrivateServer:
    """The part of a server of distributed that owns its folder; comes before distributed's."""

    local_directory: str
    status: Status

    def __init__(
        self,
        *args: Any,
        local_directory: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, local_directory=server_folder(local_directory), **options)  # type: ignore[call-arg]
        with contextlib.suppress(ValueError):
            sys.path.remove(self.local_directory)

    async def upload_file(
        self, filename: str, data: str | bytes, load: bool = True
    ) -> dict[str, Any]:
        """Write a file of a client into this server's folder; a module can be imported later."""
        if filename.endswith(".py"):
            self._keep_module(os.path.basename(filename), data)
        answer: dict[str, Any] = await super().upload_file(filename, data, load=load)  # type: ignore[misc]
        return answer

    def _keep_module(self, name: str, data: str | bytes) -> None:
        folder = os.path.join(self.local_directory, "modules")
        os.makedirs(folder, 0o700, exist_ok=True)
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        with contextlib.suppress(OSError):  # it may be of a module as long and as old
            os.remove(cache_from_source(path))
        if folder not in sys.path:
            sys.path.insert(0, folder)
        _uploads.add(folder)

    async def close(self, *args: Any, **options: Any) -> Any:
        """Close; uploaded modules are no longer found, unless it goes on with another scheduler."""
        result = await super().close(*args, **options)  # type: ignore[misc]
        if self.status is Status.closed:
            folder = os.path.join(self.local_directory, "modules")
            _uploads.discard(folder)
            with contextlib.suppress(ValueError):
                sys.path.remove(folder)
        return result
