"""TileDB arrays, and errors for vineyard."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.files.places import Place, file_place
from marsdask.core.node import Node
from marsdask.core.sizes import numbers

from ..chunks import normalize_chunks
from ..chunkwise.rechunk import rechunk
from ..creation.from_data import Dataset
from ..creation.from_shape import chunks_from
from ..operands import as_node, with_complete_type
from ..typing import public
from .store import write

if TYPE_CHECKING:
    from ..tensor import Tensor


def _tiledb() -> Any:
    try:
        # tiledb is optional.
        import tiledb
    except ImportError as error:
        raise ImportError("TileDB arrays need the package tiledb: pip install tiledb") from error
    return tiledb


@dataclass(frozen=True)
class TileDBArray:
    """An attribute of a dense TileDB array, opened each time: a handle cannot be pickled."""

    uri: str
    attribute: str | None
    config: tuple[tuple[str, Any], ...]
    key: Any
    timestamp: Any

    @property
    def places(self) -> tuple[Place, ...]:
        """The array that is read."""
        return (file_place(str(self.uri)),)

    def open(self, mode: str) -> Any:
        """Open the array."""
        tiledb = _tiledb()
        options = {"key": self.key, "timestamp": self.timestamp}
        options = {name: value for name, value in options.items() if value is not None}
        return tiledb.open(self.uri, mode, ctx=tiledb.Ctx(dict(self.config)), **options)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block."""
        with self.open("w") as array:
            array[parts] = np.ascontiguousarray(block)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        shape = tuple(part.stop - part.start for part in parts)
        with self.open("r") as array:
            attribute = self.attribute or array.schema.attr(0).name
            if 0 in shape:
                return np.empty(shape, array.schema.attr(attribute).dtype)
            # The domain need not start at zero.
            lows = [int(array.schema.domain.dim(i).domain[0]) for i in range(len(parts))]
            slices = tuple(
                slice(part.start + low, part.stop + low)
                for part, low in zip(parts, lows, strict=True)
            )
            values = array[slices]
        return values[attribute] if isinstance(values, Mapping) else values


def _config(ctx: Any, storage_options: Any) -> tuple[tuple[str, Any], ...]:
    """Return the settings of a context as picklable data."""
    settings = {} if ctx is None else dict(ctx.config().dict())
    return tuple(sorted({**settings, **(storage_options or {})}.items()))


