"""Values that are chosen and replaced equal pandas's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask
import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

CASES = {
    "where": lambda d: d.f.where(lambda s: s > 1, lambda s: -s),
    "mask": lambda d: d[["k", "u"]].mask(d[["k", "u"]] > 1, -1),
    "replace": lambda d: d.replace({"k": {1: 10}}),
    "replace text": lambda d: d.s.replace("a", "q"),
    "replace several": lambda d: d.k.replace([1, 2], [10, 20]),
    "replace pattern": lambda d: d.replace({"s": "^b"}, {"s": "x"}, regex=True),
    "replace in all": lambda d: d[["k", "u", "f"]].replace(1, 5),
    "replace by nothing": lambda d: d.s.replace("a", None),
}


@draws(4)
@given(both=tables(min_rows=1))
def test_values_are_replaced(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            equal(operation(lazy), operation(frame))


def test_values_of_another_object_fill_gaps():
    """Those of the same row; columns of both."""
    frame = table(9, index="labels")
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy.f.combine_first(lazy.u), frame.f.combine_first(frame.u))
    equal(lazy[["f"]].combine_first(lazy[["u"]]), frame[["f"]].combine_first(frame[["u"]]))
    mask, other = np.array([True, False, True] * 3), np.arange(9.0)
    equal(lazy.f.where(mask, other), frame.f.where(mask, pd.Series(other, frame.index)))


def test_what_is_not_supported():
    """Is refused at the call, with the way out."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    for error, words, call in [
        (NotImplementedError, "reindex", lambda: lazy.k.mask(pd.Series([True] * 4))),
        (NotImplementedError, "one by one", lambda: lazy.mask(pd.Series([True] * 5))),
        (NotImplementedError, "compute", lambda: lazy.k.replace(lazy.k, 1)),
        (ValueError, "same shape", lambda: lazy.k.where([True])),
    ]:
        with pytest.raises(error, match=words):
            call()


@draws(4)
@given(both=tables())
def test_values_among_lazy_ones(both):
    """Of a column, of labels and of a tensor; what is missing meets what is missing."""
    frame, lazy = both
    others = pd.DataFrame({"k": [2, 0, 2, 7], "s": ["a", None, "q", "bb"], "f": [0.5, None, 1, 0]})
    apart = md.DataFrame(others, chunk_size=3)
    for name in others.columns:
        equal(lazy[name].isin(apart[name]), frame[name].isin(others[name]))
        equal(lazy[~lazy[name].isin(apart[name])], frame[~frame[name].isin(others[name])])
    equal(lazy.k.isin(lazy[lazy.u > 1].k), frame.k.isin(frame[frame.u > 1].k))
    equal(lazy.k.isin(apart.index), frame.k.isin(others.index))
    equal(lazy.k.isin(apart.k.to_tensor()), frame.k.isin(others.k.to_numpy()))


@draws(6)
@given(both=tables())
def test_cells_are_chosen_and_clipped(both):
    """By a frame of booleans, and by bounds that are lazy."""
    frame, lazy = (one[["k", "f"]] for one in both)
    equal(lazy[lazy > 0], frame[frame > 0])
    equal(lazy.clip(upper=lazy.f.mean()), frame.clip(upper=frame.f.mean()))
    equal(lazy.f.clip(lazy.f.min(), lazy.f.mean()), frame.f.clip(frame.f.min(), frame.f.mean()))
    with pytest.raises(TypeError, match="Boolean array expected for the condition, not int64"):
        lazy[lazy]


@pytest.mark.parametrize("name", ["where", "mask"])
@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": 0}])
def test_a_value_for_each_column(name, options):
    """In a list, as in pandas whatever the axis is."""
    frame = table(7)[["k", "u"]]
    lazy = md.DataFrame(frame, chunk_size=3)
    equal(
        getattr(lazy, name)(lazy > 1, [7, 8], **options),
        getattr(frame, name)(frame > 1, [7, 8], **options),
    )
    with pytest.raises(ValueError, match="2 values"):
        getattr(lazy, name)(lazy > 1, [7, 8, 9], **options)


