"""Merges equal pandas's over chunkings, by broadcast and by shuffle."""

from __future__ import annotations

import itertools
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.sizes import upper
from marsdask.dataframe.keyed.merge import MergeOptions, common_type
from marsdask.dataframe.keyed.shuffle import places_of
from marsdask.dataframe.nodes import traits
from tests.dataframe.tables import equal, filtered, planned, table, tables
from tests.strategies import draws
from tests.tensor.stages import first_graph

HOWS = ["left", "right", "inner", "outer"]


def right_side(rows=9):
    """Return a table with some keys of the left one, each once or twice."""
    return pd.DataFrame({"k": [1, 0, 7, 1, -2, 2, 8, 9, 0][:rows], "v": np.arange(rows) * 1.5})


def canonical(frame):
    """Return the rows in an order that is theirs alone."""
    return frame.sort_values(list(frame.columns), ignore_index=True)


@pytest.mark.parametrize("how", HOWS)
@given(both=tables())
def test_merges_equal_pandas(how, both):
    """Of small sides, rows come in pandas's order, numbered anew."""
    frame, lazy = both
    right = right_side()
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(
            e.merge(md.DataFrame(right, chunk_size=4), on="k", how=how),
            d.merge(right, on="k", how=how),
        )


@pytest.mark.parametrize("how", HOWS)
@given(both=tables(), mode=st.sampled_from(["shuffled", "tight"]))
def test_shuffled_merges_have_pandas_rows(how, both, mode):
    """Of large sides the order is another one, the rows and their numbers are the same."""
    frame, lazy = both
    right = right_side()
    with planned(mode):
        found = lazy.merge(md.DataFrame(right, chunk_size=4), on="k", how=how).compute()
    wanted = frame.merge(right, on="k", how=how)
    assert found.index.equals(pd.RangeIndex(len(wanted)))
    # A column of an unmatched side without any rows left has no type of its own.
    pd.testing.assert_frame_equal(canonical(found), canonical(wanted), check_dtype=len(frame) > 0)


@given(both=tables(min_rows=1))
def test_keys_of_other_names_types_and_places(both):
    """Keys by two names, floats that equal integers, labels, suffixes and the origin."""
    frame, lazy = (side.assign(q=side.k * 1.0) for side in both)
    right = right_side().rename(columns={"v": "u"})
    other = md.DataFrame(right, chunk_size=4)
    for mode in ("as it comes", "shuffled"):
        with planned(mode):
            options = {"left_on": "q", "right_on": "k", "suffixes": ("", "_r")}
            found = lazy.merge(other, how="inner", **options).compute()
            wanted = frame.merge(right, how="inner", **options)
            pd.testing.assert_frame_equal(canonical(found), canonical(wanted))
    labels = right.drop_duplicates("k").set_index("k")
    lazy_labels = md.DataFrame(labels, chunk_size=4)
    equal(
        lazy.merge(lazy_labels, left_on="k", right_index=True, suffixes=("", "_r"), how="left"),
        frame.merge(labels, left_on="k", right_index=True, suffixes=("", "_r"), how="left"),
    )
    equal(
        lazy.merge(other, on="k", how="outer", indicator=True),
        frame.merge(right, on="k", how="outer", indicator=True),
    )


@draws(4)
@given(both=tables(), mode=st.sampled_from(["as it comes", "shuffled"]))
def test_sorted_and_half_merges(both, mode):
    """Sorted merges have pandas's order however large the sides are; a semi join repeats no row."""
    frame, lazy = both
    right = right_side().rename(columns={"k": "q"})
    other = md.DataFrame(right, chunk_size=4)
    with planned(mode):
        for how in ("left", "right", "inner"):
            options: Any = {"left_on": "k", "right_on": "q", "how": how, "sort": True}
            equal(lazy.merge(other, **options), frame.merge(right, **options))
        for how in ("left_anti", "right_anti") if mode != "shuffled" else ():
            options = {"left_on": "k", "right_on": "q", "how": how, "indicator": True}
            equal(lazy.merge(other, **options), frame.merge(right, **options))
        found = lazy.merge(other, left_on="k", right_on="q", how="leftsemi", sort=True)
        wanted = frame[frame.k.isin(right.q)].sort_values("k", kind="stable", ignore_index=True)
        equal(found, wanted)


