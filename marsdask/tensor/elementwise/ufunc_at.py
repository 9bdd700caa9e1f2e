"""Change elements in place by a ufunc; repeated elements are changed repeatedly: ``ufunc.at``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, rebind

from ..indexing.getitem import getitem, parse
from ..indexing.setitem import assign_points, setitem
from ..operands import as_node, to_change
from ..typing import public
from .ufuncs import elementwise


@dataclass(frozen=True)
class UfuncAt:
    """Assigns a ufunc's result of an old value and a new one, point after point."""

    ufunc: np.ufunc
    state: tuple[tuple[str, Any], ...]
    """How floating-point errors are treated where it was called."""

    def __call__(self, part: Any, where: Any, share: Any) -> None:
        with np.errstate(**dict(self.state)):
            self.ufunc.at(part, where, *(share,) * (self.ufunc.nin - 1))


@public
def at(ufunc: np.ufunc, a: Any, indices: Any, *b: Any) -> None:
    """Change elements in place, in the order of the indices. See numpy.ufunc.at.

    Differs from NumPy: other tensors made from this one, such as views, do not change.
    """
    if not isinstance(a, Collection):
        operands = (x.compute() if isinstance(x, Collection) else x for x in (indices, *b))
        ufunc.at(a, *operands)
        return
    node = as_node(to_change(a, "operand array with iterator write flag set"))
    # Copied, because values in memory may change before their use.
    values = [as_node(x.copy() if isinstance(x, np.ndarray) else x) for x in b]
    nothing = np.empty(0, np.intp)
    ufunc.at(np.empty(0, node.meta.dtype), nothing, *(np.empty(0, x.meta.dtype) for x in values))
    items = parse(indices, node.shape)
    if all(item.kind != "points" for item in items):  # no element is repeated
        setitem(a, indices, elementwise(ufunc)(getitem(a, indices), *values))
        return
    value = values[0] if values else as_node(np.zeros((), node.meta.dtype))
    action = UfuncAt(ufunc, tuple(np.geterr().items()))
    rebind(a, assign_points(node, items, value, action))
