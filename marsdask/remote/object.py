"""The collection of a function's result."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.registry import register_collection
from marsdask.core.session import Session, get_default_session
from marsdask.core.sizes import Index

from .arguments import private
from .fetched_log import FetchedLog
from .node import AnyValue, RemoteFunction, ResultItem


class Object(Collection):
    """The result of a function that :func:`marsdask.remote.spawn` was given: any value.

    Parameters
    ----------
    node : Node
        The call.
    session : Session, optional
        The session that ran it.

    Examples
    --------
    >>> import marsdask.remote as mr
    >>> mr.spawn(max, args=(3, 5)).execute().fetch()
    5
    """

    __slots__ = ("_call", "_others")

    def __init__(self, node: Node, session: Session | None = None) -> None:
        super().__init__(node, session)
        call = node.call if isinstance(node, ResultItem) else node
        self._call = call.name
        self._others: Sequence[weakref.ref[Object]] = ()

    @property
    def key(self) -> str:
        """The name of the call, or of its part."""
        return self._node.name

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape: a value of any type counts as one."""
        return ()

    @property
    def nsplits(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of chunks along each axis: there is none."""
        return ()

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The number of chunks along each axis: there is none."""
        return ()

    def copy(self) -> Object:
        """Return another object of the same call, which runs once for both.

        Returns
        -------
        Object
            It is apart: to execute one leaves the other as it is.

        Examples
        --------
        >>> import marsdask.remote as mr
        >>> mr.spawn(max, args=(3, 5)).copy().execute().fetch()
        5
        """
        return Object(self._node, self._session)

    def issparse(self) -> bool:
        """Return False: a value counts as one, whatever it is.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> import marsdask.remote as mr
        >>> mr.spawn(max, args=(3, 5)).issparse()
        False
        """
        return False

    is_sparse = issparse

    def fetch_log(
        self, session: Session | None = None, offsets: Any = None, sizes: Any = None
    ) -> FetchedLog:
        """Return what the function has printed so far.

        Parameters
        ----------
        session : Session, optional
            The session that runs it.
        offsets : int, optional
            Where in the log to begin.
        sizes : int, optional
            The most characters to fetch; by default a million.

        Returns
        -------
        FetchedLog
            The text by ``str()``; its ``fetch()`` fetches what was printed since.

        Examples
        --------
        >>> import marsdask.remote as mr
        >>> call = mr.spawn(print, args=("to work",)).execute()
        to work
        >>> print(call.fetch_log(), end="")
        to work
        """
        log = FetchedLog([self._call], session or self._session or get_default_session())
        log.fetch(offsets, sizes)
        return log

    @classmethod
    def _assemble(cls, blocks: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        del meta
        (value,) = blocks.values()
        return value if owned else private(value)

    def _together(self) -> list[Collection]:
        """Return the other results of its function, which runs once for all of them."""
        objects = [ref() for ref in self._others]
        return [item for item in objects if item is not None]

    def _describe(self) -> str:
        node = self._node
        call = node.call if isinstance(node, ResultItem) else node
        function = f"{call.call.name}, " if isinstance(call, RemoteFunction) else ""
        return f"Object <{node.label}, {function}key={node.name}>"


register_collection(AnyValue, Object)


def objects_of(call: RemoteFunction, n_output: int) -> list[Object]:
    """Return an object for each result of a function."""
    objects = [Object(ResultItem(call, position)) for position in range(n_output)]
    refs = [weakref.ref(item) for item in objects]
    for item in objects:
        item._others = refs
    return objects
