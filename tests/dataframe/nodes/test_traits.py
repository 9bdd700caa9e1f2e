"""What traits claim holds of the values, in whatever program, cut and history."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.compilation.passes import run_passes
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.core.traits import VALUES, Level, SortKey, Traits
from marsdask.dataframe.keyed.unique import DropDuplicates
from marsdask.dataframe.ordered.sort_values import SortValues
from tests.dataframe.tables import planned
from tests.strategies import chunkings


def frame_of(rows: int, seed: int) -> pd.DataFrame:
    """Return a table of few values, some missing, zeros of both signs among them."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "k": rng.integers(-1, 3, rows),
            "f": rng.choice([np.nan, 0.0, -0.0, 1.5], rows),
            "s": pd.Series(rng.choice(np.array(["a", "b", None], object), rows), dtype="str"),
            "u": rng.permutation(rows),
        }
    )


@st.composite
def frames(draw: Any) -> tuple[pd.DataFrame, Any]:
    """Return a table and the same one lazily, cut somehow."""
    rows = draw(st.integers(0, 9))
    frame = frame_of(rows, draw(st.integers(0, 99)))
    labels = draw(st.sampled_from(["range", "sorted", "any"]))
    if labels != "range":
        values = np.random.default_rng(rows).integers(0, 6, rows)
        frame.index = pd.Index(np.sort(values) if labels == "sorted" else values)
    (sizes,) = draw(chunkings((rows,)))
    return frame, md.DataFrame(frame, chunk_size=(sizes,))


RIGHT = pd.DataFrame({"k": [0, 1, 7, 2], "w": [1.0, np.nan, 3.0, 1.0]})

#: Steps of a program, on pandas and on ours alike.
STEPS: dict[str, Callable[[Any], Any]] = {
    "sort k": lambda x: x.sort_values("k", kind="stable"),
    "sort f down": lambda x: x.sort_values(["f", "k"], ascending=[False, True], kind="stable"),
    "sort f first": lambda x: x.sort_values("f", na_position="first", kind="stable"),
    "sort s": lambda x: x.sort_values("s", kind="stable"),
    "sort u": lambda x: x.sort_values("u", ignore_index=True),
    "sort labels": lambda x: x.sort_index(kind="stable") if _is_pandas(x) else x.sort_index(),
    "filter": lambda x: x[x.k > 0],
    "head": lambda x: x.head(5),
    "every other": lambda x: x.iloc[::2],
    "backwards": lambda x: x.iloc[::-1],
    "number": lambda x: x.reset_index(drop=True),
    "label": lambda x: x.set_index("f").reset_index(),
    "groups": lambda x: x.groupby("k").max().reset_index(),
    "groups as met": lambda x: x.groupby(["f", "k"], sort=False, dropna=False).max().reset_index(),
    "groups with gaps": lambda x: x.groupby("f", dropna=False).max().reset_index(),
    "groups of two": lambda x: x.groupby(["s", "k"]).max().reset_index(),
    "distinct": lambda x: x.drop_duplicates(["k", "f"]),
    "last distinct": lambda x: x.drop_duplicates("s", keep="last"),
    "assign": lambda x: x.assign(k=x.k * -1),
    "add": lambda x: x.assign(z=x.u + 1),
    "swap": lambda x: x.rename(columns={"k": "u", "u": "k"}),
    "choose": lambda x: x[["u", "f", "k", "s"]],
    "merge": lambda x: x.merge(_like(x, RIGHT), on="k")[["k", "f", "s", "u"]],
    "merge left": lambda x: x.merge(_like(x, RIGHT), on="k", how="left")[["k", "f", "s", "u"]],
    "merge distinct": lambda x: x.merge(
        _like(x, RIGHT).drop_duplicates("k"), on="k", how="left", validate="m:1"
    )[["k", "f", "s", "u"]],
    "twice": lambda x: _module(x).concat([x, x]),
}


def _is_pandas(x: Any) -> bool:
    return isinstance(x, pd.DataFrame)


def _module(x: Any) -> Any:
    return pd if _is_pandas(x) else md


def _like(x: Any, frame: pd.DataFrame) -> Any:
    return frame if _is_pandas(x) else md.from_pandas(frame, chunk_size=3)


