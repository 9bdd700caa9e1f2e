"""Mars's name for tsfresh, which says what to use."""

from __future__ import annotations

from typing import Any

__all__ = ["MarsDistributor"]


class MarsDistributor:
    """Refused: tsfresh runs on Dask by itself.

    Raises
    ------
    NotImplementedError
        Whenever one is made.
    """

    def __init__(self, session: Any = None) -> None:
        raise NotImplementedError(
            "MarsDistributor is not supported; on a cluster give tsfresh its own "
            "ClusterDaskDistributor, elsewhere n_jobs"
        )

    def calculate_best_chunk_size(self, data_length: int) -> int:
        """Refuse, as the class does."""
        raise NotImplementedError("MarsDistributor is not supported")

    def distribute(self, func: Any, partitioned_chunks: Any, kwargs: Any) -> Any:
        """Refuse, as the class does."""
        raise NotImplementedError("MarsDistributor is not supported")