NUMBERS = [None, *range(1, 20)]
TYPES = ["f8", "Int64", "Float64", "int64[pyarrow]", "double[pyarrow]", "category", "object"]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(TYPES, 2)))
def test_equal_numbers_of_unlike_types_meet(one, other):
    """However they are stored, they are sent to the same part of a shuffle."""
    sides = [pd.Series(NUMBERS, dtype=kind).rename(0).to_frame() for kind in (one, other)]
    cast = common_type(*(side[0].dtype for side in sides))
    places = [places_of(side, [cast], 10) for side in sides]
    assert np.array_equal(*places)
    assert len(set(places[0])) > 3


@given(both=tables())
def test_products(both):
    """All pairs of rows, in pandas's order however large the sides are."""
    frame, lazy = both
    right = right_side()
    for mode in ("as it comes", "shuffled"):
        with planned(mode):
            found = lazy.merge(md.DataFrame(right, chunk_size=4), how="cross")
            equal(found, frame.merge(right, how="cross"))


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
@pytest.mark.parametrize("how", ["inner", "outer"])
@pytest.mark.parametrize("validate", ["1:1", "1:m", "m:1", "m:m"])
def test_repeated_keys_are_told_as_pandas_does(validate, how, mode):
    """Also where the repetitions lie in different chunks."""
    once, twice = pd.DataFrame({"k": [1, 2, 3, 4]}), pd.DataFrame({"k": [1, 2, 3, 1]})
    with planned(mode):
        for left, right in ((once, once), (once, twice), (twice, once), (twice, twice)):
            lazy = md.DataFrame(left, chunk_size=1).merge(
                md.DataFrame(right, chunk_size=2), on="k", how=how, validate=validate
            )
            fits = [
                side is once or number == "m"
                for side, number in zip((left, right), validate.split(":"), strict=True)
            ]
            if all(fits):
                assert len(lazy) == len(left.merge(right, on="k", how=how))
            else:
                with pytest.raises(pd.errors.MergeError, match="not unique"):
                    lazy.execute()


@given(both=tables(min_rows=1))
def test_merged_rows_are_grouped(both):
    """What follows a merge sees its rows, whatever their numbers are."""
    frame, lazy = both
    right = right_side()
    found = lazy.merge(md.DataFrame(right, chunk_size=4), on="k").groupby("s").v.sum()
    equal(found, frame.merge(right, on="k").groupby("s").v.sum())


def test_refused_at_the_call():
    """Keys that are not there, and what is not supported."""
    lazy = md.DataFrame(table(5))
    with pytest.raises(KeyError):
        lazy.merge(lazy, on="nope")
    with pytest.raises(NotImplementedError, match="sort_values"):
        lazy.merge(lazy, left_on="k", right_on="u", how="outer", sort=True)
    with pytest.raises(NotImplementedError, match="reset_index"):
        lazy.merge(lazy, left_on="k", right_index=True, how="leftsemi")
    with pytest.raises(NotImplementedError, match="reset_index"):
        lazy.set_index("k").merge(lazy, on="k")
    with pytest.raises(ValueError, match="zz"):
        lazy.merge(lazy, on="k", how="zz")
    with pytest.raises(ValueError, match="zz"):
        lazy.merge(lazy, on="k", validate="zz")
    with pytest.raises(ValueError, match="suffix"):
        lazy.merge(lazy, on="k", suffixes=("", ""))
    with pytest.raises(pd.errors.MergeError, match="Can not pass on"):
        lazy.merge(lazy, on="k", how="cross")
    with pytest.raises(TypeError, match="marsdask"):
        lazy.merge([1], on="k")


def test_partners_that_are_one_at_most_bound_the_rows():
    """A merge with a side of distinct keys has as many rows as the other side, or fewer."""
    frame, right = table(12), right_side()
    lazy, other = md.DataFrame(frame, chunk_size=4), md.DataFrame(right)
    distinct = other.drop_duplicates("k")
    for how, side, bounds in [
        ("left", distinct, {4}),
        ("inner", distinct, {4}),
        ("left", other, {None}),
        ("outer", distinct, {None}),
    ]:
        sizes = lazy.merge(side, on="k", how=how).node.chunks[0]
        assert {*map(upper, sizes)} == bounds
    wanted = frame.merge(right.drop_duplicates("k"), on="k", how="left")
    equal(lazy.merge(distinct, on="k", how="left"), wanted)
    other_types = md.DataFrame(right.assign(k=right.k * 1.0)).drop_duplicates("k")
    assert {*map(upper, lazy.merge(other_types, on="k").node.chunks[0])} == {None}


