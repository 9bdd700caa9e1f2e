"""The module ``mars`` of programs that were written for it: marsdask's names, and its packages."""

from __future__ import annotations

import importlib
from typing import Any

import marsdask

from .alias import module_for
from .missing import instead_of
from .session import fetch_infos, get_context, new_cluster_in_ray, new_ray_session

__version__ = marsdask.__version__

__all__ = ["fetch_infos", "get_context", "new_cluster_in_ray", "new_ray_session"]
__all__ += marsdask.__all__

#: None of its modules is a file of its own: the hook finds them.
__path__: list[str] = []


def __getattr__(name: str) -> Any:
    """Return a name of marsdask, or a package of Mars's."""
    module = None if name.startswith("_") else module_for(name)
    if module is not None:
        return importlib.import_module(module)
    if name in marsdask.__all__:
        return getattr(marsdask, name)
    raise AttributeError(f"module 'mars' has no attribute {name!r}: {instead_of(name)}")