@public
def from_tiledb(
    uri: str,
    ctx: Any = None,
    key: Any = None,
    timestamp: Any = None,
    gpu: Any = None,
    *,
    attribute: str | None = None,
    chunk_size: Any = None,
    storage_options: Any = None,
    **extra: Any,
) -> Node:
    """Return a tensor over a dense TileDB array, its chunks whole tiles.

    Parameters
    ----------
    uri : str
        Where the array lies.
    ctx : tiledb.Ctx, optional
        The context to read in.
    key : str, optional
        The key of an encrypted array.
    timestamp : int, optional
        The time as of which to read.
    gpu : bool, optional
        Whether blocks lie on the GPU.
    attribute : str, optional
        Which attribute to read, if there are several.
    chunk_size : int, tuple or dict, optional
        The sizes of chunks; by default they are chosen.
    storage_options : dict, optional
        The configuration of the context.
    **extra
        Further arguments of Mars and Dask, such as ``chunks``.

    Returns
    -------
    Tensor
        A tensor that reads the array when it is computed.

    Raises
    ------
    NotImplementedError
        If the array is sparse.
    ValueError
        If it has several attributes and none is named.

    Examples
    --------
    >>> x = mt.from_tiledb("array.tdb")  # doctest: +SKIP
    """
    if isinstance(ctx, str):
        # The second argument of Dask's function is the attribute.
        ctx, attribute = None, ctx
    chunk_size = chunks_from(chunk_size, {**extra, "gpu": gpu})
    reader = TileDBArray(uri, attribute, _config(ctx, storage_options), key, timestamp)
    with reader.open("r") as array:
        schema = array.schema
        if schema.sparse:
            raise NotImplementedError(
                "a sparse TileDB array is not supported; use tensor(scipy.sparse.coo_array()) of "
                "its coordinates"
            )
        if attribute is None and schema.nattr > 1:
            names = [schema.attr(i).name for i in range(schema.nattr)]
            raise ValueError(f"{uri} has several attributes, name one by attribute=: {names}")
        dtype = schema.attr(attribute or 0).dtype
        shape = tuple(map(int, schema.shape))
        tiles = tuple(int(schema.domain.dim(i).tile) for i in range(schema.domain.ndim))
    if chunk_size is None:
        target = normalize_chunks(None, shape, dtype)
        chunk_size = tuple(
            max(tile, max(numbers(sizes)) // tile * tile)
            for sizes, tile in zip(target, tiles, strict=True)
        )
    splits = normalize_chunks(chunk_size, shape, dtype)
    # Arrays may be remote, where changes cannot be detected.
    return Dataset(reader, (uri, uuid.uuid4().hex), dtype, splits)


fromtiledb = from_tiledb


def to_tiledb(
    uri: Any,
    x: Any,
    ctx: Any = None,
    key: Any = None,
    timestamp: Any = None,
    *,
    compute: bool = True,
    return_stored: bool = False,
    storage_options: Any = None,
) -> Tensor:
    """Write a tensor to a new dense TileDB array, its tiles the chunks.

    Supports Mars's ``to_tiledb(uri, tensor)``, and Dask's ``to_tiledb(tensor, uri)``. Return the
    executed tensor, or the tensor over the array with ``return_stored``.

    Parameters
    ----------
    uri : str or Tensor
        Where to make the array; the tensor if the arguments are Dask's.
    x : Tensor or str
        The tensor, or where to make the array.
    ctx : tiledb.Ctx, optional
        The context to write in.
    key : str, optional
        The key of an encrypted array.
    timestamp : int, optional
        The time of the write.
    compute : bool
        Whether to write now.
    return_stored : bool
        Whether to return a tensor over the array.
    storage_options : dict, optional
        The configuration of the context.

    Returns
    -------
    Tensor
        What was executed, or with ``return_stored`` the tensor over the array.

    Raises
    ------
    ValueError
        If the tensor has no axes or no elements.

    Examples
    --------
    >>> written = mt.to_tiledb("array.tdb", mt.ones(3))  # doctest: +SKIP
    """
    tiledb = _tiledb()
    if isinstance(uri, Collection | np.ndarray):
        uri, x = x, uri
    tensor = with_complete_type(wrap(as_node(x))).compute_chunk_sizes()
    if not tensor.ndim or not tensor.size:
        raise ValueError("a TileDB array has at least one axis and one element")
    tiles = tuple(max(numbers(sizes)) for sizes in tensor.node.chunks)
    tensor = rechunk(tensor, tiles)
    writer = TileDBArray(uri, None, _config(ctx, storage_options), key, timestamp)
    context = tiledb.Ctx(dict(writer.config))
    domain = tiledb.Domain(
        *(
            tiledb.Dim(name=f"d{i}", domain=(0, n - 1), tile=tile, dtype=np.int64, ctx=context)
            for i, (n, tile) in enumerate(zip(tensor.shape, tiles, strict=True))
        ),
        ctx=context,
    )
    attribute = tiledb.Attr(name="", dtype=tensor.dtype, ctx=context)
    schema = tiledb.ArraySchema(domain=domain, attrs=[attribute], sparse=False, ctx=context)
    options = {} if key is None else {"key": key}
    tiledb.Array.create(uri, schema, ctx=context, **options)
    result: Tensor
    (result,) = write([tensor], [writer], [()], compute=compute, returns=return_stored)
    return result


totiledb = to_tiledb


def from_vineyard(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise: workers of one machine share memory without vineyard.

    Parameters
    ----------
    *args, **kwargs
        Arguments of Mars's function.

    Returns
    -------
    Tensor
        Never.

    Raises
    ------
    NotImplementedError
        Always.

    Examples
    --------
    >>> mt.from_vineyard("id")
    Traceback (most recent call last):
        ...
    NotImplementedError: vineyard is not supported; use persist() or execute()...
    """
    raise NotImplementedError(
        "vineyard is not supported; use persist() or execute() and hand the tensor on: workers of "
        "one machine share the memory of results by themselves"
    )


fromvineyard = to_vineyard = tovineyard = from_vineyard
