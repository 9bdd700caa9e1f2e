"""NumPy's vocabulary over chunks."""

from marsdask.core.collection import ExecutableTuple

from .create import full, ones
from .elementwise import add, multiply, sin
from .rechunk import rechunk
from .reduce import sum
from .tensor import Tensor

__all__ = ["ExecutableTuple", "Tensor", "add", "full", "multiply", "ones", "rechunk", "sin", "sum"]
