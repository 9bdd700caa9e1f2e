"""Checks which versions may work together; refuses others with a table.

Tasks are pickles, and pickled functions need the same version of Python. The messages between
servers change with releases of distributed. It warns about any difference; this check refuses large
ones.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Mapping
from typing import Any, Final

import dask.config

from ..errors import VersionMismatch
from .environment import installed

logger: Final = logging.getLogger(__name__)

#: How many leading numbers of a version must be equal: one (the year) for calendar versions.
_NUMBERS = {"python": 2, "marsdask": 1, "dask": 1, "distributed": 1}

#: Other packages in the table, because results may depend on them.
_SHOWN = ("cloudpickle", "numpy", "pandas", "pyarrow")

#: Shown for a package that is missing or not reported.
_ABSENT = "-"


def versions() -> dict[str, str]:
    """Return the versions of this process."""
    names = [*list(_NUMBERS)[1:], *_SHOWN]
    return {"python": platform.python_version(), **{name: installed(name) for name in names}}


def reported_versions(
    register: Mapping[str, Any], environment: Mapping[str, Any] | None = None
) -> Any:
    """Return the versions in the registration of a client or worker of distributed.

    ``environment`` contains further versions of our workers.
    """
    packages = dict(register.get("packages") or {})
    packages["python"] = str(packages.get("python", _ABSENT)).partition(".final")[0]
    if environment and environment.get("mars_version"):
        packages["marsdask"] = environment["mars_version"]
    return {name: str(version) for name, version in packages.items() if version}


def check(here: str, mine: Mapping[str, str], there: str, theirs: Mapping[str, str]) -> None:
    """Raise :class:`VersionMismatch` if the known versions cannot work together.

    With ``marsdask.versions: warn`` in Dask's configuration the error is logged instead.
    """
    apart = [
        name
        for name in _NUMBERS
        if _series(name, mine.get(name)) and _series(name, theirs.get(name))
        if _series(name, mine.get(name)) != _series(name, theirs.get(name))
    ]
    if not apart:
        return
    error = VersionMismatch(f"{here} and {there}", apart, _table(apart, here, mine, there, theirs))
    if dask.config.get("marsdask.versions", "refuse") != "warn":
        raise error
    logger.warning("%s", error)


def _series(name: str, version: str | None) -> tuple[str, ...]:
    """Return the numbers that must be equal; before 1.0 the second one counts, too."""
    numbers = (version or "").split(".")
    if not numbers[0].isdigit():
        return ()
    return tuple(numbers[: _NUMBERS[name] + (numbers[0] == "0")])


def _table(
    apart: list[str], here: str, mine: Mapping[str, str], there: str, theirs: Mapping[str, str]
) -> str:
    names = [*_NUMBERS, *_SHOWN]
    rows = [("", here, there, "")]
    for name in names:
        versions = mine.get(name, _ABSENT), theirs.get(name, _ABSENT)
        rows.append((name, *versions, "<- incompatible" if name in apart else ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(f"  {line}" for line in lines)
