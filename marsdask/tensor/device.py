"""Tensors whose blocks are on a GPU, with CuPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Node, SameChunks, SameMeta

from .chunks import check_device
from .kernels.duck_arrays import in_memory
from .operands import as_node
from .sparse.blocks import dense
from .typing import public


@dataclass(frozen=True, eq=False)
class ToDevice(SameMeta, SameChunks):
    """The same values in blocks converted by ``func``."""

    input_chunks = "pass"

    func: Callable[[Any], Any]

    @property
    def label(self) -> str:
        return self.func.__name__

    def tile(self, a: Grid) -> Grid:
        return map_blocks(self.func, a, chunks=a.chunks, meta=self.meta)


def on_gpu(block: Any) -> Any:
    """Copy a block to the GPU of this process."""
    import cupy

    return cupy.asarray(dense(block))


@public
def to_gpu(a: Any) -> Node:
    """Return the tensor with its blocks on the GPU; ``fetch`` gives CuPy's arrays.

    As in CuPy, arrays in memory are no operands of those on a GPU: convert them, too. What CuPy
    does not implement raises at ``execute``.

    Returns
    -------
    Tensor
        The same values in CuPy's blocks.

    Raises
    ------
    ImportError
        Without CuPy.
    RuntimeError
        Without a GPU.
    ValueError
        For values that a GPU does not hold: objects, texts, times.

    Examples
    --------
    >>> x = mt.ones(2).to_gpu()  # doctest: +SKIP
    """
    require_gpu()
    node = as_node(a)
    if node.meta.dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {node.meta.dtype}: a GPU holds numbers")
    return ToDevice(node, on_gpu)


@public
def to_cpu(a: Any) -> Node:
    """Return the tensor with its blocks in memory.

    Returns
    -------
    Tensor
        The same values in NumPy's blocks.

    Examples
    --------
    >>> mt.ones(2).to_cpu().compute()
    array([1., 1.])
    """
    return ToDevice(as_node(a), in_memory)


def wants_gpu(gpu: Any = None, device: Any = None) -> bool:
    """Tell whether ``gpu=`` and ``device=`` request the GPU."""
    if device in ("gpu", "cuda"):
        return True
    check_device(device)
    return bool(gpu)


def placed_on(node: Node, gpu: Any = None, device: Any = None) -> Node:
    """Return the node on the device of ``gpu=`` and ``device=``."""
    return to_gpu.node(node) if wants_gpu(gpu, device) else node


def require_gpu() -> None:
    """Raise here rather than in a task if CuPy or a GPU is missing."""
    try:
        import cupy  # optional
    except ImportError:
        raise ImportError(
            "tensors on a GPU need CuPy: pip install 'marsdask[gpu]', or leave out gpu="
        ) from None
    if not cupy.cuda.runtime.getDeviceCount():
        raise RuntimeError("CuPy finds no GPU: leave out gpu=")