def test_keys_known_to_be_distinct_are_not_validated():
    """A side that is known to have each key once may be spread; others are checked as a whole."""
    frame, right = table(12), right_side()
    lazy = md.DataFrame(frame, chunk_size=4)
    known = lazy.drop_duplicates("k")
    merged: Any = known.merge(md.DataFrame(right), on="k", validate="1:m")
    assert merged.node.a._told.validate is None
    equal(merged, frame.drop_duplicates("k").merge(right, on="k", validate="1:m"))
    unknown: Any = lazy.merge(md.DataFrame(right), on="k", validate="m:1")
    assert unknown.node.a._told.validate == "m:1"
    with pytest.raises(pd.errors.MergeError):
        unknown.compute()


def test_a_merge_asks_once_which_keys_are_unique(monkeypatch):
    """And the types of equal frames are read once, however many merges plan with them."""
    asked = mock.create_autospec(MergeOptions.keys, side_effect=MergeOptions.keys)
    read = mock.Mock(side_effect=traits._dtypes)
    monkeypatch.setattr(MergeOptions, "keys", asked)
    monkeypatch.setattr(traits, "_dtypes", read)
    lazy = md.DataFrame(right_side(), chunk_size=4)
    merges = 8
    for _ in range(merges):
        lazy = lazy.merge(lazy[["k"]].drop_duplicates(), on="k")
    first_graph(lazy)
    nodes = 4  # as called, with chunks coalesced, with few columns, without numbers below others
    types = 3  # those of equal frames are found once
    assert merges <= asked.call_count <= nodes * merges + types
    assert 0 < read.call_count <= 3


def test_few_rows_merge_with_few_chunks():
    """The chunks that meet a tiny frame are never cut to its size."""
    lazy = md.from_pandas(pd.DataFrame({"k": np.arange(2000), "v": 1.0}), chunk_size=500)
    rows = md.DataFrame({"k": [7, 1500], "w": [1, 2]}, chunk_size=1)
    found = lazy[lazy.v > 0].merge(rows[rows.w > 0], on="k").persist()
    assert len(found.chunks[0]) <= 4


#: Keys of which pandas looks at the values, or refuses an empty side.
UNLIKE_KEYS = {
    "floats and objects": (pd.Series([1.0, 2, 3]), pd.Series([1, 2.0, 4], dtype=object)),
    "floats and missing objects": (pd.Series([1.0, 2, 3]), pd.Series([1, None, 2], dtype=object)),
    "integers and objects": (pd.Series([1, 2, 3]), pd.Series([1, None, 2], dtype=object)),
    "unsigned and masked": (pd.Series([1, 2, 3], dtype="uint64"), pd.array([1, 1, 0], "Int64")),
}


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("name", UNLIKE_KEYS)
def test_keys_of_unlike_types(name, how, mode):
    """Whatever the values of a chunk are."""
    left = pd.DataFrame({"k": UNLIKE_KEYS[name][0], "x": [1, 2, 3]})
    right = pd.DataFrame({"k": UNLIKE_KEYS[name][1], "y": [1, 2, 3]})
    for one, other in ((left, right), (right, left)):
        wanted = one.merge(other, on="k", how=how)
        with planned(mode):
            lazy = md.DataFrame(one, chunk_size=1).merge(md.DataFrame(other, chunk_size=2), how=how)
            found = lazy.compute()
        by = ["x", "y"]
        pd.testing.assert_frame_equal(
            found.sort_values(by, ignore_index=True), wanted.sort_values(by, ignore_index=True)
        )


def test_numbers_and_texts_do_not_merge():
    """Of objects only the values tell."""
    numbers = md.DataFrame({"k": [1.0, 2.0]})
    texts = md.DataFrame(pd.DataFrame({"k": pd.Series(["a", "b"], dtype=object)}))
    with pytest.raises(ValueError, match="trying to merge on float64 and object"):
        numbers.merge(texts).compute()


@pytest.mark.parametrize("how", ["left_anti", "right_anti"])
def test_sorted_rows_without_a_match(how):
    """They have the numbers that pandas gives them: among all sorted rows."""
    left = pd.DataFrame({"k": [3, 1, 2, 5, 4], "x": range(5)})
    right = pd.DataFrame({"k": [1, 6, 5, 0], "y": range(4)})
    wanted = left.merge(right, on="k", how=how, sort=True)
    lazy = md.DataFrame(left, chunk_size=2)
    equal(lazy.merge(md.DataFrame(right, chunk_size=2), on="k", how=how, sort=True), wanted)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("zones", [("UTC", "Europe/Berlin"), ("Asia/Tokyo", "UTC")], ids=str)
