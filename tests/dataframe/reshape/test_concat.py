"""Frames below each other equal pandas's."""

from __future__ import annotations

from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, filtered, planned, table, tables


@given(one=tables(min_rows=1), two=tables(min_rows=1))
def test_rows_follow_rows(one, two):
    """Labels stay or are numbered anew, and lengths may be unknown."""
    (a, x), (b, y) = one, two
    equal(md.concat([x, y]), pd.concat([a, b]))
    equal(md.concat([x.u, y.u], ignore_index=True), pd.concat([a.u, b.u], ignore_index=True))
    found = md.concat([x, filtered(y), x], ignore_index=True)
    equal(found, pd.concat([a, filtered(b), a], ignore_index=True))
    equal(
        md.concat([x, filtered(y)]).groupby("k").u.sum(),
        pd.concat([a, filtered(b)]).groupby("k").u.sum(),
    )


SHORTER = [5, 1, 3, 2], [7, 1, 0], [9, 7]
LABELS_OF_KINDS: dict[str, Any] = {
    "numbers": lambda numbers: pd.Index(numbers, name="i"),
    "texts": lambda numbers: pd.Index([f"r{number}" for number in numbers]),
    "floats": lambda numbers: pd.Index([number / 2 if number else np.nan for number in numbers]),
    "levels": lambda numbers: pd.MultiIndex.from_tuples([(n % 2, n) for n in numbers]),
    "periods": lambda numbers: pd.PeriodIndex([pd.Period("2024-01") + n for n in numbers]),
    "times": lambda numbers: pd.DatetimeIndex([f"2024-01-{number + 1:02d}" for number in numbers]),
}


@pytest.mark.filterwarnings("ignore:Sorting by default")
@pytest.mark.parametrize("sort", [None, False, True])
@pytest.mark.parametrize("labels", LABELS_OF_KINDS)
def test_columns_of_other_rows(labels, sort):
    """Rows come in the order in which labels occur; times are sorted, as by pandas."""
    objects: list[Any] = [
        pd.Series(range(4), index=LABELS_OF_KINDS[labels](SHORTER[0]), name="a"),
        pd.DataFrame({"b": [1, 2, 3], "c": list("xyz")}, index=LABELS_OF_KINDS[labels](SHORTER[1])),
        pd.Series([0.5, 1.5], index=LABELS_OF_KINDS[labels](SHORTER[2]), name="a"),
    ]
    if labels == "floats" and sort:
        objects = objects[:1]  # pandas sorts no missing labels here
    how: dict[str, Any] = {"axis": 1} if sort is None else {"axis": 1, "sort": sort}
    lazy = [(md.Series if each.ndim == 1 else md.DataFrame)(each, chunk_size=2) for each in objects]
    for count in range(1, len(objects) + 1):
        equal(md.concat(lazy[:count], **how), pd.concat(objects[:count], **how))


def test_other_columns():
    """A column that one of them lacks is missing there."""
    a, b = table(5)[["k", "u"]], table(4)[["u", "f"]]
    equal(md.concat([md.DataFrame(a, chunk_size=2), md.DataFrame(b)]), pd.concat([a, b]))


COLUMNS = {
    "i": pd.DataFrame({"a": [1, 2, 3]}),
    "f": pd.DataFrame({"a": [0.5, None]}),
    "b": pd.DataFrame({"a": [True, False]}),
    "s": pd.DataFrame({"a": ["x", None]}),
    "t": pd.DataFrame({"a": pd.DatetimeIndex(["2020-01-01", None])}),
    "c": pd.DataFrame({"a": pd.Categorical(["q", "r"])}),
    "m": pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    "e": pd.DataFrame({"a": pd.Series([], dtype="f8")}),
    "o": pd.DataFrame({"z": [1, 2]}),
    "j": pd.DataFrame({"a": [1j, 2]}),
}


@pytest.mark.parametrize("one", COLUMNS)
def test_columns_of_other_types(one):
    """Each chunk has the types that the whole has, so that what follows sees them."""
    a = COLUMNS[one]
    for b in COLUMNS.values():
        lazy = md.concat([md.DataFrame(a, chunk_size=1), md.DataFrame(b, chunk_size=1)])
        wanted = pd.concat([a, b])
        pd.testing.assert_series_equal(lazy.dtypes, wanted.dtypes)
        equal(lazy, wanted)
        equal(lazy.head(1), wanted.head(1))
    integers, floats = (md.DataFrame(COLUMNS[name]).a for name in "if")
    equal(
        md.concat([integers, floats]).head(2).astype(str),
        pd.concat([COLUMNS["i"].a, COLUMNS["f"].a]).head(2).astype(str),
    )


