"""Schemas: equal ones are one object, and what is made of equal types is found once."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.compilation.verification import SpecificationError, verify_graph
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.elementwise.rowwise import Rowwise
from marsdask.dataframe.keyed.aggregation import GroupByCall
from marsdask.dataframe.schemas import schema
from marsdask.dataframe.schemas.schema import BY_TYPES, interned, once_a_schema

FRAME = pd.DataFrame({"a": [1], "b": [1.5]})
#: Frames and series all unlike each other, some of which compare as equal.
UNLIKE: list[Any] = [
    FRAME,
    FRAME[["b", "a"]],
    FRAME[["a"]],
    FRAME.a,
    FRAME.a.rename("b"),
    FRAME.a.rename(None),
    FRAME.astype("f4"),
    FRAME.set_axis(["x"]),
    FRAME.set_axis(pd.Index(["x"], dtype=object)),
    FRAME.set_axis(pd.RangeIndex(0, 2, 2)),
    FRAME.set_axis(pd.RangeIndex(1, name="i")),
    FRAME.set_axis(pd.Index([0])),
    FRAME.rename_axis("c", axis=1),
    FRAME.set_axis(pd.Index(["a", "b"], dtype=object), axis=1),
    FRAME.astype({"a": "str"}),
    FRAME.astype({"a": "string"}),
]
#: What is not taken for anything else.
HARD: list[Any] = [
    FRAME.set_axis([1, 2], axis=1),
    FRAME.set_axis([True, 2.0], axis=1),
    FRAME.set_axis(pd.MultiIndex.from_tuples([("x", 1), ("y", 2)]), axis=1),
    FRAME.set_axis(pd.MultiIndex.from_tuples([("x", 1)])),
    FRAME.set_axis(pd.date_range("2024", periods=1, freq="D")),
    FRAME.astype({"a": pd.CategoricalDtype([1, 2])}),
    FRAME.astype({"a": pd.CategoricalDtype([2, 1])}),
    FRAME.rename_axis(1),
    FRAME.b.rename(("x",)),
    pd.Index([1]),
]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Forget what other tests found."""
    monkeypatch.setattr(schema, "_RESULTS", {})


@pytest.fixture
def found(monkeypatch):
    """Return the functions whose results' types were found by calling them, in order."""
    calls: list[str] = []
    real = Rowwise._found

    def counted(self: Rowwise) -> Any:
        calls.append(self.label)
        return real(self)

    monkeypatch.setattr(Rowwise, "_found", counted)
    return calls


def empty(obj: Any) -> Any:
    """Return a new object without rows."""
    return obj[:0] if isinstance(obj, pd.Index) else obj.iloc[:0]


def test_equal_ones_are_one_object():
    """And unlike ones are not; what is hard to compare stays itself."""
    metas = [interned(empty(one)) for one in UNLIKE]
    assert len(set(map(id, metas))) == len(UNLIKE)
    for one, meta in zip(UNLIKE, metas, strict=True):
        assert interned(empty(one)) is interned(meta) is meta
    for one in HARD:
        meta = empty(one)
        assert interned(meta) is meta
        assert interned(empty(one)) is not meta
    noted = empty(FRAME)
    noted.attrs["unit"] = "m"
    assert interned(noted) is noted


CONSTANTS: list[Any] = [
    *(0, 1, -1, 127, 128, -128, -129, 255, 256, 2**15, 2**16, -(2**15) - 1, 2**31, 2**32),
    *(2**63 - 1, 2**63, -(2**63), 1.5, 0.0, float("nan"), True, 1j, "a", None),
    *(np.int8(1), np.float32(1), np.datetime64("2024-01-01", "s")),
    *(pd.Timestamp("2024"), pd.Timestamp("2024", tz="UTC")),
]
DTYPES = [
    *("int8", "uint8", "int16", "uint16", "int32", "int64", "uint64", "float32", "float64"),
    *("bool", "str", "object", "M8[s]", "m8[s]", "complex64"),
]


