"""Properties of functions of rows besides their kernels, such as the columns that they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from marsdask.core.node import UNUSED, Columns, Node
from marsdask.core.snapshots.functions import function_name

from ..nodes.frame_node import is_row
from ..nodes.traits import Carrying, full_labels
from ..relations.functions import Translation
from ..schemas.schema import once_a_schema

if TYPE_CHECKING:
    from .rowwise import Rowwise

Labels = frozenset[Any]


class Need(NamedTuple):
    """The needs of some columns of a result: columns of each input, and fewer arguments."""

    columns: tuple[Columns, ...]
    arguments: dict[str, Any] = {}  # noqa: RUF012  nobody changes it


def labels_of(meta: Any) -> pd.Index | None:
    """Return the labels of a frame's columns, ``None`` unless each is one label of one column."""
    return meta.columns if once_a_schema(_is_simple, meta) else None


def _is_simple(meta: Any) -> bool:
    if not isinstance(meta, pd.DataFrame):
        return False
    columns = meta.columns
    # Of truth values pandas takes a list for a mask in places; some of mixed labels have a type
    # that all together have not.
    is_mixed = columns.dtype.kind in "bO" and columns.inferred_type != "string"
    is_plain = columns.nlevels == 1 and columns.is_unique and not columns.hasnans
    return is_plain and not is_mixed


def all_columns(node: Rowwise, wanted: Columns = None) -> Need:
    """Need all columns of all inputs."""
    del wanted
    return Need((None,) * len(node.inputs))


def no_columns(node: Rowwise, wanted: Columns) -> Need:
    """Need the labels of the rows alone."""
    del wanted
    return Need((frozenset(),) * len(node.inputs))


def chosen(node: Rowwise, wanted: Columns) -> Need:
    """Need the columns that are chosen, of those that are wanted."""
    key = dict(node.kwargs)["key"]
    if not isinstance(key, list) or wanted is None or labels_of(node.meta) is None:
        keys = key if isinstance(key, list) else [key]
        return Need((full_labels(node.inputs[0].meta.columns, keys),))
    fewer = [label for label in key if label in wanted]
    return Need((frozenset(fewer),), {"kwargs": (("key", fewer),)})


def among_columns(name: str) -> Callable[[Rowwise, Columns], Need]:
    """Return the rule of a function that reads the columns which an argument names, or all."""

    def rule(node: Rowwise, wanted: Columns) -> Need:
        del wanted
        labels = dict(node.kwargs).get(name)
        if labels is None:
            return all_columns(node)
        keys = labels if isinstance(labels, list) else [labels]
        return Need((full_labels(node.inputs[0].meta.columns, keys),))

    return rule


def assigned(node: Rowwise, wanted: Columns) -> Need:
    """Need the values of the new columns that are wanted, and no column that they replace."""
    # A name may be that of a first level, or change the type of all labels.
    if wanted is None or labels_of(node.meta) is None:
        return all_columns(node)  # what is replaced need not be read, but its place must stay
    names = dict(node.kwargs)["names"]
    frame, *values = node.args
    is_wanted = [name in wanted for name in names]
    kept = [None if flag else UNUSED for flag in is_wanted]
    columns: list[Columns] = [
        need for need, value in zip(kept, values, strict=True) if isinstance(value, Node)
    ]
    arguments = {
        "args": (frame, *compress(values, is_wanted)),
        "kwargs": (("names", tuple(compress(names, is_wanted))),),
    }
    return Need((wanted - frozenset(names), *columns), arguments)


def renamed_columns(node: Rowwise, wanted: Columns) -> Need:
    """Need the columns that get the labels which are wanted."""
    before, after = labels_of(node.inputs[0].meta), labels_of(node.meta)
    if wanted is None or before is None or after is None or len(before) != len(after):
        return all_columns(node)
    pairs = zip(before, after, strict=True)
    return Need((frozenset(old for old, new in pairs if new in wanted),))


def relabelled_columns(node: Rowwise, wanted: Columns) -> Need:
    """Need the columns that get the labels which are wanted, and tell which these were."""
    need = renamed_columns(node, wanted)
    (columns,) = need.columns
    if columns is None:
        return need
    labels = node.inputs[0].meta.columns
    places = [place for place, label in enumerate(labels) if label in columns]
    arguments = {"columns": node.meta.columns[places], "before": labels[places]}
    return Need(need.columns, {"kwargs": tuple(sorted(arguments.items()))})


