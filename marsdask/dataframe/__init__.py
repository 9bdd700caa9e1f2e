"""pandas's vocabulary over runs of rows."""

from marsdask.core.collection import ExecutableTuple

from .concatenate import concat
from .create import from_pandas
from .frame import DataFrame
from .index import Index
from .merge import merge
from .series import Series

__all__ = ["DataFrame", "ExecutableTuple", "Index", "Series", "concat", "from_pandas", "merge"]
