"""Mars's names for Proxima's index, which say what to use."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["build_index", "recall", "search_index"]


def build_index(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: Proxima is not published as a package of Python."""
    raise NotImplementedError(
        "build_index() is not supported; marsdask.learn.neighbors.NearestNeighbors().fit(tensor) "
        "indexes each chunk by a tree"
    )


def search_index(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: Proxima is not published as a package of Python."""
    raise NotImplementedError(
        "search_index() is not supported; NearestNeighbors.kneighbors(tensor, n_neighbors=topk) of "
        "marsdask.learn.neighbors finds the nearest samples exactly"
    )


def recall(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: there is no approximate index whose results could be wrong."""
    raise NotImplementedError(
        "recall() is not supported; NearestNeighbors of marsdask.learn.neighbors finds all of the "
        "nearest samples, so that its recall is 1"
    )
