"""Conversion of tensors between sparse and dense blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marsdask.core.collection import Collection
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Node, SameChunks

from ..operands import ToDense, as_node, sparse_empty
from ..typing import itself, public
from .blocks import few, is_sparse


@dataclass(frozen=True, eq=False)
class ToSparse(SameChunks):
    """The same values in blocks that store only nonzero (or not ``missing``) elements."""

    input_chunks = "pass"

    missing: Any = None

    @property
    def meta(self) -> Any:
        return sparse_empty(self.a.meta.dtype, len(self.a.chunks))

    def tile(self, a: Grid) -> Grid:
        kwargs = {"missing": self.missing}
        return map_blocks(few, a, chunks=a.chunks, meta=self.meta, kwargs=kwargs)


@public
def tosparse(a: Any, missing: Any = None) -> Node:
    """Return the tensor in SciPy's compressed rows, without the zeros (or ``missing`` elements).

    Parameters
    ----------
    a : array_like
        A dense tensor.
    missing : scalar, optional
        The value that is not stored; by default zero.

    Returns
    -------
    Tensor
        A sparse tensor.

    Raises
    ------
    NotImplementedError
        If the tensor has other than one axis or two.

    Examples
    --------
    >>> mt.issparse(mt.ones((2, 2)).tosparse())
    True
    """
    node = as_node(a, sparse=True)
    if is_sparse(node.meta):
        return itself(a) if isinstance(a, Collection) else node
    if len(node.chunks) not in (1, 2):
        raise NotImplementedError(
            f"sparse tensors of {len(node.chunks)} dimensions are not supported; "
            "use reshape() to 1 or 2"
        )
    return ToSparse(node, missing)


@public
def todense(a: Any, fill_value: Any = None) -> Node:
    """Return the tensor in NumPy's blocks; other elements than the stored are ``fill_value``.

    Parameters
    ----------
    a : array_like
        A sparse tensor.
    fill_value : scalar, optional
        What becomes of values that are not stored; by default zero.

    Returns
    -------
    Tensor
        A dense tensor.

    Examples
    --------
    >>> mt.eye(2, sparse=True).todense().compute()
    array([[1., 0.],
           [0., 1.]])
    """
    node = as_node(a, sparse=True)
    if not is_sparse(node.meta):
        return itself(a) if isinstance(a, Collection) else node
    return ToDense(node, fill_value)


def issparse(a: Any) -> bool:
    """Tell whether a tensor's blocks are sparse.

    Parameters
    ----------
    a : object
        A tensor, or anything else.

    Returns
    -------
    bool
        True if its blocks are sparse.

    Examples
    --------
    >>> mt.issparse(mt.eye(3))
    False
    """
    return is_sparse(as_node(a, sparse=True).meta)


@public
def fromdense(a: Any, missing: Any = None) -> Node:
    """Return a sparse tensor of a dense one. See :func:`tosparse`.

    Parameters
    ----------
    a : array_like
        A dense tensor.
    missing : scalar, optional
        The value that is not stored; by default zero.

    Returns
    -------
    Tensor
        A sparse tensor.

    Examples
    --------
    >>> mt.issparse(mt.fromdense(mt.eye(3)))
    True
    """
    return tosparse.node(a, missing)


@public
def fromsparse(a: Any, order: str = "C", fill_value: Any = None) -> Node:
    """Return a dense tensor of a sparse one. See :func:`todense`.

    Parameters
    ----------
    a : array_like
        A sparse tensor.
    order : {"C", "F"}
        Mars's hint.
    fill_value : scalar, optional
        What becomes of values that are not stored; by default zero.

    Returns
    -------
    Tensor
        A dense tensor.

    Examples
    --------
    >>> mt.issparse(mt.fromsparse(mt.eye(3, sparse=True)))
    False
    """
    del order
    return todense.node(a, fill_value)
