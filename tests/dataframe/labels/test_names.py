"""Labels of rows and columns are chosen and changed as by pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

CASES: dict[str, Any] = {
    "rename": lambda d: d.rename(index={0: 100, "r1": "z"}),
    "rename by": lambda d: d.rename(index=str, columns={"k": "q"}),
    "rename series": lambda d: d.k.rename({0: 5}),
    "rename_axis": lambda d: d.rename_axis("x"),
    "rename_axis of columns": lambda d: d.rename_axis("x", axis=1),
    "rename_axis of index": lambda d: d.rename_axis(index="y"),
    "set_axis": lambda d: d.set_axis(list("uvwxyz"), axis=1),
    "set_axis of rows": lambda d: d.set_axis(d.index),
    "add_prefix": lambda d: d.add_prefix("p_"),
    "add_prefix to rows": lambda d: d.k.add_prefix("p_").sort_index(kind="stable"),
    "add_suffix": lambda d: d.add_suffix("_q", axis=0),
    "reindex": lambda d: d.reindex(columns=["u", "zz"]),
    "reindex by axis": lambda d: d.reindex(["u"], axis=1),
    "reindex filled": lambda d: d.reindex(columns=["u", "zz"], fill_value=0),
    "drop": lambda d: d.drop(index=["zz", 1], errors="ignore"),
    "drop columns": lambda d: d.drop(columns=["zz"], errors="ignore"),
    "filter": lambda d: d.filter(["u", "zz"]),
    "filter like": lambda d: d.filter(like="u"),
    "filter rows": lambda d: d.filter(regex="1", axis=0),
    "filter series": lambda d: d.u.filter(like="1"),
    "select": lambda d: d.select_dtypes("number"),
    "select others": lambda d: d.select_dtypes(exclude=["number", "bool"]),
    "squeeze": lambda d: d[["k"]].squeeze(axis=1),
    "copy": lambda d: d.copy(),
    "get": lambda d: d.get("k"),
}


METHODS: dict[str, dict[str, object]] = {
    "before": {"method": "ffill"},
    "after": {"method": "bfill"},
    "nearest": {"method": "nearest"},
    "within": {"method": "ffill", "tolerance": 1},
    "at most": {"method": "ffill", "limit": 1},
    "filled": {"method": "bfill", "fill_value": 0},
}


@pytest.mark.parametrize("name", METHODS)
def test_rows_near_labels(name):
    """Labels that are not there take the rows before, behind or next to them."""
    frame = table(7)[["k", "u", "f"]]
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    how: Any = METHODS[name]
    for labels in ([0.5, 4.5], [0, 1.5, 3, 9], pd.Index([-1.0, 2.0], name="near")):
        equal(lazy.reindex(labels, **how), frame.reindex(labels, **how))
        equal(lazy.u.reindex(labels, **how), frame.u.reindex(labels, **how))


@draws(3)
@given(both=tables(min_rows=1))
def test_labels(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            equal(operation(lazy), operation(frame))


def test_columns_are_inserted_and_removed_in_place():
    """And nothing that was computed from the frame before changes."""
    frame = table(7)
    lazy = md.DataFrame(frame, chunk_size=3)
    copied, before = lazy.copy(), lazy.k + 0
    lazy.insert(1, "new", lazy.u * 2)
    wanted = frame.copy()
    wanted.insert(1, "new", wanted.u * 2)
    equal(lazy.pop("k"), wanted.pop("k"))
    equal(lazy, wanted)
    equal(copied, frame)
    equal(before, frame.k)
    assert lazy.get("k") is None
    assert [*lazy.keys()] == [*wanted.keys()]
    for error, words, call in [
        (ValueError, "already exists", lambda: lazy.insert(0, "u", 1)),
        (IndexError, "out of bounds", lambda: lazy.insert(99, "w", 1)),
        (KeyError, "nope", lambda: lazy.pop("nope")),
    ]:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("argument", ["index", "columns"])
def test_labels_are_dropped_of_one_axis(argument):
    """An axis beside the argument of another is an error, as in pandas."""
    with pytest.raises(ValueError, match="Cannot specify both 'axis'"):
        md.DataFrame(table(3)).drop(**{argument: "k"}, axis=1)


def test_rows_are_dropped_by_labels_that_exist():
    """All rows of a label; one that is nowhere is a KeyError."""
    frame = table(9, index="text")
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy.drop("r1"), frame.drop("r1"))
    equal(lazy.drop(index=["r1", "r3"], columns="k"), frame.drop(index=["r1", "r3"], columns="k"))
    with pytest.raises(KeyError, match="zz"):
        lazy.drop(["r1", "zz"])


def test_rows_of_a_list_of_labels():
    """In its order, with missing values for those that are nowhere."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy.reindex([2, 0, 99]), frame.reindex([2, 0, 99]))
    equal(lazy.u.reindex([2, 0]), frame.u.reindex([2, 0]))
    equal(lazy.set_axis([*"abcdefghi"]), frame.set_axis([*"abcdefghi"]))
    with pytest.raises(ValueError, match="Length mismatch"):
        lazy.set_axis([1, 2])


