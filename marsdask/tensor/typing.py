"""Types of public functions, and the decorator that makes them, typed for tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar, cast, overload

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.public import Public, SharesElements
from marsdask.core.public import public as _public

if TYPE_CHECKING:
    from numpy import typing as npt

    from .tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")

ArrayLike: TypeAlias = "Collection | Node | npt.ArrayLike"
"""Values that NumPy makes arrays of, tensors and frames."""


TensorFunction: TypeAlias = "Public[..., Node, Tensor]"
"""A function of a table: its arguments are those of the library function it stands for."""

SeveralTensors: TypeAlias = "Public[..., tuple[Node, ...], tuple[Tensor, ...]]"
"""A function of a table with several results."""


class Ufunc(Public[..., Node, "Tensor"], Protocol):
    """The lazy form of a ufunc, with its methods and facts."""

    nin: int
    nout: int
    identity: Any
    reduce: Callable[..., Tensor]
    accumulate: Callable[..., Tensor]
    reduceat: Callable[..., Tensor]
    outer: Callable[..., Tensor]
    at: Callable[..., None]


def itself(tensor: Collection) -> Node:
    """Return the tensor that a function received, which users get back unchanged.

    Operations return and receive nodes, whatever the declared types.
    """
    return cast("Node", tensor)


class _Decorator(Protocol):
    """The public type of a function of nodes: a function of tensors."""

    @overload
    def __call__(self, func: Callable[P, Node]) -> Public[P, Node, Tensor]: ...
    @overload
    def __call__(
        self, func: Callable[P, tuple[Node, Node]]
    ) -> Public[P, tuple[Node, Node], tuple[Tensor, Tensor]]: ...
    @overload
    def __call__(
        self, func: Callable[P, tuple[Node, ...]]
    ) -> Public[P, tuple[Node, ...], tuple[Tensor, ...]]: ...

    @overload
    def __call__(self, func: Callable[P, list[Node]]) -> Public[P, list[Node], list[Tensor]]: ...
    @overload
    def __call__(self, func: Callable[P, R]) -> Public[P, R, R]: ...


public: _Decorator = _public


def view_face(**how: Any) -> _Decorator:
    """Return ``public`` for functions whose results are views of what they are given."""
    sharing = SharesElements(**how)

    def face(func: Any) -> Any:
        return _public(func, sharing=sharing)

    return cast("_Decorator", face)


public_view: _Decorator = view_face()
read_only_view: _Decorator = view_face(writes="refused")
