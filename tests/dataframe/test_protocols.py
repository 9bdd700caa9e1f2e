"""NumPy and pandas take lazy rows for what they are: the values, as pandas has them."""

from __future__ import annotations

import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.dataframe.kinds import states
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

NUMBERS = ("int", "float", "bool")


def same_arrays(found, wanted):
    """Check that arrays are equal in values and dtype."""
    assert type(found) is np.ndarray
    assert found.dtype == wanted.dtype
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(wanted))


@draws(30)
@given(both=states())
def test_arrays_are_those_of_pandas(both):
    """Frames, columns and labels become the arrays that pandas's become."""
    frame, lazy = both
    column = frame.columns[0]
    pairs = [(lazy, frame), (lazy[column], frame[column]), (lazy.index, frame.index)]
    for ours, theirs in pairs:
        same_arrays(np.asarray(ours), np.asarray(theirs))
        same_arrays(np.array(ours, dtype=object), np.array(theirs, dtype=object))
        same_arrays(ours.to_numpy(), theirs.to_numpy())
        same_arrays(ours.to_numpy(object, na_value="x"), theirs.to_numpy(object, na_value="x"))
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            np.array(ours, copy=False)
    assert np.array(lazy, copy=True).flags.writeable


@draws(30)
@given(both=states())
def test_pandas_objects_have_the_values(both):
    """Pandas takes values from arrays, and so neither labels nor names; Arrow has all."""
    frame, lazy = both
    column = frame.columns[0]
    if len(frame):  # of no values pandas asks no type
        pd.testing.assert_frame_equal(pd.DataFrame(lazy), pd.DataFrame(np.asarray(frame)))
        wanted = pd.Series(np.asarray(frame[column]))
        pd.testing.assert_series_equal(pd.Series(lazy[column]), wanted)
    pd.testing.assert_index_equal(pd.Index(lazy.index), pd.Index(np.asarray(frame.index)))


@pytest.mark.parametrize("name", ["sqrt", "negative", "isnan", "floor", "sign", "modf", "frexp"])
@draws(15)
@given(both=states(NUMBERS))
def test_ufuncs_of_one_are_those_of_pandas(name, both):
    """Applied lazily, to frames, columns and labels; where pandas refuses, so do we."""
    frame, lazy = both
    column = frame.columns[0]
    ufunc = getattr(np, name)
    labels = [(lazy.index, frame.index)] if frame.index.dtype.kind in "iu" else []
    for ours, theirs in ((lazy, frame), (lazy[column], frame[column]), *labels):
        try:
            wanted = ufunc(theirs)
        except TypeError:
            with pytest.raises(TypeError):
                ufunc(ours)
            continue
        found = ufunc(ours)
        if isinstance(wanted, tuple):
            for one, other in zip(found, wanted, strict=True):
                equal(one, other)
        else:
            equal(found, wanted)


@pytest.mark.parametrize("name", ["add", "multiply", "greater", "hypot", "fmax", "divmod"])
@draws(15)
@given(both=states(("int", "float")))
def test_ufuncs_of_two_are_those_of_pandas(name, both):
    """With scalars, rows, arrays and tensors, on either side."""
    frame, lazy = both
    ufunc = getattr(np, name)
    column = frame.columns[0]
    values = np.arange(1.0, len(frame) + 1)
    tensor = mt.tensor(values, chunk_size=2)
    s, t = frame[column], lazy[column]
    cases = [(ufunc(s, 2), ufunc(t, 2)), (ufunc(2, s), ufunc(2, t)), (ufunc(s, s), ufunc(t, t))]
    cases += [(ufunc(s, values), ufunc(t, tensor)), (ufunc(values, s), ufunc(tensor, t))]
    if name != "divmod":
        cases += [(ufunc(frame, frame), ufunc(lazy, lazy))]
    lazy.execute()
    cases += [(ufunc(s, values), ufunc(lazy[column], values))]
    cases += [(ufunc(values, s), ufunc(values, lazy[column]))]
    for wanted, found in cases:
        several = isinstance(wanted, tuple)
        equal(found[1] if several else found, wanted[1] if several else wanted)


