"""Where Mars keeps what makes indices."""

from . import index_tricks
from .index_tricks import nd_grid

__all__ = ["index_tricks", "nd_grid"]
