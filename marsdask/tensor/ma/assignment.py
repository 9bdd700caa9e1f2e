"""Assignment to masked tensors: values and mask change at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from marsdask.core.collection import collect, composing, rebind

from ..indexing import inplace, setitem
from ..manipulation import reshape, views
from ..operands import to_change
from ..typing import public
from .masked_tensor import (
    MaskedTensor,
    has_mask,
    joined_parts,
    mask_of,
    parts_of,
    shrinks,
    values_of,
    with_mask,
)


class MaskedFlat(views.Flat):
    """The elements of a masked tensor in C order; assignments here change the tensor."""

    @property
    def _row(self) -> Any:
        data, mask = (collect(reshape.ravel.node(part)) for part in parts_of(self.base))
        return with_mask(data, mask, self.base.fill_value)

    def __len__(self) -> int:
        return len(parts_of(self.base)[0].flat)

    def __getitem__(self, key: Any) -> Any:
        return self._row[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        _write(self.base, _set_flat, value, without_masks(key))


def _set_flat(part: Any, key: Any, value: Any) -> None:
    part.flat[key] = value


def set_flat(a: MaskedTensor, value: Any) -> None:
    """Assign values, repeated as often as needed, to the elements in C order."""
    MaskedFlat(a)[:] = value


@public
def set_item(a: MaskedTensor, key: Any, value: Any) -> None:
    """Assign to a part, values and masks. See NumPy's indexing of masked arrays."""
    if has_mask(key) and not has_mask(value) and value is not np.ma.masked:
        setitem.setitem(parts_of(a)[0], without_masks(key), value)  # as NumPy, no mask changes
    else:
        _write(a, setitem.setitem, value, without_masks(key))


@public
def fill_values(a: MaskedTensor, value: Any) -> None:
    """Assign one value to all elements; as in NumPy, those that are masked stay masked.

    Parameters
    ----------
    value : scalar
        The value.

    Examples
    --------
    >>> x = mt.ma.masked_equal([1, 2, 3], 2)
    >>> x.fill(7)
    >>> x.sum().compute()
    np.int64(14)
    """
    inplace.fill(parts_of(a)[0], value)


@public
def put(a: MaskedTensor, indices: Any, values: Any, mode: str = "raise") -> None:
    """Assign to positions of the flat array, values and masks. See numpy.ma.put."""
    _write(a, inplace.put, values, indices, mode=mode)


def without_masks(key: Any) -> Any:
    """Return a key in which values take the place of masked arrays, as in NumPy."""
    if isinstance(key, tuple):
        return tuple(map(without_masks, key))
    return values_of(key) if has_mask(key) else key


def _write(a: MaskedTensor, write: Callable[..., None], value: Any, *key: Any, **how: Any) -> None:
    """Change values and mask: both at once, or none of them if one of both cannot be changed."""
    to_change(a)
    hides = value is np.ma.masked
    flags = True if hides else mask_of(value) if has_mask(value) else False
    values = values_of(value) if has_mask(value) and not hides else value
    data, mask = (collect(part.node) for part in parts_of(a))
    unseen = composing.set([])  # nobody else has these two
    try:
        if not hides:
            write(data, *key, values, **how)
        write(mask, *key, flags, **how)
    finally:
        composing.reset(unseen)
    omits = flags is False and shrinks(a)
    rebind(a, joined_parts(data.node, mask.node, a.fill_value, omits))