@pytest.mark.parametrize("symbol", ["add", "sub", "truediv", "lt", "eq"])
@draws(10)
@given(both=tables(min_rows=3))
def test_arrays_and_tensors_are_rows_in_order(symbol, both):
    """Operators take arrays, lists and tensors by position, whatever the labels are."""
    frame, lazy = both
    function = getattr(operator, symbol)
    values = np.arange(len(frame)) * 2
    two = np.arange(len(frame) * 2.0).reshape(-1, 2)
    equal(function(lazy.u, values), function(frame.u, values))
    equal(function(values, lazy.u), function(values, frame.u))
    equal(function(lazy.u, list(values)), function(frame.u, list(values)))
    equal(function(lazy.u, mt.tensor(values, chunk_size=3)), function(frame.u, values))
    d, e = frame[["k", "f"]], lazy[["k", "f"]]
    equal(function(e, two), function(d, two))
    equal(function(e, mt.tensor(two, chunk_size=3)), function(d, two))
    equal(function(e, two[:, :1]), function(d, two[:, :1]))
    equal(function(e, two[0]), function(d, two[0]))
    with pytest.raises(ValueError, match="broadcast"):
        function(lazy.u, values[1:])
    with pytest.raises(ValueError, match="broadcast"):
        function(lazy.u, mt.tensor(values[1:], chunk_size=3))


@draws(10)
@given(both=tables(min_rows=2))
def test_tensors_of_unknown_length_lie_beside_filtered_rows(both):
    """Positions match after a filter, though nobody counted."""
    frame, lazy = both
    d, e = filtered(frame), filtered(lazy)
    found = np.add(e.u, e.f.to_tensor() * 2)
    equal(found, (d.u + d.f.to_numpy() * 2).rename("u"))
    equal(e.assign(z=e.u.to_tensor() + 1), d.assign(z=d.u.to_numpy() + 1))


def test_one_row_is_not_broadcast():
    """An array of one value is a scalar beside several rows, and a row beside one."""
    one, three = md.Series([2], name="x"), md.Series([1, 2, 3], chunk_size=2)
    for values in ([2], np.array([2]), mt.tensor([2])):
        equal(one == values, pd.Series([2], name="x") == [2])
        equal(np.add(three, values), np.add(pd.Series([1, 2, 3]), [2]))


FUNCTIONS = ["sum", "mean", "std", "var", "max", "min", "any", "all", "prod", "argmax", "argmin"]


@pytest.mark.parametrize("name", FUNCTIONS)
@draws(15)
@given(both=tables(min_rows=2))
def test_functions_go_through_methods(name, both):
    """Missing values are left out, and a frame's are reduced as pandas does it."""
    frame, lazy = both
    function = getattr(np, name)
    for column in ("k", "u", "b"):
        equal(function(lazy[column]), function(frame[column]))
    if frame.f.notna().any():
        equal(function(lazy.f), function(frame.f))
    if not name.startswith("arg"):
        columns = ["k", "f", "u"]
        equal(function(filtered(lazy)[columns]), function(filtered(frame)[columns]))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
@draws(15)
@given(both=tables())
def test_scans_leave_out_what_is_missing(name, both):
    """And keep its place, by NumPy's function and by the method; lengths known or not."""
    frame, lazy = both
    columns = ["k", "f", "b"]
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        if hasattr(np, name):
            equal(getattr(np, name)(e.f), getattr(np, name)(d.f))
        equal(getattr(e[columns], name)(), getattr(d[columns], name)())
        equal(getattr(e.f, name)(skipna=False), getattr(d.f, name)(skipna=False))