def test_keys_of_different_zones(how, zones):
    """Times of the result have the left zone in all chunks, also where no row has a match."""
    times = pd.DatetimeIndex(["2024-03-10 10:00", "2024-03-11", "2024-03-12"], tz="UTC")
    left = pd.DataFrame({"t": times[:2].tz_convert(zones[0]), "a": [1, 2]})
    right = pd.DataFrame({"t": times[1:].tz_convert(zones[1]), "b": [1, 2]})
    lazy_left, lazy_right = (md.DataFrame(one, chunk_size=1) for one in (left, right))
    found = lazy_left.merge(lazy_right, on="t", how=how)
    equal(found, left.merge(right, on="t", how=how))
    assert str(found.node.meta["t"].dt.tz) == zones[0]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_types_of_chosen_rows(how):
    """Columns that an earlier merge has filled have the type of all its rows."""
    left = pd.DataFrame({"k": range(4)})
    right = pd.DataFrame({"k": [1, 2], "v": [5, 6]})
    wanted = left.merge(right, how="left")
    with option_context({"coalesce": False}):
        lazy = md.DataFrame(right, chunk_size=1)
        rows = md.DataFrame(left, chunk_size=1).merge(lazy, how="left")
        equal(rows.merge(lazy, how=how, on="k"), wanted.merge(right, how=how, on="k"))
        equal(lazy.merge(rows, how=how, on="k"), right.merge(wanted, how=how, on="k"))
        masked = right.astype({"v": "Int64"})
        parts = md.concat([rows, md.DataFrame(masked)])
        whole = pd.concat([wanted, masked])
        equal(parts.merge(lazy, how=how, on="k"), whole.merge(right, how=how, on="k"))


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("label", ["a", "m", "u"])
def test_labels_of_one_side(label, how):
    """Labels are those of the side of columns; keys are a column if both sides have their name."""
    left = pd.DataFrame({label: [1.0, 2.0]}, pd.Index([1, 2], dtype="Int64", name="m"))
    right = pd.DataFrame({"m": [1, 2], "u": 5}, pd.date_range("2024", periods=2, name="t"))
    both = [md.DataFrame(frame, chunk_size=1) for frame in (left, right)]
    wanted = left.merge(right, left_index=True, right_on="m", how=how)
    lazy = both[0].merge(both[1], left_index=True, right_on="m", how=how)
    assert [*lazy.columns] == [*wanted.columns]
    equal(lazy.reset_index(), wanted.reset_index())
    wanted = right.merge(left, left_on="m", right_index=True, how=how)
    lazy = both[1].merge(both[0], left_on="m", right_index=True, how=how)
    assert [*lazy.columns] == [*wanted.columns]
    equal(lazy.reset_index(), wanted.reset_index())


@pytest.mark.parametrize(("value", "reads_all"), [(1.5, False), ("x", False), (1, True)])
def test_head_reads_what_its_types_need(value: Any, reads_all: bool) -> None:
    """Whether a row has no match decides about the types of numbers and truth values only."""
    left = pd.DataFrame({"k": range(6), "a": 1})

    def guarded(block: Any) -> Any:
        if (block.k > 3).any():
            raise ZeroDivisionError("the last chunk was read")
        return block

    with option_context({"coalesce": False}):
        lazy = md.DataFrame(left, chunk_size=2).map_partitions(guarded, meta=left)
        right = md.DataFrame(pd.DataFrame({"k": range(6), "v": value}))
        joined = lazy.merge(right, on="k", how="left")
        if reads_all:
            with pytest.raises(ZeroDivisionError, match="last chunk"):
                joined.head(2).compute()
        else:
            assert joined.head(2).compute().v.tolist() == [value] * 2


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", "bool"])
def test_objects_beside_no_rows(dtype, how):
    """A side without rows takes keys of any type: none become objects."""
    for objects, numbers in ((0, 2), (2, 0)):
        left = pd.DataFrame({"k": pd.Series([1, 2][:objects], dtype=object), "v": range(objects)})
        keys = pd.Series([1, 3][:numbers], dtype=dtype)
        right = pd.DataFrame({"k": keys, "m": keys})
        ways: list[dict[str, Any]] = [{"on": "k"}, {"left_on": "k", "right_on": "m"}]
        for on in ways:
            lazy = md.DataFrame(left, chunk_size=1), md.DataFrame(right, chunk_size=1)
            equal(lazy[0].merge(lazy[1], how=how, **on), left.merge(right, how=how, **on))


