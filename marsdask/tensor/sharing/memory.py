"""Which tensors share elements: what is written to one of them, all of them see.

Nodes do not change. The elements that tensors share have one node, which a write replaces. A view
knows how to show its part of them: after a write it derives its node again, when it is asked for.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.node import Node
from marsdask.core.sizes import known_chunks

from ..chunkwise.rechunk import rechunk
from ..memory_order import in_place
from .layout_arrays import gaps_of, stand_in
from .selections import ViewStep, shown, steps_between, written_back

#: Writes of several threads to parts of one tensor must not lose each other.
LOCK = threading.RLock()

Reference = weakref.ref[Collection]


class SharedElements:
    """The elements that a tensor and its views share."""

    __slots__ = ("__weakref__", "_forget", "fresh", "layout", "node", "owner", "users")

    def __init__(self, node: Node, layout: Any = None) -> None:
        self.node = node
        """The node of all elements."""
        self.layout = layout
        """An array that lies as the elements do, ``None`` if they lie as those of a new array."""
        self.owner: Reference | None = None
        """The tensor that shows all of them and is the base of the others, if somebody has it."""
        self.users: dict[int, Reference] = {}
        self.fresh: set[int] = set()
        """The users that hold a node: the others derive it when they are asked for it."""
        # The memory has the references, and shall end with its last user.
        self._forget: Callable[[Reference], None] = partial(_forget, weakref.ref(self))

    def add(self, user: Collection, view: ElementsView) -> None:
        """Note a tensor that shares the elements."""
        reference = weakref.ref(user, self._forget)
        view.key = id(reference)
        self.users[view.key] = reference
        self.fresh.add(view.key)
        user._view = view

    def remove(self, key: int) -> None:
        """Forget a tensor."""
        self.users.pop(key, None)
        self.fresh.discard(key)

    def replace(self, node: Node) -> None:
        """Let all users show other values."""
        self.node = node
        # Tensors may end meanwhile, here or in other threads, and are forgotten then.
        for key in list(self.fresh):
            reference = self.users.get(key)
            user = None if reference is None else reference()
            if user is not None and isinstance(user._view, ElementsView):
                user._view.settle()
                user._own = None
        self.fresh = set()

    def living(self) -> Iterator[Collection]:
        """Yield the tensors that share the elements."""
        for reference in list(self.users.values()):
            if (user := reference()) is not None:
                yield user

    def seen(self) -> tuple[Collection, ...]:
        """Return the tensors that users see of those that share the elements."""
        faces = [
            user._view._seen(user) if isinstance(user._view, ElementsView) else user
            for user in self.living()
        ]
        return tuple({id(face): face for face in faces}.values())


def _forget(memory: weakref.ref[SharedElements], reference: Reference) -> None:
    """Forget a tensor that has ended; this may happen anywhere, so it waits for nothing."""
    elements = memory()
    if elements is None:
        return
    elements.remove(id(reference))
    if len(elements.users) == 1 and LOCK.acquire(blocking=False):
        try:
            for last in elements.living():
                # Its values are computed: nobody needs what they were computed from.
                owner = None if elements.owner is None else elements.owner()
                view = last._view
                is_computed = (
                    isinstance(view, ElementsView) and view.computed is last._own is not None
                )
                if is_computed and owner is not last:
                    leave(last)
        finally:
            LOCK.release()


class ElementsView:
    """The view of a tensor into elements that it shares with others."""

    __slots__ = ("_made", "_steps", "computed", "face", "in_order", "key", "memory", "refusal")

    def __init__(
        self,
        memory: SharedElements,
        steps: tuple[ViewStep, ...] = (),
        refusal: Exception | None = None,
        made: tuple[ElementsView | None, Node, int] | None = None,
    ) -> None:
        self.memory = memory
        self._steps = steps
        # Of most views nobody ever asks for the steps: what they follow from is kept instead.
        self._made = made
        self.refusal = refusal
        """The error of a write, ``None`` if writes are possible."""
        self.key = 0
        self.in_order = False
        """Whether it is known to show all elements in their order, in whatever shape."""
        self.computed: Node | None = None
        """Its node, if that is computed: the tensor needs nothing else."""
        self.face: Reference | None = None
        """The tensor of which this one is a part, and which users see."""

    @property
    def steps(self) -> tuple[ViewStep, ...]:
        """How it is shown, from all elements on."""
        self.settle()
        return self._steps

    @property
    def shows_all(self) -> bool:
        """Whether it shows all elements as they are."""
        return self._made is None and not self._steps

    @property
    def lies_in_order(self) -> bool:
        """Whether it is known to show all elements of a new array in their order."""
        return self.in_order or (self.shows_all and self.memory.layout is None)

    @property
    def array(self) -> Any:
        """The stand-in of what it shows."""
        return stand_in(self.memory.node, self.steps, self.memory.layout)

    def settle(self) -> None:
        """Find out the steps, while the tensor has the node that it was made with."""
        views = []
        view: ElementsView | None = self
        while view is not None and view._made is not None:
            views.append(view)
            view = view._made[0]
        for view in reversed(views):  # of long chains the first one first
            base, node, count = view._made  # type: ignore[misc]
            view._steps = (*(base._steps if base else ()), *steps_between(node, count))
            view._made = None

    def derived(self, user: Collection) -> Node:
        """Return the user's node, made of what was written last."""
        with LOCK:
            node = user._own = shown(self.memory.node, self.steps)
            self.memory.fresh.add(self.key)
            return node

    def check(self, place: str = "assignment destination") -> None:
        """Raise the error of a write to a place, if writes are not possible."""
        if isinstance(self.refusal, ValueError):
            raise ValueError(f"{place} is read-only")
        if self.refusal is not None:
            raise type(self.refusal)(*self.refusal.args)

    def written(self, user: Collection, node: Node) -> Sequence[Collection]:
        """Let all users see the new values of one; return those that have changed."""
        self.check()
        with LOCK:
            memory = self.memory
            if len(memory.users) == 1:
                self._written_alone(user, node)
                return (self._seen(user),)
            whole, keeps = written_back(memory.node, self.steps, node)
            chunks = memory.node.chunks
            if whole.chunks != chunks and known_chunks(chunks) and known_chunks(whole.chunks):
                # What views show parts of does not change its chunks.
                whole = rechunk.node(whole, chunks)
            whole = in_place(whole, memory.node)
            memory.replace(whole)
            if keeps and self.steps:
                user._own = node
                memory.fresh.add(self.key)
            return memory.seen() if options.eager_mode else (user,)

    def _written_alone(self, user: Collection, node: Node) -> None:
        """Let a user have new values that nobody else sees."""
        node = in_place(node, user._node)
        leave(user)
        user._own = node
        if isinstance(user._view, ElementsView):
            user._view.memory.node = node

    def _seen(self, user: Collection) -> Collection:
        face = None if self.face is None else self.face()
        return user if face is None else face

    def adopted(self, user: Collection, stored: Node) -> None:
        """Let a user hold its computed node."""
        with LOCK:
            self.settle()
            user._own = self.computed = stored
            self.memory.fresh.add(self.key)
            if self.shows_all:
                self.memory.node = stored
            if len(self.memory.users) == 1:
                leave(user)

    def leaving(self, user: Collection, *, force: bool) -> None:
        """Let a user have other memory; refuse it if it shows another's, or is shown by others."""
        memory = self.memory
        if memory.owner is None or memory.owner() is not user:
            raise ValueError("cannot resize this array: it does not own its data")
        with LOCK:
            if len(memory.users) > 1 and not force:
                raise ValueError(
                    "cannot resize an array that references or is referenced\nby another array "
                    "in this way.\nUse the np.resize function or refcheck=False"
                )
            leave(user, moves=True)


