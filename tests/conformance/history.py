"""A call of every public function of tensors, and of every node whose functions see chunks.

Calls take tensors ``a.x`` (matrix of numbers between 0 and 1), ``a.v`` (vector of such), ``a.n``
(vector of small numbers), ``a.k`` (matrix of small numbers), ``a.b`` (matrix of truths), ``a.d``
(vector of days) and ``a.t`` (three axes), a frame ``a.f``, and an empty folder ``a.folder``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.dummy import DummyRegressor

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.ensemble import BlockwiseVotingRegressor
from marsdask.learn.neighbors import NearestNeighbors
from tests.conformance import array_api

Call = Callable[[Any], Any]

RANDOM = np.random.default_rng(5)
VALUES: dict[str, Any] = {
    "x": RANDOM.permutation(12).reshape(3, 4) / 16 + 0.1,
    "v": RANDOM.permutation(12) / 16 + 0.1,
    "n": RANDOM.integers(0, 4, 12),
    "k": RANDOM.integers(0, 9, (3, 4)),
    "b": RANDOM.random((3, 4)) < 0.5,
    "d": np.datetime64("2026-01-01") + RANDOM.integers(0, 99, 12),
    "t": RANDOM.permutation(24).reshape(2, 3, 4) / 32 + 0.1,
    "f": pd.DataFrame({"key": RANDOM.integers(0, 3, 12), "v": RANDOM.permutation(12) / 16}),
}
#: Small chunks, of which several merge.
CHUNKS: dict[int, Any] = {1: ((5, 5, 2),), 2: ((2, 1), (1, 2, 1)), 3: ((1, 1), (2, 1), (1, 2, 1))}


def fresh(name: str) -> Any:
    """Return an operand that has no history: computed, so that it has memory of its own."""
    value = VALUES[name]
    if isinstance(value, pd.DataFrame):
        frame = md.from_pandas(value, chunk_size=5)
        return frame.assign(v=frame.v * 1)
    tensor = mt.tensor(value, chunks=CHUNKS[value.ndim])
    return mt.where(True, tensor, tensor)


def facts(block: Any, block_id: Any = ()) -> Any:
    """Return what tells a chunk from others, as often as it has elements."""
    place = sum(int(i) * 7**axis for axis, i in enumerate(block_id))
    return np.full(np.shape(block), 1000.0 * np.size(block) + place)


def informed(block: Any, block_info: Any = None) -> Any:
    """Return where a chunk says that it lies."""
    starts = block_info[0]["array-location"] if block_info else ()
    return block + sum(start * 100.0**axis for axis, (start, _) in enumerate(starts))


def indexed(block: Any, chunk_index: Any) -> Any:
    """Return a chunk with its place added."""
    return block + chunk_index[0]


def first_half(block: Any) -> Any:
    """Return the first half of a chunk."""
    return block[: len(block) // 2]


def times_size(block: Any, other: Any) -> Any:
    """Multiply a chunk by the size of what came with it."""
    return block * np.size(other)


def row_facts(blocks: Any) -> Any:
    """Return what tells chunks that come in a list."""
    return facts(np.concatenate(blocks, axis=-1)[:, 0]) + len(blocks)


def squared(block: Any, axis: Any, keepdims: Any, **_: Any) -> Any:
    """Square the sum of what is seen of a chunk."""
    return np.sum(block, axis=axis, keepdims=keepdims) ** 2


def core_size(block: Any) -> Any:
    """Return the number of elements that come at once."""
    return np.full(block.shape[:-1], float(block.size))


def with_facts(block: Any) -> Any:
    """Return two results."""
    return facts(block), block


def changed(change: Callable[[Any], Any], x: Any) -> list[Any]:
    """Return a copy of a tensor that is written to, and the tensor itself."""
    copy = x.copy()
    change(copy)
    return [copy, x]


def through_view(x: Any) -> list[Any]:
    """Return a copy of a tensor that is written to through a view, and the tensor itself."""
    copy = x.copy()
    copy[1:][...] = 5
    return [copy, x]


def stored(x: Any) -> Any:
    """Return where chunks were written, from their functions."""
    target = np.zeros(x.shape)
    mt.store(mt.map_blocks(facts, x, dtype=float), target)
    return mt.tensor(target)


def streamed(frame: Any) -> Any:
    """Return a column of a frame's Arrow stream, the size of whose batches says nothing."""
    return mt.tensor(pa.RecordBatchReader.from_stream(frame).read_all()["v"].to_numpy())


