"""Several results that execute together, with the names that NumPy and the array API give them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from marsdask.core.collection import ExecutableTuple


def named(name: str, *fields: str) -> Any:
    """Return a namedtuple of collections that also has their verbs."""
    base = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024 - made from a table
    return type(name, (base, ExecutableTuple), {"__slots__": (), "__module__": __name__})


EighResult = named("EighResult", "eigenvalues", "eigenvectors")
EigResult = named("EigResult", "eigenvalues", "eigenvectors")
QRResult = named("QRResult", "Q", "R")
SlogdetResult = named("SlogdetResult", "sign", "logabsdet")
SVDResult = named("SVDResult", "U", "S", "Vh")
UniqueAllResult = named("UniqueAllResult", "values", "indices", "inverse_indices", "counts")
UniqueCountsResult = named("UniqueCountsResult", "values", "counts")
UniqueInverseResult = named("UniqueInverseResult", "values", "inverse_indices")