FILLED: dict[str, list[Any]] = {
    "f": [None, 0.5],
    "k": [None, -7],
    "s": [None, "zz"],
    "t": [None, pd.Timestamp("2024")],
    "n": [None, 3],
}


@draws(4)
@given(both=tables(), column=st.sampled_from(sorted(FILLED)), data=st.data())
def test_labels_that_are_nowhere_are_filled(both, column, data):
    """With a value or as missing, of rows of unknown number; labels keep their name."""
    frame, lazy = (one.assign(n=one.u.astype("Int64")).drop_duplicates("u") for one in both)
    frame, lazy = (one.set_index("u").rename_axis("row") for one in (frame, lazy))
    labels = data.draw(st.lists(st.integers(-2, 12), max_size=4))
    fill_value = data.draw(st.sampled_from(FILLED[column]))
    for given_labels in (labels, pd.Index(labels, dtype="int64", name="other")):
        how = {} if fill_value is None else {"fill_value": fill_value}
        equal(lazy[column].reindex(given_labels, **how), frame[column].reindex(given_labels, **how))
        wanted = frame[[column]].reindex(given_labels, **how)
        equal(lazy[[column]].reindex(given_labels, **how), wanted)
        announced = lazy[[column]].reindex(given_labels, **how).dtypes
        assert (announced[column] == wanted[column].dtype) or (fill_value is None)
    beside = {"index": labels, "columns": [column, "zz"], "fill_value": 1}
    if column in "kfn":
        equal(lazy[[*"kfn"]].reindex(**beside), frame[[*"kfn"]].reindex(**beside))


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("dtype", ["i8", "u8", "f4", "bool", "M8[ns]", "object", "Int64"])
def test_types_of_rows_and_columns_at_once(dtype, size):
    """A column that is not there widens the others if all have one type of NumPy, as in pandas."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}).astype(dtype)
    lazy = md.DataFrame(frame, chunk_size=size)
    for columns in (["a", "b", "c"], ["b"]):
        for how in ({}, {"fill_value": frame.iat[0, 0]}):
            for rows in ([1, 0], [0, 1], [0, 1, 2]):  # the last ones are all, in their order
                named: Any = {"index": rows, "columns": columns, **how}
                equal(lazy.reindex(**named), frame.reindex(**named))
            equal(lazy.reindex(**named)["b"], frame.reindex(**named)["b"])
    mixed: Any = {"index": [1, 0], "columns": ["a", "d", "c"]}
    equal(lazy.assign(d="x").reindex(**mixed), frame.assign(d="x").reindex(**mixed))


def test_renamed_rows_are_not_sorted():
    """What was known of the old labels is not believed of the new ones."""
    frame = table(8)
    lazy = md.DataFrame(frame, chunk_size=3).rename(index=lambda label: -label)
    equal(lazy.sort_index(), frame.rename(index=lambda label: -label).sort_index())


@pytest.mark.parametrize("options", [{}, {"name": None}, {"name": "x"}])
@pytest.mark.parametrize("name", [None, "n"])
def test_a_column_as_a_frame(options, name):
    """Under its name, 0 or another one, which may be ``None``."""
    series = pd.Series([3, 1, 2], name=name).rename_axis("r")
    lazy = md.Series(series, chunk_size=2)
    equal(lazy.to_frame(**options), series.to_frame(**options))
    equal(lazy.index.to_frame(**options), series.index.to_frame(**options))


def test_attributes_of_labels_are_set_in_place():
    """A series has another name, rows have other labels, and what was made of them before stays."""
    frame = table(5)
    lazy = md.DataFrame(frame, chunk_size=2)
    before, column = lazy.k, lazy.u
    lazy.index = frame.index = [*"abcde"]
    column.name = "v"
    equal(lazy, frame)
    equal(column, table(5).u.rename("v"))
    equal(before, table(5).k)
    column.index = range(5)
    equal(column, table(5).u.rename("v").set_axis(range(5)))
    with pytest.raises(TypeError, match="hashable"):
        column.name = []  # type: ignore[assignment]  # it is refused
    with pytest.raises(ValueError, match="Length mismatch"):
        lazy.index = [1]


def test_labels_of_several_levels():
    """They keep their levels, and the types of these."""
    codes = np.arange(5, dtype="i4")
    letters = pd.Categorical([*"abcde"], categories=[*"edcba"])
    labels = pd.MultiIndex.from_arrays([codes, letters], names=["u", None])
    equal(md.DataFrame(table(5), chunk_size=2).set_axis(labels), table(5).set_axis(labels))


#: What is called of rows whose labels are tuples of one level.
ONE_LEVEL: dict[str, Any] = {
    "values": lambda d, lib: d.reindex([1.0, 9]),
    "tuples": lambda d, lib: d.reindex([(1.0,), (9,)]),
    "rows": lambda d, lib: d.loc[[1.0]],
    "renamed": lambda d, lib: d.rename(index={1.0: 5.0}),
    "joined": lambda d, lib: lib.concat([d, d.iloc[:1]]),
}


@pytest.mark.parametrize("call", ONE_LEVEL.values(), ids=ONE_LEVEL)
def test_tuples_of_one_level(call):
    """Rows are found by the values of the level, which are not equal to the labels."""
    labels = pd.MultiIndex.from_arrays([[0.0, 1.0, 2.0]], names=["a"])
    rows = pd.DataFrame({"v": range(3)}, labels)
    equal(call(md.DataFrame(rows, chunk_size=2), md), call(rows, pd))


def test_a_tuple_is_one_label():
    """It is dropped where rows have it, and is no list of labels."""
    rows = pd.Series(range(3), index=[*"abc"])
    for obj in (md.Series(rows, chunk_size=2), md.Series(rows, chunk_size=2).to_frame("v")):
        with pytest.raises(KeyError, match="not found"):
            obj.drop(index=("a",))
    levels = rows.set_axis(pd.MultiIndex.from_product([[1], [*"abc"]]))
    equal(md.Series(levels, chunk_size=2).drop((1, "b")), levels.drop((1, "b")))


def test_labels_by_position_and_by_name():
    """The other axis takes those by position; a series has none."""
    frame = table(4)
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.reindex([1, 9], columns=["k"]), frame.reindex([1, 9], columns=["k"]))
    equal(lazy.reindex(["k"], index=[1, 9]), frame.reindex(["k"], index=[1, 9]))
    for call in (
        lambda: lazy.k.reindex([1], index=[2]),
        lambda: lazy.reindex(["k"], axis=1, index=[1]),
        lambda: lazy.reindex([1], index=[1], columns=["k"]),
    ):
        with pytest.raises(TypeError):
            call()


def test_names_of_labels_are_set_in_place():
    """Rows and columns of a frame have the names that its labels are given, and no others have."""
    frame = table(4)
    lazy = md.DataFrame(frame, chunk_size=2)
    before = lazy[["k"]]
    frame.columns.name = lazy.columns.name = "c"
    labels = lazy.index
    frame.index.name = labels.name = "i"
    equal(lazy, frame)
    equal(labels, frame.index)
    equal(before, table(4)[["k"]])
    frame.columns.names, lazy.columns.names = ["d"], ["d"]
    equal(lazy.sum(numeric_only=True).to_frame().T, frame.sum(numeric_only=True).to_frame().T)
    column, series = lazy.u, frame.u.copy()
    column.index.name = series.index.name = "j"
    equal(column, series)
    levels = pd.MultiIndex.from_product([[1, 2], [*"ab"]])
    lazy.index = frame.index = levels
    lazy.index.names = frame.index.names = ["x", "y"]
    equal(lazy.execute(), frame)
    lazy.columns.name = frame.columns.name = None
    equal(lazy, frame)


def test_names_of_labels_of_before():
    """They are not the names of a frame that has others since."""
    lazy = md.DataFrame(table(4), chunk_size=2)
    labels, columns = lazy.index, lazy.columns
    lazy["new"] = lazy.u + 1
    lazy.index = [*"abcd"]
    labels.name, columns.name = "i", "c"
    assert (lazy.index.name, lazy.columns.name) == (None, None)


NEW_LABELS: dict[str, Any] = {
    "add_prefix": lambda d: d.add_prefix("p", axis=0),
    "add_suffix": lambda d: d.k.add_suffix("p"),
    "rename": lambda d: d.rename(index=str),
    "rename of a series": lambda d: d.k.rename(lambda label: f"<{label}>"),
}
OLD_LABELS: dict[str, Any] = {
    "numbers": pd.Index([3, 1, 2]),
    "zones": pd.date_range("2024", periods=3, tz="Europe/Berlin"),
    "categories": pd.CategoricalIndex(["x", "y", "x"]),
    "periods": pd.period_range("2024", periods=3, freq="M"),
    "pairs": pd.MultiIndex.from_arrays([[1, 2, 3], ["a", "b", "c"]]),
}


@pytest.mark.parametrize("call", NEW_LABELS)
def test_new_labels_have_their_types(call):
    """Before they are computed, too: a text is sought among texts, not among times."""
    for name, labels in OLD_LABELS.items():
        frame = pd.DataFrame({"k": range(3)}, labels)
        wanted, lazy = NEW_LABELS[call](frame), NEW_LABELS[call](md.DataFrame(frame, chunk_size=1))
        levels = range(wanted.index.nlevels)
        both = lazy.node.meta.index, wanted.index
        declared, types = ([at.get_level_values(n).dtype for n in levels] for at in both)
        assert declared == types, name
        label = wanted.index[1]
        assert np.ravel(lazy.loc[label].compute()).tolist() == np.ravel(wanted.loc[label]).tolist()


@pytest.mark.filterwarnings("ignore:Setting a new column")
def test_inserted_labels_have_all_levels():
    """A text is the first level, as in pandas."""
    labels = pd.MultiIndex.from_tuples([("a", "x"), ("b", "x")])
    wanted = pd.DataFrame(np.arange(4.0).reshape(2, 2), columns=labels)
    lazy = md.DataFrame(wanted.copy(), chunk_size=1)
    frames: Any = (wanted, lazy)
    for frame in frames:
        frame.insert(1, "q", 5)
        frame.insert(0, ("a", "z"), frame[("b", "x")])
    equal(lazy, wanted)


@pytest.mark.parametrize("step", ["D", "h", "2h"])
def test_labels_keep_their_frequency(step):
    """Times in memory that become labels keep the frequency that pandas's have."""
    frame = pd.DataFrame({"a": [1, 2, 3]})
    lazy = md.DataFrame(frame, chunk_size=2)
    dates = pd.date_range("2024", periods=4, freq=step)
    for labels in (dates[1:], dates[:3], pd.timedelta_range("1D", periods=3, freq=step)):
        for name in ("set_axis", "set_index"):
            found = getattr(lazy, name)(labels).compute().index
            assert found.freq == getattr(frame, name)(labels).index.freq == labels.freq


