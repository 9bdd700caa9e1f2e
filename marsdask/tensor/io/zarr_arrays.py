"""Write tensors to zarr arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.files.places import of_the_call
from marsdask.core.sizes import numbers

from ..chunkwise.rechunk import rechunk
from ..creation.from_data import inside
from ..operands import as_node, with_complete_type
from .replacements import ZarrReplacement
from .store import apart, check_shape, region_of, storage_cut, write
from .targets import Target

if TYPE_CHECKING:
    from ..tensor import Tensor


def to_zarr(
    arr: Any,
    url: Any,
    component: Any = None,
    dataset: Any = None,
    *,
    group: Any = None,
    storage_options: Any = None,
    region: Any = None,
    overwrite: bool = False,
    compute: bool = True,
    return_stored: bool = False,
    mode: str = "a",
    **zarr_options: Any,
) -> Tensor:
    """Write a tensor to a zarr array, chunk by chunk, side by side.

    Supports Dask's ``to_zarr(tensor, url, component)``, and Mars's ``to_zarr(path, tensor, group,
    dataset)``. With ``region``, ``url`` is a zarr array, part of which is filled. Other options are
    passed to ``zarr.create_array``. Return the executed tensor, or the tensor over the array with
    ``return_stored``.

    Parameters
    ----------
    arr : Tensor or str
        The tensor; the path if the arguments are Mars's.
    url : str, zarr.Array or Tensor
        Where to make the array, or the array to fill.
    component : str, optional
        The path of the array inside; the group if the arguments are Mars's.
    dataset : str, optional
        The name of the array.
    group : str, optional
        The group in which the array is made.
    storage_options : dict, optional
        Options of the file system.
    region : tuple of slice, optional
        Which part of an existing array to fill.
    overwrite : bool
        Whether to replace an array that is there.
    compute : bool
        Whether to write now.
    return_stored : bool
        Whether to return a tensor over the array.
    mode : str
        The mode in which zarr opens the path.
    **zarr_options
        Options of ``zarr.create_array``.

    Returns
    -------
    Tensor
        What was executed, or with ``return_stored`` the tensor over the array.

    Raises
    ------
    ValueError
        If there is a region but no array to fill, or the mode only reads.

    Examples
    --------
    >>> written = mt.to_zarr(mt.ones(3), "data.zarr")  # doctest: +SKIP
    """
    # zarr is optional.
    import zarr

    if not isinstance(arr, Collection | np.ndarray):
        arr, url = url, arr
    arr = with_complete_type(wrap(as_node(arr))).compute_chunk_sizes()
    place = region_of(region, arr.ndim)
    model: Any
    target: Any
    if isinstance(url, zarr.Array):
        check_shape(url, arr, place)
        model, target = url, Target(of_the_call(url))
    else:
        _check_new(region, mode)
        name = inside(component or group, dataset) or zarr_options.pop("name", None)
        chunks = tuple(max(1, *map(max, [numbers(sizes)])) for sizes in arr.node.chunks)
        settings = {"shape": arr.shape, "dtype": arr.dtype, "chunks": chunks, **zarr_options}
        where, overwrite = _zarr_store(url, storage_options), overwrite or mode == "w"
        if overwrite and _local_root(where) is None:
            # The store cannot rename: what is there is not deleted before the values are known.
            arr = _apart_from_store(arr, where, name, compute=compute)
        model, target = _made(where, name, settings, overwrite=overwrite)
    storage = getattr(model, "shards", None) or model.chunks
    arr = rechunk(arr, storage_cut(arr.node.chunks, storage, place)) if arr.ndim else arr
    result: Tensor
    (result,) = write([arr], [target], [place], compute=compute, returns=return_stored)
    return result


def _check_new(region: Any, mode: str) -> None:
    """Raise Dask's errors where an array is to be made."""
    if region is not None:
        raise ValueError("Cannot use `region` keyword when url is not a `zarr.Array`.")
    if mode == "r":
        raise ValueError("Cannot use mode `r` (read-only) when writing to zarr.")


def _made(
    store: Any, name: str | None, settings: Mapping[str, Any], *, overwrite: bool
) -> tuple[Any, Any]:
    """Return an array of the wanted chunks, and the target to write to."""
    # zarr is optional.
    import zarr

    root = _local_root(store)
    if root is None or (not overwrite and _has_zarr(root, name)):
        array = zarr.create_array(store, name=name, overwrite=overwrite, **settings)
        return array, Target(array)
    path = os.path.realpath(os.path.join(root, name or ""))
    model = zarr.create_array(zarr.storage.MemoryStore(), **settings)
    return model, ZarrReplacement(path, root, name, settings)


def _local_root(store: Any) -> str | None:
    """Return the local folder of a store, ``None`` for others."""
    # zarr is optional.
    import zarr.storage

    if isinstance(store, zarr.storage.LocalStore):
        return str(store.root)
    if not isinstance(store, str) or store.endswith(".zip"):
        return None
    path = store.removeprefix("file://")
    return None if "://" in path or os.path.isfile(path) else path


def _has_zarr(root: str, name: str | None) -> bool:
    """Tell whether a folder has an array or a group of this name."""
    folder = os.path.join(root, name or "")
    files = ("zarr.json", ".zarray", ".zgroup")
    return any(os.path.exists(os.path.join(folder, file)) for file in files)


def _apart_from_store(arr: Any, store: Any, name: str | None, *, compute: bool) -> Any:
    """Return a tensor whose values are computed, if an array of a store is to be replaced."""
    # zarr is optional.
    import zarr

    try:
        there = zarr.open_array(store, path=name or "", mode="r")
    except (FileNotFoundError, zarr.errors.BaseZarrError):
        return arr
    if compute:
        return wrap(arr.node).execute()
    return apart([arr], [Target(there)], compute=False)[0]


def _zarr_store(url: Any, storage_options: Any) -> Any:
    if storage_options is None:
        name = os.fspath(url) if isinstance(url, os.PathLike) else url
        is_local = isinstance(name, str) and "://" not in name
        return os.path.abspath(name) if is_local else name  # tasks may run in another folder
    # zarr is optional.
    from zarr.storage import FsspecStore

    return FsspecStore.from_url(os.fspath(url), storage_options=dict(storage_options))


tozarr = to_zarr
