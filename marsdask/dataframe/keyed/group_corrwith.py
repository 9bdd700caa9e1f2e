"""Correlations within groups with another object of the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection, collect

from ..elementwise.rowwise import rowwise, with_columns
from ..labels.group_labels import new_label
from ..rows import levels_in

if TYPE_CHECKING:
    from ..frame import DataFrame


@dataclass(frozen=True)
class CorrWith:
    """Returns the correlations of columns of a group with others."""

    pairs: tuple[tuple[Any, str], ...]
    method: Any

    def __call__(self, group: pd.DataFrame) -> pd.DataFrame:
        with np.errstate(invalid="ignore"):
            correlations = {
                label: [group[label].corr(group[other], self.method)] for label, other in self.pairs
            }
        return pd.DataFrame(correlations)


def corrwith(
    groups: Any,
    other: Any,
    drop: bool = False,
    method: Any = "pearson",
    numeric_only: bool = False,
) -> DataFrame:
    """Return the correlations of the columns of each group with another object of the same rows.

    See pandas.api.typing.DataFrameGroupBy.corrwith. All rows of a group meet in one task. A frame
    must have the columns of the groups.
    """
    del drop  # of columns that the other lacks
    if not isinstance(other, Collection):
        raise NotImplementedError(
            "corrwith() of a pandas object in memory is not supported; use assign() first"
        )
    by, meta, key = groups._by, groups._node.meta, groups._selection
    columns = [name for name in meta.columns if name not in by] if key is ... else list(key)
    if numeric_only:
        numeric = meta.select_dtypes(include=["number", "bool"]).columns
        columns = [name for name in columns if name in numeric]
    framed = isinstance(other.node.meta, pd.DataFrame)
    theirs: Any = other
    if framed and list(theirs.columns) != columns:
        raise NotImplementedError(
            "corrwith() of a frame of other columns is not supported; choose the same ones"
        )
    names = [new_label(f"corrwith {at}", meta) for at in range(len(columns) if framed else 1)]
    values = [theirs[name] for name in columns] if framed else [theirs]
    beside = rowwise(with_columns, collect(groups._node), *values, names=tuple(names))
    pairs = tuple((name, names[at if framed else 0]) for at, name in enumerate(columns))
    again = groups._over(beside)
    keys = groups.size().node.meta.index
    index = pd.MultiIndex.from_arrays(
        [*levels_in(keys), pd.RangeIndex(0)], names=[*keys.names, None]
    )
    like = pd.DataFrame({label: np.empty(0) for label in columns}, index)
    result: DataFrame = again.apply(CorrWith(pairs, method), meta=like).droplevel(-1)
    return result
