"""The buffers that a result keeps alive, and their bytes.

Results often share memory: a slice is a view of its source, and a shuffle cuts one sorted array
into many parts. A result is charged for the buffers that dropping it would free. A buffer of
several results counts once, and a buffer of another owner (an array of the caller) does not count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from .sizes import size_of

#: ``(identity of the buffer's owner, bytes)`` of each buffer that a value keeps alive.
Charges = tuple[tuple[int, int], ...]

_WEIGHTLESS = frozenset({type(None), bool, int, float, complex, np.bool_, np.float64, np.int64})
_CONTAINERS = frozenset({list, tuple, dict})
#: A container with more entries than this is measured by sampling instead.
_MANY = 4096
#: How many objects of an array are measured.
_SAMPLE = 100


class BufferUsage:
    """The bytes of all buffers in use; a buffer of several results counts once."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._uses: dict[int, int] = {}

    def __contains__(self, owner: int) -> bool:
        return owner in self._uses

    def add(self, charges: Charges) -> None:
        """Count one more use of each buffer."""
        for owner, nbytes in charges:
            uses = self._uses.get(owner, 0)
            self._uses[owner] = uses + 1
            if not uses:
                self.nbytes += nbytes

    def remove(self, charges: Charges) -> None:
        """Count one use less of each buffer."""
        for owner, nbytes in charges:
            uses = self._uses.pop(owner)
            if uses > 1:
                self._uses[owner] = uses - 1
            else:
                self.nbytes -= nbytes


class _Survey:
    """The buffers of one value: for each owner its bytes and the number of references."""

    def __init__(self) -> None:
        self.owners: dict[int, list[Any]] = {}

    def add(self, value: Any) -> bool:
        """Record the buffers of ``value``; return False if it does not consist only of arrays."""
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                return False
            self._add_array(value)
            return True
        kind = type(value)
        if kind in _CONTAINERS and len(value) <= _MANY:
            entries: Iterable[Any] = value.values() if kind is dict else value
            return all(map(self.add, entries))
        return kind in _WEIGHTLESS

    def _add_array(self, array: np.ndarray[Any, Any]) -> None:
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        # Of a file, or memory of another library, at most this array's part is in RAM.
        nbytes = root.nbytes if root.base is None else min(array.nbytes, root.nbytes)
        self.owners.setdefault(id(root), [root, nbytes, 0])[2] += 1

    def shared(self, owner: int) -> bool:
        """Return whether anything besides the value refers to this owner."""
        root, _, uses = self.owners[owner]
        return bool(sys.getrefcount(root) > uses + _NOTED)


def _references(value: Any) -> int:
    return sys.getrefcount(value)


def _calibrate() -> tuple[int, int]:
    """Return the numbers of references that counting itself adds.

    The first is for an array in a survey, the second for an array in a variable of the caller. They
    differ between Python versions: newer ones borrow references for calls.
    """
    survey = _Survey()
    value = [np.empty(1)]
    survey.add(value)
    root, _, uses = survey.owners[id(value[0])]
    noted = sys.getrefcount(root) - uses
    alone = np.empty(1)
    return noted, _references(alone)


_NOTED, _ALONE = _calibrate()


def _of_objects(array: np.ndarray[Any, Any]) -> int:
    """Estimate the bytes of an array of objects; Dask counts only the pointers."""
    # One by one: NumPy 2.4 loses the texts of a StringDType array in slices of ``flat``.
    places = range(0, array.size, max(1, array.size // _SAMPLE))
    elements = array.view(np.ndarray).flat
    sample = [elements[place] for place in places]
    return int(array.nbytes + sum(map(size_of, sample)) / max(1, len(sample)) * array.size)


def charges(value: Any, held: BufferUsage) -> Charges:
    """Return the cost of keeping ``value``, which the caller holds in one variable only.

    Buffers that are in ``held`` are listed again, because each of the results counts its use.
    """
    kind = type(value)
    if kind in _WEIGHTLESS:
        return ()
    if kind is np.ndarray and value.base is None and not value.dtype.hasobject:
        if _references(value) > _ALONE + 1 and id(value) not in held:
            return ()
        return ((id(value), value.nbytes),)
    survey = _Survey()
    if not survey.add(value):
        nbytes = _of_objects(value) if isinstance(value, np.ndarray) else size_of(value)
        return ((id(value), nbytes),)
    return tuple(
        (owner, entry[1])
        for owner, entry in survey.owners.items()
        if owner in held or not survey.shared(owner)
    )