@draws(20)
@given(both=tables(min_rows=1))
def test_methods_of_ufuncs(both):
    """``reduce`` sees what is missing, ``accumulate`` keeps the labels; others are refused."""
    frame, lazy = both
    columns = ["k", "u"]
    for ufunc in (np.add, np.maximum, np.multiply, np.logical_or):
        equal(ufunc.reduce(lazy.u), ufunc.reduce(frame.u))
        found = ufunc.reduce(lazy[columns])
        wanted = ufunc.reduce(frame[columns])
        if isinstance(wanted, np.ndarray):
            same_arrays(found.compute(), wanted)
        else:
            equal(found, wanted)
    equal(np.add.reduce(lazy.f), np.add.reduce(frame.f))
    equal(np.add.accumulate(lazy.u), np.add.accumulate(frame.u))
    equal(np.maximum.accumulate(lazy[columns]), np.maximum.accumulate(frame[columns]))
    for call in (lambda: np.add.outer(lazy.u, lazy.u), lambda: np.matmul(lazy.u, lazy.u)):
        with pytest.raises(NotImplementedError, match="to_tensor"):
            call()


def test_results_go_where_out_says():
    """Arrays and pandas objects are filled, lazy rows become the result."""
    frame = table(7)
    lazy = md.DataFrame(frame, chunk_size=3)
    found = np.zeros(7)
    equal(np.add(lazy.u, 1, out=found), np.add(frame.u, 1, out=np.zeros(7)))
    assert found.tolist() == (frame.u + 1).tolist()
    np.multiply(lazy.u, 2, out=found, where=(lazy.u > 3))
    assert found.tolist() == np.where(frame.u > 3, frame.u * 2, frame.u + 1).tolist()
    series = frame.f.copy()
    np.negative(lazy.f, out=series)  # type: ignore[call-overload]
    pd.testing.assert_series_equal(series, -frame.f)
    target = lazy.u + 0
    np.subtract(lazy.u, 1, out=target)  # type: ignore[call-overload]
    equal(target, frame.u - 1)
    with pytest.raises(NotImplementedError, match="assign"):
        np.sqrt(lazy.f, out=target)  # type: ignore[call-overload]
    with pytest.raises(NotImplementedError, match="where"):
        np.sqrt(lazy.f, where=frame.b.to_numpy())


@pytest.mark.parametrize("function", [operator.sub, np.add, np.hypot, operator.eq])
def test_pandas_objects_in_memory_stand_on_either_side(function):
    """Their labels are those of the rows, or they are refused: neither is taken for an array."""
    frame = table(5)
    lazy = md.DataFrame(frame, chunk_size=2)
    for one, other in ((frame.u, lazy.u), (lazy.u, frame.u), (frame[["u"]], lazy[["u"]])):
        equal(
            function(one, other),
            function(*(frame[["u"]],) * 2 if one.ndim == 2 else (frame.u,) * 2),
        )
        with pytest.raises(NotImplementedError, match="other labels"):
            function(lazy.u, frame.u[::-1])


@draws(15)
@given(both=tables())
def test_lists_are_those_of_pandas(both):
    """Series and labels compute, by both of pandas's names; a DataFrame has none."""
    frame, lazy = both
    for ours, theirs in ((lazy.u, frame.u), (lazy.t, frame.t), (lazy.index, frame.index)):
        assert ours.tolist() == theirs.tolist()
        assert ours.to_list() == theirs.to_list()
    assert not hasattr(lazy, "tolist")


def test_no_truth():
    """A condition is refused in pandas's words."""
    lazy = md.DataFrame(table(3))
    for ours, kind in ((lazy, "DataFrame"), (lazy.u, "Series"), (lazy.index, "Index")):
        with pytest.raises(ValueError, match=f"a {kind} is ambiguous. Use a.empty"):
            bool(ours)


@given(data=st.data())
def test_what_plots_ask_for(data):
    """Matplotlib's ways in: arrays of labels and values, iteration, the first value."""
    frame, lazy = data.draw(tables(min_rows=1))
    same_arrays(lazy.u.index.to_numpy(), frame.u.index.to_numpy())
    same_arrays(np.atleast_1d(lazy.u), frame.u.to_numpy())
    assert next(iter(lazy.u)) == frame.u.iloc[0]
    assert np.isfinite(lazy.u).compute().all()