def test_missing_categories_that_are_numbers():
    """Beside numbers they are floats, as in pandas."""
    for values in ([3, None], [3, 4], [None, None]):
        series = pd.Series(pd.Categorical(values, [3, 4]), name="a")
        lazy = md.Series(series, chunk_size=1)
        for other in (COLUMNS["i"].a, COLUMNS["f"].a):
            equal(md.concat([lazy, md.Series(other)]), pd.concat([series, other]))
            equal(md.concat([md.Series(other), lazy]), pd.concat([other, series]))


BELOW: list[dict[str, Any]] = [
    {"keys": ["x", "y"], "names": ["n"]},
    {"keys": [("q", 1), ("r", 2)]},
    {"join": "inner", "sort": True},
    {"join": "inner"},
]
BESIDE: list[dict[str, Any]] = [
    {"join": "inner", "keys": ["x", "y"], "names": ["n"]},
    {"sort": True},
    {"sort": True, "ignore_index": True},
]


@pytest.mark.parametrize("mode", ["as it comes", "shuffled"])
def test_keys_and_other_labels(mode):
    """Keys are levels of labels; columns of other rows are joined by their labels."""
    a, b, c = table(6, 1, "labels"), table(5, 2, "labels")[["u", "f"]], table(4, 3, "labels").s
    x, y, z = (md.from_pandas(typed("Any", one), chunk_size=2) for one in (a, b, c))
    with planned(mode):
        for options in BELOW:
            equal(md.concat([x, y], **options), pd.concat([a, b], **options))
            equal(md.concat([x, z], **options), pd.concat([a, c], **options))
        for options in BESIDE:
            equal(md.concat([x, y], axis=1, **options), pd.concat([a, b], axis=1, **options))
            equal(md.concat([x.k, z], axis=1, **options), pd.concat([a.k, c], axis=1, **options))
    equal(md.concat({"p": x, "q": y}), pd.concat({"p": a, "q": b}))
    equal(
        md.concat([None, x.u, x.k], axis=1, keys=[1, 2, 3]),
        pd.concat([a.u, a.k], axis=1, keys=[2, 3]),
    )


def test_repeated_labels_cannot_be_joined():
    """As in pandas, where they are met."""
    twice = md.DataFrame(table(4, index="labels").iloc[[0, 0]], chunk_size=1)
    found = md.concat([twice, md.DataFrame(table(4))[["k"]]], axis=1, join="inner")
    with pytest.raises(pd.errors.MergeError, match="not unique"):
        found.compute()


def test_refused_at_the_call():
    """What is not supported names the way out."""
    lazy: Any = md.DataFrame(table(5))
    for kind, words, call in [
        (ValueError, "join", lambda: md.concat([lazy], join="left")),
        (ValueError, "keys", lambda: md.concat([lazy], keys=[1, 2])),
        (ValueError, "ignore_index", lambda: md.concat([lazy], keys=[1], ignore_index=True)),
        (ValueError, "None", lambda: md.concat([None])),
        (NotImplementedError, "names=", lambda: md.concat([lazy], verify_integrity=True)),
    ]:
        with pytest.raises(kind, match=words):
            call()
    with pytest.raises(TypeError, match="marsdask"):
        md.concat([lazy, 5])
    with pytest.raises(ValueError, match="No objects"):
        md.concat([])


LABELS: dict[str, pd.Index] = {
    "range": pd.RangeIndex(2),
    "numbers": pd.Index([3, 1], name="n"),
    "floats": pd.Index([0.5, 1.0]),
    "short": pd.Index([1, 0], dtype="Int8"),
    "texts": pd.Index(["x", "y"], name="s"),
    "gaps": pd.Index(["x", None], dtype="str"),
    "times": pd.DatetimeIndex(["2020-01-01", "2021-01-01"], name="t"),
    "pairs": pd.MultiIndex.from_tuples([(1, "x"), (2, "y")], names=["a", "b"]),
    "other pairs": pd.MultiIndex.from_arrays(
        [pd.Index([0.5, 1.5], dtype="float32"), ["z", "y"]], names=["a", "c"]
    ),
    "categories": pd.CategoricalIndex(["x", "y"], name="s"),
    "in another order": pd.CategoricalIndex(["x", "y"], ["y", "x"]),
    "other categories": pd.CategoricalIndex(["y", "z"], name="s"),
    "of numbers": pd.CategoricalIndex([1, 2]),
    "none": pd.Index([], dtype="str"),
    "no categories": pd.CategoricalIndex([], ["x", "y"]),
    "no times": pd.DatetimeIndex([], name="t"),
    "no floats": pd.Index([], dtype=float),
    "no pairs": pd.MultiIndex.from_arrays([[], []]),
}


