"""Types after running are those of the values, whatever was declared before."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import marsdask
import marsdask.dataframe as md
from marsdask.dataframe.nodes.dtypes import OneType, cast, concat_chunks, meta_from_infos
from marsdask.dataframe.rows import concat
from marsdask.scheduler.base import describe
from tests.dataframe.tables import equal

LEFT = pd.DataFrame({"k": [1, 2, 3, 4, 5, 6], "a": range(6)})
RIGHT = pd.DataFrame({"k": range(1, 7), "v": range(6), "w": [True, False] * 3})
#: Columns that are hard to name.
BAD = [None, ("x", 1), "dtype", "dtypes", "dtype"]


def parts(*frames: Any) -> Any:
    """Return a lazy frame of these chunks, of which only the first one's types are told."""
    return md.from_delayed([dask.delayed(frame) for frame in frames], frames[0])


def badly_named(number: Any) -> pd.DataFrame:
    """Return a row of columns that are hard to name."""
    return pd.DataFrame([[number] * len(BAD)]).set_axis(pd.Index(BAD, dtype=object), axis=1)


def of_units(unit: Any) -> pd.DataFrame:
    """Return times of a unit, which are labels too."""
    times = pd.to_datetime(["2024-01-01", "2024-02-01"]).as_unit(unit)
    return pd.DataFrame({"t": times, "s": times - times[0]}, index=times)


def categorical(values: list[str]) -> pd.DataFrame:
    """Return a categorical column that has the values' categories."""
    return pd.DataFrame({"c": pd.Series(values, dtype="category")})


def arrow(dtype: Any) -> pd.DataFrame:
    """Return a column of an Arrow type."""
    return pd.DataFrame({"x": pd.Series([1, 2], dtype=pd.ArrowDtype(dtype))})


def several(value: Any) -> pd.DataFrame:
    """Return a row labelled twice."""
    return pd.DataFrame(
        {"a": [1]}, index=pd.MultiIndex.from_tuples([(value, "x")], names=["p", "q"])
    )


FLOATS = pd.DataFrame({"a": [1.5, np.nan], "b": [1.0, 2.0]}, index=[0.5, 1.5])
INTS = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
#: Frames whose declared types are others than those of the chunks, or of some of them.
CASES: dict[str, Callable[[], Any]] = {
    "left merge": lambda: md.DataFrame(LEFT, chunk_size=2).merge(
        md.DataFrame(RIGHT, chunk_size=3), how="left"
    ),
    "left merge with gaps": lambda: md.DataFrame(LEFT, chunk_size=2).merge(
        md.DataFrame(RIGHT[:3], chunk_size=2), how="left"
    ),
    "ints, then floats": lambda: parts(INTS, FLOATS),
    "floats, then ints": lambda: parts(FLOATS, INTS),
    "floats that are ints": lambda: parts(FLOATS[:0], INTS, INTS[1:]),
    "no rows": lambda: parts(INTS[:0], FLOATS[:0]),
    "units": lambda: parts(of_units("s"), of_units("ms"), of_units("us")),
    "categories": lambda: parts(categorical(["a"]), categorical(["b", "a"])),
    "text and numbers": lambda: parts(INTS.astype("str"), INTS),
    "Arrow": lambda: parts(arrow(pa.int8()), arrow(pa.int64())),
    "Arrow and NumPy": lambda: parts(arrow(pa.int64()), FLOATS[["a"]].set_axis(["x"], axis=1)),
    "names": lambda: parts(badly_named(1), badly_named(1.5)),
    "labels": lambda: parts(several(1), several(1.5)),
    "years": lambda: parts(of_units("s"), of_units("s")).t.dt.year,
    "a column": lambda: parts(INTS, FLOATS).a,
    "bytes": lambda: md.Series([b"a", b"long"], chunk_size=1).astype(bytes),
    "an index": lambda: parts(INTS, FLOATS).index,
    "several labels": lambda: parts(several(1), several(1.5)).index,
}


@pytest.mark.parametrize("name", CASES)
def test_types_are_those_of_the_values(name):
    """After execute, also in the background; of what is persisted, moved, adopted; of equals."""
    wanted = CASES[name]().compute()
    lazy = CASES[name]()
    twin = copy.copy(lazy)
    lazy.execute()
    moved = pickle.loads(pickle.dumps(lazy))
    states = [lazy, CASES[name]().persist(), moved]
    states += [CASES[name]().execute(wait=False).result(), moved.execute()]
    if not isinstance(wanted, pd.Index):
        states.append(md.from_dask(lazy.to_dask()))
    for state in states:
        assert types(state) == types(wanted)
        equal(state, wanted)
    assert types(lazy.fetch()) == types(wanted)
    assert of_columns(twin) == of_columns(wanted)
    for block in blocks(lazy):
        assert types(block) == types(wanted)


def types(obj: Any) -> Any:
    """Return the types of columns and of labels, whether lazy or not."""
    if isinstance(obj, pd.Index | md.Index):
        return of_columns(obj)
    return of_columns(obj), types(obj.index)


def of_columns(obj: Any) -> Any:
    """Return the types of columns, or of labels, whether lazy or not."""
    if isinstance(obj, md.Index):
        obj = obj._meta
    several = hasattr(obj, "columns") or isinstance(obj, pd.MultiIndex)
    return list(obj.dtypes) if several else obj.dtype


