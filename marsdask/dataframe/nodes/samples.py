"""Samples of the arguments of functions of rows: values of columns lie beside rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.node import Node

from ..schemas.samples import ROWS, column, sample, with_gaps
from .frame_node import is_row, is_several


def row_of(node: Any) -> Any:
    """Return one value per column, with its labels."""
    return column(node.meta.dtype).iloc[[0] * len(node.row_labels)].set_axis(node.row_labels)


def rows_with_gaps(args: Sequence[Any]) -> list[Any]:
    """Return arguments of a function, with a row for each node that has gaps in its labels."""
    return [with_gaps(arg.meta, arg.level_gaps) if isinstance(arg, Node) else arg for arg in args]


def samples_of(args: Sequence[Any]) -> list[Any]:
    """Return arguments of a function of rows, with a few rows of the types of the nodes.

    Values of columns have the labels of the frame beside them, or as many as there are rows.
    """
    nodes = [arg for arg in args if isinstance(arg, Node)]
    frames = [node.meta for node in nodes if isinstance(node.meta, pd.DataFrame)]
    columns = frames[0].columns if frames else range(ROWS)
    has_values = any(map(is_several, nodes))

    def sample_of(arg: Any) -> Any:
        if isinstance(arg, np.ndarray) and arg.ndim == 1 and has_values:
            return np.resize(arg, len(columns))
        if not isinstance(arg, Node):
            return arg
        if not is_row(arg):
            return sample(arg.meta)
        if not is_several(arg):
            return _scalar_like(arg.meta)
        values = sample(arg.meta)
        return values.iloc[np.arange(len(columns)) % len(values)].set_axis(columns)

    return [*map(sample_of, args)]


def _scalar_like(meta: Any) -> Any:
    """Return a value of the type of a lazy scalar; a float is none that an integer equals."""
    array = np.asarray(meta)
    if array.dtype.kind == "f":
        return np.full_like(array, 0.5)
    is_told = array.dtype.kind in "UMm" or (array.dtype == object and array[()] is not None)
    return array[()] if is_told else np.zeros_like(array)
