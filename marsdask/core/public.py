"""Public functions: wrappers around functions that compose nodes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial, wraps
from types import FunctionType
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

from .arguments import (
    check_iterators,
    kept_lazy,
    plain_arguments,
    planned_in_memory,
    with_called_functions,
)
from .collection import Collection, Writes, collect, composing, execute, executes_at_once
from .config import options
from .display.suggestions import suggest
from .grids.incomplete_types import NodeArgument, Outcome, Recalled
from .node import Node

P = ParamSpec("P")
N_co = TypeVar("N_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


class Public(Protocol[P, N_co, R_co]):
    """A public function: users call it, and operations call its ``node``."""

    __name__: str
    __qualname__: str

    @property
    def node(self) -> Callable[P, N_co]:
        """The function for other operations, which returns nodes and executes no tasks."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


def public(func: Callable[..., Any], *, sharing: SharesElements | None = None) -> Any:
    """Return the public function: it converts nodes in its result to collections.

    In eager mode it then executes them at once, with the tensors that it changed in place. Calls
    inside it are not executed. ``func`` itself remains available as ``node``, for other operations.
    With ``sharing`` its results are views of what it is given, where NumPy's are.
    """

    @wraps(func)
    def face(*args: Any, **kwargs: Any) -> Any:
        try:
            if options.eager_mode and executes_at_once():
                return _call_and_execute(func, args, kwargs, sharing)
            if kwargs and isinstance(out := kwargs.get("out"), Collection):
                _check_output(out)
            result = func(*args, **kwargs)
        except TypeError as error:
            suggest(error, func, args, kwargs)
            raise
        if isinstance(result, Collection):
            if not _is_open(result.node) or _is_among(result, (*args, *kwargs.values())):
                return result
            result = result.node  # made here, of texts of unknown width or the like
        if sharing is None:
            result = _until_types_are_known(face, result, args, kwargs)
        return wrap_nodes(result) if sharing is None else sharing(result, args, kwargs, face)

    if hasattr(func, "__wrapped__"):
        # Functions of other decorators are pickled by their name, which must refer to them.
        func.__qualname__ = f"{func.__qualname__}.node"
    face.node = func  # type: ignore[attr-defined]
    face.sharing = sharing  # type: ignore[attr-defined]
    return face


def _check_output(out: Collection) -> None:
    """Refuse what cannot be written to before all else; execute what results are cast to."""
    if out._view is not None:
        out._view.check("output array")
    if _is_open(out.node):
        out.execute()


