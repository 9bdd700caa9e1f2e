"""How the array of a tensor would lie in memory, as NumPy tells it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from marsdask.core.collection import Collection

from .memory import ElementsView, base_of, owns
from .selections import READ_ONLY
from .views import array_of

#: The error of a write to what the user has said to be read-only.
FROZEN: Final = ValueError(*READ_ONLY.args)

#: NumPy's short names of flags.
_SHORT: Final = {
    "C": "c_contiguous",
    "CONTIGUOUS": "c_contiguous",
    "F": "f_contiguous",
    "FORTRAN": "f_contiguous",
    "O": "owndata",
    "W": "writeable",
    "A": "aligned",
    "X": "writebackifcopy",
    "CA": "carray",
    "FA": "farray",
    "B": "behaved",
}

_SHOWN = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")


class TensorOrder(StrEnum):
    """The letter of a memory order."""

    C_ORDER = "C"
    F_ORDER = "F"

    __repr__ = str.__repr__


class Flags:
    """The flags of a tensor's array. See numpy.ndarray.flags."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    @property
    def _array(self) -> Any:
        return array_of(self._tensor).flags

    @property
    def owndata(self) -> bool:
        """Whether the elements are its own."""
        return base_of(self._tensor) is None

    @property
    def writeable(self) -> bool:
        """Whether it can be written to."""
        return not _is_frozen(self._tensor)

    @writeable.setter
    def writeable(self, value: bool) -> None:
        set_writeable(self._tensor, bool(value))

    @property
    def aligned(self) -> bool:
        """Whether elements lie where the hardware expects them."""
        return True

    @property
    def behaved(self) -> bool:
        """Whether it is aligned and writeable."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Whether it is behaved, and in C order."""
        return self.behaved and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Whether it is not in C order, which is all that NumPy's flag of this name says."""
        return not self.c_contiguous

    @property
    def writebackifcopy(self) -> bool:
        """Whether it is a copy that is written back: never."""
        return False

    @property
    def c_contiguous(self) -> bool:
        """Whether elements lie in C order without gaps."""
        view = self._tensor._view
        is_ordered = isinstance(view, ElementsView) and view.in_order
        return is_ordered or bool(self._array.c_contiguous)

    @property
    def f_contiguous(self) -> bool:
        """Whether elements lie in Fortran order without gaps."""
        return bool(self._array.f_contiguous)

    contiguous = c_contiguous

    @property
    def fnc(self) -> bool:
        """Whether they lie in Fortran order and not in C order."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether they lie in one of both orders."""
        return self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        name = _SHORT.get(name, name.lower())
        if name.startswith("_") or not hasattr(self, name):
            raise KeyError("Unknown flag")
        return bool(getattr(self, name))

    def __setitem__(self, name: str, value: bool) -> None:
        if name not in ("W", "WRITEABLE"):
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "".join(f"  {name.upper()} : {getattr(self, name)}\n" for name in _SHOWN)


def set_writeable(tensor: Collection, value: bool) -> None:
    """Let a tensor refuse writes, or take them again."""
    view = tensor._view
    if not isinstance(view, ElementsView):
        if not value:
            owns(tensor, FROZEN)
        return
    base = base_of(tensor)
    if value and (view.refusal not in (None, FROZEN) or (base is not None and _is_frozen(base))):
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    view.refusal = None if value else view.refusal or FROZEN


def setflags(
    tensor: Any, write: bool | None = None, align: bool | None = None, uic: bool | None = None
) -> None:
    """Let a tensor refuse writes, or take them again. See numpy.ndarray.setflags."""
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    del align
    if write is not None:
        set_writeable(tensor, bool(write))


def isfortran(a: Any) -> bool:
    """Tell whether elements lie in Fortran order and not in C order. See numpy.isfortran."""
    return bool(a.flags.fnc)


def _is_frozen(tensor: Collection) -> bool:
    return isinstance(tensor._view, ElementsView) and tensor._view.refusal is not None
