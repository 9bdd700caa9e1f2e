"""Call a function on the scheduler."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral
from typing import Any

from marsdask.core.call_site import caller
from marsdask.core.collection import Collection, ExecutableTuple, execute, executes_at_once
from marsdask.core.config import options
from marsdask.core.dask.single_value import foreign_value
from marsdask.core.node import Node
from marsdask.core.snapshots.snapshot import Snapshot

from .arguments import InputPlace, rebuilt
from .function_call import ATTEMPTS, RemoteCall
from .names import NAMES
from .node import ANY, RemoteFunction
from .object import Object, objects_of


def spawn(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
    retry_when_fail: bool = False,
    resolve_tileable_input: bool = False,
    n_output: int | None = None,
    **kw: Any,
) -> Any:
    """Return an object that stands for a call of a function, which runs once it is executed.

    Each call is a task of its own: equal calls run as often as they are written. Inside of the
    function ``execute()`` uses the session that runs it.

    Parameters
    ----------
    func : callable
        The function.
    args : tuple
        Its arguments; anything but a tuple is the only one. Objects in them arrive as values, also
        within lists, tuples, sets, dictionaries, slices and dataclasses, and so do Dask's
        collections and futures. Tensors and frames arrive as they are: executed, with their chunks
        where these are held. They have the values of the
        call, whatever is written to them later. The function may modify them: they are copies.
    kwargs : dict, optional
        Its keyword arguments.
    retry_when_fail : bool
        Whether the function runs up to three times until it raises nothing.
    resolve_tileable_input : bool
        Whether tensors and frames arrive as NumPy arrays and pandas's objects instead.
    n_output : int, optional
        The number of values that the function returns, each an object of its own.
    **kw
        Nothing else: refused as Mars does.

    Returns
    -------
    Object or ExecutableTuple
        The result, or with ``n_output`` the results.

    Raises
    ------
    TypeError
        If ``kwargs`` is not a dict, ``func`` not callable or asynchronous, or ``n_output`` not an
        int.
    ValueError
        If there is an unknown keyword argument, or ``n_output`` is not positive.
    NotImplementedError
        If there are objects in a container that contains itself.

    Examples
    --------
    >>> import marsdask.remote as mr
    >>> def inc(x):
    ...     return x + 1
    >>> results = [mr.spawn(inc, args=(i,)) for i in range(4)]
    >>> mr.spawn(sum, args=(results,)).execute().fetch()
    10
    >>> low, high = mr.spawn(divmod, args=(17, 5), n_output=2)
    >>> mr.ExecutableTuple([low, high]).execute().fetch()
    [3, 2]
    """
    if kwargs is None:
        kwargs = {}
    _check(func, kwargs, n_output)
    if kw:
        raise ValueError(f"Unexpected kw: {next(iter(kw))}")
    positional = args if isinstance(args, tuple) else (args,)
    inputs = _Inputs()
    snapshot = Snapshot()
    arguments = snapshot.of((rebuilt(positional, inputs.take), rebuilt(kwargs, inputs.take)))
    attempts = ATTEMPTS if retry_when_fail else 1
    call = RemoteCall(snapshot.of(func), arguments, attempts=attempts, n_output=n_output)
    handles = frozenset() if resolve_tileable_input else frozenset(inputs.tileables)
    node = RemoteFunction(NAMES.new(), call, tuple(inputs.nodes), handles)
    object.__setattr__(node, "origin", caller())
    if n_output is None:
        return _at_once(Object(node))
    return _at_once(ExecutableTuple(objects_of(node, n_output)))


def _check(func: Any, kwargs: Any, n_output: Any) -> None:
    if not isinstance(kwargs, dict):
        raise TypeError("kwargs has to be a dict")
    if not callable(func):
        raise TypeError(f"func has to be callable, not {type(func).__name__}")
    if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
        raise TypeError("func must not be asynchronous; spawn a function that calls asyncio.run")
    if n_output is None:
        return
    if isinstance(n_output, bool) or not isinstance(n_output, Integral):
        raise TypeError(f"n_output has to be an int, not {type(n_output).__name__}")
    if n_output < 1:
        raise ValueError(f"n_output has to be positive, not {n_output}")


class _Inputs:
    """The collections found in arguments, each once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.tileables: list[int] = []
        self._places: dict[Node, InputPlace] = {}

    def take(self, value: Any) -> Any:
        """Return the place of a collection, and any other value itself."""
        node = value.node if isinstance(value, Collection) else foreign_value(value, ANY)
        if node is None:
            return value
        if node not in self._places:
            self._places[node] = InputPlace(len(self.nodes))
            if isinstance(value, Collection) and not isinstance(value, Object):
                self.tileables.append(len(self.nodes))
            self.nodes.append(node)
        return self._places[node]


def _at_once(result: Any) -> Any:
    if options.eager_mode and executes_at_once():
        execute(result)
    return result