def values_of(value: Any, keys: Any) -> pd.DataFrame:
    """Return the values of keys as columns."""
    columns = {}
    for at, key in enumerate(keys):
        if isinstance(key, Level):
            columns[at] = value.index.get_level_values(key.number).to_series().array
        else:
            columns[at] = value.array if key == VALUES else value[key].array
    return pd.DataFrame(columns)


def check(traits: Traits, value: Any) -> None:
    """Check that all that is claimed of a computed value is true."""
    for keys in traits.unique:
        assert not values_of(value, keys).duplicated().any(), (keys, value)
    for ordering in traits.orderings:
        rows = values_of(value, [one.key for one in ordering])
        assert (
            not rows[[i for i, one in enumerate(ordering) if one.na_first is None]]
            .isna()
            .any(axis=None)
        )
        # Codes in the wanted order, what is missing before or behind: pandas sorts these.
        codes = pd.DataFrame({i: _ranks(rows[i], one) for i, one in enumerate(ordering)})
        wanted = codes.sort_values(list(codes.columns), kind="stable")
        assert list(wanted.index) == list(range(len(rows))), (ordering, value)


def _ranks(column: pd.Series, one: SortKey) -> Any:
    ranks = column.rank(method="dense", ascending=one.ascending)
    return ranks.fillna(-1 if one.na_first else len(column) + 1)


def claims_hold(lazy: Any) -> None:
    """Check what the nodes of a program claim, and that equal names are equal labels."""
    labels: dict[str, Any] = {}
    for node in Graph([lazy.node]).nodes:
        if not isinstance(node.meta, pd.DataFrame | pd.Series) or node.is_row:
            continue
        value = type(lazy)(node) if isinstance(node.meta, pd.DataFrame) else md.Series(node)
        found = value.compute()
        check(node.traits, found)
        assert labels.setdefault(node.traits.rows, found.index).equals(found.index)


@given(both=frames(), steps=st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=4))
def test_what_traits_claim_holds(both: tuple[pd.DataFrame, Any], steps: list[str]) -> None:
    """Of every node of a program, each order, each unique key and each name of rows is right."""
    wanted, lazy = both
    for step in steps:
        wanted, lazy = STEPS[step](wanted), STEPS[step](lazy)
    claims_hold(lazy)
    pd.testing.assert_frame_equal(lazy.compute(), wanted)


@given(
    both=frames(),
    steps=st.lists(st.sampled_from(list(STEPS)), min_size=2, max_size=4),
    history=st.sampled_from(["executed", "pickled"]),
)
def test_history_changes_neither_values_nor_traits(
    both: tuple[pd.DataFrame, Any], steps: list[str], history: str
) -> None:
    """What was computed on the way, or went through a pickle, is known as well as before."""
    wanted, lazy = both
    for step in steps:
        wanted, lazy = STEPS[step](wanted), STEPS[step](lazy)
        known = lazy.node.traits
        types = lazy.dtypes
        lazy.execute()
        if history == "pickled":
            lazy = pickle.loads(pickle.dumps(lazy))
        kept = known if types.equals(lazy.dtypes) else Traits(known.rows)
        assert lazy.node.traits in {known, kept}
    pd.testing.assert_frame_equal(lazy.compute(), wanted)


@given(both=frames(), steps=st.lists(st.sampled_from(list(STEPS)), min_size=1, max_size=4))
def test_claims_hold_of_what_was_shuffled(both: tuple[pd.DataFrame, Any], steps: list[str]) -> None:
    """Where every sort, merge and group-by shuffles, in memory that is too small as well."""
    _, lazy = both
    for step in steps:
        lazy = STEPS[step](lazy)
    for mode in ("shuffled", "tight"):
        with planned(mode):
            check(lazy.node.traits, lazy.compute())


SORTED = frame_of(12, 3).sort_values(["k", "u"], ignore_index=True)


def sorted_table() -> Any:
    """Return a lazy table that was sorted by ``k`` and ``u`` within the program."""
    return md.from_pandas(SORTED, chunk_size=4).sort_values(["k", "u"])


