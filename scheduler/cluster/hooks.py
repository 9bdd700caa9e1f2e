"""The private parts of distributed that our servers use, checked at startup.

distributed may change them in any release, without notice. A server that finds a change refuses to
start and names it, instead of failing later.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import distributed

from ..errors import HookChanged


@dataclass(frozen=True)
class Hook:
    """A name in distributed: a function with (at least) these parameters, or any object."""

    module: str
    name: str
    parameters: tuple[str, ...] | None = None

    def problem(self) -> str | None:
        """Return what is wrong with the installed object, ``None`` if nothing is."""
        try:
            target: Any = importlib.import_module(self.module)
            for part in self.name.split("."):
                target = inspect.getattr_static(target, part)
        except (ImportError, AttributeError):
            return f"{self.module}.{self.name} is missing"
        if self.parameters is None:
            return None
        function = getattr(target, "__func__", target)
        function = getattr(function, "fget", None) or function
        actual = tuple(inspect.signature(function).parameters)
        absent = [name for name in self.parameters if name not in actual]
        if absent:
            return f"{self.module}.{self.name} takes ({', '.join(actual)}), not {absent[0]}"
        return None


def check(who: str, hooks: Iterable[Hook]) -> None:
    """Raise :class:`HookChanged` if ``who`` cannot run with the installed distributed."""
    problems = [problem for hook in hooks if (problem := hook.problem()) is not None]
    if problems:
        raise HookChanged(who, distributed.__version__, problems)
