"""Dask's functions for programs that use ``import dask``: our collections run on the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import dask.base
from dask.delayed import Delayed

from .core import collection as ours
from .core.collection import Collection, ExecutableTuple


def compute(*args: Any, traverse: bool = True, **kwargs: Any) -> tuple[Any, ...]:
    """Compute collections, also inside lists and dicts, and return a tuple of the values.

    Differs from dask.compute: without other collections and without Dask's options, the session
    computes. Its tasks may then depend on data.

    Parameters
    ----------
    *args : object
        Collections, also in nested lists, tuples and dicts; anything else is returned as it is.
    traverse : bool
        Whether to look for collections inside of lists and dicts.
    **kwargs
        ``session``, or options of ``dask.compute`` such as ``scheduler``.

    Returns
    -------
    tuple
        The values, in the order of the arguments.

    Examples
    --------
    >>> marsdask.compute(mt.arange(3).sum(), {"ones": mt.ones(2)})
    (np.int64(3), {'ones': array([1., 1.])})
    """
    session = kwargs.pop("session", None)
    collections, repack = dask.base.unpack_collections(*args, traverse=traverse)
    if not collections:
        return args
    if not kwargs and all(isinstance(item, Collection | ExecutableTuple) for item in collections):
        values = iter(ours.compute(*ours.flatten(collections), session=session))
        return _repacked(repack, [_taken(item, values) for item in collections])
    # Dask 2026.8 returns the values in the order of the types of collections.
    kinds: dict[Any, list[int]] = {}
    for position, item in enumerate(collections):
        kinds.setdefault(_kind(item), []).append(position)
    order = [position for positions in kinds.values() for position in positions]
    computed = dask.base.compute(*(collections[i] for i in order), traverse=False, **kwargs)
    places = dict(zip(order, computed, strict=True))
    return _repacked(repack, [places[position] for position in range(len(collections))])


def _repacked(repack: Callable[[Sequence[Any]], Any], values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(repack(values))


def _taken(item: Any, values: Iterator[Any]) -> Any:
    """Take the value of a collection, or those of a tuple of them, as Dask returns them."""
    if isinstance(item, Collection):
        return next(values)
    own = [next(values) for _ in item]
    make = getattr(item, "_make", tuple)
    return make(own)


def _kind(item: Any) -> Any:
    """Return the object by which Dask groups collections."""
    is_expression = hasattr(item, "expr") and not isinstance(item, Delayed)
    return None if is_expression else getattr(item, "__dask_optimize__", None)


def persist(*args: Any, traverse: bool = True, **kwargs: Any) -> tuple[Any, ...]:
    """Compute collections and return collections over the results, which stay in memory.

    Parameters
    ----------
    *args : object
        Collections, also in nested lists, tuples and dicts; anything else is returned as it is.
    traverse : bool
        Whether to look for collections inside of lists and dicts.
    **kwargs
        ``session``, or options of ``dask.persist`` such as ``scheduler``.

    Returns
    -------
    tuple
        Executed collections, in the order of the arguments.

    Examples
    --------
    >>> (total,) = marsdask.persist(mt.arange(3).sum())
    >>> total.fetch()
    np.int64(3)
    """
    session = kwargs.pop("session", None)
    if not kwargs:
        collections, repack = dask.base.unpack_collections(*args, traverse=traverse)
        if collections and all(isinstance(item, Collection) for item in collections):
            copies = [type(item)(item.node) for item in collections]
            ours.execute(copies, session=session)
            return _repacked(repack, copies)
    return dask.base.persist(*args, traverse=traverse, **kwargs)  # type: ignore[no-any-return]


optimize: Final = dask.base.optimize
visualize: Final = dask.base.visualize