@pytest.mark.parametrize("above", LABELS)
def test_labels_of_other_types(above):
    """Rows chosen of each part have labels of the types and the names that the whole has."""
    a = pd.DataFrame({"v": range(len(LABELS[above]))}, LABELS[above])
    for labels in LABELS.values():
        b = pd.DataFrame({"v": range(len(labels))}, labels)
        wanted = pd.concat([a, b])
        lazy = md.concat([md.DataFrame(a, chunk_size=1), md.DataFrame(b, chunk_size=1)])
        equal(lazy, wanted)
        if len(a) and len(b):
            equal(lazy.head(1), wanted.head(1))
            equal(lazy.tail(1), wanted.tail(1))


@pytest.mark.parametrize("above", ["pairs", "other pairs", "no pairs"])
def test_levels_without_rows(above):
    """Levels of parts without rows count, unless they are objects."""
    times = pd.MultiIndex.from_arrays([pd.DatetimeIndex([]), pd.Index([], dtype="int64")])
    both = [pd.DataFrame({"v": range(len(one))}, one) for one in (LABELS[above], times)]
    for order in (slice(None), slice(None, None, -1)):
        lazy = [md.DataFrame(frame, chunk_size=1) for frame in both[order]]
        equal(md.concat(lazy), pd.concat(both[order]))


def test_labels_of_nothing():
    """Labels of parts without rows and without columns have no effect."""
    bare, rows = pd.DataFrame(index=LABELS["no pairs"]), pd.DataFrame({"v": [1]}, pd.Index([3]))
    for parts in ([bare, rows, bare], [rows, bare]):
        equal(md.concat(list(map(md.DataFrame, parts))), pd.concat(parts))


@pytest.mark.parametrize("below", ["floats", "no floats", "numbers"])
def test_labels_of_other_types_below_keys(below):
    """Numbers below keys have their common type, whether a part has rows or not."""
    for labels in (LABELS["range"], LABELS["no floats"], LABELS["texts"]):
        both = [pd.DataFrame({"v": range(len(one))}, one) for one in (labels, LABELS[below])]
        for order in (slice(None), slice(None, None, -1)):
            wanted = pd.concat(both[order], keys=["p", "q"])
            equal(md.concat(list(map(md.DataFrame, both[order])), keys=["p", "q"]), wanted)


@pytest.mark.parametrize("names", [None, ["r"], ["r", "s"]])
def test_names_of_keys(names):
    """Levels of keys have the names of an index of keys, unless others are given."""
    frame = table(3)[["k", "f"]]
    pairs = pd.MultiIndex.from_tuples([("u", 1), ("v", 2)], names=["p", "q"])
    for keys in (pd.Index(["u", "v"], name="p"), ["u", "v"], pairs)[: 2 if names == ["r"] else 3]:
        for axis in (0, 1):
            options = {"keys": keys, "names": names, "axis": axis}
            lazy = [md.DataFrame(frame, chunk_size=2)] * 2
            equal(md.concat(lazy, **options), pd.concat([frame] * 2, **options))


@pytest.mark.parametrize("names", [("k", None), (None, "k"), ("k", "k"), ("k", "l")])
def test_names_of_rows_beside(names):
    """Rows beside others have a name if all have it."""
    frames = [
        pd.DataFrame({column: [1, 2]}, index=pd.Index([0, at], name=name))
        for at, (column, name) in enumerate(zip("vw", names, strict=True), 1)
    ]
    options: dict[str, Any] = {"axis": 1, "join": "inner"}
    wanted = pd.concat(frames, **options)
    assert list(wanted.index.names) == [names[0] if len(set(names)) == 1 else None]
    found = md.concat(list(map(md.DataFrame, frames)), **options).compute()
    pd.testing.assert_frame_equal(found, wanted)


