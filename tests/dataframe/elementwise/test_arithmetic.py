"""Methods of operators equal pandas's: axes and values for gaps."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from marsdask.dataframe.elementwise.arithmetic import FUNCTIONS
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

ORDERED = [name for name in FUNCTIONS if name != "pow"]
REFLECTED = ["radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rdiv"]


def of_columns(name: str) -> Any:
    """Return a call of a method with another column."""
    return lambda d: getattr(d.f, name)(d.u)


def of_a_number(name: str) -> Any:
    """Return a call of a method with a number."""
    return lambda d: getattr(d.u, name)(2)


CASES: dict[str, Any] = {
    **{name: of_columns(name) for name in ORDERED},
    **{f"{name} 2": of_a_number(name) for name in (*ORDERED, *REFLECTED)},
    "pow": lambda d: d.k.pow(2),
    "rpow": lambda d: d.u.rpow(2),
    "fill": lambda d: d.f.add(d.u, fill_value=0),
    "fill in order": lambda d: d.f.mul(2, None, 1),
    "fill of frames": lambda d: d[["k", "f"]].add(d[["f", "u"]], fill_value=1),
    "by row": lambda d: d[["k", "u"]].sub(d.u, axis=0),
    "by row reflected": lambda d: d[["k", "u"]].rsub(d.u, axis="index"),
    "by label": lambda d: d[["k", "u"]].add(pd.Series({"k": 1, "u": 2})),
    "by the maxima": lambda d: d[["k", "u"]].sub(d[["k", "u"]].max()),
    "frame": lambda d: d[["k", "f"]].ge(1),
    "frames": lambda d: d[["k", "f"]].eq(d[["k", "f"]]),
    "frames of other columns": lambda d: d[["k", "f"]].le(d[["k", "u"]]),
}


@draws(4)
@given(both=tables(min_rows=1))
def test_methods_of_operators(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for operation in CASES.values():
        for frame, lazy in (both, map(filtered, both)):
            if len(frame):
                equal(operation(lazy), operation(frame))


def test_values_in_memory_lie_beside_the_rows():
    """With ``axis=0``, one for each row."""
    frame = table(5)[["k", "u"]]
    equal(
        md.DataFrame(frame, chunk_size=2).add([*range(5)], axis=0), frame.add([*range(5)], axis=0)
    )


def test_what_is_not_supported():
    """Is refused at the call, with the way out."""
    lazy = md.DataFrame(table(5)[["k", "u"]], chunk_size=2)
    for error, words, call in [
        (NotImplementedError, "merge", lambda: lazy.k.add(1, level=0)),
        (NotImplementedError, "reindex", lambda: lazy.k.add(pd.Series([1] * 4))),
        (NotImplementedError, "reindex", lambda: lazy.add(pd.Series([1] * 4), axis=0)),
        (NotImplementedError, "one by one", lambda: lazy.k.add(pd.DataFrame([1] * 5))),
        (NotImplementedError, "its values", lambda: lazy + pd.Index([1, 2])),
        (NotImplementedError, "one by one", lambda: lazy.add(lazy.k)),
        (TypeError, "nope", lambda: lazy.k.add(1, nope=0)),
        (ValueError, "No axis named 5", lambda: lazy.add(1, axis=5)),
    ]:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_align_columns(name):
    """With a series of columns, in memory or lazy."""
    frame = table(7)[["k", "u"]]
    lazy: Any = md.DataFrame(frame, chunk_size=3)
    for other in (pd.Series({"u": 1, "k": 2}), pd.Series({"k": 1, "z": 2})):
        equal(getattr(lazy, name)(other), getattr(frame, name)(other))
    for labels in (["u", "k"], ["k"]):
        equal(getattr(lazy, name)(lazy[labels].max()), getattr(frame, name)(frame[labels].max()))


def test_plus():
    """Changes no number, and there is none of text."""
    frame = table(7)
    lazy: Any = md.DataFrame(frame, chunk_size=3)
    equal(+lazy[["k", "f"]], +frame[["k", "f"]])
    equal(+lazy.f, +frame.f)
    with pytest.raises(TypeError):
        (+lazy.s).compute()


def test_objects_of_truth_values():
    """Operators of logic take them, as pandas's do."""
    series = pd.Series([True, None, False], dtype=object)
    lazy: Any = md.Series(series, chunk_size=2)
    equal(lazy | lazy, series | series)
    equal(lazy & True, series & True)