def voted(x: Any) -> Any:
    """Return the mean of the means of chunks."""
    return BlockwiseVotingRegressor(DummyRegressor()).fit(x, x[:, 0]).predict(x)


def files(frame: Any, folder: Any) -> list[Any]:
    """Return the rows of each file that a frame is written to."""
    frame.to_parquet(folder / "part-*.parquet")
    return [mt.tensor(len(pd.read_parquet(path))) for path in sorted(folder.glob("part-*"))]


def partitions(frame: Any, folder: Any) -> list[Any]:
    """Return the rows of each chunk's files in the folders of a column."""
    frame.to_parquet(folder / "folders", partition_cols=["key"])
    paths = sorted((folder / "folders").rglob("part-*"))
    counts = {path.name: 0 for path in paths}
    for path in paths:
        counts[path.name] += len(pd.read_parquet(path, partitioning=None))
    return [mt.tensor(count) for _, count in sorted(counts.items())]


def assigned(frame: Any) -> Any:
    """Return a copy of a frame some rows of which are assigned."""
    other = frame.copy()
    other.loc[other.v > 0.4, "key"] = 7
    other.iloc[2:5, 1] = 0.5
    return other


mapped = partial(mt.map_blocks, facts, dtype=float)
gufunc = mt.apply_gufunc

