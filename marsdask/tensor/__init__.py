"""NumPy's vocabulary over chunks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from numpy import (
    __array_namespace_info__,
    bool,
    bool_,
    broadcast_shapes,
    complex64,
    complex128,
    double,
    dtype,
    e,
    euler_gamma,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    inf,
    int8,
    int16,
    int32,
    int64,
    intp,
    isdtype,
    nan,
    newaxis,
    object_,
    pi,
    promote_types,
    uint8,
    uint16,
    uint32,
    uint64,
)

from marsdask.core.collection import ExecutableTuple

from . import dtypes, lib, linalg, ma, random
from .chunkwise import overlap
from .chunkwise.apply_along_axis import apply_along_axis, apply_over_axes, frompyfunc, vectorize
from .chunkwise.blockwise import atop, blockwise, unify_chunks
from .chunkwise.coarsen import coarsen, reshape_blockwise, shuffle
from .chunkwise.gufunc import apply_gufunc, as_gufunc, gufunc
from .chunkwise.map_blocks import map_blocks, map_chunk
from .chunkwise.overlap import map_overlap, sliding_window_view
from .chunkwise.rechunk import rechunk
from .creation import from_data
from .creation.from_array import (
    ascontiguousarray,
    asfortranarray,
    copy,
    from_array,
    require,
)
from .creation.from_data import (
    array,
    asarray,
    from_dlpack,
    from_hdf5,
    from_zarr,
    fromhdf5,
    fromzarr,
)
from .creation.from_shape import (
    arange,
    empty_like,
    eye,
    fromfunction,
    full,
    full_like,
    identity,
    indices,
    meshgrid,
    ones,
    ones_like,
    tri,
    zeros,
    zeros_like,
)
from .creation.from_shape import empty_ as empty
from .creation.from_text import frombuffer, fromiter, fromstring, scalar
from .creation.index_arrays import (
    c_,
    diag_indices,
    diag_indices_from,
    ix_,
    mask_indices,
    mgrid,
    ogrid,
    r_,
    ravel_multi_index,
    tril_indices,
    tril_indices_from,
    triu_indices,
    triu_indices_from,
    unravel_index,
)
from .creation.ranges import geomspace, linspace, logspace
from .creation.window_functions import bartlett, blackman, hamming, hanning, kaiser
from .dask_names import (
    Array,
    PerformanceWarning,
    assert_eq,
    compute,
    from_dataframe,
    from_series,
    optimize,
    register_chunk_type,
)
from .dtypes import *  # noqa: F403 - likewise
from .elementwise import ufuncs
from .elementwise.bit_packing import packbits, unpackbits
from .elementwise.business_days import busday_count, busday_offset, datetime_as_string, is_busday
from .elementwise.calculus import cross, gradient, interp, unwrap
from .elementwise.convolution import convolve, correlate
from .elementwise.differences import diff, ediff1d, trapezoid
from .elementwise.missing import isnull, notnull
from .elementwise.polynomials import polyfit, polyval, vander
from .elementwise.ufuncs import *  # noqa: F403 - a table with its own __all__
from .indexing.boolean import argwhere, compress, extract, flatnonzero, nonzero, where
from .indexing.choose import choose, piecewise, select
from .indexing.getitem import take
from .indexing.inplace import (
    copyto,
    fill_diagonal,
    place,
    put,
    put_along_axis,
    putmask,
    resize,
)
from .indexing.insertion import insert
from .indexing.iteration import ndenumerate
from .io import image_files as images
from .io.dask_arrays import from_dask, from_delayed, to_dask, to_delayed
from .io.hdf5_files import to_hdf5, tohdf5
from .io.image_files import imread
from .io.npy_files import from_npy_stack, fromfile, load, save, to_npy_stack
from .io.savetxt import (
    fromregex,
    genfromtxt,
    loadtxt,
    savetxt,
    savez,
    savez_compressed,
)
from .io.store import store
from .io.tiledb_arrays import (
    from_tiledb,
    from_vineyard,
    fromtiledb,
    fromvineyard,
    to_tiledb,
    to_vineyard,
    totiledb,
    tovineyard,
)
from .io.zarr_arrays import to_zarr, tozarr
from .linalg import dot, einsum, inner, matmul, tensordot, vdot, vecdot
from .linalg.products import matvec, outer, vecmat
from .manipulation.block import block, kron, tree_add, tree_multiply
from .manipulation.deletion import delete
from .manipulation.diagonals import (
    diag,
    diagflat,
    diagonal,
    take_along_axis,
    trace,
    tril,
    triu,
)
from .manipulation.dimensions import ndim, shape, size
from .manipulation.join import (
    append,
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    column_stack,
    concatenate,
    dsplit,
    dstack,
    flip,
    fliplr,
    flipud,
    hsplit,
    hstack,
    roll,
    rot90,
    split,
    stack,
    unstack,
    vsplit,
    vstack,
)
from .manipulation.pad import pad
from .manipulation.repetition import repeat, tile
from .manipulation.reshape import ravel, reshape
from .manipulation.shape import (
    broadcast_arrays,
    broadcast_to,
    expand_dims,
    matrix_transpose,
    moveaxis,
    rollaxis,
    squeeze,
    swapaxes,
    transpose,
)
from .mutable_tensor import MutableTensor
from .quantile.exact import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from .reduction import reductions
from .reduction.argreduce import argmax, argmin, nanargmax, nanargmin
from .reduction.array_equiv import array_equiv
from .reduction.covariance import corrcoef, cov
from .reduction.custom_reduction import reduction
from .reduction.deviations import nanstd, nanvar, std, var
from .reduction.histogram import histogram, histogram2d, histogram_bin_edges, histogramdd
from .reduction.moment import moment
from .reduction.reductions import *  # noqa: F403 - likewise
from .scan.cumulative import (
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    nancumprod,
    nancumsum,
)
from .scan.user_scan import push
from .sharing.flags import isfortran
from .sharing.views import may_share_memory, shares_memory
from .sorting.lexsort import lexsort, sort_complex, trim_zeros
from .sorting.searchsorted import bincount, digitize, searchsorted
from .sorting.sort import argpartition, argsort, partition, sort
from .sorting.topk import argtopk, topk
from .sorting.unique import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from .sparse.conversion import fromdense, fromsparse, issparse, todense, tosparse
from .tensor import Tensor

__all__ = [
    "Array",
    "ExecutableTuple",
    "MutableTensor",
    "PerformanceWarning",
    "Tensor",
    "__array_api_version__",
    "__array_namespace_info__",
    "append",
    "apply_along_axis",
    "apply_gufunc",
    "apply_over_axes",
    "arange",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "argtopk",
    "argwhere",
    "array",
    "array_equiv",
    "array_split",
    "as_gufunc",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "assert_eq",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atop",
    "bartlett",
    "bincount",
    "blackman",
    "block",
    "blockwise",
    "bool",
    "bool_",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "busday_count",
    "busday_offset",
    "c_",
    "char",
    "choose",
    "coarsen",
    "column_stack",
    "complex64",
    "complex128",
    "compress",
    "compute",
    "concat",
    "concatenate",
    "convolve",
    "copy",
    "copyto",
    "corrcoef",
    "correlate",
    "cov",
    "cross",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "datetime_as_string",
    "delete",
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "diff",
    "digitize",
    "dot",
    "double",
    "dsplit",
    "dstack",
    "dtype",
    "e",
    "ediff1d",
    "einsum",
    "empty",
    "empty_like",
    "euler_gamma",
    "expand_dims",
    "extract",
    "eye",
    "fft",
    "fill_diagonal",
    "finfo",
    "flatnonzero",
    "flip",
    "fliplr",
    "flipud",
    "float16",
    "float32",
    "float64",
    "from_array",
    "from_dask",
    "from_dataframe",
    "from_delayed",
    "from_dlpack",
    "from_hdf5",
    "from_npy_stack",
    "from_series",
    "from_tiledb",
    "from_vineyard",
    "from_zarr",
    "frombuffer",
    "fromdense",
    "fromfile",
    "fromfunction",
    "fromhdf5",
    "fromiter",
    "frompyfunc",
    "fromregex",
    "fromsparse",
    "fromstring",
    "fromtiledb",
    "fromvineyard",
    "fromzarr",
    "full",
    "full_like",
    "genfromtxt",
    "geomspace",
    "gradient",
    "gufunc",
    "hamming",
    "hanning",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "hsplit",
    "hstack",
    "identity",
    "iinfo",
    "images",
    "imread",
    "indices",
    "inf",
    "inner",
    "insert",
    "int8",
    "int16",
    "int32",
    "int64",
    "interp",
    "intersect1d",
    "intp",
    "is_busday",
    "isdtype",
    "isfortran",
    "isin",
    "isnull",
    "issparse",
    "ix_",
    "kaiser",
    "kron",
    "lexsort",
    "lib",
    "linalg",
    "linspace",
    "load",
    "loadtxt",
    "logspace",
    "ma",
    "map_blocks",
    "map_chunk",
    "map_overlap",
    "mask_indices",
    "matmul",
    "matrix_transpose",
    "matvec",
    "may_share_memory",
    "median",
    "meshgrid",
    "mgrid",
    "moment",
    "moveaxis",
    "nan",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "nanstd",
    "nanvar",
    "ndenumerate",
    "ndim",
    "newaxis",
    "nonzero",
    "notnull",
    "object_",
    "ogrid",
    "ones",
    "ones_like",
    "optimize",
    "outer",
    "overlap",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "pi",
    "piecewise",
    "place",
    "polyfit",
    "polyval",
    "promote_types",
    "push",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "r_",
    "random",
    "ravel",
    "ravel_multi_index",
    "rechunk",
    "reduction",
    "register_chunk_type",
    "repeat",
    "require",
    "reshape",
    "reshape_blockwise",
    "resize",
    "roll",
    "rollaxis",
    "rot90",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "scalar",
    "searchsorted",
    "select",
    "setdiff1d",
    "setxor1d",
    "shape",
    "shares_memory",
    "shuffle",
    "size",
    "sliding_window_view",
    "sort",
    "sort_complex",
    "spatial",
    "special",
    "split",
    "squeeze",
    "stack",
    "stats",
    "std",
    "store",
    "strings",
    "swapaxes",
    "take",
    "take_along_axis",
    "tensor",
    "tensordot",
    "tile",
    "to_dask",
    "to_delayed",
    "to_hdf5",
    "to_npy_stack",
    "to_tiledb",
    "to_vineyard",
    "to_zarr",
    "todense",
    "tohdf5",
    "topk",
    "tosparse",
    "totiledb",
    "tovineyard",
    "tozarr",
    "trace",
    "transpose",
    "trapezoid",
    "tree_add",
    "tree_multiply",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unify_chunks",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpackbits",
    "unravel_index",
    "unstack",
    "unwrap",
    "vander",
    "var",
    "vdot",
    "vecdot",
    "vecmat",
    "vectorize",
    "vsplit",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]
# The submodules with the tables have their own ``__all__``.
__all__ += dtypes.__all__
__all__ += ufuncs.__all__
__all__ += reductions.__all__

#: The version of the array API standard that the names follow.
__array_api_version__ = "2024.12"

# Other names of the same functions.
asanyarray = asarray
if TYPE_CHECKING:
    from . import char, fft, spatial, special, stats, strings
else:

    def __getattr__(name: str) -> Any:
        """Load rarely used submodules on first access."""
        if name in {"char", "fft", "spatial", "special", "stats", "strings"}:
            return import_module(f"{__name__}.{name}")
        message = f"module {__name__!r} has no attribute {name!r}"
        if not name.startswith("_") and name in import_module("marsdask.compat.tensor").REMOVED:
            message += f"; NumPy 2 removed it, and marsdask.compat.tensor.{name} is what it was"
        raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(set(__all__))


# Functions that only move elements accept masked tensors as well.
append = ma.or_masked(append, ma.appended)
array_split = ma.accepts_masked(array_split)
atleast_1d = ma.accepts_masked(atleast_1d)
atleast_2d = ma.accepts_masked(atleast_2d)
atleast_3d = ma.accepts_masked(atleast_3d)
block = ma.accepts_masked(block)
broadcast_to = ma.accepts_masked(broadcast_to)
column_stack = ma.accepts_masked(column_stack)
compress = ma.accepts_masked(compress)
concatenate = ma.accepts_masked(concatenate)
concat = concatenate
delete = ma.accepts_masked(delete)
diagonal = ma.accepts_masked(diagonal)
dsplit = ma.accepts_masked(dsplit)
dstack = ma.accepts_masked(dstack)
expand_dims = ma.accepts_masked(expand_dims)
flip = ma.accepts_masked(flip)
fliplr = ma.accepts_masked(fliplr)
flipud = ma.accepts_masked(flipud)
hsplit = ma.accepts_masked(hsplit)
hstack = ma.accepts_masked(hstack)
matrix_transpose = ma.accepts_masked(matrix_transpose)
moveaxis = ma.accepts_masked(moveaxis)
ravel = ma.accepts_masked(ravel)
rechunk = ma.accepts_masked(rechunk)
repeat = ma.accepts_masked(repeat)
reshape = ma.accepts_masked(reshape)
roll = ma.accepts_masked(roll)
rollaxis = ma.accepts_masked(rollaxis)
rot90 = ma.accepts_masked(rot90)
split = ma.accepts_masked(split)
squeeze = ma.accepts_masked(squeeze)
stack = ma.accepts_masked(stack)
swapaxes = ma.accepts_masked(swapaxes)
take = ma.accepts_masked(take)
tile = ma.accepts_masked(tile)
transpose = ma.accepts_masked(transpose)
permute_dims = transpose
vsplit = ma.accepts_masked(vsplit)
vstack = ma.accepts_masked(vstack)
tensordot = ma.or_masked(tensordot, ma.tensordot)
# The function, which the submodule of this name would hide.
tensor: Final = from_data.tensor
