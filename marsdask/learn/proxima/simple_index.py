"""Mars's names for Proxima's index, which say what to use."""

from __future__ import annotations

from marsdask.learn.unsupported import refused

__all__ = ["build_index", "recall", "search_index"]

build_index = refused(
    "build_index",
    __name__,
    "Proxima is not published as a package of Python",
    "marsdask.learn.neighbors.NearestNeighbors().fit(tensor) indexes each chunk by a tree",
)

search_index = refused(
    "search_index",
    __name__,
    "Proxima is not published as a package of Python",
    "NearestNeighbors.kneighbors(tensor, n_neighbors=topk) of marsdask.learn.neighbors finds the "
    "nearest samples exactly",
)

recall = refused(
    "recall",
    __name__,
    "there is no approximate index whose results could be wrong",
    "NearestNeighbors of marsdask.learn.neighbors finds all of the nearest samples, so that its "
    "recall is 1",
)