def test_lazy_values_fill_columns():
    """Some columns of a dict, others by values in memory."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(
        lazy.fillna({"f": lazy.f.max(), "s": "none", "no": 1}),
        frame.fillna({"f": frame.f.max(), "s": "none", "no": 1}),
    )
    with pytest.raises(NotImplementedError, match="compute"):
        lazy.f.fillna({0: lazy.f.max()})


THIRD = np.array([False, False, True, False])
NUMBERS = pd.Series([1, 2, 3, 4])
DATES = pd.Series(pd.to_datetime(["2000", "2001", "NaT", "2003"]))
#: Objects, and what changes them in place: their columns refuse values of other types.
IN_PLACE: dict[str, tuple[Any, Any]] = {
    "fraction among integers": (NUMBERS, lambda s: s.mask(THIRD, 1.5, inplace=True)),
    "whole number among integers": (NUMBERS, lambda s: s.mask(THIRD, 9.0, inplace=True)),
    "fraction that is not put": (NUMBERS, lambda s: s.mask(s > 4, 1.5, inplace=True)),
    "gap among integers": (NUMBERS, lambda s: s.where(~THIRD, inplace=True)),
    "gap among booleans": (NUMBERS > 2, lambda s: s.where(~THIRD, inplace=True)),
    "large among small": (NUMBERS.astype("i1"), lambda s: s.mask(THIRD, 300, inplace=True)),
    "text among integers": (NUMBERS, lambda s: s.mask(s > 2, "x", inplace=True)),
    "computed fractions": (NUMBERS, lambda s: s.mask(s > 2, lambda t: t / 2, inplace=True)),
    "number among dates": (DATES, lambda s: s.fillna(3, inplace=True)),
    "no gap to fill": (NUMBERS, lambda s: s.fillna("x", inplace=True)),
    "text in a column": (DATES.to_frame("d"), lambda d: d.fillna({"d": "x"}, inplace=True)),
    "bounds of another type": (NUMBERS, lambda s: s.clip(1.5, inplace=True)),
    "bounds that are whole": (NUMBERS, lambda s: s.clip(2.0, inplace=True)),
    "lazy bounds": (NUMBERS, lambda s: s.clip(s.mean(), inplace=True)),
    "some columns": (table(4)[["k", "f"]], lambda d: d.mask(d > 1, 1.5, inplace=True)),
}


def changed(case, obj):
    """Return an object that was changed in place."""
    IN_PLACE[case][1](obj)
    return obj


@pytest.mark.parametrize("coalesce", [True, False])
@pytest.mark.parametrize("case", IN_PLACE)
@pytest.mark.filterwarnings("ignore:.* is not supported as a fill value")
def test_columns_keep_their_types_in_place(case, coalesce):
    """What a column cannot hold is an error, when it is put at the latest."""
    start = IN_PLACE[case][0]
    with marsdask.option_context({"coalesce": coalesce}):
        lazy = (md.DataFrame if start.ndim == 2 else md.Series)(start, chunk_size=2)
        try:
            expected = changed(case, start.copy())
        except TypeError as error:
            text = re.escape(str(error).split(" for ")[0])
            with pytest.raises(TypeError, match=text):
                changed(case, lazy).execute()
        else:
            equal(changed(case, lazy), expected)


NUMBERS = pd.Series([5, 6, 7, 8])
GAPS = pd.Series([1.0, 2, np.nan, 4])
MASKED = pd.Series([1, 2, pd.NA, 4], dtype="Int64")

#: What replaces numbers: a missing one decides the type, also if it replaces none.
REPLACED: dict[str, tuple[Any, Any, Any]] = {
    "masked": (NUMBERS, MASKED, lambda x, y: x.where(x != 6, y)),
    "gaps": (NUMBERS, GAPS, lambda x, y: x.mask(x == 6, y)),
    "fractions": (NUMBERS, GAPS.fillna(0.5), lambda x, y: x.where(x != 6, y)),
    "whole": (NUMBERS, GAPS.fillna(3), lambda x, y: x.where(x != 6, y)),
    "nothing": (NUMBERS, GAPS, lambda x, y: x.where(x != 66, y)),
    "large": (NUMBERS.astype("int8"), GAPS.fillna(999), lambda x, y: x.where(x != 6, y)),
    "floats": (NUMBERS.astype("float64"), MASKED, lambda x, y: x.where(x != 6, y)),
    "columns": (NUMBERS.to_frame("a"), MASKED, lambda x, y: x.where(x != 6, y, axis=0)),
    "upper": (NUMBERS, GAPS, lambda x, y: x.clip(upper=y)),
    "lower": (NUMBERS, GAPS, lambda x, y: x.clip(lower=y)),
    "both": (NUMBERS, GAPS, lambda x, y: x.clip(lower=y, upper=y + 1)),
    "no bound": (NUMBERS, MASKED * pd.NA, lambda x, y: x.clip(upper=y)),
    "frame": (NUMBERS.to_frame("a"), GAPS, lambda x, y: x.clip(upper=y, axis=0)),
    "refused": (NUMBERS, MASKED, lambda x, y: x.clip(upper=y)),
    "refused of masked": (MASKED, MASKED, lambda x, y: x.clip(upper=y)),
    "refused of a frame": (NUMBERS.to_frame("a"), MASKED, lambda x, y: x.clip(y, axis=0)),
}


@pytest.mark.parametrize("rows", [1, 2])
def test_all_replacements_decide_the_type(rows):
    """Each chunk has the type of all rows, or raises what pandas raises for all."""
    with option_context({"coalesce": False}):
        for name, (values, others, program) in REPLACED.items():
            kind = md.Series if values.ndim == 1 else md.DataFrame
            lazy: Any = kind(values, chunk_size=rows), md.Series(others, chunk_size=rows)
            if name.startswith("refused"):
                with pytest.raises(TypeError, match="Invalid value"):
                    program(*lazy).compute()
                continue
            equal(program(*lazy), program(values, others))


def test_intervals_without_a_value():
    """Whether a missing value is given decides what pandas makes of intervals of integers."""
    intervals = pd.Series(pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3]))
    lazy, first = md.Series(intervals, chunk_size=1), pd.Interval(0, 1)
    equal(lazy.mask(lazy == first), intervals.mask(intervals == first))
    equal(lazy.where(lazy != first), intervals.where(intervals != first))
    equal(lazy.mask(lazy == first, np.nan), intervals.mask(intervals == first, np.nan))


#: Replacements of texts by values of other types: pandas computes with the new ones.
NEW_TYPES: dict[str, Any] = {
    "dict": lambda d: d.s.replace({"x": 1, "y": 2}) + 1,
    "mean": lambda d: d.s.replace({"x": 1, "y": 2}).mean(),
    "lists": lambda d: d.s.replace(["x", "y"], [1.5, 2]).std(),
    "column": lambda d: d.replace({"s": {"x": 1, "y": 2}}).s * 2,
    "frame": lambda d: d.replace({"x": 1, "y": 2})["s"].rename("z") - d.k,
    "nothing": lambda d: d.s.replace("z", 1),
}


@pytest.mark.parametrize("name", NEW_TYPES)
def test_texts_become_values_of_other_types(name):
    """The type that is announced allows what pandas computes of them."""
    frame = pd.DataFrame({"k": [1, 2, 3], "s": ["x", "y", "x"]})
    equal(NEW_TYPES[name](md.DataFrame(frame, chunk_size=2)), NEW_TYPES[name](frame))


def test_replacements_of_rows_chosen_of_an_unknown_number():
    """Tell the type of all, though it is not known before that they are several chunks."""
    frame = pd.DataFrame({"k": [1, 2, 0, 3], "n": [1.5, 2, 3, 4]})
    with option_context({"coalesce": False}):
        rows = md.DataFrame(frame, chunk_size=1).query("k > 0").iloc[0:3]
        wanted = frame.query("k > 0").iloc[0:3]
        equal(rows.k.mask(rows.k > 2, rows.n), wanted.k.mask(wanted.k > 2, wanted.n))
        equal(rows.k.where(rows.k > 1, rows.n), wanted.k.where(wanted.k > 1, wanted.n))


MIXED = pd.DataFrame(
    {
        "i": [1, 2, 3],
        "f": [1, None, 2.5],
        "t": pd.to_datetime(["2020", "2021", "2022"]),
        "s": ["a", "b", "c"],
    }
)
LAZY_SCALARS: dict[str, Any] = {
    "where": lambda d: d.i.where(d.i > 1, d.f.mean()),
    "mask": lambda d: d.i.mask(d.i > 1, d.f.mean()),
    "mask of none": lambda d: d.i.mask(d.i > 9, d.f.mean()),
    "clip": lambda d: d.i.clip(lower=d.f.mean()),
    "times": lambda d: d.t.where(d.i > 1, d.t.max()),
    "texts": lambda d: d.s.where(d.i > 1, d.s.min()),
    "integers": lambda d: d.i.where(d.i > 1, d.i.max()),
}


@pytest.mark.parametrize("name", LAZY_SCALARS)
def test_lazy_scalars_declare_the_type_that_they_may_give(name):
    """A mean is no integer, though the sum of a sample may be; a latest time is a time."""
    expected = LAZY_SCALARS[name](MIXED)
    result = LAZY_SCALARS[name](md.DataFrame(MIXED, chunk_size=2))
    equal(result, expected)
    values = result.values.compute()
    assert values.dtype == expected.values.dtype
    assert list(values) == list(expected.values)


#: Arrays without an axis are scalars.
WITHOUT_AXES: dict[str, Any] = {
    "clip": lambda d: d.clip(lower=np.array(2)),
    "where": lambda d: d.where(d > 1, np.array(0)),
    "mask": lambda d: d.mask(d > 1, np.array(0)),
    "round": lambda d: round(d / 3, 1),
}


@pytest.mark.parametrize("name", WITHOUT_AXES)
def test_arrays_without_axes(name):
    """Series take them as their values."""
    series = pd.Series([1, 2, 3])
    equal(WITHOUT_AXES[name](md.Series(series, chunk_size=2)), WITHOUT_AXES[name](series))


@pytest.mark.parametrize("name", ["where", "mask"])
@pytest.mark.parametrize("value", [[9.5], (9.5,), np.array([9.5]), pd.Index([9.5])], ids=repr)
def test_lists_of_one_value(name: str, value: Any) -> None:
    """It replaces all values, unless the condition has one row, too."""
    for count in (1, 4):
        series = pd.Series(np.arange(float(count)))
        lazy = md.Series(series, chunk_size=3)
        for cond in ([True, False, True, True][:count], (series > 1).to_numpy()):
            equal(getattr(lazy, name)(cond, value), getattr(series, name)(cond, value))
        equal(getattr(lazy, name)(lazy > 1, value), getattr(series, name)(series > 1, value))
    with pytest.raises(ValueError, match="same shape"):
        getattr(lazy, name)([True], value)
