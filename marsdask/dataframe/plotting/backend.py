"""The library that draws."""

from __future__ import annotations

import pandas as pd

#: Kinds of plots whose rows only matplotlib takes as they are: counts are weights.
WEIGHTED = {"hist", "kde"}


def check_matplotlib(backend: str | None, kind: str) -> None:
    """Raise before anything is computed if the library that draws is not there."""
    backend = backend or str(pd.get_option("plotting.backend"))
    if backend != "matplotlib":
        if kind in WEIGHTED:
            raise NotImplementedError(
                f"plots of kind {kind!r} by {backend} are not supported; use "
                "backend='matplotlib', or to_pandas()"
            )
        return
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ImportError('plots need matplotlib; use pip install "marsdask[plot]"') from error
