"""Tensors from Python objects: a scalar, an iterable, bytes, text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.node import Node

from ..sharing.selections import READ_ONLY
from ..sharing.views import frozen
from ..typing import TensorFunction, public
from .from_data import array


@public
def scalar(data: Any, dtype: Any = None, **settings: Any) -> Node:
    """Return a tensor without axes. As in Mars.

    Parameters
    ----------
    data : scalar
        The value.
    dtype : dtype, optional
        Its type.
    **settings
        Further arguments of :func:`tensor`.

    Returns
    -------
    Tensor
        A tensor of shape ``()``.

    Raises
    ------
    TypeError
        If ``data`` has axes.

    Examples
    --------
    >>> mt.scalar(3).shape
    ()
    """
    if not isinstance(data, Collection) and np.ndim(data):
        raise TypeError(f"scalar() takes a scalar, not an array of shape {np.shape(data)}")
    return array.node(data, dtype=dtype, **settings)


def from_text(func: Callable[..., Any]) -> TensorFunction:
    """Return a function that makes a tensor of the result of one of NumPy's readers."""

    def read(*args: Any, chunk_size: Any = None, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        if isinstance(result, list | tuple):  # one field of a record each
            return [array.node(field, chunk_size=chunk_size) for field in result]
        node = array.node(result, chunk_size=chunk_size)
        return node if result.flags.writeable else frozen(node, READ_ONLY)

    read.__name__ = read.__qualname__ = func.__name__
    read.__doc__ = f"Return a tensor of what is read at the call. See numpy.{func.__name__}."
    return public(read)


frombuffer: Final = from_text(np.frombuffer)
fromiter: Final = from_text(np.fromiter)
fromstring: Final = from_text(np.fromstring)
