"""A ``get`` of Dask's that runs graphs on the default session."""

from __future__ import annotations

from typing import Any, Final

from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from marsdask.remote import spawn
from marsdask.scheduler.dask_graph import flatten, nest, to_tasks

_LAYER: Final = "dask-graph"


def mars_dask_get(dsk: Any, keys: Any, **options: Any) -> Any:
    """Run a graph of Dask on the default session, on whatever scheduler it has.

    Parameters
    ----------
    dsk : mapping
        The graph.
    keys : key or nested list of keys
        The wanted results.
    **options
        Arguments of Dask's getters, which are ignored.

    Returns
    -------
    object
        The values, nested as the keys are.
    """
    del options
    outputs = list(dict.fromkeys(flatten(keys)))
    tasks: Any = dict(to_tasks(dsk))
    graph = HighLevelGraph({_LAYER: tasks}, {_LAYER: set()})
    results = [Delayed(key, graph, layer=_LAYER) for key in outputs]
    together = spawn(list, args=(results,))
    values: list[Any] = together.execute().fetch()
    return nest(keys, dict(zip(outputs, values, strict=True)))


mars_scheduler = mars_dask_get
