"""Keys of objects: pandas infers their types of all values, also of rows in no group."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context

#: Objects among which a row without the other key tells the type.
OBJECTS: dict[str, list[Any]] = {
    "truth value": [3, 2, False, None],
    "text": [3, 4, "a", None],
    "number among texts": ["b", "a", 2, None],
    "fraction": [3, 4, 2.5, None],
    "integers": [3, 4, 5, None],
    "large": [3, 1, 2**63, None],
}
OTHERS = ["y", "x", None, "x"]

Call = Callable[[Any, Any], Any]
CALLS: dict[str, Call] = {
    "size": lambda pd, x: x.groupby(["k", "b"]).size(),
    "sum": lambda pd, x: x.groupby(["b", "k"]).v.sum(),
    "unsorted": lambda pd, x: x.groupby(["k", "b"], sort=False).v.mean(),
    "agg": lambda pd, x: x.groupby(["k", "b"]).agg({"v": ["min", "max"]}),
    "columns": lambda pd, x: x.groupby(["k", "b"], as_index=False).v.sum(),
    "reset": lambda pd, x: x.groupby(["k", "b"]).v.sum().reset_index(),
    "reset one": lambda pd, x: x.groupby(["k", "b"]).v.sum().reset_index("b"),
    "unstack": lambda pd, x: x.groupby(["k", "b"]).v.sum().unstack(),
    "unstack first": lambda pd, x: x.groupby(["k", "b"]).v.sum().unstack(0),
    "value_counts": lambda pd, x: x[["k", "b"]].value_counts(sort=False),
    "levels": lambda pd, x: x.set_index(["k", "b"]).v.groupby(level=[0, 1]).sum(),
    "pivot_table": lambda pd, x: x.pivot_table(index="k", columns="b", values="v"),
    "pivot_table rows": lambda pd, x: x.pivot_table(index="b", columns="k", values="v"),
    "pivot_table pairs": lambda pd, x: x.pivot_table(index="k", columns=["b", "c"], values="v"),
    "pivot_table size": lambda pd, x: x.pivot_table(index="k", columns="b", aggfunc="size"),
    "crosstab": lambda pd, x: pd.crosstab(x["k"], x["b"]),
    "crosstab rows": lambda pd, x: pd.crosstab(x["b"], x["k"], normalize=True),
    "crosstab pairs": lambda pd, x: pd.crosstab([x["b"], x["c"]], x["k"]),
    "crosstab margins": lambda pd, x: pd.crosstab(x["k"], x["b"], margins=True),
    "crosstab margins of rows": lambda pd, x: pd.crosstab(x["b"], x["k"], margins=True),
}


@pytest.mark.parametrize("objects", OBJECTS)
@pytest.mark.parametrize("call", CALLS)
def test_rows_in_no_group_tell_the_types_of_keys(call: str, objects: str) -> None:
    """Labels of groups, and tables of them, have the types and the order of pandas."""
    values = pd.Series(OBJECTS[objects], dtype=object)
    frame = pd.DataFrame({"k": OTHERS, "b": values, "c": [1, 2, 1, 2], "v": [1.0, 2, 3, 4]})
    reference = CALLS[call](pd, frame)
    with option_context({"coalesce": False}):
        ours = CALLS[call](md, md.DataFrame(frame, chunk_size=2)).compute()
    _check(ours, reference)


def _check(ours: Any, reference: Any) -> None:
    if isinstance(reference, pd.DataFrame):
        assert [*ours.dtypes] == [*reference.dtypes]
        _check_labels(ours.columns, reference.columns)
    _check_labels(ours.index, reference.index)
    assert str(ours.to_numpy().tolist()) == str(reference.to_numpy().tolist())


def _check_labels(ours: pd.Index, reference: pd.Index) -> None:
    assert ours.names == reference.names
    for level in range(reference.nlevels):
        own, wanted = ours.get_level_values(level), reference.get_level_values(level)
        assert own.dtype == wanted.dtype
        assert list(own) == list(wanted)


def test_objects_with_gaps_stay_objects_in_each_chunk() -> None:
    """A chunk of integers and gaps does not make floats of them, which a text makes objects."""
    frame = pd.DataFrame({"b": pd.Series([3, None, "a", 4], dtype=object), "v": 1})
    reference = frame.groupby("b", dropna=False, sort=False).v.sum()
    with option_context({"coalesce": False}):
        x = md.DataFrame(frame, chunk_size=2)
        ours = x.groupby("b", dropna=False, sort=False).v.sum().compute()
    assert list(map(type, ours.index)) == list(map(type, reference.index))
