"""How often values and rows occur equals pandas's, in pandas's order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, same, table, tables
from tests.strategies import draws

#: What is called of a table, with two truths.
CALLS = {
    "numbers": lambda d, a, b: d.k.value_counts(sort=a, dropna=b),
    "gaps": lambda d, a, b: d.f.value_counts(ascending=a, dropna=b),
    "texts": lambda d, a, b: d.s.value_counts(normalize=a, dropna=b),
    "times": lambda d, a, b: d.t.value_counts(normalize=a, sort=b),
    "bins": lambda d, a, b: d.f.value_counts(bins=3, normalize=a, sort=b),
    "bins of one number": lambda d, a, b: (d.k * 0 + 1).value_counts(bins=2, normalize=a, sort=b),
    "some bins": lambda d, a, b: d.u.value_counts(bins=[-1, 2, 4, 20], ascending=a, sort=b),
    "bins without values": lambda d, a, b: d.u.value_counts(bins=[50, 60], dropna=b, sort=a),
    "rows": lambda d, a, b: d[["k", "s"]].value_counts(normalize=a, dropna=b),
    "rows by columns": lambda d, a, b: d.value_counts(["b", "f"], ascending=a, sort=b),
    "rows by a column": lambda d, a, b: d.value_counts("s", dropna=a),
    "rows by a list": lambda d, a, b: d.value_counts(["f"], normalize=b, dropna=a),
    "modes": lambda d, a, b: d.f.mode(dropna=b),
    "modes of text": lambda d, a, b: d.s.mode(a),
    "modes of columns": lambda d, a, b: d.mode(numeric_only=a, dropna=b),
}


@draws(14)
@given(
    both=tables(min_rows=2),
    what=st.sampled_from(sorted(CALLS)),
    flags=st.tuples(st.booleans(), st.booleans()),
    mode=st.sampled_from(["as it comes", "tight"]),
)
def test_counts(both, what, flags, mode):
    """Equal counts stand in the order in which values are met."""
    frame, lazy = both
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            if len(d) and (what != "bins" or d.f.notna().any()):
                same(lambda x: CALLS[what](x, *flags), e, d)


@pytest.mark.parametrize("dropna", [False, True])
@pytest.mark.parametrize(
    "series",
    [
        pd.Series([3, None, 1, 3, 3, None], dtype="Int64"),
        pd.Series([None, np.nan, "a", pd.NaT, None, 1, pd.NA, "a"], dtype=object),
        pd.Series(pd.Categorical(["b", None, "a", "b"], ["z", "a", "b"], ordered=True), name="c"),
        pd.Series([True, False, True]),
        pd.Series([1.5, 2.5, 1.5], dtype="f4", name="x"),
        pd.Series(pd.to_datetime(["2024-01-02", "2024-01-03", "2024-01-02"]).tz_localize("Japan")),
        pd.Series([], dtype="i8"),
    ],
    ids=lambda series: str(series.dtype),
)
def test_types(series, dropna):
    """Labels and counts have pandas's types; categories that do not occur are counted."""
    lazy = md.Series(series, chunk_size=2)
    for options in ({"dropna": dropna}, {"dropna": dropna, "normalize": True}):
        found, wanted = lazy.value_counts(**options), series.value_counts(**options)
        assert found.dtype == wanted.dtype
        equal(found, wanted)
    if series.dtype != object or dropna:  # pandas warns that it cannot sort these
        equal(lazy.mode(dropna=dropna), series.mode(dropna=dropna))
        equal(lazy.to_frame("x").mode(dropna=dropna), series.to_frame("x").mode(dropna=dropna))


@pytest.mark.parametrize(
    "column",
    [
        lambda d: d.astype("Int64"),
        lambda d: d.where(d > 1).astype("Float32"),
        lambda d: (d > 1).astype("boolean"),
        lambda d: d.map({9: "a", 1: 2, 2: 3}),
        lambda d: d.to_frame().sum(),
        lambda d: d.to_frame("x").assign(y=1).isna().sum(),
    ],
    ids=["masked", "short and masked", "masked truth", "by values", "a row", "counts"],
)
def test_bins_of_other_columns(column):
    """Of masked numbers, of what only values tell to be numbers, and of a row of results."""
    series = pd.Series([1, 3, 2, 3])
    for bins in (3, [0, 2, 9]):
        found = column(md.Series(series, chunk_size=3)).value_counts(bins=bins, sort=False)
        equal(found, column(series).value_counts(bins=bins, sort=False))