def test_rows_without_columns():
    """They are gaps in the columns of the others; without rows they are nothing."""
    frame = pd.DataFrame({"k": [1, 2], "s": ["a", "b"]})
    for rows in (frame[[]], frame[[]].iloc[:0]):
        for order in (slice(None), slice(None, None, -1)):
            wanted = pd.concat([rows, frame][order])
            lazy = md.concat([md.DataFrame(rows, chunk_size=1), md.DataFrame(frame)][order])
            assert lazy.dtypes.equals(wanted.dtypes)
            equal(lazy, wanted)


@pytest.mark.parametrize("kernels", ["pandas", "polars"])
@pytest.mark.parametrize("least", [0, 9])
def test_rows_without_columns_that_are_filtered(least, kernels):
    """Whether there are any decides the types of the others, also of a few rows of these."""
    frame = pd.DataFrame({"k": [1, 2], "b": [True, False], "m": pd.array([1, None])})
    lazy = md.DataFrame(frame, chunk_size=1)
    for order in (slice(None), slice(None, None, -1)):
        wanted = pd.concat([frame[frame.k > least][[]], frame][order])
        with option_context({"dataframe.kernels": kernels, "coalesce": False}):
            found = md.concat([lazy[lazy.k > least][[]], lazy][order])
            equal(found, wanted)
            equal(found[found.k > 0], wanted[wanted.k > 0])
            equal(found.groupby("k").head(1), wanted.groupby("k").head(1))
            equal(md.concat([found, lazy]), pd.concat([wanted, frame]))
            equal(md.concat([lazy.b, found.b]), pd.concat([frame.b, wanted.b]))
        wanted = pd.concat([frame[frame.k > least][[]], frame][order], keys=["x", "y"])
        equal(md.concat([lazy[lazy.k > least][[]], lazy][order], keys=["x", "y"]), wanted)


@pytest.mark.parametrize("column", ["i", "b", "f", "m", "s"])
def test_columns_that_a_part_without_rows_lacks(column):
    """They have a type that holds gaps, whether the other parts' types are known or not."""
    rows = pd.DataFrame({"a": [1], "i": [2], "b": [True], "f": [0.5], "m": pd.array([1]), "s": "x"})
    chosen = rows[["a", column]]
    for lazy in (md.DataFrame(chosen), _merged(chosen)):
        values = lazy.compute()
        wanted = pd.concat([values, rows[["a"]][:0], values])
        for other in (md.DataFrame(rows[["a"]]).query("a > 1"), md.DataFrame(rows[["a"]][:0])):
            equal(md.concat([lazy, other, lazy]), wanted)


def _merged(rows: pd.DataFrame) -> Any:
    """Return the rows, of types that only values tell."""
    found: Any = md.DataFrame(rows[["a"]]).merge(md.DataFrame(rows), how="left")
    return found


@pytest.mark.parametrize("numbers", ["float32", "int64", "Int64", "bool"])
def test_types_of_parts_without_rows(numbers):
    """They count where only values tell the types of the others, or their own."""
    rows = pd.DataFrame({"a": [1.5, 2.0]})
    others = pd.DataFrame({"a": pd.Series([1, 0], dtype=numbers)})
    lazy = md.DataFrame(others, chunk_size=1)
    for made in (md.DataFrame(rows), md.DataFrame(rows[:0]), md.DataFrame(rows).query("a > 9")):
        values = made.compute()
        made.loc[made.a > 3] = 0
        equal(md.concat([made, lazy]), pd.concat([values, others]))
        equal(md.concat([lazy.a, made.a]), pd.concat([others.a, values.a]))


@pytest.mark.parametrize("keys", [[1, 2, 3], [1, 2, 4], [4, 5, 6]])
@pytest.mark.parametrize("above", ["int64", "float32"])
def test_labels_whose_types_rows_tell(keys, above):
    """Labels that are floats if a key has no match have the types of all rows beside others."""
    left = pd.DataFrame({"k": [1, 2, 3], "b": [5, 6, 9]})
    right = pd.DataFrame({"k": keys, "c": [1, 2, 3]})
    other = pd.DataFrame({"c": [1]}, pd.Index([1], dtype=above, name="b"))
    lazy = [md.DataFrame(frame, chunk_size=1) for frame in (left, right, other)]
    for rows in ("k > 0", "k > 1"):
        wanted = left.merge(right, how="outer").query(rows).set_index("b")
        found = lazy[0].merge(lazy[1], how="outer").query(rows).set_index("b")
        equal(md.concat([lazy[2], found]), pd.concat([other, wanted]))
        equal(md.concat([found, lazy[2]]).head(1), pd.concat([wanted, other]).head(1))


