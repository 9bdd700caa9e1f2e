"""Which tensors share elements: what is written to one of them, all of them see.

Nodes do not change. The elements that tensors share have one node, which a write replaces. A view
knows how to show its part of them: after a write it derives its node again, when it is asked for.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.node import Node
from marsdask.core.results.stored import Stored
from marsdask.core.sizes import known_chunks

from ..chunkwise.rechunk import rechunk
from .selections import Step, shown, written_back

#: Writes of several threads to parts of one tensor must not lose each other.
_LOCK = threading.RLock()

READ_ONLY = "assignment destination is read-only"


class Memory:
    """The elements that a tensor and its views share."""

    __slots__ = ("__weakref__", "fresh", "node", "owner", "users")

    def __init__(self, node: Node) -> None:
        self.node = node
        """The node of all elements."""
        self.owner: weakref.ref[Collection] | None = None
        """The tensor that no other one is the base of, while somebody has it."""
        self.users: dict[int, User] = {}
        self.fresh: set[int] = set()
        """The users that hold a node: the others derive it when they are asked for it."""

    def add(self, user: Collection) -> None:
        """Note a tensor that shares the elements."""
        self.users[id(user)] = User(user, self)
        self.fresh.add(id(user))

    def replace(self, node: Node) -> None:
        """Let all users show other values."""
        self.node = node
        for key in self.fresh:
            user = self.users[key]() if key in self.users else None
            if user is not None:
                user._own = None
        self.fresh = set()

    def living(self) -> Iterator[Collection]:
        """Yield the tensors that share the elements."""
        for reference in list(self.users.values()):
            if (user := reference()) is not None:
                yield user


class User(weakref.ref[Collection]):
    """A weak reference to a tensor that shares elements with others."""

    __slots__ = ("key", "memory")

    def __new__(cls, user: Collection, memory: Memory) -> User:
        del memory
        return super().__new__(cls, user, _forget)

    def __init__(self, user: Collection, memory: Memory) -> None:
        super().__init__(user, _forget)
        self.key = id(user)
        # The memory has the references, and shall end with its last user.
        self.memory = weakref.ref(memory)


def _forget(user: User) -> None:
    """Forget a tensor that has ended; this may happen anywhere, so it waits for nothing."""
    memory = user.memory()
    if memory is None or memory.users.get(user.key) is not user:
        return
    memory.users.pop(user.key, None)
    memory.fresh.discard(user.key)
    if len(memory.users) == 1 and _LOCK.acquire(blocking=False):
        try:
            for last in memory.living():
                view = last._view
                if isinstance(view, View) and (not view.steps or isinstance(last._own, Stored)):
                    leave(last)
        finally:
            _LOCK.release()


class View:
    """What a tensor shows of the elements that it shares with others."""

    __slots__ = ("memory", "refusal", "steps")

    def __init__(
        self, memory: Memory, steps: tuple[Step, ...] = (), refusal: Exception | None = None
    ) -> None:
        self.memory = memory
        self.steps = steps
        self.refusal = refusal
        """The error of a write, ``None`` if writes are possible."""

    def derived(self, user: Collection) -> Node:
        """Return the user's node, made of what was written last."""
        with _LOCK:
            node = user._own = shown(self.memory.node, self.steps)
            self.memory.fresh.add(id(user))
            return node

    def check(self) -> None:
        """Raise the error of a write, if writes are not possible."""
        if self.refusal is not None:
            raise type(self.refusal)(*self.refusal.args)

    def written(self, user: Collection, node: Node) -> Sequence[Collection]:
        """Let all users see the new values of one; return those that have changed."""
        self.check()
        with _LOCK:
            memory = self.memory
            if len(memory.users) == 1:
                leave(user)
                user._own = node
                return (user,)
            whole, keeps = written_back(memory.node, self.steps, node)
            chunks = memory.node.chunks
            if whole.chunks != chunks and known_chunks(chunks) and known_chunks(whole.chunks):
                # What views show parts of does not change its chunks.
                whole = rechunk.node(whole, chunks)
            memory.replace(whole)
            if keeps and self.steps:
                user._own = node
                memory.fresh.add(id(user))
            return tuple(memory.living()) if options.eager_mode else (user,)

    def adopted(self, user: Collection, stored: Stored) -> None:
        """Let a user hold its computed node."""
        with _LOCK:
            user._own = stored
            self.memory.fresh.add(id(user))
            if not self.steps:
                self.memory.node = stored
            elif len(self.memory.users) == 1:
                leave(user)


def leave(user: Collection) -> None:
    """Let a tensor own its elements: it shares them with nobody any more."""
    view = user._view
    node = user._node
    alone = None
    if isinstance(view, View):
        view.memory.users.pop(id(user), None)
        view.memory.fresh.discard(id(user))
        if view.refusal is not None:
            alone = View(Memory(node), refusal=view.refusal)
            alone.memory.add(user)
    user._own = node
    user._view = alone


def share(base: Collection, user: Collection, steps: tuple[Step, ...], refusal: Any) -> None:
    """Let a new tensor show a part of what another shows."""
    with _LOCK:
        view = base._view
        if not isinstance(view, View):
            view = View(Memory(base._node))
            view.memory.owner = weakref.ref(base)
            view.memory.add(base)
            base._view = view
        user._view = View(view.memory, steps, refusal)
        view.memory.add(user)


def base_of(tensor: Collection) -> Collection | None:
    """Return the tensor that owns the elements, ``None`` if it is the tensor itself."""
    view = tensor._view
    if not isinstance(view, View):
        return None
    with _LOCK:
        memory = view.memory
        owner = None if memory.owner is None else memory.owner()
        if owner is tensor or not (view.steps or memory.owner):
            return None
        if owner is None:
            owner = type(tensor)(memory.node)
            owner._view = View(memory)
            memory.owner = weakref.ref(owner)
            memory.add(owner)
        return owner
