"""Functions of users as tasks call them: with their chunks in place, by name, and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.dask.single_value import foreign_value
from marsdask.core.machine.costs import Cost, cost_of
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Index, shape_text
from marsdask.core.snapshots.functions import function_name

from ..sparse.blocks import is_sparse, to_csr


@dataclass(frozen=True)
class UserFunction:
    """Calls a user function with its chunks and constants in the user's order."""

    func: Callable[..., Any]
    arguments: tuple[Any, ...]
    """Constants, and ``None`` where a chunk goes."""
    places: tuple[int, ...]
    """The positions of the chunks among the arguments."""
    keywords: tuple[str, ...] = ()
    """Names of the constants of the chunk, which come last."""

    @property
    def cost(self) -> Cost:
        """The cost of the function; it may modify its chunks unless declared otherwise."""
        is_pure = isinstance(self.func, np.ufunc) or cost_of(self.func) != Cost()
        return Cost(least=2**20, shares=True, writes=not is_pure)

    @property
    def __name__(self) -> str:
        return function_name(self.func)

    def __call__(self, *given: Any, **kwargs: Any) -> Any:
        arguments = list(self.arguments)
        count = len(self.places)
        for place, block in zip(self.places, given[:count], strict=True):
            arguments[place] = block
        keywords = dict(zip(self.keywords, given[count:], strict=True))
        return self.func(*arguments, **keywords, **kwargs)


@dataclass(frozen=True)
class NamedArguments:
    """Calls a user function that takes the last of what is given by name."""

    func: Callable[..., Any]
    names: tuple[str, ...]

    @property
    def __name__(self) -> str:
        return function_name(self.func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        first = len(args) - len(self.names)
        return self.func(
            *args[:first], **dict(zip(self.names, args[first:], strict=True)), **kwargs
        )


def delayed_value(value: Any) -> Any:
    """Return the node of what Dask computes first, or the value itself."""
    node = None if isinstance(value, Collection) else foreign_value(value, np.empty(()))
    return value if node is None else node


def delayed_keywords(
    func: Callable[..., Any], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], dict[str, Any], tuple[Node, ...]]:
    """Return a function that takes what Dask computes first of keywords as its last arguments."""
    lazy = {
        name: node for name, value in kwargs.items() if (node := delayed_value(value)) is not value
    }
    if not lazy:
        return func, kwargs, ()
    options = {name: value for name, value in kwargs.items() if name not in lazy}
    return NamedArguments(func, tuple(lazy)), options, tuple(lazy.values())


@dataclass(frozen=True)
class ChunkMaker:
    """Calls a user's function that takes no chunk, once for each chunk of its result."""

    func: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return function_name(self.func)

    def __call__(self, position: Any, *args: Any, **kwargs: Any) -> Any:
        del position
        if kwargs.get("block_info"):
            kwargs["block_info"] = {None: kwargs["block_info"][None]}
        return self.func(*args, **kwargs)


@dataclass(frozen=True)
class SparseChunk:
    """Calls a user's function that returns sparse matrices, and makes them what tensors hold."""

    func: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return function_name(self.func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.func(*args, **kwargs)
        return to_csr(result) if is_sparse(result) else result


@dataclass(frozen=True)
class ShapeCheck:
    """Calls a user's function and refuses a result of another shape than ``chunks=`` promised."""

    func: UserFunction

    @property
    def cost(self) -> Cost:
        """The cost of the function."""
        return self.func.cost

    @property
    def __name__(self) -> str:
        return self.func.__name__

    def __call__(self, *given: Any, **kwargs: Any) -> Any:
        *arguments, promised = given
        result = self.func(*arguments, **kwargs)
        shape = getattr(result, "shape", promised)
        # As in Dask a chunk may lack leading axes of length one.
        lacking = len(promised) - len(shape)
        whole = (1,) * lacking + shape
        if lacking < 0 or any(
            size not in (own, None) for own, size in zip(whole, promised, strict=True)
        ):
            raise ValueError(
                f"{self.__name__} returned a chunk of shape {shape_text(shape)}, but chunks= says "
                f"{shape_text(promised)}"
            )
        return result[(None,) * lacking] if lacking else result


@dataclass(frozen=True)
class PromisedShape:
    """Gives a function what it asks to know of its chunk, and the shape that its result has."""

    facts: Callable[[Index], tuple[Any, ...]] | None
    output: Chunks

    def __call__(self, index: Index) -> tuple[Any, ...]:
        sizes = (sizes[i] for sizes, i in zip(self.output, index, strict=True))
        shape = tuple(size if isinstance(size, int) else None for size in sizes)
        return (*(self.facts(index) if self.facts else ()), shape)
