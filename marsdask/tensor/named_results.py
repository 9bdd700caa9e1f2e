"""Several results that execute together, with the names in NumPy and the array API."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

from marsdask.core.collection import ExecutableTuple


def collection_namedtuple(name: str, *fields: str) -> Any:
    """Return a namedtuple of collections that also has their methods."""
    base = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024 - made from a table
    return type(name, (base, ExecutableTuple), {"__slots__": (), "__module__": __name__})


EighResult: Final = collection_namedtuple("EighResult", "eigenvalues", "eigenvectors")
EigResult: Final = collection_namedtuple("EigResult", "eigenvalues", "eigenvectors")
QRResult: Final = collection_namedtuple("QRResult", "Q", "R")
SlogdetResult: Final = collection_namedtuple("SlogdetResult", "sign", "logabsdet")
SVDResult: Final = collection_namedtuple("SVDResult", "U", "S", "Vh")
UniqueAllResult: Final = collection_namedtuple(
    "UniqueAllResult", "values", "indices", "inverse_indices", "counts"
)
UniqueCountsResult: Final = collection_namedtuple("UniqueCountsResult", "values", "counts")
UniqueInverseResult: Final = collection_namedtuple(
    "UniqueInverseResult", "values", "inverse_indices"
)