@pytest.mark.parametrize(
    "again",
    [
        lambda x: x.sort_values(["k", "u"]),
        lambda x: x.sort_values("k"),
        lambda x: x[x.u > 3].head(4).sort_values("k"),
        lambda x: x.assign(z=1).rename(columns={"k": "q"}).sort_values("q"),
        lambda x: x["k"].sort_values(),
        lambda x: x.reset_index(drop=True).sort_index(),
        lambda x: x.set_index("k").sort_index(),
        lambda x: x.drop_duplicates("f").sort_values("k"),
        lambda x: x.drop_duplicates("k").sort_values(["k", "f"]),
    ],
    ids=range(9),
)
def test_rows_in_order_are_not_sorted_again(again: Callable[[Any], Any]) -> None:
    """A sort of rows that are in its order is no work, and gives what pandas gives."""
    lazy = again(sorted_table())
    assert isinstance(lazy.node, SortValues)
    assert lazy.node.no_op is lazy.node.a
    left = run_passes(Graph([lazy.node]), Plan(workers=2)).nodes
    assert sum(isinstance(node, SortValues) for node in left) == 1
    wanted = again(SORTED)
    found = lazy.compute()
    assert found.equals(wanted)
    assert found.index.equals(wanted.index)


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x.sort_values("u"),
        lambda x: x.sort_values("k", ascending=False),
        lambda x: x.assign(k=-x.k).sort_values("k"),
        lambda x: x.rename(columns={"k": "u", "u": "k"}).sort_values("k"),
        lambda x: x.iloc[::-1].sort_values("k"),
        lambda x: x.sort_values("f").sort_values("f", na_position="first"),
    ],
    ids=range(6),
)
def test_rows_in_another_order_are_sorted(other: Callable[[Any], Any]) -> None:
    """Other keys, directions, values under the same name and places of missing values count."""
    assert other(sorted_table()).node.no_op is None


def test_a_missing_group_stands_last() -> None:
    """Groups that may have no key are in order with that one last, and in no other order."""
    groups = md.from_pandas(SORTED, chunk_size=4).groupby("f", dropna=False).max().reset_index()
    assert groups.sort_values("f").node.no_op is groups.node
    assert groups.sort_values("f", na_position="first").node.no_op is None
    check(groups.node.traits, groups.compute())


def test_distinct_rows_stay_as_they_are() -> None:
    """Groups are distinct in their keys, and in more than these."""
    groups = md.from_pandas(SORTED, chunk_size=4).groupby(["k", "f"]).sum().reset_index()
    for subset in (["f", "k"], None, ["k", "u", "f"]):
        lazy = groups.drop_duplicates(subset)
        assert lazy.node.no_op is groups.node
        left = run_passes(Graph([lazy.node]), Plan(workers=2)).nodes
        assert not any(isinstance(node, DropDuplicates) for node in left)
        wanted = SORTED.groupby(["k", "f"]).sum().reset_index().drop_duplicates(subset)
        pd.testing.assert_frame_equal(lazy.compute(), wanted)
    assert groups.drop_duplicates("k").node.no_op is None


def test_labels_in_memory_tell_of_themselves() -> None:
    """Labels in order, and different ones, are known of; missing and mixed ones are not."""

    def known(labels: Any) -> tuple[int, int]:
        frame = pd.DataFrame({"a": range(len(labels))}, index=labels)
        traits = md.from_pandas(frame).node.traits
        return len(traits.orderings), len(traits.unique)

    assert known(pd.RangeIndex(3)) == (1, 1)
    assert known(pd.RangeIndex(6, 0, -2)) == (0, 0)
    assert known([1, 2, 2]) == (1, 0)
    assert known([1, 3, 2]) == (0, 0)
    assert known([1.0, 2.0, np.nan]) == (0, 0)
    assert known(pd.to_datetime(["2026-01-01", "2026-01-02"])) == (1, 1)
    assert known(pd.Index([1, "a"], dtype=object)) == (0, 0)
    assert known(pd.CategoricalIndex(["b", "c"])) == (0, 0)


def test_columns_of_one_label_are_no_keys() -> None:
    """Which of two columns a trait would be of, nobody can say."""
    frame = sorted_table()
    twice = frame.assign(z=frame.u)[["k", "z"]].rename(columns={"z": "k"})
    assert not any(one.key == "k" for order in twice.node.traits.orderings for one in order)
