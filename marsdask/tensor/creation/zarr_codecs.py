"""The codecs of zarr arrays: one of them runs code that is in the file."""

from __future__ import annotations

from typing import Any


def check_codecs(array: Any, path: str) -> None:
    """Raise ValueError if reading a zarr array would unpickle what is in the file.

    numcodecs from 0.16.6 on refuses by itself, unless the user has allowed it.
    """
    if not any(type(codec).__name__ == "Pickle" for codec in (*array.filters, *array.compressors)):
        return
    # zarr is optional, and numcodecs comes with it.
    import numcodecs.pickles

    if "ALLOW_UNSAFE_PICKLE_DECODE" not in vars(numcodecs.pickles):
        raise ValueError(
            f"{path} has the codec 'pickle', which runs code that is in the file: update numcodecs "
            "to 0.16.6 or newer, which says how to allow it"
        )