#: Row labels of several types.
LABELS: dict[str, pd.Index] = {
    "truth values": pd.Index([True, False], name="b"),
    "integers": pd.Index([1, 0]),
    "short integers": pd.Index([1, 0], dtype="int8"),
    "floats": pd.Index([1.5, 0]),
    "masked integers": pd.Index([1, 2], dtype="Int64"),
    "objects": pd.Index([1, "a"], dtype=object),
    "texts": pd.Index(["a", "b"]),
    "categories": pd.CategoricalIndex(["a", "b"]),
    "times": pd.date_range("2020", periods=2),
}


@pytest.mark.filterwarnings("ignore:.*sort order is undefined")
@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("one", LABELS)
def test_types_of_joined_labels(one: str, how: Any) -> None:
    """They are declared as pandas joins labels of two types, and become columns of their type."""
    left = pd.DataFrame({"a": [1, 2]}, LABELS[one])
    for labels in LABELS.values():
        right = pd.DataFrame({"v": [1, 2]}, labels)
        lazy: Any = md.DataFrame(left).join(md.DataFrame(right), how=how)
        try:
            wanted = left.join(right, how=how)
        except TypeError:  # labels that are in no order
            continue
        assert lazy.node.meta.index.dtype == wanted.index.dtype
        equal(lazy.reset_index(), wanted.reset_index())


#: What is made of columns whose types depend on whether each row has a match.
OF_MATCHES: dict[str, Any] = {
    "repeat": lambda d: d.c.repeat(2),
    "explode": lambda d: d.explode("c"),
    "explode a column": lambda d: d.c.explode(),
    "melt beside": lambda d: d.melt(id_vars=["c", "i"], value_vars=["k"]),
    "melt": lambda d: d.melt(id_vars="k", value_vars=["c", "b"]),
    "melt of several types": lambda d: d.melt(id_vars="c", value_vars=["b", "i"]),
    "select_dtypes": lambda d: d.select_dtypes("bool"),
    "select_dtypes, others": lambda d: d.select_dtypes(exclude="int64"),
    "sum": lambda d: d.sum(numeric_only=True),
    "mean": lambda d: d.mean(numeric_only=True),
    "corr": lambda d: d.corr(numeric_only=True),
    "any": lambda d: d.any(bool_only=True),
    "rank": lambda d: d.rank(numeric_only=True),
    "idxmax": lambda d: d.drop(columns=["s"]).idxmax(axis=1),
    "agg": lambda d: d.agg(["max", "min"]),
    "describe": lambda d: d.describe(exclude="number"),
    "get_dummies": lambda d: (md if isinstance(d, md.DataFrame) else pd).get_dummies(d),
    "quantile": lambda d: d[["i", "k"]].quantile([0.2, 0.5], interpolation="lower"),
}
#: Some of the rows, which decide about types as well.
CHOSEN: dict[str, Any] = {
    "all": lambda d: d,
    "mask": lambda d: d[d.k < 3],
    "mask and columns": lambda d: d.loc[d.k < 3, ["k", "c", "b", "s", "i"]],
    "first": lambda d: d.iloc[:2],
}


@pytest.mark.parametrize("name", OF_MATCHES)
@pytest.mark.parametrize("keys", [[1, 2, 3], [1, 2]])
def test_truth_values_of_all_matches(name, keys):
    """Truth values are objects, and integers floats, only if a row has no match."""
    columns = {"k": [1, 2, 3, 3], "b": [True, False, True, True], "s": list("abca")}
    left = pd.DataFrame(columns)
    right = pd.DataFrame({"k": keys, "c": True, "i": 7})
    call, chunk_sizes = OF_MATCHES[name], itertools.cycle((1, 4, 2))
    hows: Any = ("left", "outer") if name != "idxmax" or len(keys) > 2 else ()
    ways: Any = itertools.product(hows, CHOSEN.values())
    for how, choose in itertools.islice(ways, len(name) % 2, None, 2):
        wanted = call(choose(left.merge(right, how=how)))
        chunk_size = next(chunk_sizes)
        lazy, other = (md.DataFrame(side, chunk_size=chunk_size) for side in (left, right))
        with option_context({"coalesce": chunk_size > 1}):
            equal(call(choose(lazy.merge(other, how=how))), wanted)
