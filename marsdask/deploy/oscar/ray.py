"""Mars's names for Ray, which raise an error that says what to use."""

from __future__ import annotations

from typing import Any, Final, NoReturn

_RAY: Final = "Ray is not supported; use new_session(n_worker=...) or a Dask cluster"


def new_cluster_in_ray(*args: Any, **options: Any) -> NoReturn:
    """Raise: Ray is not supported."""
    raise NotImplementedError(_RAY)


def new_ray_session(*args: Any, **options: Any) -> NoReturn:
    """Raise: Ray is not supported."""
    raise NotImplementedError(_RAY)


class RayClusterBackend:
    """The nodes of a cluster of Ray, which is not supported."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError(_RAY)