#: What shows chunks to others, by the class of the node: at least a case each.
PINNED: dict[str, dict[str, Call]] = {
    "MapBlocks": {
        "itself": lambda a: mapped(a.x),
        "computed from it": lambda a: mapped(a.x * 2 + 1),
        "above and below": lambda a: mapped(a.x).sum(axis=0) + a.x[0],
        "sorted": lambda a: mapped(mt.sort(a.v)),
        "of unknown length": lambda a: mapped(a.v[a.v > 0.3]),
        "cut of unknown length": lambda a: mapped(a.v[a.v > 0.3][1:]),
        "rows of unknown number": lambda a: mapped(a.x[a.x[:, 0] > 0.3]),
        "joined": lambda a: mapped(mt.concatenate([a.x, a.k])),
        "a product": lambda a: mapped(a.x @ a.x.T),
        "accumulated": lambda a: mapped(mt.cumsum(a.x, axis=1).T),
        "reshaped": lambda a: mapped(a.x.reshape(4, 3)),
        "rechunked": lambda a: mapped(a.x.rechunk(3)),
        "a part": lambda a: mapped(a.x[1:, ::2]),
        "several outputs": lambda a: mapped(mt.modf(a.v * 3)[1]),
        "distinct": lambda a: mapped(mt.unique(a.n)),
        "a column": lambda a: mapped(a.f["v"].to_tensor()),
        "masked": lambda a: mapped(mt.ma.masked_greater(a.x, 0.5)),
        "no axes": lambda a: mapped(a.x.sum()),
        "where it lies": lambda a: mt.map_blocks(informed, a.x, dtype=float),
        "its index": lambda a: a.x.map_chunk(indexed, with_chunk_index=True),
        "of new lengths": lambda a: a.v.map_chunk(first_half),
        "unaligned": lambda a: mt.map_blocks(times_size, a.x, a.k, align_arrays=False, dtype=float),
        "broadcast": lambda a: mt.map_blocks(times_size, a.x, a.x[0], dtype=float),
    },
    "LabelledMap": {
        "itself": lambda a: mt.blockwise(facts, "ij", a.x, "ij", dtype=float),
        "lists": lambda a: mt.blockwise(row_facts, "i", a.x, "ij", dtype=float),
        "several": lambda a: mt.blockwise(times_size, "ij", a.x, "ij", a.x[0], "j", dtype=float),
    },
    "GUFunc": {
        "loops": lambda a: gufunc(facts, "()->()", a.x, output_dtypes=float),
        "core axes": lambda a: gufunc(
            core_size, "(i)->()", a.x, output_dtypes=float, allow_rechunk=True
        ),
        "several outputs": lambda a: gufunc(
            with_facts, "()->(),()", a.v, output_dtypes=(float, float)
        ),
    },
    "Overlap": {
        "mapped": lambda a: mt.map_overlap(facts, a.v, depth=1, boundary="none", dtype=float),
        "kept": lambda a: mt.map_overlap(facts, a.v, depth=1, boundary=0, trim=False, dtype=float),
        "alone": lambda a: mt.overlap.overlap(a.x, depth=1, boundary="reflect"),
        "of unknown length": lambda a: mt.map_overlap(
            facts, a.v[a.v > 0.2], depth=1, boundary="none", dtype=float
        ),
    },
    "Trim": {"alone": lambda a: mt.overlap.trim_overlap(a.v, depth=1, boundary="none")},
    "UserReduction": {
        "whole": lambda a: mt.reduction(a.x, squared, squared, dtype=float),
        "an axis": lambda a: mt.reduction(a.t, squared, squared, axis=1, dtype=float),
        "of unknown length": lambda a: mt.reduction(a.v[a.v > 0.2], squared, squared, dtype=float),
    },
    "Blocks": {
        "some": lambda a: a.x.blocks[0, 1:],
        "backwards": lambda a: a.v.blocks[::-1],
        "of what is computed": lambda a: (a.v + 1).partitions[1],
        "of unknown length": lambda a: a.v[a.v > 0.3].blocks[0],
    },
    "ReshapeBlocks": {"flat": lambda a: mt.reshape_blockwise(a.x, (12,))},
    "Write": {"facts": lambda a: stored(a.x)},
    "MapPartitions": {
        "itself": lambda a: a.f.map_partitions(len),
        "computed from it": lambda a: (a.f[["v"]] + 1).map_partitions(len),
    },
    "FromMap": {"lists": lambda a: md.map_partitions(len, md.from_map(pd.Series, [[1, 2], [3]]))},
    "Repartition": {"fewer": lambda a: a.f.repartition(npartitions=2).map_partitions(len)},
    "RowChunks": {"of four rows": lambda a: a.f.rechunk(4).map_partitions(len)},
    "RangePartition": {
        "bounds": lambda a: a.f.repartition(divisions=[0, 1, 11], force=True).map_partitions(len)
    },
    "HashPartition": {"a column": lambda a: a.f.shuffle("v", npartitions=3).map_partitions(len)},
    "PartitionSelection": {"the last": lambda a: a.f.partitions[-1].map_partitions(len)},
    "ArrowSchemas": {"streamed": lambda a: streamed(a.f)},
    "FittedRuns": {"nearest": lambda a: NearestNeighbors(n_neighbors=2).fit(a.x).kneighbors(a.k)},
    "ChunkFold": {"votes": lambda a: voted(a.x)},
    "WriteFiles": {"rows": lambda a: files(a.f, a.folder)},
    "WritePartitions": {"rows": lambda a: partitions(a.f, a.folder)},
}

#: Functions of two tensors, those that want whole numbers, truths or vectors.
TWO = """add allclose append arctan2 array_equal array_equiv atan2 copysign cov equal
    divide floor_divide float_power fmax fmin fmod greater greater_equal heaviside hypot inner
    isclose isin kron less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor
    maximum minimum mod multiply nextafter not_equal outer pow power remainder subtract true_divide
    vdot vecdot corrcoef divmod"""
