"""Names of Mars that say what to use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

_DOCUMENTATION = """Refuse: {why}.

Parameters
----------
*args, **kwargs : object
    Those of Mars.

Returns
-------
NoReturn
    Nothing.

Raises
------
NotImplementedError
    Always; it says what to use.

Examples
--------
>>> from {module} import {name}
>>> {name}()
Traceback (most recent call last):
NotImplementedError: ...
"""


def refused(name: str, module: str, why: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that names what to use ``instead``."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name}() is not supported; {instead}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = module
    refuse.__doc__ = _DOCUMENTATION.format(why=why, module=module, name=name)
    return refuse
