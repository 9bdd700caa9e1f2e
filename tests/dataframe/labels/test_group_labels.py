"""Groups without rows are those of pandas: of categories and of bins of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal
from tests.strategies import HISTORIES, draws

TIMES: Any = ["2024-01-31", "2024-01-03", None, "2024-01-31", "2024-03-05"]
FRAME = pd.DataFrame(
    {
        "c": pd.Categorical(["b", "a", "b", None, "b"], categories=["a", "b", "z"]),
        "d": pd.Categorical(list("xxyyx"), categories=["y", "x", "w"], ordered=True),
        "k": [3, 1, 1, 7, 3],
        "i": [1, 2, 3, 4, 2**60 + 1],
        "f": [0.5, np.nan, 2, 3, 1],
        "s": ["p", "q", None, "r", "p"],
        "t": pd.to_datetime(TIMES),
        "b": [True, False, True, True, False],
    }
)


def count(rows: Any) -> int:
    """Return how many rows there are: a function of the user."""
    return len(rows)


#: Aggregations of groups; those that meet a group without rows in pandas's kernels come last.
CALLS: dict[str, Any] = {
    "sum": lambda g: g[["i", "f", "b", "s"]].sum(),
    "min": lambda g: g[["i", "f", "b", "s", "t"]].min(),
    "count": lambda g: g[["t", "s"]].count(),
    "any": lambda g: g.b.any(),
    "mean": lambda g: g[["i", "f"]].mean(),
    "std": lambda g: g.f.std(),
    "median": lambda g: g.f.median(),
    "nunique": lambda g: g.s.nunique(),
    "size": lambda g: g.size(),
    "of columns": lambda g: g.agg({"i": "sum", "f": ["min", "count"]}),
    "named": lambda g: g.agg(last=("t", "last"), n=("s", "nunique")),
    "ratio": lambda g: g.i.sum() / g.i.count(),
    "describe": lambda g: g[["f"]].describe(),
    "quantiles": lambda g: g.f.quantile([0.1, 0.5]),
    "largest": lambda g: g.i.nlargest(1),
    "a function": lambda g: g.f.agg(count),
    "apply": lambda g: g[["i", "f"]].apply(count),
}


def same(found: Any, wanted: Any) -> None:
    """Compare a lazy result with pandas's; of times pandas does not always know the frequency."""
    equal(found, wanted, check_freq=False)


@pytest.mark.parametrize("name", CALLS)
def test_each_aggregation(name):
    """Has pandas's values for categories, and for bins of time, that do not occur."""
    lazy, call = md.DataFrame(FRAME, chunk_size=2), CALLS[name]
    same(
        call(lazy.groupby(["c", "k"], observed=False)),
        call(FRAME.groupby(["c", "k"], observed=False)),
    )
    bins = pd.Grouper(key="t", freq="MS")
    same(call(lazy.groupby(bins)), call(FRAME.groupby(bins)))


@draws(6)
@given(
    name=st.sampled_from(sorted(CALLS)),
    by=st.sampled_from([["c"], ["c", "d"], ["k", "c"], ["c", "k", "s"], "d"]),
    options=st.sampled_from([{}, {}, {"sort": False}, {"dropna": False}, {"as_index": False}]),
    chunk=st.integers(1, 5),
    history=st.sampled_from(["executed", "pickled", "persisted"]),
)
def test_categories(name, by, options, chunk, history):
    """Combinations of categories that do not occur, with keys that do, in all orders."""
    if options.get("as_index") is False and name in {"ratio", "quantiles", "largest", "apply"}:
        options = {}
    lazy = HISTORIES[history](md.DataFrame(FRAME, chunk_size=chunk))
    call = CALLS[name]
    same(
        call(lazy.groupby(by, observed=False, **options)),
        call(FRAME.groupby(by, observed=False, **options)),
    )


@draws(6)
@given(
    name=st.sampled_from(sorted(CALLS)),
    freq=st.sampled_from(["D", "ME", "MS", "W", "10D", "B", "9h"]),
    options=st.sampled_from([{}, {"closed": "right"}, {"label": "right"}]),
    chunk=st.integers(1, 5),
)
def test_bins(name, freq, options, chunk):
    """Bins of a column of times are all bins between the first and the last."""
    bins = pd.Grouper(key="t", freq=freq, **options)
    call, lazy = CALLS[name], md.DataFrame(FRAME, chunk_size=chunk)
    same(call(lazy.groupby(bins)), call(FRAME.groupby(bins)))


