"""Which arguments of estimators are lazy, and what takes those of Dask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from marsdask.core.collection import Collection, collect
from marsdask.core.config import option_context
from marsdask.core.session import ensure_session, named
from marsdask.dataframe.io.dask_frames import from_dask
from marsdask.tensor.io.dask_arrays import dask_node, is_dask_array


def is_lazy(X: Any) -> bool:
    """Tell whether the samples are a tensor or a frame of ours."""
    return isinstance(X, Collection)


def adopted(item: Any) -> Any:
    """Return Dask's array or frame as a tensor or frame of the same chunks, others unchanged."""
    if isinstance(item, Collection | type) or not hasattr(item, "__dask_graph__"):
        return item
    return collect(dask_node(item)) if is_dask_array(item) else from_dask(item)


@contextmanager
def running(session: Any = None, run_kwargs: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Run what is inside in a session, with the options that Mars's ``execute`` takes."""
    extras = set(run_kwargs or ()) - {"show_progress"}
    if extras:
        raise TypeError(f"run_kwargs got unexpected arguments: {', '.join(sorted(extras))}")
    reset = named.set(ensure_session(session) if session is not None else named.get())
    try:
        with option_context(run_kwargs):
            yield
    finally:
        named.reset(reset)
