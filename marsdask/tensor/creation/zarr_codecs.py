"""The codecs of zarr arrays: one of them runs code that is in the file."""

from __future__ import annotations

from typing import Any

#: The codec whose bytes are unpickled, by its names in both versions of the format.
_PICKLE = ("pickle", "numcodecs.pickle")


def check_codecs(array: Any, path: str) -> None:
    """Raise ValueError if reading a zarr array would unpickle what is in the file.

    numcodecs from 0.16.6 on refuses by itself, unless the user has allowed it.
    """
    names = {
        getattr(codec, "codec_id", None) or getattr(codec, "codec_name", None)
        for codec in (*array.filters, *array.compressors)
    }
    if names.isdisjoint(_PICKLE):
        return
    # zarr is optional, and numcodecs comes with it.
    import numcodecs.pickles

    if not hasattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE"):
        raise ValueError(
            f"{path} has the codec 'pickle', which runs code that is in the file: update numcodecs "
            "to 0.16.6 or newer, which says how to allow it"
        )
