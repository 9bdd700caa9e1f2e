"""Snapshots: what users hand over, as it is at the call; later changes do not affect them.

A node is named by what it holds. Values that may change are copied, so that the name stays true.
Functions are copied with what they capture. Those that keep a record, which are written to change
what they capture, are held by reference, as is what cannot be copied: their names are unique.
"""

from __future__ import annotations

import copy
import pickle
import random
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from io import BytesIO
from typing import Any
from weakref import WeakValueDictionary, ref

import cloudpickle
import numpy as np

from .functions import captured, import_path
from .kinds import CONTAINERS, IMMUTABLE, form_of, is_fixed, is_kept
from .records import captures_state, keeps_record

#: The copies that exist and their own bytes, by the bytes that they were made of.
_SHARED: dict[bytes, tuple[ref[Any], bytes]] = {}

#: The copies that exist, by their identities: they are not copied again.
_OWN: WeakValueDictionary[int, Any] = WeakValueDictionary()


#: Drawing from these changes them.
_GENERATORS = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)

#: Local classes, by their identities.
_CLASSES: WeakValueDictionary[int, type] = WeakValueDictionary()


class Snapshot:
    """Takes one snapshot, of one or more values."""

    def __init__(self) -> None:
        self.shares = False
        """Whether a part of it could not be copied."""
        self._copies: dict[int, Any] = {}
        """Snapshots of objects that may contain themselves."""

    def of(self, value: Any) -> Any:
        """Return a value that does not change: itself, if that is one."""
        kind: Any = type(value)
        if kind in IMMUTABLE:
            return value
        copier = _copier(kind)
        return value if copier is None else copier(self, value)

    def sequence(self, value: Any) -> Any:
        """Return the snapshot of a tuple or a frozenset."""
        if is_kept(value):
            return value
        items = [self.of(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return getattr(type(value), "_make", type(value))(items)

    def container(self, value: Any) -> Any:
        """Return the snapshot of a list or a set."""
        if (earlier := self._copies.get(id(value))) is not None:
            return earlier
        copies = self._copies[id(value)] = type(value)()
        add = copies.append if isinstance(copies, list) else copies.add
        for item in value:
            add(self.of(item))
        return copies

    def mapping(self, value: dict[Any, Any]) -> Any:
        """Return the snapshot of a dict."""
        if (earlier := self._copies.get(id(value))) is not None:
            return earlier
        copies: dict[Any, Any] = {}
        self._copies[id(value)] = copies
        copies.update((self.of(key), self.of(item)) for key, item in value.items())
        return copies

    def proxy(self, value: types.MappingProxyType[Any, Any]) -> Any:
        """Return a proxy of the snapshot of a mapping."""
        return types.MappingProxyType(self.of(dict(value)))

    def dict_view(self, value: Any) -> Any:
        """Return the same view of the snapshot of a dict."""
        copied = self.of(dict(value.mapping))
        return getattr(copied, type(value).__name__.removeprefix("dict_"))()

    def slice(self, value: slice) -> slice:
        """Return the snapshot of a slice."""
        parts = (value.start, value.stop, value.step)
        return value if self.sequence(parts) is parts else slice(*map(self.of, parts))

    def record(self, value: Any) -> Any:
        """Return the snapshot of a frozen dataclass of ours."""
        changes = {
            name: new
            for name in type(value).__dataclass_fields__
            if (new := self.of(old := getattr(value, name))) is not old
        }
        if not changes:
            return value
        copied = object.__new__(type(value))
        for name in type(value).__dataclass_fields__:
            object.__setattr__(copied, name, changes.get(name, getattr(value, name)))
        return copied

    def array(self, value: np.ndarray[Any, Any]) -> Any:
        """Return the snapshot of an array: a read-only copy."""
        if value.dtype == object and (objects := self.cells(value)) is not value:
            return objects
        if value.dtype.hasobject and value.dtype != object:
            return self.pickled(value)
        return value if is_frozen(value) else frozen_copy(value)

    def cells(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return an array of objects with copies of the containers and arrays among them.

        It is the same array if there are none. Other objects stay the same ones, as in copies of
        NumPy and pandas: they may be compared by their identity.
        """
        kinds = set(map(type, value.flat))
        if kinds <= IMMUTABLE:
            return value
        self.shares |= any(form_of(kind) == "pickled" for kind in kinds)
        if kinds.isdisjoint(CONTAINERS):
            return value
        objects = np.empty(value.shape, object)
        for index, item in np.ndenumerate(value):
            objects[index] = self.of(item) if type(item) in CONTAINERS else item
        objects.flags.writeable = False
        return objects

    def view(self, value: memoryview) -> memoryview:
        """Return a view of a copy of the bytes."""
        flat = memoryview(value.tobytes())
        return flat.cast("B").cast(value.format, value.shape) if value.ndim else flat  # type: ignore[call-overload]

    def scalar(self, value: Any) -> Any:
        """Return the snapshot of a structured scalar, which is a view."""
        return value.copy()

    def function(self, value: types.FunctionType) -> Any:
        """Return a function that captures snapshots."""
        if import_path(value) or _OWN.get(id(value)) is value:
            return value
        if (earlier := self._copies.get(id(value))) is not None:
            return earlier
        capture = captured(value)
        varies = not all(map(is_fixed, capture.outer.values()))
        own = (*capture.defaults.values(), *capture.attributes.values())
        fixed = all(map(self._is_same, own))
        if (not (varies or capture.cells) and fixed) or keeps_record(value):
            return value
        return self._copied(value, varies=varies)

    def _is_same(self, value: Any) -> bool:
        return form_of(type(value)) is None

    def _copied(self, value: types.FunctionType, *, varies: bool) -> types.FunctionType:
        capture, outer = captured(value), value.__globals__
        if varies:
            own = ("__builtins__", "__name__", "__package__", "__file__", "__spec__", "__loader__")
            outer = {name: value.__globals__[name] for name in own if name in value.__globals__}
        cells = tuple(types.CellType() for _ in value.__closure__ or ())
        code = value.__code__
        function = types.FunctionType(code, outer, value.__name__, closure=cells or None)
        self._copies[id(value)] = _OWN[id(function)] = function
        for name, cell in zip(code.co_freevars, cells, strict=True):
            cell.cell_contents = self.of(capture.cells[name])
        if varies:
            outer.update({name: self.of(item) for name, item in capture.outer.items()})
        function.__defaults__ = self.of(value.__defaults__)
        function.__kwdefaults__ = self.of(value.__kwdefaults__)
        function.__dict__.update(self.of(vars(value)))
        for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
            setattr(function, name, getattr(value, name))
        return function

    def method(self, value: types.MethodType) -> Any:
        """Return a method of the snapshot of its object."""
        if keeps_record(value):
            return value
        return types.MethodType(self.of(value.__func__), self.of(value.__self__))

    def native_method(self, value: Any) -> Any:
        """Return a method that is written in C of the snapshot of its object."""
        owner = value.__self__
        if owner is None or isinstance(owner, types.ModuleType | type) or keeps_record(value):
            return value
        return getattr(self.of(owner), value.__name__)

    def partial(self, value: partial[Any]) -> Any:
        """Return the snapshot of a partial function."""
        return partial(self.of(value.func), *map(self.of, value.args), **self.of(value.keywords))

    def vectorized(self, value: np.vectorize) -> Any:
        """Return a vectorized function of the snapshot: those that have run are not pickled."""
        if keeps_record(value.pyfunc):
            return value
        names = ("otypes", "excluded", "cache", "signature")
        kwargs = {name: getattr(value, name) for name in names}
        return np.vectorize(self.of(value.pyfunc), doc=value.__doc__, **kwargs)

    def pickled(self, value: Any) -> Any:
        """Return the copy that pickling makes; equal values that do not draw numbers share it."""
        if _OWN.get(id(value)) is value:
            return value
        if callable(value) and (import_path(value) or keeps_record(value)):
            return value
        if captures_state(type(value)):
            return self.shared(value)
        try:
            pickled = _dumped(value)
            digest = pickled.digest()
            if (copied := _shared(digest)) is not None:
                return copied
            copied = pickle.loads(pickled.data, buffers=map(bytearray, pickled.buffers))
        except Exception:  # noqa: BLE001 - users' objects may raise any exception
            return self.shared(value)
        if type(copied) is not type(value):
            return self.shared(value)
        if type(copied).__weakrefoffset__:
            _OWN[id(copied)] = copied
            if not pickled.draws:
                last = ref(copied, lambda _: _SHARED.pop(digest, None))
                _SHARED[digest] = last, _dumped(copied).digest()
        return copied

    def shared(self, value: Any) -> Any:
        """Return what stays where it is, such as a file, under a name of its own."""
        self.shares = True
        return value

    def shallow(self, value: Any) -> Any:
        """Return a copy of one of our own objects, whose attributes are set and never changed."""
        return copy.copy(value)


class _SnapshotPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Refers to classes that cannot be imported: unpickling copies would change them."""

    draws = False
    """Whether a random generator has been pickled."""

    def reducer_override(self, obj: Any) -> Any:
        self.draws |= isinstance(obj, _GENERATORS)
        if isinstance(obj, type) and not import_path(obj):
            _CLASSES[id(obj)] = obj
            return _class_of, (id(obj),)
        return super().reducer_override(obj)


@dataclass(frozen=True)
class PickledValue:
    """The bytes of a value."""

    data: bytes
    buffers: list[Any]
    draws: bool
    """Whether a part of the value is a random generator, which drawing from changes."""

    def digest(self) -> bytes:
        """Return a digest of the bytes."""
        digest = blake2b(self.data, digest_size=16)
        for buffer in self.buffers:
            digest.update(buffer)
        return digest.digest()


def _shared(digest: bytes) -> Any:
    """Return the copy that was made of equal bytes, unless a task has changed it."""
    last, own = _SHARED.get(digest, (None, b""))
    copied = None if last is None else last()
    try:
        return copied if copied is not None and _dumped(copied).digest() == own else None
    except Exception:  # noqa: BLE001 - what a task has put into the copy may refuse to be pickled
        return None


def _class_of(identity: int) -> type:
    return _CLASSES[identity]


def _dumped(value: Any) -> PickledValue:
    buffers: list[pickle.PickleBuffer] = []
    with BytesIO() as file:
        pickler = _SnapshotPickler(file, 5, buffer_callback=buffers.append)
        pickler.dump(value)
        return PickledValue(file.getvalue(), [buffer.raw() for buffer in buffers], pickler.draws)


@lru_cache(4096)
def _copier(kind: Any) -> Callable[[Snapshot, Any], Any] | None:
    form = form_of(kind)
    return None if form is None else vars(Snapshot)[form]


def with_own_cells(data: Any) -> tuple[Any, bool]:
    """Return an array of objects with own containers, and whether it shares other objects."""
    snapshot = Snapshot()
    cells = snapshot.cells(data)
    return cells, snapshot.shares


def is_frozen(array: Any) -> bool:
    """Tell whether neither an array nor its base is writeable."""
    while array is not None:
        if isinstance(array, np.ndarray):
            if array.flags.writeable:
                return False
            array = array.base
        else:
            return isinstance(array, bytes)
    return True


def frozen_copy(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a read-only copy in the same order; an axis of stride zero is kept."""
    distinct = array[(*(slice(None) if stride else slice(1) for stride in array.strides), ...)]
    copied = distinct.copy(order="K")
    copied.flags.writeable = False
    return np.broadcast_to(copied, array.shape) if copied.shape != array.shape else copied
