"""Write results to one file in order, with some rows in memory at a time."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Final

import numpy as np

from marsdask.core.collection import ExecutableTuple, wrap
from marsdask.core.files.replacement import replacing

from ..chunkwise.rechunk import rechunk
from ..creation.from_text import from_text
from ..operands import as_node

loadtxt: Final = from_text(np.loadtxt)
genfromtxt: Final = from_text(np.genfromtxt)
fromregex: Final = from_text(np.fromregex)


def portions(tensor: Any) -> Iterator[Any]:
    """Yield the value in whole rows, as many as in a chunk."""
    if not tensor.ndim or tensor.dtype.hasobject:
        yield np.asarray(tensor.compute())
        return
    bands = rechunk(tensor, ("auto", *(-1 for _ in tensor.shape[1:])))
    for row in range(bands.numblocks[0]):
        yield bands.blocks[row].compute()


def savetxt(
    fname: Any,
    X: Any,
    fmt: Any = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    """Write a tensor as text. See numpy.savetxt."""
    tensor = wrap(as_node(X)).execute()
    if tensor.ndim not in (1, 2):
        raise ValueError(f"Expected 1D or 2D array, got {tensor.ndim}D array instead")
    if not hasattr(fname, "write"):
        settings = (fmt, delimiter, newline, header, footer, comments)
        with replacing(os.fspath(fname)) as path:
            open(path, "wb").close()  # the next line opens the existing file, compressed or not
            with np.lib.npyio.DataSource().open(path, "wt", encoding=encoding or "latin1") as file:
                return savetxt(file, tensor, *settings)
    form = {"fmt": fmt, "delimiter": delimiter, "newline": newline, "comments": comments}
    blocks = portions(tensor)
    block = next(blocks)
    for later in blocks:
        np.savetxt(fname, block, header=header, **form)
        block, header = later, ""
    np.savetxt(fname, block, header=header, footer=footer, **form)
    return None


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write tensors into one ``.npz`` file. See numpy.savez."""
    _archive(file, args, kwds, zipfile.ZIP_STORED, allow_pickle=allow_pickle)


def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write tensors into one compressed ``.npz`` file. See numpy.savez_compressed."""
    _archive(file, args, kwds, zipfile.ZIP_DEFLATED, allow_pickle=allow_pickle)


def _archive(file: Any, args: Any, named: Any, compression: int, *, allow_pickle: bool) -> None:
    arrays = dict(named)
    for position, item in enumerate(args):
        if f"arr_{position}" in arrays:
            raise ValueError(f"Cannot use un-named variables and keyword arr_{position}")
        arrays[f"arr_{position}"] = item
    tensors = ExecutableTuple(wrap(as_node(item)) for item in arrays.values()).execute()
    context: Any = nullcontext(file)
    if not hasattr(file, "write"):
        path = os.fspath(file)
        context = replacing(path if path.endswith(".npz") else path + ".npz")
    with context as target, zipfile.ZipFile(target, "w", compression) as archive:
        for name, tensor in zip(arrays, tensors, strict=True):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                _write(member, tensor, allow_pickle=allow_pickle)


def _write(member: Any, tensor: Any, *, allow_pickle: bool) -> None:
    """Write the content of a ``.npy`` file; objects are pickled, all at once."""
    if tensor.dtype.hasobject:
        np.lib.format.write_array(member, tensor.compute(), allow_pickle=allow_pickle)
        return
    description = np.lib.format.dtype_to_descr(tensor.dtype)
    header = {"descr": description, "fortran_order": False, "shape": tensor.shape}
    np.lib.format.write_array_header_1_0(member, header)
    for block in portions(tensor):
        member.write(np.ascontiguousarray(block).ravel().view(np.uint8).data)
