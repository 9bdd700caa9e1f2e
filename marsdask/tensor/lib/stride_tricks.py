"""NumPy's name of the functions that show overlapping windows."""

from ..chunkwise.overlap import sliding_window_view
from ..manipulation.shape import broadcast_arrays, broadcast_to

__all__ = ["broadcast_arrays", "broadcast_to", "sliding_window_view"]
