"""Tensors that are made of other tensors, such as masked ones of values and a mask."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from marsdask.core.collection import Collection
from marsdask.core.node import Node
from marsdask.core.results.stored import Stored

from .memory import LOCK, ElementsView, view_of


class PartsView:
    """What a tensor shows: parts, each of which may share its elements with other tensors.

    Parameters
    ----------
    parts : tuple of Collection
        What it is made of. Nobody else has these objects.
    join : callable
        Returns the tensor's node, of the parts' nodes.
    split : callable
        Returns the parts' nodes, of the tensor's node.
    """

    __slots__ = ("_made_of", "join", "parts", "split")

    def __init__(
        self,
        parts: tuple[Collection, ...],
        join: Callable[..., Node],
        split: Callable[[Node], tuple[Node, ...]],
    ) -> None:
        self.parts = parts
        self.join = join
        self.split = split
        self._made_of = self._nodes()

    def _nodes(self) -> tuple[Node, ...]:
        return tuple(part.node for part in self.parts)

    def derived(self, user: Any) -> Node:
        """Return the tensor's node, made anew if a part was written to."""
        with LOCK:  # parts are written to one after the other
            nodes = self._nodes()
            if user._own is None or any(map(_differ, nodes, self._made_of)):
                user._own = self.join(*nodes)
                self._made_of = nodes
            node: Node = user._own
            return node

    def seen_by(self, user: Collection) -> None:
        """Let whoever executes what has changed know whose parts these are."""
        for part in self.parts:
            view_of(part).face = weakref.ref(user)

    def check(self, place: str) -> None:
        """Leave it to the parts: a write may change only some of them."""

    def written(self, user: Collection, node: Node) -> Sequence[Collection]:
        """Let all who share the parts see other values; return those that have changed."""
        with LOCK:
            self.seen_by(user)
            views = [view_of(part) for part in self.parts]
            for view in views:
                view.check()
            touched: dict[int, Collection] = {id(user): user}
            for part, view, own in zip(self.parts, views, self.split(node), strict=True):
                touched |= {id(tensor): tensor for tensor in view.written(part, own)}
            user._own = node
            self._made_of = self._nodes()
            return tuple(touched.values())

    def adopted(self, user: Any, stored: Stored) -> None:
        """Let a tensor hold its computed node, and the parts what it consists of."""
        with LOCK:
            for part, own in zip(self.parts, self.split(stored), strict=True):
                part._session = user._session
                view = part._view
                if isinstance(view, ElementsView):
                    view.adopted(part, own)
                else:
                    part._own = own
            user._own = stored
            self._made_of = self._nodes()

    def leaving(self, user: Any, *, force: bool) -> None:
        """Refuse: such tensors cannot be resized in place."""
        del user, force
        raise ValueError("cannot resize this array: it does not own its data")


def _differ(one: Node, other: Node) -> bool:
    return one is not other