def of(call: Any) -> Any:
    """Return the type of a result, or of the error."""
    try:
        with np.errstate(all="ignore"):
            return call().dtype
    except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
        return type(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_calls(dtype):
    """Of each function, constant and type, also where others were found before."""
    column = pd.Series([], dtype=dtype, index=pd.Index([], dtype="str"))
    lazy = md.Series(column).rename("x")
    column = column.rename("x")
    functions = sorted(BY_TYPES, key=lambda func: func.__name__)
    for func, constant in itertools.product(functions, CONSTANTS):
        expected = of(lambda func=func, constant=constant: func(column, constant))
        assert of(lambda func=func, constant=constant: func(lazy, constant)) == expected


def test_constants_that_compare_as_equal():
    """Are told from each other: labels and lists of them, too."""
    frame = md.DataFrame(pd.DataFrame({"a": [1], "b": [2]})).assign(c=1)
    for one, other in itertools.permutations([1, 1.0, True], 2):
        for value in (one, other):
            assert frame.assign(d=value).dtypes["d"] == np.asarray(value).dtype
            labels = frame.rename(columns={"a": value}).columns
            assert type(labels[0]) is type(pd.Index([value, "b"])[0])


def test_equal_types_are_found_once(found):
    """In a loop that makes a frame of the same columns, whatever the constants and inputs."""
    frame = md.DataFrame(FRAME)
    for number in range(1, 20):
        frame = frame.assign(n=frame.a * number + frame.b)
    assert len(found) <= 2 * 5 + 5  # two new forms of the frame, and numbers of one to five bits
    before = len(found)
    again = md.DataFrame(FRAME.copy())
    again = again.assign(n=again.a * 3 + again.b)
    assert len(found) <= before + 4  # of what is not interned: the source


def test_planning_finds_no_types(found):
    """The nodes that merging blocks makes anew have the types of those before."""
    # Random, since a node of equal values that another run left alive would have its own types.
    numbers = np.random.default_rng().integers(2**62, size=64)
    table = pd.DataFrame({"a": numbers, "k": pd.Categorical(["x", "y"] * 32)})
    frame = md.DataFrame(table, chunk_size=4)
    result = frame.assign(b=frame.a // 7)
    found.clear()
    compilation = Compilation([result.node], plan=Plan(workers=2))
    compilation.advance({})
    assert compilation.graph.roots[0] is not result.node
    assert compilation.graph.roots[0].meta is result.node.meta
    assert found == []


def test_taken_types_are_checked():
    """Where a node has types that are not those of its inputs, verification says so."""
    lazy = md.DataFrame(FRAME).a + 1
    verify_graph(Graph([lazy.node]))
    vars(lazy.node)["meta"] = pd.Series([], dtype="str")
    with pytest.raises(SpecificationError, match="types"):
        verify_graph(Graph([lazy.node]))


def test_few_results_are_remembered(monkeypatch):
    """They are dropped when they are many."""
    monkeypatch.setattr(schema, "REMEMBERED", 3)
    frame = md.DataFrame(FRAME).assign(c=1)
    for number in range(9):
        assert (frame.a + 2**number).dtype == "int64"
        assert len(schema._RESULTS) <= 3


def test_groups_are_typed_once_for_equal_types(monkeypatch):
    """And each call has its own types: its function, its columns, its keys."""
    calls = []
    real = GroupByCall.__call__

    def counted(self, frame):
        calls.append(self)
        return real(self, frame)

    monkeypatch.setattr(GroupByCall, "__call__", counted)
    frame = md.DataFrame(FRAME)
    for _ in range(5):
        frame = frame.groupby("a").agg({"b": "sum"}).reset_index()
    assert len(calls) == 1
    assert list(frame.groupby("a").agg({"b": "count"}).dtypes) == ["int64"]
    assert list(frame.groupby("b").agg({"a": "sum"}).dtypes) == ["int64"]
    assert len(calls) == 3


def test_dicts_of_types_are_told_apart():
    """By their labels, values and order."""
    frame = md.DataFrame(FRAME).assign(c=1)
    for types in ({"a": "f4"}, {"a": "f8"}, {"b": "f4"}, {"a": "f4", "c": "f4"}):
        expected = FRAME.assign(c=1).astype(types).dtypes
        assert frame.astype(types).dtypes.equals(expected)
        assert frame.rename(columns=dict.fromkeys(types, "x")).columns.equals(
            FRAME.assign(c=1).rename(columns=dict.fromkeys(types, "x")).columns
        )


def test_reductions_over_no_rows_have_their_own_types():
    """Though the columns are the same: pandas gives other types there."""
    some, none = md.Series(FRAME.a), md.Series(FRAME.a.iloc[:0])
    for _ in range(2):
        assert some.min().dtype == FRAME.a.min().dtype
        assert none.min().dtype == np.asarray(FRAME.a.iloc[:0].min()).dtype


def test_facts_go_with_their_schema(monkeypatch):
    """They are computed once while it lives, and never kept for another object."""
    calls: list[Any] = []
    monkeypatch.setattr(schema, "_SCHEMAS", WeakValueDictionary())
    meta = interned(empty(FRAME.rename(columns={"a": "only here"})))
    number = id(meta)
    assert once_a_schema(calls.append, meta) is once_a_schema(calls.append, meta) is None
    assert len(calls) == 1
    other = empty(FRAME)
    once_a_schema(calls.append, other)
    once_a_schema(calls.append, other)
    assert len(calls) == 3  # not a schema
    calls.clear()
    del meta
    assert number not in schema._FACTS


@contextmanager
def pandas_called() -> Iterator[list[str]]:
    """Note the functions of pandas that others call."""
    names: list[str] = []

    def note(frame: Any, event: str, arg: Any) -> None:
        del arg
        below = frame.f_back
        if event == "call" and below is not None and is_pandas(frame) and not is_pandas(below):
            names.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield names
    finally:
        sys.setprofile(before)


def is_pandas(frame: Any) -> bool:
    """Tell whether a call is one of a function of pandas."""
    return "/pandas/" in frame.f_code.co_filename.replace("\\", "/")


def steps(rows: Any, count: int) -> Any:
    """Return a program: each step filters, computes, groups, merges and sorts."""
    for number in range(count):
        rows = rows[rows.b > number]
        rows = rows.assign(c=rows.b * 2 + rows.a, a=rows.a + number)
        groups = rows.groupby("a", as_index=False).agg(z=("c", "sum"))
        rows = rows.merge(groups, on="a").drop(columns="z").sort_values("a")
    return rows


def test_pandas_is_called_for_new_types_only():
    """A node of known types costs few calls, planning it as few, however many nodes there are."""
    rows = md.DataFrame(FRAME)
    each = {}
    for count in (2, 4, 8):
        with pandas_called() as building:
            found = steps(rows, count)
        graph = Graph([found.node])
        with pandas_called() as planning:
            Compilation([found.node], plan=Plan(coalesce=False)).advance({})
        each[count] = len(building) / len(graph.nodes), len(planning) / len(graph.nodes)
    assert each[2][0] <= 24
    for count in (4, 8):
        built, planned = each[count]
        assert built <= 6
        assert planned <= 6
