"""Several results that execute together, with the names in NumPy and the array API."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

from marsdask.core.collection import ExecutableTuple


def named(name: str, *fields: str) -> Any:
    """Return a namedtuple of collections that also has their methods."""
    base = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024 - made from a table
    return type(name, (base, ExecutableTuple), {"__slots__": (), "__module__": __name__})


EighResult: Final = named("EighResult", "eigenvalues", "eigenvectors")
EigResult: Final = named("EigResult", "eigenvalues", "eigenvectors")
QRResult: Final = named("QRResult", "Q", "R")
SlogdetResult: Final = named("SlogdetResult", "sign", "logabsdet")
SVDResult: Final = named("SVDResult", "U", "S", "Vh")
UniqueAllResult: Final = named("UniqueAllResult", "values", "indices", "inverse_indices", "counts")
UniqueCountsResult: Final = named("UniqueCountsResult", "values", "counts")
UniqueInverseResult: Final = named("UniqueInverseResult", "values", "inverse_indices")
