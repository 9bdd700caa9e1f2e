"""Operations on rows equal pandas's over chunkings."""

from __future__ import annotations

import operator
import pickle
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from marsdask import new_session
from tests.dataframe.tables import equal, filtered, table, tables

OPERATIONS = {
    "column": lambda d: d.f,
    "columns": lambda d: d[["u", "f"]],
    "arithmetic": lambda d: (d.u + d.f) * 2 - d.k / 3,
    "reflected": lambda d: 2 ** abs(d.k) - 1 / (d.u + 1.5),
    "comparison": lambda d: d.s == "a",
    "boolean": lambda d: ~((d.f > 1) & d.b | (d.k != 0) ^ d.b),
    "frame": lambda d: d[["k", "f"]] * 2 + d[["k", "f"]],
    "assign": lambda d: d.assign(x=d.f * 2, y=lambda e: e.x + 1, s=7),
    "isna": lambda d: d.isna(),
    "fillna": lambda d: d.fillna({"f": 0.5, "s": "z"}),
    "fillna column": lambda d: d.f.fillna(-1),
    "astype": lambda d: d.astype({"k": "float32", "b": "int8"}),
    "rename": lambda d: d.rename(columns={"k": "key"}),
    "rename column": lambda d: d.k.rename("key"),
    "drop": lambda d: d.drop(columns=["s", "t"]),
    "isin": lambda d: d.k.isin([1, 2]),
    "between": lambda d: d.u.between(1, 5),
    "clip": lambda d: d[["k", "u"]].clip(0, 2),
    "round": lambda d: d.f.round(1),
    "str": lambda d: d.s.str.upper().str.len(),
    "characters": lambda d: d.s.str[0] + d.s.str[1:],
    "dt": lambda d: d.t.dt.day,
    "where": lambda d: d.f.where(d.b, -1.0),
    "set_index": lambda d: d.set_index("u"),
    "index": lambda d: d.index,
    "to_frame": lambda d: d.u.to_frame("v"),
    "since": lambda d: (d.t - d.t.min()).dt.days,
    "by keyword": lambda d: d.f.clip(upper=d.f.mean()).where(cond=d.b, other=d.u),
    "minus mean": lambda d: d.f - d.f.mean(),
    "standardised": lambda d: (d[["f", "u"]] - d[["f", "u"]].mean()) / d[["f", "u"]].std(),
    "loc": lambda d: d.loc[:, ["u", "k"]],
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(both=tables(min_rows=1))
def test_operations_equal_pandas(name, both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    frame, lazy = both
    operation = OPERATIONS[name]
    equal(operation(lazy), operation(frame))
    equal(operation(filtered(lazy)), operation(filtered(frame)))


@given(both=tables(min_rows=1))
def test_a_column_is_set_in_place(both):
    """Assignment to a column changes the frame and nothing computed from it before."""
    frame, lazy = both
    before = lazy.k + 0
    lazy["k"] = lazy.f * 2
    lazy["new"] = 1
    wanted = frame.assign(k=frame.f * 2, new=1)
    equal(lazy, wanted)
    equal(before, frame.k + 0)


@given(both=tables())
def test_values_in_memory_lie_beside_the_rows(both):
    """Lists and arrays become columns and masks by their order, whatever the labels are."""
    frame, lazy = both
    many = len(frame)
    columns = {"n": np.arange(many) * 2.0, "t": [f"v{i}" for i in range(many)]}
    equal(lazy.assign(**columns), frame.assign(**columns), check_dtype=many > 0)
    mask = [i % 3 == 0 for i in range(many)]
    if mask:
        equal(lazy[mask], frame[mask])
    for wrong in ([*range(many + 1)], np.zeros(many + 2)) if many else ():
        with pytest.raises(ValueError, match=f"does not match length of index \\({many}\\)"):
            lazy["n"] = wrong
    with pytest.raises(ValueError, match="wrong length"):
        lazy[[*mask, True]]
    with pytest.raises(NotImplementedError, match="execute"):
        lazy[lazy.k > 0].assign(n=[1])


@given(both=tables())
def test_columns_get_other_labels(both):
    """All at once or some of them; other numbers of labels are refused as by pandas."""
    frame, lazy = both
    frame = frame.copy()
    equal(
        lazy.rename(columns={"k": "key"})[["key", "s"]],
        frame.rename(columns={"k": "key"})[["key", "s"]],
    )
    equal(lazy.rename(str.upper, axis=1).U, frame.rename(str.upper, axis=1).U)
    frame.columns = lazy.columns = list("uvwxyz")
    equal(lazy, frame)
    with pytest.raises(ValueError, match="Length mismatch"):
        lazy.columns = ["a"]
    with pytest.raises(ValueError, match="No axis named 7"):
        lazy.rename(str.upper, axis=7)


@pytest.mark.parametrize("func", [operator.add, operator.lt, operator.and_])
def test_other_indexes_are_refused(func):
    """What pandas would align by label is refused at the call, with the way out."""
    lazy = md.DataFrame(table(10, index="labels"))
    other = md.DataFrame(table(10, seed=1, index="labels"))
    with pytest.raises(NotImplementedError, match="reset_index"):
        func(lazy.b, other.b)


def test_equal_default_indexes_need_no_alignment():
    """Objects of different origin whose rows are numbered alike combine, however they are cut."""
    a, b = pd.Series(range(10)), pd.Series(np.arange(10.0) ** 2)
    equal(md.Series(a, chunk_size=3) + md.Series(b, chunk_size=4), a + b)


def test_a_frame_and_a_series_of_rows_are_refused():
    """Pandas would match the rows' labels with the columns: never by accident."""
    lazy = md.DataFrame(table(5)[["u", "f"]])
    with pytest.raises(NotImplementedError, match="columns"):
        lazy + lazy.u


def test_bad_columns_are_refused_at_the_call():
    """A column that is not there is a KeyError or an AttributeError, as in pandas."""
    lazy = md.DataFrame(table(5))
    with pytest.raises(KeyError):
        lazy["nope"]
    with pytest.raises(KeyError):
        lazy[["k", "nope"]]
    with pytest.raises(AttributeError, match="nope"):
        lazy.nope  # noqa: B018
    with pytest.raises(AttributeError):
        lazy.k.str.upper()


def test_what_needs_all_rows_is_refused_at_the_call():
    """Chunk by chunk it would be done wrong without a word."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    for call, text in [
        (lambda: lazy.f.fillna(0, limit=1), "limit"),
        (lambda: lazy[["k"]].isin(lazy.u), "compute"),
    ]:
        with pytest.raises(NotImplementedError, match=text):
            call()


def test_no_truth_value():
    """A condition in an ``if`` is refused, as in pandas."""
    with pytest.raises(ValueError, match="ambiguous"):
        bool(md.Series([1, 2]) == 1)


@pytest.mark.parametrize(
    "row", [lambda d: d.mean(), lambda d: d.max(), lambda d: d.iloc[3]], ids=["mean", "max", "iloc"]
)
def test_one_value_a_column_stays_that_when_it_is_executed(row):
    """For what was built on it before, and what is after; pickled or in another session, too."""
    plain = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) ** 2})
    lazy = md.DataFrame(plain, chunk_size=5)
    values = row(lazy)
    before = lazy - values
    values.execute()
    for found in (before, lazy - values, lazy - pickle.loads(pickle.dumps(values))):
        equal(found, plain - row(plain))
    with new_session("synchronous"):
        equal(lazy - values, plain - row(plain))


#: Lists that are columns of two rows.
LISTS: dict[str, list[Any]] = {
    "of lists": [[1, 2], [3, 4]],
    "of lists of other lengths": [[1], [2, 3]],
    "of tuples": [(1, 2), (3, 4)],
    "of dicts": [{"a": 1}, {}],
    "of arrays": [np.arange(2), np.arange(2)],
    "with gaps": [1, None],
    "of texts": ["x", None],
    "of none": [],
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_a_column(name):
    """Whatever it holds is a value, also lists as long as there are columns or rows."""
    values = LISTS[name]
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})[: len(values)]
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.assign(c=values), frame.assign(c=values))
    lazy["b"], frame["b"] = values, values
    equal(lazy, frame)


#: What is done along each row.
ALONG_ROWS: dict[str, Any] = {
    "diff": lambda frame: frame.diff(axis=1),
    "shift": lambda frame: frame.shift(-1, axis=1),
    "shift and fill": lambda frame: frame.shift(1, axis=1, fill_value=0),
    "pct_change": lambda frame: frame.pct_change(axis=1),
    "ffill": lambda frame: frame.ffill(axis=1),
    "cumsum": lambda frame: frame.cumsum(axis=1),
    "rank": lambda frame: frame.rank(axis=1),
}


@pytest.mark.parametrize("dtypes", ["int64 int8", "float32 int8", "int8", "bool", "Int64 Int64"])
@pytest.mark.parametrize("name", ALONG_ROWS)
def test_types_along_rows(name, dtypes):
    """Declared types are those of rows; pandas has others where it is known that there are none."""
    frame = pd.DataFrame({at: pd.Series([1, 0], dtype=t) for at, t in enumerate(dtypes.split())})
    try:
        wanted = ALONG_ROWS[name](frame)
    except (TypeError, NotImplementedError):
        return  # of truth values
    found = ALONG_ROWS[name](md.DataFrame(frame, chunk_size=1))
    assert list(found.dtypes) == list(wanted.dtypes)
    equal(found, wanted)
    with suppress(TypeError, NotImplementedError):
        equal(ALONG_ROWS[name](md.DataFrame(frame[:0])), ALONG_ROWS[name](frame[:0]))


#: What is a value of each column, beside a lazy scalar.
OF_COLUMNS: dict[str, Any] = {
    "a row": lambda d: d.iloc[2],
    "a row of a label": lambda d: d.loc[1],
    "sums": lambda d: d.sum(),
    "products": lambda d: d.sum() * 2,
}
SCALARS: dict[str, Any] = {"a reduction": lambda d: d.a.max(), "an element": lambda d: d.a.iloc[0]}


@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("values", OF_COLUMNS)
def test_values_of_columns_with_a_lazy_scalar(values: str, scalar: str) -> None:
    """Operators and methods take both, in either order."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 1.0, 7.0, 8.0]})
    lazy = md.DataFrame(frame, chunk_size=3)
    for call in (
        lambda row, number: row == number,
        lambda row, number: row / number,
        lambda row, number: number - row,
        lambda row, number: row.sub(number),
        lambda row, number: row.where(row > number, number),
        lambda row, number: row.clip(upper=number),
    ):
        wanted = call(OF_COLUMNS[values](frame), SCALARS[scalar](frame))
        equal(call(OF_COLUMNS[values](lazy), SCALARS[scalar](lazy)), wanted)
