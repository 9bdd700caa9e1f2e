"""The functions of ``numpy.char``: those of ``tensor.strings``, and some that only it has.

Comparisons ignore whitespace at the end of texts. There are no character arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from marsdask.core.node import Node

from .. import strings
from ..manipulation.join import stack
from ..strings import (
    add,
    capitalize,
    center,
    count,
    decode,
    encode,
    endswith,
    expandtabs,
    find,
    index,
    isalnum,
    isalpha,
    isdecimal,
    isdigit,
    islower,
    isnumeric,
    isspace,
    istitle,
    isupper,
    ljust,
    lower,
    lstrip,
    mod,
    replace,
    rfind,
    rindex,
    rjust,
    rstrip,
    startswith,
    str_len,
    strip,
    swapcase,
    textwise,
    title,
    translate,
    upper,
    zfill,
)
from ..typing import TensorFunction, public

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "add",
    "array",
    "asarray",
    "capitalize",
    "center",
    "chararray",
    "compare_chararrays",
    "count",
    "decode",
    "encode",
    "endswith",
    "equal",
    "expandtabs",
    "find",
    "greater",
    "greater_equal",
    "index",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "less",
    "less_equal",
    "ljust",
    "lower",
    "lstrip",
    "mod",
    "multiply",
    "not_equal",
    "partition",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "str_len",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
]


@dataclass(frozen=True)
class CharFunction:
    """A function of ``numpy.char`` that has another name in the module it says it is from."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        func: Callable[..., Any] = getattr(np.char, self.name)
        return func

    def __call__(self, *args: Any) -> Any:
        return self.__wrapped__(*args)


def _charwise(name: str, *, widest: bool = False) -> TensorFunction:
    return textwise(CharFunction(name), "char", widest=widest)


equal: Final = _charwise("equal")
greater: Final = _charwise("greater")
greater_equal: Final = _charwise("greater_equal")
join: Final = _charwise("join", widest=True)
less: Final = _charwise("less")
less_equal: Final = _charwise("less_equal")
not_equal: Final = _charwise("not_equal")
rsplit: Final = _charwise("rsplit")
split: Final = _charwise("split")
splitlines: Final = _charwise("splitlines")


@public
def multiply(a: Any, i: Any) -> Node:
    """Repeat texts. See numpy.char.multiply."""
    try:
        return strings.multiply.node(a, i)
    except TypeError as error:
        raise ValueError("Can only multiply by integers") from error


@public
def partition(a: Any, sep: Any) -> Tensor:
    """Split texts at the first separator, along a new axis. See numpy.char.partition."""
    return stack(strings.partition(a, sep), axis=-1)


@public
def rpartition(a: Any, sep: Any) -> Tensor:
    """Split texts at the last separator, along a new axis. See numpy.char.rpartition."""
    return stack(strings.rpartition(a, sep), axis=-1)


def array(
    obj: Any, itemsize: Any = None, copy: Any = True, unicode: Any = None, order: Any = None
) -> NoReturn:
    """Refuse to make a character array. See numpy.char.array.

    Raises
    ------
    NotImplementedError
        Always: use ``tensor.array(obj, dtype=str)`` and the functions of ``tensor.strings``.
    """
    raise NotImplementedError(
        "character arrays are not supported; use tensor.array(obj, dtype=str) and tensor.strings"
    )


def asarray(obj: Any, itemsize: Any = None, unicode: Any = None, order: Any = None) -> NoReturn:
    """Refuse to make a character array. See numpy.char.asarray.

    Raises
    ------
    NotImplementedError
        Always: use ``tensor.asarray(obj, dtype=str)`` and the functions of ``tensor.strings``.
    """
    raise NotImplementedError(
        "character arrays are not supported; use tensor.asarray(obj, dtype=str) and tensor.strings"
    )


def chararray(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse to make a character array. See numpy.char.chararray.

    Raises
    ------
    NotImplementedError
        Always: use ``tensor.zeros(shape, "U8")`` and the functions of ``tensor.strings``.
    """
    raise NotImplementedError(
        'character arrays are not supported; use tensor.zeros(shape, "U8") and tensor.strings'
    )


def compare_chararrays(a1: Any, a2: Any, cmp: str, rstrip: bool) -> NoReturn:
    """Refuse to compare by the name of an operator. See numpy.char.compare_chararrays.

    Raises
    ------
    NotImplementedError
        Always: use ``equal`` and the other comparisons, here or of ``tensor.strings``.
    """
    raise NotImplementedError(
        "compare_chararrays() is not supported; use char.equal() and others, which ignore "
        "whitespace at the end, or strings.equal() and others"
    )