def test_types_before_they_run():
    """What a group without rows has not is missing: integers are announced as floats."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    groups = lazy.groupby("c", observed=False)
    assert groups.i.min().dtype == float
    assert groups.i.sum().dtype == FRAME.i.dtype
    full = FRAME[["i"]].assign(c=FRAME.d.cat.remove_unused_categories())
    found = md.DataFrame(full, chunk_size=2).groupby("c", observed=False).i.min()
    equal(found, full.groupby("c", observed=False).i.min())
    assert found.execute().dtype == full.i.dtype


def test_bins_of_labels():
    """Times that label the rows, by level or not; of a series; of times with a zone; two keys."""
    zoned = FRAME.dropna(subset="t").assign(t=lambda d: d.t.dt.tz_localize("Europe/Berlin"))
    for frame in (FRAME.dropna(subset="t"), zoned):
        rows = frame.set_index("t")
        lazy: Any = md.DataFrame(rows, chunk_size=2)
        for bins in (pd.Grouper(freq="D"), pd.Grouper(level=0, freq="MS"), pd.Grouper(level="t")):
            same(lazy.groupby(bins)[["i", "f"]].max(), rows.groupby(bins)[["i", "f"]].max())
            same(lazy.i.groupby(bins).sum(), rows.i.groupby(bins).sum())
    keys = [pd.Grouper(key="t", freq="MS"), "k"]
    equal(md.DataFrame(FRAME, chunk_size=2).groupby(keys).count(), FRAME.groupby(keys).count())


def test_rows_of_groups():
    """Methods of rows, and the groups themselves."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    for by in ({"by": "c", "observed": False}, {"by": pd.Grouper(key="t", freq="ME")}):
        found, wanted = lazy.groupby(**by), FRAME.groupby(**by)
        equal(found.head(1), wanted.head(1))
        equal(found.f.transform("sum"), wanted.f.transform("sum"))
        equal(found[["k"]].cumsum(), wanted[["k"]].cumsum())
        equal(found.k.shift(), wanted.k.shift())
        assert [key for key, _ in found] == [key for key, _ in wanted]
        assert len(found) == len(wanted)
        for call in (lambda g: g.ngroup(), lambda g: g.groups, lambda g: g.indices):
            with pytest.raises(NotImplementedError, match="observed=True"):
                call(found)
    with pytest.raises(ValueError, match="unobserved"):
        lazy.groupby("c", observed=False).f.idxmax().compute()


def test_functions_of_categories():
    """A function that returns each row's value is seen to do so: a sample has several groups."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    both: Any = (lazy, FRAME)
    for keys in (False, True):
        found, wanted = (
            d.groupby("d", observed=True, group_keys=keys)[["k"]].apply(lambda g: g.k - g.k.max())
            for d in both
        )
        equal(found, wanted)


@pytest.mark.parametrize("rows", [FRAME, FRAME.k], ids=["frame", "series"])
def test_a_list_of_keys(rows):
    """A list as long as the rows holds their keys, unless all are labels, as in pandas."""
    keys = ["q", "p", "q", "p", "q"]
    lazy = md.DataFrame(rows, chunk_size=2) if rows.ndim == 2 else md.Series(rows, chunk_size=2)
    equal(lazy.groupby(keys).count(), rows.groupby(keys).count())
    with pytest.raises(KeyError):
        lazy.groupby(keys[:4])
    for several in ([keys, [1, 1, 2, 2, 2]], [["q", np.nan, "q", None, "p"]]):
        for dropna in (True, False):
            how: Any = {"dropna": dropna, "sort": dropna}
            equal(lazy.groupby(several, **how).count(), rows.groupby(several, **how).count())


@pytest.mark.parametrize(
    "key",
    [
        pd.Categorical(["q", "p", None, "p", "q"]),
        pd.array([1, 2, None, 2, 1], dtype="Int64"),
        pd.Index(["q", "p", None, "p", "q"], name="z"),
        np.array(["q", "p", None, "p", "q"], dtype=object),
    ],
    ids=["categories", "masked", "index", "objects"],
)
def test_keys_in_memory(key):
    """Arrays and indexes of pandas are keys of rows as arrays are, and series of equal labels."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    for by in (key, [key, "k"]):
        equal(lazy.groupby(by).i.sum(), FRAME.groupby(by).i.sum())
    values = pd.Series(key, FRAME.index)
    equal(lazy.groupby(values).i.sum(), FRAME.groupby(values).i.sum())
    with pytest.raises(NotImplementedError, match="other labels"):
        lazy.groupby(values[1:])


@pytest.mark.parametrize("keys", [["q", "p"], [1, None]])
def test_a_list_of_keys_of_rows_whose_number_is_unknown(keys):
    """Several values that are no labels are no wrong labels."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    rows = lazy[lazy.k > 0]
    with pytest.raises(NotImplementedError, match="execute"):
        rows.groupby(keys)
    with pytest.raises(KeyError):
        rows.groupby(keys[:1])


def test_a_grouper_of_a_column():
    """Alone, its groups are in the order of their first rows unless it says otherwise."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    for key in (pd.Grouper("k"), pd.Grouper("k", sort=True), pd.Grouper("s", dropna=False)):
        equal(lazy.groupby(key).i.sum(), FRAME.groupby(key).i.sum())


#: Keys of rows whose level has the name of a column, and whether pandas says that they are two.
BOTH = {
    "label": (lambda frame: "k", True),
    "labels": (lambda frame: ["k", "v"], True),
    "grouper": (lambda frame: pd.Grouper(key="k"), False),
    "groupers": (lambda frame: [pd.Grouper(key="k"), "v"], False),
    "column": (lambda frame: frame.k, False),
}