#: Labels of several types.
JOINED: dict[str, Any] = {
    "range": pd.RangeIndex(2),
    "ints": pd.Index([1, 2]),
    "floats": pd.Index([1.5, 2]),
    "texts": pd.Index(["a", "b"]),
    "objects": pd.Index(["a", 1], dtype=object),
    "numbers as objects": pd.Index([1, 2], dtype=object),
    "times": pd.to_datetime(["2020", "2021"]),
}


@pytest.mark.parametrize("join", ["inner", "outer"])
@pytest.mark.parametrize("one", JOINED)
def test_types_of_joined_labels(one, join):
    """Labels of parts without rows count, and objects by all their values."""
    left = pd.DataFrame({"a": [1.0, 2.0]}, JOINED[one])
    options: dict[str, Any] = {"axis": 1, "join": join}
    for other in set(JOINED) - {one, "times"}:
        right = pd.DataFrame({"b": [1, 2]}, JOINED[other])
        lazy = [md.DataFrame(side, chunk_size=1) for side in (left, right)]
        if other != "numbers as objects":
            wanted = pd.concat([left[:0], right], **options)
            equal(md.concat([lazy[0][lazy[0].a > 9], lazy[1]], **options), wanted)
        equal(md.concat([lazy[0], lazy[1][:0]], **options), pd.concat([left, right[:0]], **options))


@pytest.mark.parametrize("join", ["inner", "outer"])
@pytest.mark.parametrize("values", [[1, 1], [None, None]], ids=["equal", "missing"])
def test_categories_without_intervals(join: Any, values: list[Any]) -> None:
    """Columns of no categories are missing in the rows of other parts."""
    rows: Any = pd.DataFrame({"k": values, "j": 1.0}, dtype="float64")
    others = pd.DataFrame({"j": [1.0, 2.0]})
    lazy: Any = md.DataFrame(rows, chunk_size=1)
    cuts: Any = {"q": [0, 0.5, 1], "duplicates": "drop"}
    rows, lazy = rows.assign(k=pd.qcut(rows.k, **cuts)), lazy.assign(k=md.qcut(lazy.k, **cuts))
    wanted = pd.concat([rows, others], join=join)
    equal(md.concat([lazy, md.DataFrame(others)], join=join), wanted)


@pytest.mark.parametrize("name", [None, 0, "x"])
def test_a_series_without_a_name_is_the_first_column(name: Any) -> None:
    """Its label is a range, as in pandas, where a frame is made of it."""
    series, frame = pd.Series([0], name=name), pd.DataFrame([1, 2])
    lazy: Any = md.Series(series)
    exact: dict[str, Any] = {"check_column_type": "exact"}
    pairs: Any = (
        (lazy.to_frame(), series.to_frame()),
        (md.concat([lazy, md.DataFrame(frame)]), pd.concat([series, frame])),
    )
    for found, wanted in pairs:
        pd.testing.assert_frame_equal(found.compute(), wanted, **exact)
        assert isinstance(found.columns, type(wanted.columns))


@pytest.mark.parametrize("join", ["inner", "outer"])
@pytest.mark.parametrize("rows", [2, 0])
def test_names_beside_rows_without_columns(rows, join):
    """Labels of rows without columns have a say in the name; without rows in intersections only."""
    frame = pd.DataFrame({"u": [1.0, 2.0], "f": [1.0, 2.0]}, index=pd.Index([5, 6], name="x"))
    other = pd.DataFrame({"k": [1], "f": [1.0]}, index=pd.Index([3], name="row"))
    bare, lazy = frame[frame.u < 9 * rows][[]], md.DataFrame(frame, chunk_size=1)
    for part in (lazy[lazy.u < 9 * rows][[]], md.DataFrame(bare, chunk_size=1)):
        wanted = pd.concat([bare, other], join=join)
        equal(md.concat([part, md.DataFrame(other)], join=join), wanted)
    if rows:
        joined = md.concat([md.DataFrame(bare), md.DataFrame(other)], join=join)
        assert joined.index.names == wanted.index.names


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
def test_truth_values_without_rows_are_numbers_among_them(dtype):
    """Frames join truth values as numbers, also those of a part without rows."""
    rows: Any = pd.DataFrame({"k": [1, 2], "b": [5, 5]}).astype({"b": dtype})
    others = pd.DataFrame({"k": [1], "b": [True]})[:0]
    lazy: Any = md.DataFrame(rows, chunk_size=1)
    lazy.iloc[-1:, 0] = 1
    rows.iloc[-1:, 0] = 1
    assert not lazy.node.settled
    with option_context({"coalesce": False}):
        found = md.concat([lazy, md.DataFrame(others), lazy], join="inner")
        equal(found, pd.concat([rows, others, rows], join="inner"))