INTEGERS = "bitwise_count bitwise_invert bitwise_not invert"
TWO_INTEGERS = """bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm
    ldexp left_shift right_shift"""
VECTORS = """diagflat flatnonzero ix_ sort_complex trim_zeros unique_values vander"""
TWO_VECTORS = "convolve correlate histogram2d intersect1d setdiff1d setxor1d union1d"

#: Functions that want more than tensors.
CALLS: dict[str, Call] = {
    "apply_along_axis": lambda a: mt.apply_along_axis(np.sum, 0, a.x),
    "apply_over_axes": lambda a: mt.apply_over_axes(mt.sum, a.x, (0,)),
    "argpartition": lambda a: mt.take_along_axis(a.v, mt.argpartition(a.v, 3), 0)[3],
    "argtopk": lambda a: mt.argtopk(a.v, 3),
    "array_split": lambda a: mt.array_split(a.v, 5),
    "average": lambda a: [mt.average(a.x, axis=1, weights=a.x), mt.average(a.v)],
    "bincount": lambda a: mt.bincount(a.n, a.v),
    "block": lambda a: mt.block([[a.x, a.k], [a.k, a.x]]),
    "broadcast_to": lambda a: mt.broadcast_to(a.x, (2, 3, 4)),
    "busday_count": lambda a: mt.busday_count(a.d, np.datetime64("2026-09-01")),
    "busday_offset": lambda a: mt.busday_offset(a.d, 2, roll="forward"),
    "choose": lambda a: mt.choose(a.n, [a.v, -a.v, a.n, a.v]),
    "coarsen": lambda a: mt.coarsen(np.max, a.x, {1: 2}),
    "column_stack": lambda a: mt.column_stack([a.v, a.n]),
    "copyto": lambda a: changed(lambda x: mt.copyto(x, a.k, where=a.b), a.x),
    "cross": lambda a: mt.cross(a.x[:, :3], a.k[:, :3]),
    "datetime_as_string": lambda a: mt.datetime_as_string(a.d),
    "delete": lambda a: mt.delete(a.v, [1, 7]),
    "compress": lambda a: mt.compress(a.b[:, 0], a.x, 0),
    "diag_indices_from": lambda a: mt.diag_indices_from(a.x[:, :3]),
    "digitize": lambda a: mt.digitize(a.v, [0.2, 0.5]),
    "dot": lambda a: mt.dot(a.x, a.k.T),
    "dsplit": lambda a: mt.dsplit(a.t, 2),
    "einsum": lambda a: mt.einsum("ij,kj->ik", a.x, a.k),
    "expand_dims": lambda a: mt.expand_dims(a.x, 1),
    "extract": lambda a: mt.extract(a.b, a.x),
    "fill_diagonal": lambda a: changed(lambda x: mt.fill_diagonal(x, 7), a.x),
    "full_like": lambda a: mt.full_like(a.x, 3),
    "geomspace": lambda a: mt.geomspace(a.x[0], a.x[1] + 1, 3),
    "histogram": lambda a: mt.histogram(a.v, bins=4),
    "histogramdd": lambda a: mt.histogramdd(a.x.T, bins=3)[0],
    "hsplit": lambda a: mt.hsplit(a.x, 2),
    "imag": lambda a: mt.imag(a.x * 1j),
    "insert": lambda a: mt.insert(a.v, 3, 9.0),
    "interp": lambda a: mt.interp(a.v, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0]),
    "is_busday": lambda a: mt.is_busday(a.d),
    "isnat": lambda a: mt.isnat(a.d),
    "lexsort": lambda a: mt.lexsort([a.v, a.n]),
    "linspace": lambda a: mt.linspace(a.x[0], a.x[1], 3),
    "logspace": lambda a: mt.logspace(a.x[0], a.x[1], 3),
    "map_overlap": lambda a: mt.map_overlap(np.negative, a.x, depth=1, boundary="nearest"),
    "matmul": lambda a: mt.matmul(a.x, a.k.T),
    "matvec": lambda a: mt.matvec(a.x, a.x[0]),
    "moment": lambda a: mt.moment(a.x, 3),
    "moveaxis": lambda a: mt.moveaxis(a.t, 0, 2),
    "nan_to_num": lambda a: mt.nan_to_num(mt.log(a.x - a.x)),
    "nanpercentile": lambda a: mt.nanpercentile(a.x, 40, axis=1),
    "nanquantile": lambda a: mt.nanquantile(a.x, 0.4),
    "packbits": lambda a: mt.packbits(a.b, axis=1),
    "pad": lambda a: mt.pad(a.x, 2, mode="edge"),
    "partition": lambda a: mt.partition(a.v, 3)[3],
    "percentile": lambda a: mt.percentile(a.x, [10, 50], axis=0),
    "piecewise": lambda a: mt.piecewise(a.v, [a.v < 0.3, a.v > 0.6], [-1, np.square, 2]),
    "place": lambda a: changed(lambda x: mt.place(x, a.b, [7.0, 8.0]), a.x),
    "polyfit": lambda a: mt.polyfit(a.v, a.n, 2),
    "polyval": lambda a: mt.polyval([1.0, 2.0, 3.0], a.v),
    "push": lambda a: mt.push(mt.where(a.v > 0.4, a.v, np.nan), 2),
    "put": lambda a: changed(lambda x: mt.put(x, [1, 5], 9.0), a.x),
    "put_along_axis": lambda a: changed(
        lambda x: mt.put_along_axis(x, mt.argmax(a.x, axis=1, keepdims=True), 9.0, 1), a.x
    ),
    "putmask": lambda a: changed(lambda x: mt.putmask(x, a.b, a.k * 1.0), a.x),
    "quantile": lambda a: mt.quantile(a.x, 0.3, axis=1),
    "ravel_multi_index": lambda a: mt.ravel_multi_index((a.n, a.n), (4, 4)),
    "rechunk": lambda a: mt.rechunk(a.x, 2),
    "repeat": lambda a: mt.repeat(a.v, a.n),
    "reshape": lambda a: mt.reshape(a.x, (2, 6)),
    "resize": lambda a: mt.resize(a.x, (5, 3)),
    "roll": lambda a: mt.roll(a.x, 2),
    "rollaxis": lambda a: mt.rollaxis(a.t, 2),
    "searchsorted": lambda a: mt.searchsorted(mt.sort(a.v), a.x),
    "select": lambda a: mt.select([a.b, a.x > 0.4], [a.x, a.k], 7),
    "shuffle": lambda a: mt.shuffle(a.v, [[3, 0], [11], [7, 5, 5]], 0),
    "sliding_window_view": lambda a: mt.sliding_window_view(a.v, 4),
    "split": lambda a: mt.split(a.v, 4),
    "squeeze": lambda a: mt.squeeze(a.x[:1]),
    "swapaxes": lambda a: mt.swapaxes(a.t, 0, 2),
    "take": lambda a: mt.take(a.v, a.n),
    "take_along_axis": lambda a: mt.take_along_axis(a.x, mt.argsort(a.x, axis=0), 0),
    "tensordot": lambda a: mt.tensordot(a.x, a.k, ((0,), (0,))),
    "tile": lambda a: mt.tile(a.x, (2, 3)),
    "topk": lambda a: mt.topk(a.v, 3),
    "tree_add": lambda a: mt.tree_add(a.x, a.k, a.b),
    "tree_multiply": lambda a: mt.tree_multiply(a.x, a.k),
    "unique": lambda a: list(
        mt.unique(a.n, return_index=True, return_inverse=True, return_counts=True)
    ),
    "unpackbits": lambda a: mt.unpackbits(a.n.astype("u1")),
    "unravel_index": lambda a: mt.unravel_index(a.n, (2, 2)),
    "vecmat": lambda a: mt.vecmat(a.x[:, 0], a.k),
    "vsplit": lambda a: mt.vsplit(a.t, 2),
    "where": lambda a: [mt.where(a.b, a.x, a.k), *mt.where(a.b)],
    # Methods, and what has no name.
    "assigned": lambda a: changed(lambda x: x.__setitem__((slice(1), a.b[0]), 5.0), a.x),
    "assigned by mask": lambda a: changed(lambda x: x.__setitem__(x > 0.4, 0.0), a.x),
    "assigned through a view": lambda a: through_view(a.v),
    "in place": lambda a: changed(lambda x: x.__iadd__(a.k), a.x),
    "sorted in place": lambda a: changed(lambda x: x.sort(), a.v),
    "by mask": lambda a: [a.x[a.b], a.x[a.x[:, 0] > 0.3]],
    "by positions": lambda a: [a.v[a.n], a.x[[2, 0]], a.x[[0, 2], [3, 1]]],
    "by slices": lambda a: [a.x[::-1, 1:], a.t[..., None, 0], a.x[2, 3]],
    "of unknown length": lambda a: [(y := a.v[a.v > 0.3]) + 1, mt.sort(y), y[::2], y.sum()],
    "masked": lambda a: [
        mt.ma.masked_greater(a.x, 0.5).sum(axis=0),
        mt.ma.filled(mt.ma.masked_where(a.b, a.x), 9.0),
    ],
    "fromdense": lambda a: mt.todense(mt.fromdense(a.k) * 2),
    "tosparse": lambda a: [a.k.tosparse().todense(), a.k.tosparse().sum(axis=0)],
    "records": lambda a: mt.tensor(a.v.astype([("p", "f8"), ("q", "f4")]))["q"],
}