@pytest.mark.parametrize("key", BOTH)
def test_a_level_with_the_name_of_a_column(key):
    """A name that means both is refused at the call, as in pandas; what says which is not."""
    by, refused = BOTH[key]
    frame = pd.DataFrame({"k": [1, 2, 1], "v": [1, 1, 3]}).set_index("k", drop=False)
    lazy = md.DataFrame(frame, chunk_size=2)
    for groups in (lambda rows: rows.groupby(by(rows)),) if refused else ():
        for rows in (frame, lazy):
            with pytest.raises(ValueError, match="both an index level and a column label"):
                groups(rows)
    if not refused:
        equal(lazy.groupby(by(lazy)).v.sum(), frame.groupby(by(frame)).v.sum())
        equal(lazy.groupby(by(lazy)).head(1), frame.groupby(by(frame)).head(1))


def test_numbers_as_labels_of_columns():
    """Keys that are no columns leave the labels of the others numbers.

    Functions of row labels keep their name.
    """
    frame = pd.DataFrame({0: [1, 2, 1], 5: [1.5, 1.0, 3.0]}, pd.Index(["a", "b", "a"], name="n"))
    lazy = md.DataFrame(frame, chunk_size=2)
    groups = {
        "level": lambda rows: rows.groupby(level=0),
        "column": lambda rows: rows.groupby(rows[0] * 2),
        "both": lambda rows: rows.groupby(["n", rows[0] + 1]),
        "function": lambda rows: rows.groupby(str.upper),
        "dict": lambda rows: rows.groupby({"a": 7, "b": 8}),
    }
    for by in groups.values():
        equal(by(lazy).sum(), by(frame).sum())
        equal(by(lazy)[[5]].mean(), by(frame)[[5]].mean())
        equal(by(lazy)[5].transform("max"), by(frame)[5].transform("max"))
        equal(by(lazy).cumsum(), by(frame).cumsum())


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("method", ["sum", "size", "first", "quantile"])
def test_categories_below_labels_of_two_levels(method: str, sort: bool) -> None:
    """Those without rows are groups, too, where columns have labels of several levels."""
    values = pd.Categorical(["x", None, "y", "x"], categories=["y", "x", "z"])
    frame = pd.DataFrame({("c", "o"): values, ("m", "o"): [1.0, 2.0, 3.0, 4.0]})
    lazy = md.DataFrame(frame, chunk_size=2)
    for by in (("c", "o"), [("c", "o")]):
        d, e = (rows.groupby(by, sort=sort, observed=False)[[("m", "o")]] for rows in (frame, lazy))
        equal(getattr(e, method)(), getattr(d, method)())


ROWS = np.array([0, 1])
#: Keys of which some have no name, and columns that have the labels which these would get.
UNNAMED_KEYS: dict[str, Any] = {
    "one": ROWS,
    "one in a list": [ROWS],
    "two": [ROWS, ROWS[::-1]],
    "among columns": ["a", ROWS, "d"],
}


@pytest.mark.parametrize("method", ["sum", "size", "count", "value_counts"])
@pytest.mark.parametrize("column", ["index", "level_0", "level_1", "e"])
@pytest.mark.parametrize("keys", UNNAMED_KEYS)
def test_keys_without_names_as_columns(keys: str, column: str, method: str) -> None:
    """Results that have their label drop them, unless they count rows of equal values."""
    frame = pd.DataFrame([[1, 3, 5, 7], [2, 4, 6, 8]], columns=["a", "d", column, "c"])
    by, lazy = UNNAMED_KEYS[keys], md.DataFrame(frame, chunk_size=1)
    wanted = getattr(frame.groupby(by, as_index=False), method)()
    equal(getattr(lazy.groupby(by, as_index=False), method)(), wanted)


@pytest.mark.parametrize("normalize", [False, True])
def test_counts_beside_a_column_of_their_label(normalize: bool) -> None:
    """Both cannot be columns of the result."""
    label = "proportion" if normalize else "count"
    lazy = md.DataFrame({"a": [1], "b": [2], label: [3]})
    with pytest.raises(ValueError, match="duplicate of result column"):
        lazy.groupby("a", as_index=False).value_counts(normalize=normalize)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("how", ["sum", "count", "first"])
def test_the_last_key_of_a_name_is_its_column(how: str, order: int) -> None:
    """The last key of a name is its column."""
    frame = pd.DataFrame({"c": pd.Categorical(list("aba")), "v": [1, 2, 3]})
    other = pd.Series([1, 2, 1], name="c")
    lazy = md.from_pandas(frame, chunk_size=2)
    keys: Any = ["c", other][::order]
    own: Any = ["c", md.from_pandas(other, chunk_size=2)][::order]
    flags: Any = {"as_index": False, "observed": True}
    equal(getattr(lazy.groupby(own, **flags), how)(), getattr(frame.groupby(keys, **flags), how)())