def test_levels_beside_plain_labels():
    """Rows without columns may have plain labels where the others have pairs."""
    pairs = pd.DataFrame({"a": [1, 2]}, pd.MultiIndex.from_tuples([(1, "a"), (2, "b")]))
    plain = pd.DataFrame({"a": [1.5]})
    for parts in ([pairs, plain], [plain[[]], pairs], [pairs[:0], plain[[]], pairs[:0]]):
        lazy = [md.DataFrame(part, chunk_size=1) for part in parts]
        equal(md.concat(lazy, ignore_index=True), pd.concat(parts, ignore_index=True))


@pytest.mark.parametrize("join", ["inner", "outer"])
@pytest.mark.parametrize("first", [True, False])
def test_labels_beside_parts_that_are_known_to_have_no_rows(join: Any, first: bool) -> None:
    """Numbers, or pairs, without rows make no objects of times."""
    frame = pd.DataFrame({"a": [1.0, 2.0]}, pd.date_range("2024", periods=2))
    pairs = pd.MultiIndex.from_arrays([[1], ["p"]])
    for labels in (pd.RangeIndex(1), pd.Index(["x"]), pairs):
        parts = [frame, pd.DataFrame({"a": [1.0]}, labels)[:0]]
        parts = parts if first else parts[::-1]
        lazy: Any = md.concat([md.DataFrame(part) for part in parts], join=join)
        wanted: Any = pd.concat(parts, join=join)
        assert lazy.node.meta.index.dtype == wanted.index.dtype
        equal(lazy.resample("2D").sum(), wanted.resample("2D").sum())


@pytest.mark.filterwarnings("ignore:'<' not supported:RuntimeWarning")
def test_keys_beside_labels_that_are_tuples():
    """Tuples among other labels are values of a level."""
    pairs = pd.DataFrame({"a": [1, 2]}, pd.MultiIndex.from_tuples([(1, "x"), (2, "y")]))
    plain = pd.DataFrame({"a": [3, 4]})
    parts = [pd.concat([pairs, plain]), plain]
    lazy = [md.concat([md.DataFrame(part, chunk_size=1) for part in (pairs, plain)])]
    equal(
        md.concat([*lazy, md.DataFrame(plain)], keys=["m", "n"]), pd.concat(parts, keys=["m", "n"])
    )


#: Labels of rows without columns, which count beside those of others.
LABELS_OF_BARE_ROWS: dict[str, Any] = {
    "float": [1.25, 2.5],
    "missing": [np.nan, 1.5],
    "text": ["a", "b"],
    "time": pd.to_datetime(["2020", "2021"]),
    "small integers": np.array([7, 8], "i1"),
    "integers": [7, 8],
    "truth": [True, False],
    "Float64": pd.array([0.5, None], "Float64"),
}


@pytest.mark.parametrize("join", ["inner", "outer"])
@pytest.mark.parametrize("name", LABELS_OF_BARE_ROWS)
def test_labels_of_rows_without_columns(name: str, join: Any) -> None:
    """They keep their values: the type is that of all labels."""
    bare = pd.DataFrame({"u": LABELS_OF_BARE_ROWS[name]}).set_index("u").rename_axis(None)
    other = pd.DataFrame({"k": [1, 2], "f": [0.5, 0.2]})
    for raw in ([bare, other], [other, bare], [bare, other, bare]):
        lazy = [md.DataFrame(frame, chunk_size=1) for frame in raw]
        equal(md.concat(lazy, join=join), pd.concat(raw, join=join))


@pytest.mark.parametrize("join", ["inner", "outer"])
@pytest.mark.parametrize("order", [1, -1])
def test_columns_of_a_frame_without_columns_have_pandass_type(join: Any, order: int) -> None:
    """Columns of a frame without columns have pandas's type."""
    frames = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame(index=[3, 1, 2])][::order]
    lazy = [md.from_pandas(frame, chunk_size=1) for frame in frames]
    equal(md.concat(lazy, join=join), pd.concat(frames, join=join))
