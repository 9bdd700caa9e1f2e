"""Rows in random pieces, counts that are nearly right, and functions of frames: Dask's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.public import public_call

from ..create import from_pandas
from ..nodes.dtypes import OneType
from ..nodes.frame_node import S, as_node
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from . import map_partitions as maps
from .repartition import repartition as in_divisions

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series

#: The bits of a hash that number a register of a count, which is right within about 1 %.
REGISTER_BITS = 14
REGISTERS = 2**REGISTER_BITS


def random_split(
    obj: S, frac: Sequence[float], random_state: Any = None, shuffle: bool = False
) -> list[S]:
    """Return the rows in random pieces, no row in two. See dask.dataframe.DataFrame.random_split.

    Differs from Dask: a seed draws other rows.

    Parameters
    ----------
    frac : list of float
        The share of each piece.
    random_state : int or numpy.random.RandomState, optional
        What decides which rows are drawn.
    shuffle : bool
        Whether the rows of each partition are put in random order.

    Returns
    -------
    list of DataFrame or Series
        The pieces.

    Raises
    ------
    ValueError
        If the shares do not sum to one.

    Examples
    --------
    >>> a, b = md.Series(range(9), chunk_size=3).random_split([0.5, 0.5], random_state=0)
    >>> len(a) + len(b)
    9
    """
    if not np.allclose(sum(frac), 1):
        raise ValueError("frac should sum to 1")
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    seed = int(np.random.SeedSequence(random_state).generate_state(1, np.uint64)[0])
    ends = tuple(float(end) for end in np.cumsum(frac)[:-1])
    how = {"ends": ends, "seed": seed, "shuffle": shuffle, "meta": as_node(obj).meta}
    return [maps.map_partitions(rows_of_piece, obj, piece=at, **how) for at in range(len(frac))]  # type: ignore[misc]


def rows_of_piece(
    block: Any,
    piece: int,
    ends: tuple[float, ...],
    seed: int,
    shuffle: bool,
    partition_info: Any = None,
) -> Any:
    """Return the rows of a partition that belong to a piece."""
    draw = np.random.default_rng([seed, partition_info["number"]])
    pieces = np.searchsorted(ends, draw.random(len(block)), side="right")
    order = draw.permutation(len(block)) if shuffle else np.arange(len(block))
    return block.iloc[order[pieces[order] == piece]]


def nunique_approx(obj: Any, split_every: Any = None) -> Tensor:
    """Return about how many rows differ. See dask.dataframe.DataFrame.nunique_approx.

    One pass over the rows, without a shuffle: about 1 % away from the number, by HyperLogLog.

    Parameters
    ----------
    split_every : int, optional
        Dask's argument, which changes nothing.

    Returns
    -------
    Tensor
        The number, as a float.

    Examples
    --------
    >>> float(md.Series([1, 2, 2]).nunique_approx().compute().round())
    2.0
    """
    del split_every
    node = obj.node if obj.node.settled else OneType(obj.node)
    steps = (registers_of, np.maximum, count_of)
    fold = FrameFold(np.empty(()), None, False, "nunique_approx", node, steps, (), float(REGISTERS))
    estimate: Tensor = collection_of(fold)
    return estimate


def registers_of(block: Any) -> Any:
    """Return for each register the most leading zeros of hashes of rows, and one."""
    hashes = pd.util.hash_pandas_object(block, index=False).to_numpy(np.uint64)
    place = (hashes >> np.uint64(64 - REGISTER_BITS)).astype(np.intp)
    bits = hashes << np.uint64(REGISTER_BITS)
    # The exponent of a float counts leading zeros: it is exact below 2**53, which is enough here.
    high = (bits >> np.uint64(12)).astype(float)
    zeros = np.where(high > 0, 52 - np.frexp(high)[1], 52)
    registers = np.zeros(REGISTERS, np.uint8)
    np.maximum.at(registers, place, (zeros + 1).astype(np.uint8))
    return registers


def count_of(registers: Any) -> Any:
    """Return the number that registers tell (Flajolet et al. 2007)."""
    if registers is None:
        return np.float64(0)
    guess = (
        0.7213 / (1 + 1.079 / REGISTERS) * REGISTERS**2 / (2.0 ** -registers.astype(float)).sum()
    )
    free = np.count_nonzero(registers == 0)
    if guess <= 2.5 * REGISTERS and free:
        return np.float64(REGISTERS * np.log(REGISTERS / free))
    return np.float64(guess)


@public_call
def repartition(df: Any, divisions: Sequence[Any], force: bool = False) -> DataFrame | Series:
    """Return rows in partitions by ranges of their labels. See dask.dataframe.repartition.

    A pandas object becomes a lazy one.

    Returns
    -------
    DataFrame or Series
        The same rows, sorted by their labels.
    """
    lazy: Any = from_pandas(df) if isinstance(df, pd.DataFrame | pd.Series) else df
    result: DataFrame | Series = in_divisions(lazy, divisions=divisions, force=force)
    return result


@public_call
def map_overlap(
    func: Callable[..., Any], df: Any, before: int, after: int, *args: Any, **kwargs: Any
) -> DataFrame | Series:
    """Call a function with each partition and rows around it. See dask.dataframe.map_overlap.

    Returns
    -------
    DataFrame or Series
        The results, one after the other.
    """
    result: DataFrame | Series = maps.map_overlap(df, func, before, after, *args, **kwargs)
    return result


def memory_usage_per_partition(obj: Any, index: bool = True, deep: bool = False) -> Series:
    """Return the bytes of each partition. See dask.dataframe.DataFrame.memory_usage_per_partition.

    Returns
    -------
    Series
        A number for each partition.

    Examples
    --------
    >>> lazy = md.Series([1, 2, 3], chunk_size=2)
    >>> lazy.memory_usage_per_partition(index=False).compute().tolist()
    [16, 8]
    """
    sizes: Any = maps.map_partitions(
        bytes_of_partition, obj, index=index, deep=deep, meta=(None, "i8")
    )
    nbytes: Series = sizes.reset_index(drop=True)
    return nbytes


def bytes_of_partition(block: Any, index: bool, deep: bool) -> Any:
    """Return the bytes of a partition."""
    return pd.Series([int(np.sum(block.memory_usage(index=index, deep=deep)))])


def median_approximate(
    obj: Any, axis: Any = 0, method: str = "default", numeric_only: bool = False
) -> Series | Tensor:
    """Return exact medians. See dask.dataframe.DataFrame.median_approximate.

    Parameters
    ----------
    axis : {0, 1}
        Down the rows or across the columns.
    method : str
        Dask's argument, which changes nothing.
    numeric_only : bool
        Whether other columns are left out.

    Returns
    -------
    Series or Tensor
        The medians.

    Examples
    --------
    >>> float(md.Series([1, 2, 9]).median_approximate().compute())
    2.0
    """
    del method
    medians: Series | Tensor = obj.median(axis, numeric_only=numeric_only)
    return medians
