"""The base class of DataFrame, Series and Index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import pandas as pd
from pandas.api.types import is_bool_dtype, is_object_dtype

from marsdask.core.collection import Collection, rebind, wrap
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.rechunk import split_chunks
from marsdask.core.public import public_methods, returns_itself
from marsdask.core.sizes import Chunks, Index, known_or_nan, total
from marsdask.tensor.tensor import method

from . import batches, protocols
from .display import html, representation
from .elementwise.filter import Filter
from .elementwise.operands import labelled_values
from .io import dask_frames
from .nodes.dtypes import cast_chunks, concat_chunks, in_one_type, meta_from_infos
from .ordered.positions import sliced_rows
from .rows import alignment, cut_rows, recut_rows
from .schemas.frozen import thawed
from .tensors import to_tensor
from .whole.fallback import with_fallback

if TYPE_CHECKING:
    from marsdask.core.session import Session
    from marsdask.tensor import Tensor


@public_methods
@with_fallback
class Rows(Collection):
    """A lazy pandas object in chunks of rows."""

    __slots__ = ()

    handles_ufuncs: ClassVar[bool] = True

    @property
    def npartitions(self) -> int:
        """The number of partitions."""
        return len(self._node.chunks[0])

    @property
    def chunks(self) -> tuple[tuple[int | float, ...], ...]:
        """The number of rows of each chunk, nan if it is unknown."""
        return tuple(tuple(map(known_or_nan, sizes)) for sizes in self._node.chunks)

    @property
    def nsplits(self) -> tuple[tuple[int | float, ...], ...]:
        """The number of rows of each chunk, and of columns: Mars's name of ``chunks``."""
        return (*self.chunks, *((count,) for count in self._node.meta.shape[1:]))

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The number of chunks along each axis, as Mars's."""
        return tuple(map(len, self.nsplits))

    def is_sparse(self) -> bool:
        """Tell whether chunks are sparse, as Mars does: they never are.

        Returns
        -------
        bool
            False.

        Examples
        --------
        >>> md.DataFrame({"a": [1]}).is_sparse()
        False
        """
        return False

    issparse = is_sparse

    @returns_itself
    def to_cpu(self) -> Self:
        """Return the object itself, as Mars's does of what is not on a GPU.

        Returns
        -------
        DataFrame, Series or Index
            The object itself.

        Examples
        --------
        >>> frame = md.DataFrame({"a": [1]})
        >>> frame.to_cpu() is frame
        True
        """
        return self

    def __len__(self) -> int:
        rows = total(self._node.chunks[0])
        if isinstance(rows, int):
            return rows
        self.execute()
        return int(self.shape[0])

    @property
    def shape(self) -> tuple[int | float, ...]:
        """The number of rows, nan if it is unknown."""
        return (known_or_nan(total(self._node.chunks[0])),)

    __bool__ = protocols.truth

    #: Higher than pandas's own: operators of its objects then call ours.
    __pandas_priority__ = 5000
    __array__ = protocols.array
    __array_ufunc__ = protocols.array_ufunc
    to_numpy = protocols.to_numpy

    def __iter__(self) -> Iterator[Any]:
        return batches.values(self)

    @classmethod
    def _assemble(cls, blocks: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        del meta
        parts = list(blocks.values())
        rows = thawed(concat_chunks(parts))
        return rows if owned or rows is not parts[0] else rows.copy()

    _settled = staticmethod(meta_from_infos)
    _cast = staticmethod(cast_chunks)
    _part_of = staticmethod(sliced_rows)

    @classmethod
    def _recut(cls, grid: Grid, chunks: Chunks) -> Grid:
        views = split_chunks(grid, chunks, cut_rows)
        return recut_rows(grid, chunks[0]) if views is None else views

    def _become(self, other: Self) -> None:
        """Be another object of the class in place."""
        rebind(self, other.node)

    def __repr__(self) -> str:
        return representation(self) if self._is_executed() else self._describe()

    def _repr_html_(self) -> str:
        return html(self)

    def to_tensor(self) -> Tensor:
        """Return the values as a tensor.

        Returns
        -------
        Tensor
            The values, without labels.

        Examples
        --------
        >>> md.DataFrame({"a": [1, 2]}).to_tensor().sum().compute()
        np.int64(3)
        """
        return to_tensor(self)

    def to_dask(self) -> Any:
        """Return a dask.dataframe over the same chunks.

        Returns
        -------
        dask.dataframe.DataFrame, Series or Index
            Dask's object over the same chunks.

        Examples
        --------
        >>> len(md.DataFrame({"a": [1, 2]}).to_dask())
        2
        """
        return dask_frames.to_dask(self)

    to_bag: Final = method(dask_frames.to_bag)

    def iterbatch(self, batch_size: int = 1000, session: Session | None = None) -> Iterator[Any]:
        """Compute, and iterate over ``batch_size`` rows at a time, as Mars does.

        Parameters
        ----------
        batch_size : int
            The number of rows.
        session : Session, optional
            What computes them.

        Yields
        ------
        pandas.DataFrame, Series or Index
            The rows in order; the last batch may have fewer.

        Examples
        --------
        >>> [len(rows) for rows in md.DataFrame({"a": range(5)}).iterbatch(2)]
        [2, 2, 1]
        """
        return batches.sized_batches(self if session is None else self.execute(session), batch_size)

    def to_delayed(self, optimize_graph: bool = True) -> list[Any]:
        """Return a dask.delayed value for each partition.

        Parameters
        ----------
        optimize_graph : bool
            Dask's argument, which changes nothing.

        Returns
        -------
        list of dask.delayed.Delayed
            The values, in order.
        """
        del optimize_graph
        return dask_frames.to_delayed(self)

    def to_pandas(self) -> Any:
        """Compute and return the pandas object.

        Returns
        -------
        pandas.DataFrame, Series or Index
            The value.

        Examples
        --------
        >>> md.DataFrame({"a": [1, 2]}).to_pandas()
           a
        0  1
        1  2
        """
        return self.compute()

    def _filtered(self, mask: Any) -> Self:
        if isinstance(mask, pd.Series):
            mask = labelled_values(self, mask, "filter")
        meta = mask.node.meta
        if isinstance(meta, pd.Series) and not (is_bool_dtype(meta) or is_object_dtype(meta)):
            raise KeyError(f"a mask must be boolean, got {meta.dtype}; use a list of column labels")
        if alignment(mask.node) != alignment(self._node):
            raise NotImplementedError(
                "a mask with another index is not supported; use one computed from the object that "
                "it filters, or from an object of equal index"
            )
        rows: Self = wrap(Filter(in_one_type(self._node), mask.node))
        return rows
