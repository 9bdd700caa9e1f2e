"""Methods of strings, times and categories equal pandas's over chunkings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

KIND = pd.CategoricalDtype(["a", "bb", "ä"])

TEXTS = {
    "cat": lambda s: s.str.cat(s, sep="-", na_rep="?"),
    "cat of a frame": lambda s: s.str.cat(s.to_frame().assign(b=s), na_rep="?"),
    "cat of an iterator": lambda s: s.str.cat(iter([s, s]), na_rep="?"),
    "center": lambda s: s.str.center(5),
    "contains": lambda s: s.str.contains("b"),
    "count": lambda s: s.str.count("b"),
    "encode": lambda s: s.str.encode("utf8"),
    "extract": lambda s: s.str.extract("(?P<x>b)(.)"),
    "findall": lambda s: s.str.findall("b"),
    "isalpha": lambda s: s.str.isalpha(),
    "join": lambda s: s.str.join("-"),
    "normalize": lambda s: s.str.normalize("NFD"),
    "pad": lambda s: s.str.pad(4, side="both"),
    "partition": lambda s: s.str.partition("b"),
    "rpartition": lambda s: s.str.rpartition("b"),
    "repeat": lambda s: s.str.repeat(2),
    "replace": lambda s: s.str.replace("b", "z"),
    "split": lambda s: s.str.split("b").str.get(0),
    "translate": lambda s: s.str.translate({97: "z"}),
}
TIMES = {
    "date": lambda t: t.dt.date,
    "day_name": lambda t: t.dt.day_name(),
    "floor": lambda t: t.dt.floor("h"),
    "isocalendar": lambda t: t.dt.isocalendar(),
    "strftime": lambda t: t.dt.strftime("%Y-%m"),
    "to_period": lambda t: t.dt.to_period("M").dt.start_time,
    "tz": lambda t: t.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin").dt.hour,
    "total_seconds": lambda t: (t - pd.Timestamp("1970-01-02")).dt.total_seconds(),
    "components": lambda t: (t - pd.Timestamp("1970-01-02")).dt.components,
}
CATEGORIES = {
    "codes": lambda c: c.cat.codes,
    "add": lambda c: c.cat.add_categories("q"),
    "rename": lambda c: c.cat.rename_categories({"a": "z"}),
    "remove": lambda c: c.cat.remove_categories("a"),
    "set": lambda c: c.cat.set_categories(["ä", "a"], ordered=True),
    "ordered": lambda c: c.cat.as_ordered(),
}
CASES = {
    **{f"str.{name}": lambda d, f=f: f(d.s) for name, f in TEXTS.items()},
    **{f"dt.{name}": lambda d, f=f: f(d.t) for name, f in TIMES.items()},
    **{f"cat.{name}": lambda d, f=f: f(d.s.astype(KIND)) for name, f in CATEGORIES.items()},
}


@draws(4)
@given(both=tables(min_rows=1))
def test_accessors_equal_pandas(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            if frame.s.notna().any():  # otherwise pandas gives fewer columns
                equal(operation(lazy), operation(frame))


def test_facts_of_the_type_are_no_columns():
    """The unit, the time zone and the categories are told at once."""
    frame = md.DataFrame(table(5))
    assert frame.t.dt.unit == frame.t.dtype.name[-3:-1]
    assert str(frame.t.dt.tz_localize("UTC").dt.tz) == "UTC"
    assert [*frame.s.astype(KIND).cat.categories] == ["a", "bb", "ä"]
    assert not frame.s.astype(KIND).cat.ordered
    assert "upper" in dir(frame.s.str)


def test_what_needs_all_rows_names_the_way_out():
    """At the call."""
    frame = md.DataFrame(table(5), chunk_size=2)
    for call, words in [
        (lambda: frame.t.dt.tz_localize("UTC", ambiguous="infer"), "ambiguous='NaT'"),
    ]:
        with pytest.raises(NotImplementedError, match=words):
            call()
    with pytest.raises(AttributeError):
        frame.k.str  # noqa: B018
    with pytest.raises(AttributeError):
        frame.s.str.nope  # noqa: B018


@pytest.mark.parametrize("name", ["remove_unused_categories", "codes", "as_ordered"])
def test_categories_that_only_running_tells(name: str) -> None:
    """Functions of ``.cat`` take what a function returns, whose types are not known before."""
    parts = [pd.DataFrame({"p": pd.Categorical([one, "b"], ["a", "b", "z"])}) for one in "ab"]
    lazy = getattr(md.from_map(parts.__getitem__, [0, 1]).p.cat, name)
    wanted = getattr(pd.concat(parts).p.cat, name)
    if name == "codes":
        pd.testing.assert_series_equal(lazy.compute(), wanted)
    else:
        pd.testing.assert_series_equal(lazy().compute(), wanted())


@pytest.mark.parametrize(("kind", "name"), [("dt", "xlabel"), ("dt", "year"), ("dt", "round")])
def test_accessors_take_no_attributes(kind: str, name: str) -> None:
    """Setting one raises pandas's error, or says that it cannot be set."""
    times = md.Series(pd.date_range("2020", periods=2))
    with pytest.raises((AttributeError, ValueError), match=r"attribute|modifications|set"):
        setattr(getattr(times, kind), name, 1)


def test_texts_stand_before_columns_of_an_array() -> None:
    """Each column is one of the texts behind."""
    texts, columns = pd.Series(["a", "b", "c"]), np.array([["d", "e"], ["f", "g"], ["h", "i"]])
    equal(md.Series(texts, chunk_size=2).str.cat(columns), texts.str.cat(columns))


#: What has the type of its rows where no row is replaced, and objects else.
BY_ROWS: dict[str, tuple[Any, Any]] = {
    "times": (
        pd.Series(pd.to_datetime(["2020-01-01", "2021-02-03"])),
        lambda s: s.where(s.notna(), 1).dt.month_name(),
    ),
    "durations": (
        pd.Series(pd.to_timedelta([1, 2], "D")),
        lambda s: s.mask(s.isna(), "x").dt.days,
    ),
    "times of numbers": (
        pd.Series(pd.to_datetime(["2020-01-01", "2021-02-03"])),
        lambda s: s.fillna(0).dt.year,
    ),
}


@pytest.mark.parametrize("rows", [2, 0])
@pytest.mark.parametrize("name", BY_ROWS)
def test_types_that_only_rows_tell(name, rows):
    """Declared as objects, they have the accessor of what they are."""
    series, program = BY_ROWS[name]
    equal(program(md.Series(series[:rows], chunk_size=1)), program(series[:rows]))


def test_types_that_rows_do_not_tell():
    """A replaced row makes objects, which have no accessor."""
    lazy = md.Series([pd.Timestamp("2020-01-01"), pd.NaT], chunk_size=1)
    with pytest.raises(AttributeError):
        _ = lazy.where(lazy.notna(), 1).dt
