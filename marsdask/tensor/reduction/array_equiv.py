"""Whether two tensors are equal after broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.node import Node
from marsdask.core.sizes import numbers

from ..creation.from_data import array
from ..operands import as_node
from ..typing import public
from ..unknown_lengths import ResultSpec, waits_for_lengths
from .reductions import all as all_true


@public
@waits_for_lengths(lambda **_: ResultSpec(np.dtype(bool), ()))
def array_equiv(a1: Any, a2: Any) -> Node:
    """Tell whether two tensors are equal after broadcasting, lazily. See numpy.array_equiv."""
    first, second = wrap(as_node(a1)), wrap(as_node(a2))
    shapes = numbers(first.node.shape), numbers(second.node.shape)
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return array.node(False)
    return all_true.node(first == second)