def labels_and_columns(node: Rowwise, wanted: Columns) -> Need:
    """Need the columns that become labels besides those that are wanted."""
    key = dict(node.kwargs)["key"]
    if wanted is None or len(node.inputs) > 1 or labels_of(node.inputs[0].meta) is None:
        return all_columns(node)
    if isinstance(key, pd.Series | pd.Index | np.ndarray):
        return Need((wanted,))
    return Need((wanted | frozenset(key if isinstance(key, list) else [key]),))


def reindexed(node: Rowwise, wanted: Columns) -> Need:
    """Need the columns that are wanted, if all are there: others decide the types of these."""
    labels, kwargs = labels_of(node.inputs[0].meta), dict(node.kwargs)
    if wanted is None or labels is None or set(kwargs) != {"columns"}:
        return all_columns(node)
    if not set(kwargs["columns"]) <= set(labels):
        return all_columns(node)
    fewer = [label for label in kwargs["columns"] if label in wanted]
    return Need((frozenset(fewer),), {"kwargs": (("columns", fewer),)})


#: Functions of a frame that align one value per column by label.
ARITHMETIC = {
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "divmod", "div"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rdiv"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
}

#: Methods and operators whose columns are those of their operands, each computed of its own.
COLUMNWISE = {
    *ARITHMETIC,
    *("and", "or", "xor"),
    *("abs", "neg", "pos", "invert", "round", "clip", "astype", "convert_dtypes", "infer_objects"),
    *("isna", "isnull", "notna", "notnull", "fillna", "isin", "where", "mask", "replace"),
    *("rename_axis",),
}


def columnwise(node: Rowwise, wanted: Columns) -> Need:
    """Need the columns of the same labels, if nothing else is matched to columns by place."""
    if wanted is None or not _is_columnwise(node):
        return all_columns(node)
    # pandas has no value for each of no columns, as in isin().
    wanted = wanted or frozenset(node.meta.columns[:1])
    columns: list[Columns] = [
        wanted if isinstance(item.meta, pd.DataFrame) else None for item in node.inputs
    ]
    args = tuple(_fewer(arg, wanted) for arg in node.args)
    kwargs = tuple((name, _fewer(value, wanted)) for name, value in node.kwargs)
    return Need(tuple(columns), {"args": args, "kwargs": kwargs})


def _is_columnwise(node: Rowwise) -> bool:
    name = function_name(node.func).strip("_")
    labels = labels_of(node.meta)
    if labels is None or not (name in COLUMNWISE or isinstance(node.func, np.ufunc)):
        return False
    values = (*node.args, *(value for _, value in node.kwargs))
    return all(_belongs_to_columns(value, name, labels) for value in values)


def _belongs_to_columns(value: Any, name: str, labels: pd.Index) -> bool:
    """Tell whether an argument means the same for fewer columns: one column, or labelled ones."""
    if isinstance(value, Node):
        if isinstance(value.meta, pd.DataFrame):
            columns = labels_of(value.meta)
            return columns is not None and columns.equals(labels)
        return isinstance(value.meta, pd.Series) and not (is_row(value) and value.chunks)
    if isinstance(value, dict):
        return name in {"astype", "fillna", "isin"} and set(value) <= set(labels)
    if isinstance(value, list):
        return name in {"isin", "replace"}
    return value is None or np.ndim(value) == 0


def _fewer(value: Any, wanted: Labels) -> Any:
    if not isinstance(value, dict):
        return value
    return {label: item for label, item in value.items() if label in wanted}


@dataclass(frozen=True)
class RowFunction:
    """Properties of a function of rows besides its kernel."""

    columns: Callable[[Rowwise, Columns], Need] = columnwise
    """Which columns of its inputs it needs for some columns of its result."""
    label: str = ""
    """The user's name of the operation, if it is not the kernel's."""
    carry: Carrying | None = None
    """Which keys of the result have the values of a key; by default the row labels alone."""
    translation: Translation | None = None
    """How an engine computes it."""
    keeps_types: bool = False
    """Whether it changes neither values nor their types."""
    changes_labels: bool = False
    """Whether the rows get other labels."""


#: What is assumed of other functions.
OTHER = RowFunction()

#: The records of functions that have one.
RECORDS: dict[Callable[..., Any], RowFunction] = {}

Func = TypeVar("Func", bound=Callable[..., Any])


def row_function(
    columns: Callable[[Rowwise, Columns], Need], **facts: Any
) -> Callable[[Func], Func]:
    """Register what is known of a function of rows."""

    def register(func: Func) -> Func:
        RECORDS[func] = RowFunction(columns, **facts)
        return func

    return register


def record_of(func: Callable[..., Any]) -> RowFunction:
    """Return what is known of a function."""
    return RECORDS.get(func, OTHER)
