"""``import mars`` means marsdask: an import hook for programs that were written for Mars.

Nothing here happens by itself. A program asks by :func:`marsdask.compat.install`, a user by
``python -m marsdask.compat program.py``, and workers get it by ``--preload marsdask.compat.alias``.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from marsdask.core.config import options

from .missing import instead_of

#: What child processes, such as local workers, read when they import marsdask.
VARIABLE: Final = "MARSDASK_ALIAS"

#: Modules that Mars had elsewhere.
_MOVED: Final = {
    "": "marsdask.compat.mars",
    "deploy.oscar.local": "marsdask.compat.local_cluster",
    "deploy.oscar.session": "marsdask.compat.session",
    "tensor.core": "marsdask.compat.core",
    "dataframe.core": "marsdask.compat.core",
    "remote.core": "marsdask.compat.core",
}

_HERE: Final = Path(__file__).parent

#: The modules that add methods and keywords while the alias is installed.
_FRAMES: Final = "marsdask.compat.dataframe"
_ESTIMATORS: Final = "marsdask.compat.estimators"
_LEARN: Final = "marsdask.learn."
_SESSION: Final = "marsdask.compat.session"

#: What is ours in this folder.
_OURS: Final = frozenset(
    {
        *("alias", "estimators", "frames", "keywords", "local_cluster", "mars"),
        *("missing", "xarray", "__main__"),
    }
)


class MarsInstalled(ImportError):
    """Mars itself is installed, and would be hidden."""


class MarsFinder(MetaPathFinder):
    """Finds ``mars.x`` as ``marsdask.compat.x``, or else as ``marsdask.x``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of Mars."""
        del path, target
        root, _, rest = fullname.partition(".")
        if root != "mars":
            return None
        name = module_for(rest)
        if name is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: {instead_of(rest)}", name=fullname
            )
        ours = importlib.util.find_spec(name)
        # ``python -m`` calls a program by the origin.
        return ModuleSpec(fullname, _SameModule(name), origin=None if ours is None else ours.origin)


def module_for(rest: str) -> str | None:
    """Return the name of our module for ``mars.<rest>``, ``None`` if there is none."""
    if rest in _MOVED:
        return _MOVED[rest]
    file = _HERE.joinpath(*rest.split("."))
    if rest not in _OURS and (file.with_suffix(".py").is_file() or file.is_dir()):
        return f"marsdask.compat.{rest}"
    try:
        spec = importlib.util.find_spec(f"marsdask.{rest}")
    except ModuleNotFoundError:  # its parent is missing
        return None
    return None if spec is None else f"marsdask.{rest}"


class _SameModule(Loader):
    """Loads a module under a second name: it stays the same object, and keeps its own name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return our own module."""
        del spec
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of our module, which ``python -m`` runs."""
        del fullname
        spec = importlib.util.find_spec(self._name)
        assert spec is not None
        assert isinstance(spec.loader, InspectLoader)
        return spec.loader.get_code(self._name)

    def exec_module(self, module: ModuleType) -> None:
        """Restore what Python has set on the module: it was loaded before."""
        assert module.__spec__ is not None
        alias = module.__spec__.name
        module.__spec__ = self._spec
        for child, member in _modules_behind_names(module):
            sys.modules[f"{alias}.{child}"] = member
        if self._name == _FRAMES:
            module.offer()
        elif self._name.startswith(_LEARN):
            importlib.import_module(_ESTIMATORS).offer()
        elif self._name == _MOVED[""]:
            importlib.import_module(_SESSION).offer()


def _modules_behind_names(package: ModuleType) -> list[tuple[str, ModuleType]]:
    """Return the modules of a package of which it has a member of the same name.

    They are known under their second name at once: to import one later would put it, as a part of
    the package, in the place of the member.
    """
    modules = {name: sys.modules.get(f"{package.__name__}.{name}") for name in vars(package)}
    return [
        (name, module)
        for name, module in modules.items()
        if module is not None and vars(package)[name] is not module
    ]


def install(*, replace: bool = False) -> None:
    """Let ``import mars`` import marsdask in this process, and in processes that it starts.

    As in Mars, values without axes are then fetched as Python's numbers, not as NumPy's
    (``options.python_scalars``), and estimators give executed tensors, for arrays in memory, too
    (``options.mars_results``).

    Parameters
    ----------
    replace : bool
        Whether to hide Mars where it is installed, too.

    Raises
    ------
    MarsInstalled
        If Mars is installed, unless ``replace``.

    Examples
    --------
    >>> import marsdask.compat
    >>> marsdask.compat.install()
    >>> import mars.tensor
    >>> mars.tensor.mean is marsdask.tensor.mean
    True
    >>> marsdask.compat.uninstall()
    """
    if is_installed():
        return
    if "mars" in sys.modules:
        raise MarsInstalled("mars is imported already; install the alias before that")
    if not replace and (real := importlib.util.find_spec("mars")) is not None:
        if is_installed():  # by a hook that waits for the first import of Mars
            return
        raise MarsInstalled(
            f"mars is installed at {real.origin}: uninstall pymars, or use install(replace=True) "
            "(python -m marsdask.compat --replace) to hide it from this program"
        )
    sys.meta_path.insert(0, MarsFinder())
    options.python_scalars = options.mars_results = True
    os.environ[VARIABLE] = "replace" if replace else "install"


def uninstall() -> None:
    """Undo :func:`install`; names that were imported stay what they are.

    Examples
    --------
    >>> import marsdask.compat
    >>> marsdask.compat.install()
    >>> marsdask.compat.uninstall()
    """
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not MarsFinder]
    for name in [name for name in sys.modules if name.partition(".")[0] == "mars"]:
        del sys.modules[name]
    if os.environ.pop(VARIABLE, None) is not None:
        options.python_scalars = options.mars_results = False
    for name in (_FRAMES, _ESTIMATORS, _SESSION):
        if (module := sys.modules.get(name)) is not None:
            module.withdraw()


def is_installed() -> bool:
    """Tell whether ``import mars`` imports marsdask."""
    return any(type(finder) is MarsFinder for finder in sys.meta_path)


def install_as_parent() -> None:
    """Install the alias in a child of a process that has it."""
    if (wish := os.environ.get(VARIABLE)) is not None:
        install(replace=wish == "replace")


def dask_setup(server: Any) -> None:
    """Install the alias in a worker or a scheduler that preloads this module."""
    del server
    install()
