"""What ``mars.core`` gives: the classes of lazy objects."""

from __future__ import annotations

from typing import Final

from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.dataframe import DataFrame, Index, Series
from marsdask.remote import Object
from marsdask.tensor import Tensor

__all__ = [
    "CATEGORICAL_TYPE",
    "DATAFRAME_OR_SERIES_TYPE",
    "DATAFRAME_TYPE",
    "ENTITY_TYPE",
    "INDEX_TYPE",
    "OBJECT_TYPE",
    "SERIES_TYPE",
    "TENSOR_TYPE",
    "TILEABLE_TYPE",
    "DataFrame",
    "ExecutableTuple",
    "Index",
    "Object",
    "Series",
    "Tensor",
]

#: Tuples of classes, for ``isinstance``.
ENTITY_TYPE: Final = (Collection,)
TILEABLE_TYPE: Final = ENTITY_TYPE
TENSOR_TYPE: Final = (Tensor,)
DATAFRAME_TYPE: Final = (DataFrame,)
SERIES_TYPE: Final = (Series,)
INDEX_TYPE: Final = (Index,)
OBJECT_TYPE: Final = (Object,)
DATAFRAME_OR_SERIES_TYPE: Final = (DataFrame, Series)
#: Values of categories are a series, or an index.
CATEGORICAL_TYPE: Final[tuple[type, ...]] = ()