@pytest.mark.parametrize("subset", ["k", ["k"], ["s", "k"], ["b", "k"]], ids=str)
def test_rows_by_levels(subset):
    """Names of levels are names of columns, too."""
    rows = table(7).set_index(["k", "b"])
    equal(md.DataFrame(rows, chunk_size=2).value_counts(subset), rows.value_counts(subset))


def test_labels_of_modes():
    """They are no labels of rows, and have no name."""
    rows = table(7).set_index("k")
    frame = md.DataFrame(rows, chunk_size=2).s.mode().to_frame().reset_index()
    assert [*frame.columns] == [*rows.s.mode().to_frame().reset_index().columns]


def test_refused_at_the_call():
    """What is not supported names the way out, and pandas's errors come at once."""
    lazy = md.DataFrame(table(5)).assign(c=pd.Categorical(list("abcab")))
    with pytest.raises(TypeError, match="numeric"):
        lazy.s.value_counts(bins=3)
    with pytest.raises(NotImplementedError, match="borders"):
        lazy.t.value_counts(bins=3)
    with pytest.raises(NotImplementedError, match="groupby"):
        lazy.value_counts()
    with pytest.raises(NotImplementedError, match="apply"):
        lazy.mode(axis=1)
    with pytest.raises(KeyError):
        lazy.value_counts("nope")


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None, 2, None, 3, 2, 1, 3], dtype="Int64"),
        pd.array([True, None, None, False, True, False], dtype="boolean"),
        pd.array([1.5, None, None, 0.5, 0.5], dtype="Float64"),
    ],
    ids=lambda values: str(values.dtype),
)
@pytest.mark.parametrize("flags", [{}, {"sort": False}, {"normalize": True}], ids=str)
def test_missing_values_of_masked_types(values, flags):
    """They come behind others that are as frequent."""
    series = pd.Series(values)
    found = md.Series(series, chunk_size=2).value_counts(dropna=False, **flags)
    equal(found, series.value_counts(dropna=False, **flags))


#: Objects by their declared type, of which the rows tell another one.
OBJECTS = {
    "replaced": lambda s: s.where(s.notna(), 1),
    "no rows": lambda s: s[~s].where(s[~s].notna(), 1),
    "some replaced": lambda s: s.where(s, 1),
    "masked": lambda s: s.mask(~s),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_types_that_rows_tell(name: str) -> None:
    """Values and modes have the type that all rows have together."""
    frame = pd.Series([True, True, True] if name == "no rows" else [True, False, True])
    for chunk in (1, 3):
        d, e = (OBJECTS[name](s) for s in (frame, md.Series(frame, chunk_size=chunk)))
        for dropna in (True, False):
            equal(e.mode(dropna=dropna), d.mode(dropna=dropna))
            equal(e.value_counts(dropna=dropna), d.value_counts(dropna=dropna))
        equal(e.value_counts(sort=False), d.value_counts(sort=False))


@pytest.mark.parametrize("values", [["a", "a", "b"], ["aa", "bbb", "aa", "bbb"], [b"x"]], ids=str)
def test_modes_of_bytes(values):
    """They keep the type that NumPy's bytes have."""
    series = pd.Series(values).astype("S")
    modes = md.Series(series, chunk_size=1).mode().compute()
    assert modes.dtype == series.mode().dtype
    assert modes.tolist() == series.mode().tolist()


@pytest.mark.parametrize("values", [[3, 1, 2, 2], [True, False, 2, 0], [1, "a", 2, 3], [1.5, None]])
@pytest.mark.parametrize("bins", [2, [0, 1, 3]])
def test_bins_of_objects(values, bins):
    """Objects that are numbers have bins; others are refused, as in pandas."""
    series = pd.Series(values, dtype=object)
    lazy = md.Series(series, chunk_size=2)
    try:
        wanted = series.value_counts(bins=bins)
    except TypeError:
        with pytest.raises(TypeError):
            lazy.value_counts(bins=bins).compute()
    else:
        equal(lazy.value_counts(bins=bins), wanted)