@pytest.mark.parametrize("name", ["cbrt", "negative", "add", "greater", "divmod", "modf", "trunc"])
@draws(15)
@given(both=tables(min_rows=2))
def test_ufuncs_of_the_tensor_package_are_those_of_numpy(name, both):
    """They keep labels and names, beside scalars, tensors and pandas objects of equal labels."""
    frame, lazy = both
    values = np.arange(1.0, len(frame) + 1)
    tensor = mt.tensor(values, chunk_size=2)
    ours, numpys = getattr(mt, name), getattr(np, name)
    if numpys.nin == 1:
        cases = [(ours(lazy.u), numpys(frame.u))]
        if frame.index.dtype.kind in "iu":
            cases += [(ours(lazy.index), numpys(frame.index))]
    else:
        cases = [(ours(lazy.u, 2), numpys(frame.u, 2)), (ours(2, lazy.u), numpys(2, frame.u))]
        cases += [(ours(tensor, lazy.u), numpys(values, frame.u))]
        cases += [(ours(lazy.u, tensor), numpys(frame.u, values))]
        cases += [(ours(lazy.u, frame.u), numpys(frame.u, frame.u))]
    if numpys.nout == 1:
        wanted = numpys(frame[["k", "u"]], *[1] * (numpys.nin - 1))
        cases += [(ours(lazy[["k", "u"]], *[1] * (numpys.nin - 1)), wanted)]
    for found, wanted in cases:
        several = isinstance(wanted, tuple)
        equal(found[1] if several else found, wanted[1] if several else wanted)


def test_other_functions_of_the_tensor_package_take_rows_for_arrays():
    """A function that is made of ufuncs, or writes to ``out``, returns a tensor of rows."""
    frame = table(5)
    lazy = md.DataFrame(frame, chunk_size=2)
    assert isinstance(mt.special.softmax(lazy.u), mt.Tensor)
    assert isinstance(mt.var(lazy.u), mt.Tensor)
    target = mt.zeros(5)
    assert mt.add(lazy.u, 1, target) is target
    assert target.compute().tolist() == (frame.u + 1).tolist()


OF_TIMES = {
    "BDay": lambda x: x + pd.offsets.BDay(3),
    "reflected": lambda x: pd.offsets.Day(1) + x,
    "MonthBegin": lambda x: x - pd.offsets.MonthBegin(1),
    "Timedelta": lambda x: x - pd.Timedelta("1h"),
    "comparison": lambda x: x > x - pd.Timedelta("1h"),
    "ratio": lambda x: (x - (x - pd.Timedelta("1D"))) / pd.Timedelta("1h"),
}


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("name", OF_TIMES)
def test_scalars_of_times(name, zone):
    """A lazy time takes offsets and differences of times, as a pandas time does."""
    times = pd.date_range("2024-01-01", periods=3, tz=zone)
    assert OF_TIMES[name](md.Index(times)[-1]).compute() == OF_TIMES[name](times[-1])


def test_values_of_zones():
    """The values of times with a zone are those of UTC, as in pandas."""
    times = pd.Series(pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin"))
    wanted = times.dt.tz_convert(None).to_numpy()
    for rows in (md.Series(times), md.Index(times)):
        found = rows.values.compute()
        assert found.dtype == wanted.dtype
        assert (found == wanted).all()


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_times_are_no_truth_values(zone, name):
    """Neither are all of them reduced, nor run by run."""
    times = md.Series(pd.date_range("2024", periods=3, tz=zone), chunk_size=2)
    for method in ("reduce", "accumulate"):
        with pytest.raises(TypeError, match=name):
            getattr(getattr(np, name), method)(times)
        periods = md.Series(pd.period_range("2024", periods=3, freq="D"), chunk_size=2)
        with pytest.raises(TypeError, match=name):
            getattr(getattr(np, name), method)(periods)