@dataclass(frozen=True)
class NodesOf:
    """Calls a public function as other operations do."""

    face: Any

    @property
    def __name__(self) -> str:
        return str(self.face.__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refer to the function that its module has by its name, below those made of it."""
        layer, function = self.face, self.face
        while (layer := getattr(layer, "__wrapped__", None)) is not None:
            function = layer if "node" in vars(layer) else function
        return NodesOf, (function,)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.face.node(*args, **kwargs)
        if isinstance(result, tuple | list):
            return tuple(item.node if isinstance(item, Collection) else item for item in result)
        return result.node if isinstance(result, Collection) else result


def _until_types_are_known(face: Any, found: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function has made, or nodes that call it again once types are known.

    What it makes of texts of unknown width, or of times of unknown unit, may depend on them.
    """
    if face is None or not (_are_incomplete(args) or (kwargs and _are_incomplete(kwargs.values()))):
        return found
    results = found if isinstance(found, tuple | list) else (found,)
    if not results or not all(isinstance(node, Node) for node in results):
        return found
    nodes: list[Node] = []
    places = _without_nodes(args, nodes)
    keywords = tuple((key, _without_nodes(kwargs[key], nodes)) for key in sorted(kwargs))
    if all(node.types_follow and set(node.inputs) <= set(nodes) for node in results):
        return found
    outcomes = tuple(Outcome(node.meta, node.chunks, node.memory_order) for node in results)
    parts = Recalled(NodesOf(face), tuple(nodes), places, keywords, outcomes).parts()
    # Named tuples are built from their items.
    several: Callable[..., Any] = getattr(found, "_make", type(found))
    return several(parts) if isinstance(found, tuple | list) else parts[0]


def _is_among(found: Any, items: Iterable[Any]) -> bool:
    """Tell whether an object is one of some arguments, or of the items of tuples."""
    return any(found is item or (type(item) is tuple and _is_among(found, item)) for item in items)


def _is_open(node: Node) -> bool:
    """Tell whether the type of an array lacks a detail: what is composed of columns follows it."""
    return node.incomplete and not hasattr(type(node.meta), "iloc")


def _are_incomplete(items: Iterable[Any]) -> bool:
    """Tell whether some of the arguments, or of the items of lists, lack a detail of their type."""
    for item in items:
        if isinstance(item, Collection):
            if _is_open(item.node):
                return True
        elif isinstance(item, Node):
            if _is_open(item):
                return True
        elif isinstance(item, list | tuple) and _are_incomplete(item):
            return True
    return False


def _without_nodes(item: Any, nodes: list[Node]) -> Any:
    """Return an argument with places for nodes, which are listed; arrays are copied."""
    if isinstance(item, Collection | Node):
        nodes.append(item.node if isinstance(item, Collection) else item)
        return NodeArgument(len(nodes) - 1)
    if isinstance(item, list | tuple):  # results of functions with several are tuples of their own
        parts = [_without_nodes(part, nodes) for part in item]
        return parts if isinstance(item, list) else tuple(parts)
    return item.copy() if isinstance(item, np.ndarray) else item


@dataclass(frozen=True)
class SharesElements:
    """Makes collections of a function's nodes that share elements with its arguments."""

    writes: Writes = "traced"
    through: tuple[type[Node], ...] = ()
    """Operations that show elements in this function, and make new ones in others."""
    copies: Callable[..., bool] | None = None
    """Tells of a call, by its result and its arguments, whether the result is a copy."""
    bases_of: Callable[[Any], Iterable[Collection]] | None = None
    """Returns what results show parts of, unless that are arguments."""

    def __call__(
        self, found: Any, args: tuple[Any, ...], kwargs: dict[str, Any], face: Any = None
    ) -> Any:
        given = (*args, *kwargs.values()) if self.bases_of is None else self.bases_of(found)
        bases = [item for item in given if isinstance(item, Collection)]
        if not bases or (self.copies is not None and self.copies(found, *args, **kwargs)):
            return wrap_nodes(_until_types_are_known(face, found, args, kwargs))
        if isinstance(found, Node):
            view = self._shown(found, bases)
            if view is not None:
                return view
            return wrap_nodes(_until_types_are_known(face, found, args, kwargs))
        return wrap_nodes(found, partial(self._each, bases=bases))

    def _each(self, node: Node, bases: list[Collection]) -> Any:
        view = self._shown(node, bases)
        return collect(node) if view is None else view

    def _shown(self, node: Node, bases: list[Collection]) -> Collection | None:
        """Return the collection that shares elements with a base, if one does."""
        for base in bases:
            if (view := base._show(node, self.writes, self.through)) is not None:
                return view
        return None


def public_like(model: Any, func: Callable[..., Any]) -> Any:
    """Return the public function whose results are views where those of another are."""
    return public(func, sharing=model.sharing)


def public_call(func: F) -> F:
    """Return the function that users call, of one that makes collections itself.

    In eager mode they are executed once it returns, as with ``public``.
    """
    face: F = public(_plain(func, _all_collections, scalars_stay=True))
    return face


def returns_itself(func: F) -> F:
    """Let a method return the object itself, as the method of pandas does."""
    _RETURNING.add(func)
    return func


#: Methods that return the object itself.
_RETURNING: set[Any] = set()


def _plain(func: F, given: Callable[[tuple[Any, ...]], Iterable[Any]], *, scalars_stay: bool) -> F:
    """Return a function that is called with plain arguments, and returns none of them.

    ``given(args)`` lists what it must not return: a later write to one would be seen in the other.
    """
    items_stay = kept_lazy(func) == "items"
    owners = 1 if given is _owner else 0  # which may be a lazy scalar, and is no argument
    if _is_returning(func):
        given = _nothing

    @wraps(func)
    def face(*args: Any, **kwargs: Any) -> Any:
        check_iterators(func, args, kwargs)
        if not items_stay:
            owner, rest = args[:owners], args[owners:]
            rest, kwargs = plain_arguments(rest, kwargs, scalars_stay=scalars_stay)
            args = (*owner, *rest)
        args, kwargs = with_called_functions(func, *planned_in_memory(func, args, kwargs))
        return _other_objects(func(*args, **kwargs), given(args))

    return face  # type: ignore[return-value]


def _is_returning(func: Any) -> bool:
    """Tell whether a function, or one that it wraps, returns the object itself."""
    while func is not None:
        if func in _RETURNING:
            return True
        func = getattr(func, "__wrapped__", None)
    return False


def _nothing(args: tuple[Any, ...]) -> tuple[Any, ...]:
    del args
    return ()


def _owner(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the object whose method is called."""
    return args[:1]


def _all_collections(args: tuple[Any, ...]) -> Iterator[Collection]:
    return _collections(args)


def _other_objects(found: Any, given: Iterable[Any]) -> Any:
    """Return a result with copies in place of the objects that were given."""
    if isinstance(found, Collection):
        return copy(found) if any(found is item for item in given) else found
    if type(found) is tuple:
        given = tuple(given)
        return tuple(_other_objects(item, given) for item in found)
    return found


#: Methods that Python and other libraries call for the user: operators and protocols.
OPERATORS = {name for name in dir(operator) if name.startswith("__")}
REFLECTED = {f"__r{name[2:]}" for name in OPERATORS}
PROTOCOLS = {"__array_ufunc__", "__arrow_c_stream__", "__dataframe__"}


def public_methods(cls: C) -> C:
    """Let each method that users call of a class execute once in eager mode, and each setter.

    Their arguments are read by :func:`plain_arguments`.
    """

    def reading(func: Any) -> Any:
        return _plain(func, _owner, scalars_stay=kept_lazy(func) is not None)

    return _public_methods(cls, reading)


def executing_methods(cls: C) -> C:
    """Let each method of a class execute once in eager mode; it takes its arguments as given."""
    return _public_methods(cls, lambda func: func)


def _public_methods(cls: C, reading: Callable[[Any], Any]) -> C:
    faces: dict[Any, Any] = {}
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in OPERATORS | REFLECTED | PROTOCOLS:
            continue
        if isinstance(member, FunctionType):
            # Two names of one method stay names of one method.
            face = faces.setdefault(member, _executing_once(reading(member)))
            setattr(cls, name, face)
        elif isinstance(member, property) and member.fset is not None:
            setattr(cls, name, member.setter(_executing_once(reading(member.fset))))
    return cls


def _executing_once(func: F) -> F:
    """Return a function whose steps are not executed in eager mode, but what comes of it is."""

    @wraps(func)
    def face(*args: Any, **kwargs: Any) -> Any:
        if options.eager_mode and executes_at_once():
            return _call_and_execute(func, args, kwargs)
        return func(*args, **kwargs)

    return face  # type: ignore[return-value]


def wrap_nodes(found: Any, make: Callable[[Node], Any] = collect) -> Any:
    """Return a result with collections in place of nodes."""
    if isinstance(found, Node):
        return make(found)
    if not isinstance(found, tuple | list):
        return found
    items = [wrap_nodes(item, make) for item in found]
    if all(map(operator.is_, items, found)):
        return found
    # Named tuples are built from their items.
    return getattr(found, "_make", type(found))(items)


def _call_and_execute(
    func: Callable[..., Any], args: Any, kwargs: Any, sharing: SharesElements | None = None
) -> Any:
    """Call a function without executing its steps, then execute its result."""
    rebound: list[Collection] = []
    reset = composing.set(rebound)
    try:
        result = func(*args, **kwargs)
        result = wrap_nodes(result) if sharing is None else sharing(result, args, kwargs)
    finally:
        composing.reset(reset)
    collections = (*rebound, *_collections(result))
    # What an equal collection has executed is held for this one, too: the other may go.
    if pending := [item for item in collections if item._held() is not item._node]:
        execute(*pending)
    return result


def _collections(found: Any) -> Iterator[Collection]:
    if isinstance(found, Collection):
        yield found
    elif isinstance(found, tuple | list):
        for item in found:
            yield from _collections(item)
