"""The Index: lazy row labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import pandas as pd

from marsdask.core.collection import register_collection
from marsdask.core.node import Node
from marsdask.core.public import public_methods
from marsdask.core.session import Session

from . import batches, protocols
from .collection import Rows
from .create import in_memory


@public_methods
class Index(Rows):
    """Lazy row labels."""

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        session: Session | None = None,
        *,
        dtype: Any = None,
        name: Any = None,
        chunk_size: Any = None,
        num_partitions: int | None = None,
    ) -> None:
        if not isinstance(data, Node):
            labels = pd.Index(data, dtype=dtype, name=name, copy=True)
            data = in_memory(labels, chunk_size, num_partitions, copy=True).node
        super().__init__(data, session)

    @property
    def dtype(self) -> Any:
        """The type of the labels."""
        return self._meta.dtype

    @property
    def name(self) -> Hashable:
        """The name of the labels."""
        name: Hashable = self._node.meta.name
        return name

    @property
    def ndim(self) -> int:
        """The number of axes, 1."""
        return 1

    __contains__ = batches.holds_label
    tolist: Final = protocols.tolist
    to_list: Final = protocols.tolist


register_collection(pd.Index, Index)