def leave(user: Collection, *, moves: bool = False) -> None:
    """Let a tensor own its elements: it shares them with nobody any more.

    They still lie in memory as they did, unless they move to another.
    """
    view = user._view
    user._own = user._node
    user._view = None
    if isinstance(view, ElementsView):
        view.memory.remove(view.key)
        layout = None if moves else gaps_of(view.array, user._own)
        if view.refusal is not None or layout is not None:
            owns(user, view.refusal, layout)


def owns(user: Collection, refusal: Exception | None = None, layout: Any = None) -> ElementsView:
    """Let a tensor own elements that others may come to share."""
    view = ElementsView(SharedElements(user._node, layout), refusal=refusal)
    view.memory.add(user, view)
    view.memory.owner = weakref.ref(user)
    return view


def view_of(base: Collection) -> ElementsView:
    """Return what a tensor shows, after this of elements that others may come to share."""
    view = base._view
    return view if isinstance(view, ElementsView) else owns(base)


def share(
    base: Collection, user: Collection, count: int, refusal: Exception | None, *, whole: bool
) -> None:
    """Let a new tensor show a part of what another shows, by so many steps.

    With ``whole`` they lead from all elements, and not from the base.
    """
    with LOCK:
        view = view_of(base)
        origin = (None if whole else view, user._node, count)
        memory = view.memory
        memory.add(user, ElementsView(memory, (), view.refusal or refusal, origin))


def reshaped(user: Collection, steps: tuple[ViewStep, ...], node: Node) -> None:
    """Let a tensor show its elements by other steps."""
    with LOCK:
        view = view_of(user)
        new_view = ElementsView(view.memory, steps, view.refusal)
        new_view.key, new_view.face = view.key, view.face
        user._view, user._own = new_view, node


def base_of(tensor: Collection) -> Collection | None:
    """Return the tensor that owns the elements, ``None`` if it is the tensor itself."""
    view = tensor._view
    if not isinstance(view, ElementsView):
        return None
    with LOCK:
        memory = view.memory
        owner = None if memory.owner is None else memory.owner()
        if owner is tensor:
            return None
        if owner is None:
            owner = type(tensor)(memory.node)
            memory.add(owner, ElementsView(memory))
            memory.owner = weakref.ref(owner)
        return owner