#: What frames do, which come in no known chunks: their values only.
FRAMES: dict[str, Call] = {
    "itself": lambda a: a.f,
    "a column": lambda a: a.f["v"] * 2,
    "a new column": lambda a: a.f.assign(w=a.f.v + a.f.key),
    "rows": lambda a: a.f[a.f.v > 0.3],
    "rows by an executed mask": lambda a: a.f[(a.f.v > 0.3).execute()],
    "sum": lambda a: a.f.sum(),
    "mean of rows": lambda a: a.f[a.f.v > 0.2].v.mean(),
    "groups": lambda a: a.f.groupby("key").agg({"v": "sum"}),
    "groups of rows": lambda a: a.f[a.f.v > 0.3].groupby("key").v.mean(),
    "merge": lambda a: a.f.merge(a.f[a.f.v > 0.4], on="key", suffixes=("", "_r")),
    "left merge": lambda a: a.f.merge(a.f[a.f.key > 1], on="key", how="left"),
    "left merge without gaps": lambda a: a.f.merge(a.f.rename(columns={"v": "w"}), how="left"),
    "masked by nothing": lambda a: a.f.key.mask(a.f.v < 0, 0.5),
    "sorted": lambda a: a.f.sort_values("v"),
    "sorted rows": lambda a: a.f[a.f.v > 0.3].sort_values(["key", "v"]),
    "distinct": lambda a: a.f.drop_duplicates("key"),
    "concat": lambda a: md.concat([a.f, a.f]),
    "head": lambda a: a.f.head(7),
    "iloc": lambda a: a.f.iloc[3:9],
    "iloc of rows": lambda a: a.f[a.f.v > 0.3].iloc[1:4],
    "reset_index": lambda a: a.f[a.f.v > 0.3].reset_index(drop=True),
    "ranks": lambda a: a.f.rank(),
    "ranks of rows": lambda a: a.f[a.f.v > 0.3].key.rank(method="dense"),
    "largest": lambda a: a.f.nlargest(3, ["key", "v"]),
    "repeated": lambda a: a.f[a.f.v > 0.3].duplicated("key"),
    "counts of values": lambda a: a.f.key.value_counts(),
    "aggregated": lambda a: a.f.agg({"key": ["sum", "max"], "v": "mean"}),
    "numbers of groups": lambda a: a.f.groupby("key").ngroup(),
    "set_index": lambda a: a.f.set_index("v"),
    "filled": lambda a: a.f.where(a.f.v > 0.3).ffill().bfill(limit=2),
    "interpolated": lambda a: a.f.v.where(a.f.v > 0.3).interpolate(limit_direction="both"),
    "windows": lambda a: a.f[a.f.v > 0.2].rolling(3, min_periods=1).median(),
    "windows of all rows": lambda a: a.f.expanding().var(),
    "weights that fall": lambda a: a.f.v.ewm(span=3).mean(),
    "bins of time": lambda a: (
        a.f.assign(t=md.to_datetime((a.f.v * 160).astype(int), unit="h"))
        .resample("9h", on="t")
        .sum()
    ),
    "assigned": lambda a: assigned(a.f),
    "joined": lambda a: a.f.join(a.f[a.f.v > 0.4].set_index("key"), on="key", rsuffix="_r"),
    "melted": lambda a: a.f[a.f.v > 0.3].melt("key"),
    "pivoted": lambda a: a.f.pivot_table("v", "key", aggfunc="sum"),
    "stacked": lambda a: a.f.stack(),
    "transposed": lambda a: a.f[a.f.v > 0.3].T,
    "strings.center": lambda a: mt.strings.center(a.k.astype(str), a.k + 1, "-"),
    "strings.partition": lambda a: mt.stack(mt.strings.partition(a.x.astype("U5"), ".")),
    "char.join": lambda a: mt.char.join("-", a.k.astype(str)),
    "to a tensor": lambda a: a.f.to_tensor().sum(axis=0),
    "from a tensor": lambda a: md.DataFrame(a.x, columns=list("abcd")),
}

