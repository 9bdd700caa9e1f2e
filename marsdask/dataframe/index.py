"""The Index: lazy row labels."""

from __future__ import annotations

from typing import Any

import pandas as pd

from marsdask.core.collection import register_collection
from marsdask.core.node import Node
from marsdask.core.session import Session

from .collection import Rows
from .create import from_pandas


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
            labels = pd.Index(data, dtype=dtype, name=name)
            data = from_pandas(labels, chunk_size, num_partitions).node
        super().__init__(data, session)

    @property
    def dtype(self) -> Any:
        """The type of the labels."""
        return self._node.meta.dtype

    @property
    def name(self) -> Any:
        """The name of the labels."""
        return self._node.meta.name


register_collection(pd.Index, Index)
