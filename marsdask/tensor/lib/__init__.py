"""Where NumPy and Mars keep what makes indices and windows."""

from . import index_tricks, stride_tricks
from .index_tricks import nd_grid

__all__ = ["index_tricks", "nd_grid", "stride_tricks"]
