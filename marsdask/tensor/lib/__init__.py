"""Makers of indices and windows, in NumPy's and Mars's modules."""

from . import index_tricks, stride_tricks
from .index_tricks import nd_grid

__all__ = ["index_tricks", "nd_grid", "stride_tricks"]