def blocks(lazy: Any) -> list[Any]:
    """Return the chunks of an executed object."""
    stored = lazy.node
    return list(stored.result.scheduler.gather(list(stored.result.layout.keys.values())))


def doubled(frame: Any) -> Any:
    """Return what text makes of numbers depends on their type."""
    return frame.assign(a=frame.a * 2, c=frame.b.astype("str"))


@pytest.mark.parametrize("scheduler", ["inline", "synchronous", "threads", "processes"])
def test_what_is_built_before_and_after(scheduler):
    """Starts from true types afterwards, and has the right values if it was built before."""
    with marsdask.new_session(scheduler) as session:
        for first, second in itertools.permutations([INTS, FLOATS, FLOATS[:0]], 2):
            frame = concat([first, second])
            lazy = parts(first, second)
            before = doubled(lazy)
            tensor = lazy.to_tensor()
            lazy.execute(session=session)
            after = doubled(lazy)
            for found in (before, after):
                equal(found, doubled(frame))
                assert types(found.execute(session=session)) == types(doubled(frame))
            assert types(after) == types(doubled(frame))
            assert lazy.to_tensor().dtype == frame.to_numpy().dtype
            for found in (tensor, lazy.to_tensor()):
                np.testing.assert_array_equal(found.compute(), frame.to_numpy())


@pytest.mark.parametrize("kind", ["str", "string", object, {"b": "str"}])
def test_text_tells_the_type_of_the_column(kind):
    """Not that of a chunk: where types may differ, the others are looked at first."""
    for first, second in itertools.permutations([INTS, FLOATS, FLOATS[:0]], 2):
        wanted = concat([first, second]).astype(kind)
        for lazy in (parts(first, second), parts(first, second).rename(columns={"c": "d"})):
            equal(lazy.astype(kind), wanted)
            equal(lazy.b.astype("str").str.len(), wanted.b.astype("str").str.len())


def test_text_of_what_only_values_tell():
    """Merged, masked, read: pandas's text, of one look only where it is needed."""
    left = md.DataFrame(LEFT, chunk_size=1)
    for right in (RIGHT[:3], RIGHT):
        lazy = left.merge(md.DataFrame(right, chunk_size=2), how="left")
        equal(lazy.v.astype("str"), LEFT.merge(right, how="left").v.astype("str"))
        assert not lazy.node.settled
        assert lazy.execute().node.settled
    equal(left.a.mask(left.a > 4).astype("str"), LEFT.a.mask(LEFT.a > 4).astype("str"))
    cast: Any = left.a.astype("str").node
    assert not isinstance(cast.args[0], OneType)


def test_other_columns_than_declared():
    """Leave what was declared as it is."""
    lazy = parts(INTS, INTS[["a"]]).execute()
    assert list(lazy.dtypes) == list(INTS.dtypes)
    pd.testing.assert_frame_equal(lazy.fetch(), pd.concat([INTS, INTS[["a"]]]))


def test_a_result_is_cut_where_rows_are():
    """Chunks without rows neither decide types nor keep their own."""
    lazy = parts(FLOATS[:0], INTS).execute()
    assert [len(block) for block in blocks(lazy)] == [0, 2]
    assert types(blocks(lazy)[0]) == types(INTS)


DTYPES = [
    *("int64", "int8", "uint64", "float32", "float64", "bool", "complex128", "object", "str"),
    *("Int64", "Float32", "boolean", "string", "category", "M8[s]", "M8[ns]", "m8[ms]"),
    *("datetime64[ns, UTC]", "period[D]", "interval[int64]"),
    pd.ArrowDtype(pa.int64()),
    pd.ArrowDtype(pa.string()),
    pd.ArrowDtype(pa.timestamp("us")),
]


def column(dtype: Any) -> Any:
    """Return values of a type."""
    plain: dict[Any, Any] = {"object": "ab", "str": "ab", "string": "ab", "category": "ab"}
    if dtype == "period[D]":
        return pd.Series(pd.period_range("2024", periods=2, freq="D"))
    if str(dtype) == "interval[int64]":
        return pd.Series(pd.interval_range(0, 2), dtype=dtype)
    if dtype == pd.ArrowDtype(pa.string()):
        return pd.Series(["a", "b"], dtype=dtype)
    return pd.Series(list(plain.get(dtype, [1, 0])), dtype=dtype)


def labelled(dtype: Any) -> Any:
    """Return rows with labels of a type."""
    return pd.Series(0, pd.Index(column(dtype)))


@pytest.mark.parametrize("first", DTYPES, ids=str)
def test_joined_types_are_those_of_pandas(first):
    """Of each pair, as a column and as labels, chunks that were cast too; but objects stay such."""
    for second in DTYPES:
        for make in (column, labelled):
            both = [make(first), make(second)]
            joined = pd.concat(both)
            if make is labelled and "object" in (first, second):
                joined.index = joined.index.astype(object)
            meta = meta_from_infos(both[0][:0], [describe(one) for one in both])
            assert types(meta) == types(joined)
            for found in (concat_chunks(both), concat([cast(one, meta) for one in both])):
                pd.testing.assert_series_equal(found, joined)