#: What takes no tensors, what describes them without running, and what reads and writes files.
WITHOUT = """arange as_gufunc assert_eq atop bartlett blackman broadcast_shapes can_cast
    common_type compute datetime_data diag_indices empty eye from_array from_dask from_dataframe
    from_delayed from_dlpack from_hdf5 from_npy_stack from_series from_tiledb from_vineyard
    from_zarr frombuffer fromfile fromfunction fromhdf5 fromiter fromregex fromstring fromtiledb
    fromvineyard fromzarr full genfromtxt get_printoptions geterr hamming hanning identity
    imread indices iscomplexobj isdtype isfortran isrealobj isscalar issparse issubdtype
    iterable kaiser load loadtxt mask_indices may_share_memory min_scalar_type mintypecode ndim
    ones ndenumerate optimize printoptions promote_types register_chunk_type result_type save
    savetxt savez savez_compressed scalar set_printoptions seterr shape shares_memory size
    to_dask to_delayed to_hdf5 to_npy_stack to_tiledb to_vineyard to_zarr tohdf5 totiledb
    tovineyard tozarr tri tril_indices triu_indices typename unify_chunks zeros empty_like
    apply_gufunc blockwise map_blocks map_chunk reduction reshape_blockwise store"""


def _standard(call: Any) -> Call:
    return lambda a: call(mt, a.x)


def _of(name: str, *operands: str) -> Call:
    return lambda a: getattr(mt, name)(*(getattr(a, operand) for operand in operands))


def calls() -> dict[str, Call]:
    """Return a call by each name."""
    tables = array_api.CALLS, array_api.FLOATS, array_api.REALS
    found = {name: _standard(call) for table in tables for name, call in table.items()}
    named = (
        (TWO, "xk"),
        (INTEGERS, "n"),
        (TWO_INTEGERS, "nn"),
        (VECTORS, "v"),
        (TWO_VECTORS, "vv"),
    )
    found |= {name: _of(name, *which) for names, which in named for name in names.split()}
    for name in mt.__all__:
        if callable(getattr(mt, name)) and not isinstance(getattr(mt, name), type):
            found.setdefault(name, _of(name, "x"))
    found |= CALLS
    return {name: call for name, call in found.items() if name not in WITHOUT.split()}