def test_reindexed_intervals():
    """Rows are chosen by intervals; by the numbers in them they are not."""
    rows = pd.Series([1, 2], index=pd.interval_range(0, 2))
    equal(md.Series(rows).reindex(rows.index[::-1]), rows.reindex(rows.index[::-1]))
    with pytest.raises(NotImplementedError, match="use the intervals"):
        md.Series(rows).reindex([1, 50])


def test_rows_of_labels_are_deleted():
    """Other objects that were made of the series keep the row."""
    series = pd.Series([1, 2, 3], index=["a", "b", "c"])
    lazy = md.Series(series.copy(), chunk_size=2)
    before = lazy + 0
    del lazy["b"]
    equal(before, series)
    del series["b"]
    equal(lazy, series)
    with pytest.raises(KeyError):
        del lazy["b"]


@pytest.mark.parametrize("labels", ["a", ["b"], ["a", "zz"], "zz", [5], ("a", 1), [("a", 9)]])
def test_rows_of_a_first_level_are_dropped(labels):
    """A label that is no tuple stands for all rows of the first level; an absent one raises."""
    index = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["p", "q"])
    frame = pd.DataFrame({"u": [1, 2, 3]}, index=index)
    for obj, lazy in (
        (frame, md.DataFrame(frame, chunk_size=2)),
        (frame.u, md.Series(frame.u, chunk_size=2)),
    ):
        equal(lazy.drop(labels, errors="ignore"), obj.drop(labels, errors="ignore"))
        try:
            wanted = obj.drop(labels)
        except KeyError:
            with pytest.raises(KeyError):
                lazy.drop(labels)
        else:
            equal(lazy.drop(labels), wanted)


@pytest.mark.parametrize(
    "key", ["2020-01-01", ["2020-01-01"], "2020-01-02", "2020-01", "2021-01-01"]
)
@pytest.mark.parametrize("start", [0, 1])
def test_texts_are_dropped_among_times_that_are_unique(key: Any, start: int) -> None:
    """Texts are dropped among times that are unique."""
    times = ["2020-01-01", "2020-01-01", "2020-01-02", "2020-02-01"]
    frame = pd.DataFrame({"a": [1, 2, 3, 4]}, index=pd.to_datetime(times))[start:]
    lazy = md.from_pandas(frame, chunk_size=2)
    try:
        expected = frame.drop(key)
    except KeyError:
        with pytest.raises(KeyError):
            lazy.drop(key).compute()
    else:
        equal(lazy.drop(key), expected)
        equal(lazy["a"].drop(key, errors="ignore"), expected["a"])