@pytest.mark.parametrize("values", [[True, False], (True, False), []], ids=repr)
@pytest.mark.parametrize("symbol", ["and_", "or_", "xor"])
def test_logical_operators_take_no_lists(symbol, values):
    """As in pandas, they are an error on either side, and an array is none."""
    lazy = md.Series([True, False], chunk_size=1)
    function = getattr(operator, symbol)
    for operands in ((lazy, values), (values, lazy)):
        with pytest.raises(TypeError, match="dtype-less"):
            function(*operands)
    if values:
        equal(function(lazy, np.array(values)), function(lazy.compute(), np.array(values)))


@pytest.mark.parametrize("name", ["sub", "radd", "floordiv", "pow", "lt", "ne"])
def test_lazy_values_of_columns(name):
    """The declared columns keep their order, which is not that of the labels."""
    frame = pd.DataFrame({"k": [1, 2, 3], "f": [0.5, 1.0, 2.0], "a": np.ones(3, "int8")})
    lazy = md.DataFrame(frame, chunk_size=2)
    for statistic in ("mean", "max", "count"):
        row, wanted = getattr(lazy, statistic)(), getattr(frame, statistic)()
        found, wanted = getattr(lazy, name)(row), getattr(frame, name)(wanted)
        assert list(found.columns) == list(wanted.columns)
        assert found.dtypes.equals(wanted.dtypes)
        equal(found, wanted)
    row, wanted = lazy.mean(), frame.mean()
    equal(getattr(row, name)(row.shift(1)), getattr(wanted, name)(wanted.shift(1)))
    assert list((lazy - lazy.mean()).columns) == ["k", "f", "a"]
    if name not in ("lt", "ne"):  # comparisons by label have their own test
        found = getattr(lazy[["k"]], name)(lazy[["f", "k"]].mean())
        wanted = getattr(frame[["k"]], name)(frame[["f", "k"]].mean())
        assert list(found.columns) == list(wanted.columns)
        equal(found, wanted)


@pytest.mark.parametrize("name", ["eq", "ne"])
@pytest.mark.parametrize("step", [1, 2, 4])
def test_objects_equal_themselves(name, step):
    """The method calls two ``None`` equal, which the operator does not."""
    eager: Any = pd.Series([1, None, np.nan, "a"], dtype=object)
    other: Any = pd.Series([None, None, np.nan, "a"], dtype=object)
    lazy: Any = md.Series(eager, chunk_size=step)
    equal(getattr(lazy, name)(lazy), getattr(eager, name)(eager))
    equal(getattr(lazy, name)(md.Series(other, chunk_size=step)), getattr(eager, name)(other))
    equal(lazy == lazy, eager == eager)


#: Values of columns, of the same columns, some, others and in another order.
VALUES: dict[str, Any] = {
    "same": lambda d: d[["k", "u"]].sum(),
    "one": lambda d: d[["u"]].min(),
    "others": lambda d: d[["u", "g"]].min(),
    "other order": lambda d: d[["u", "k"]].min(),
    "masked": lambda d: d[["k", "m"]].sum(min_count=3),
}


@pytest.mark.parametrize("name", ["add", "truediv"])
def test_values_of_columns_meet_by_label(name):
    """The columns may be other ones, as those of pandas's series."""
    frame = pd.DataFrame({"k": [1.5, 2], "u": [3, 4], "g": [5, 6]})
    frame["m"] = pd.array([1, None], dtype="Int64")
    lazy = md.DataFrame(frame, chunk_size=1)
    func = getattr(operator, name)
    for right in VALUES.values():
        values = func(VALUES["same"](lazy), right(lazy))
        wanted = func(VALUES["same"](frame), right(frame))
        equal(values, wanted)
        equal(values[values > 0], wanted[wanted > 0])
