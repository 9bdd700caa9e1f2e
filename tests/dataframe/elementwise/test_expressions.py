"""Expressions of columns as text equal pandas's."""

from __future__ import annotations

from typing import Any
from typing import cast as typed

import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

QUERIES = [
    "k > 0 & u < 5",
    "k > 0 and not (u < 5) or b",
    "k in [1, 2] and s == 'a'",
    "k not in [1, 2]",
    "k == [1, 2]",
    "k != [1, 2]",
    "'a' in s",
    "'a' not in s",
    "s in 'a'",
    "u > u.mean()",
    "s.str.contains('b', na=False)",
    "0 < u <= 4",
    "index == index",
    "`k` >= -u",
]
EVALS = [
    "k * 2 + u",
    "z = k * 2 + u",
    "z = k * 2\ny = z + 1",
    "sin(u) ** 2 + abs(k)",
    "-u // 2 % 3",
]


@draws(4)
@given(both=tables(min_rows=1))
def test_expressions(both):
    """Values, types and labels are pandas's, also of rows chosen before."""
    for frame, lazy in (both, map(filtered, both)):
        for text in QUERIES:
            equal(lazy.query(text), frame.query(text))
        for text in EVALS:
            equal(lazy.eval(text), frame.eval(text))


LIMIT = 1
LIMITS = [len]


def test_names_of_the_caller():
    """After ``@``: local ones, global ones and those of a dict."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    least = 2
    equal(lazy.query("u > @least and k < @LIMIT"), frame[(frame.u > least) & (frame.k < LIMIT)])
    equal(lazy.query("u > @x", local_dict={"x": 3}), frame[frame.u > 3])
    with pytest.raises(pd.errors.UndefinedVariableError, match="nope"):
        lazy.query("u > @nope")


def test_wrong_expressions_are_refused():
    """As in pandas, at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    for error, words, call in [
        (pd.errors.UndefinedVariableError, "nope", lambda: lazy.query("nope > 1")),
        (SyntaxError, "invalid", lambda: lazy.query("k >")),
        (ValueError, "must be a string", lambda: lazy.query(typed("str", 1))),
        (NotImplementedError, "not implemented", lambda: lazy.eval("[k for k in u]")),
        (ValueError, "empty string", lambda: lazy.query("")),
        (SyntaxError, "invalid syntax", lambda: lazy.query("5 < `u")),
        (TypeError, "Only named functions", lambda: lazy.eval("@LIMITS[0]()")),
        (TypeError, "Only named functions", lambda: lazy.eval("@LIMITS.__call__()")),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_expressions_of_variables():
    """Frames, columns and numbers by the names that they have where it is called."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(md.eval("lazy.u * 2 > LIMIT & lazy.k < 9"), (frame.u * 2 > LIMIT) & (frame.k < 9))
    equal(md.eval("lazy['k'] - x", local_dict={"lazy": lazy, "x": 3}), frame.k - 3)
    assert md.eval("1 + 2 * LIMIT") == 3
    assert md.eval("x * LIMIT", local_dict={"x": 3}) == pd.eval("x * LIMIT", local_dict={"x": 3})
    size = 7
    equal(md.eval("lazy.k + size - y", global_dict={"y": 2}), frame.k + size - 2)
    equal(md.eval("lazy.k + z", resolvers=({"z": 4},)), frame.k + 4)
    lines = "p = lazy.k * 2\nq = p + size"
    equal(md.eval(lines, target=lazy), frame.assign(p=frame.k * 2, q=frame.k * 2 + size))
    assert "p" not in lazy.columns
    with pytest.raises(pd.errors.UndefinedVariableError, match="LIMIT"):
        md.eval("LIMIT + y", global_dict={"y": 2})
    for error, words, call in [
        (pd.errors.UndefinedVariableError, "nope", lambda: md.eval("nope + 1")),
        (SyntaxError, "not allowed", lambda: md.eval("@lazy + 1")),
        (ValueError, "without a target", lambda: md.eval("a = lazy")),
        (ValueError, "Multi-line", lambda: md.eval("a = lazy\nlazy.k", target=lazy)),
        (NotImplementedError, "local_dict", lambda: md.eval("lazy", level=1)),
    ]:
        with pytest.raises(error, match=words):
            call()


#: Expressions of a frame whose columns have odd labels or equal ones; some are errors.
ODD = {
    "texts in quotes": "'`a b`' < `a b`",
    "a backtick": "`a``b` < 2",
    "a quote": "`it's` > 2",
    "a quote and a comment": "`it's` > 2 # it's",
    "a number": "`1` == 3",
    "equal labels": "B > 4",
    "equal labels as a mask": "A > 4",
    "equal labels, reduced": "(A > 4).any(axis=1)",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_labels(name):
    """Names in backticks are any text; of labels with the same text the last counts."""
    labels = ["a b", "a`b", "it's", 1, "1", "A", "A", "B"]
    frame = pd.DataFrame([["~", 1, 2, 3, 4, 5, 3, 5], ["`", 2, 3, 4, 3, 3, 6, 1]], columns=labels)
    lazy = md.DataFrame(frame, chunk_size=1)
    try:
        wanted = frame.query(ODD[name])
    except ValueError:
        with pytest.raises(ValueError, match="duplicated column label"):
            lazy.query(ODD[name])
    else:
        equal(lazy.query(ODD[name]), wanted)


#: Expressions with ``parser="python"``, some of which only pandas's own grammar has.
IN_PYTHON = ["(k > 0) & (u < 5)", "(k > 0) | b", "u + 1 > k * 2", "k > 0 and b", "not b"]
IN_PYTHON += ["0 < u < 5", "s == 'a'", "k == [1, 2]", "k in [1, 2]", "u > @LIMIT"]


@pytest.mark.parametrize("text", IN_PYTHON)
def test_expressions_of_python(text):
    """With its order of operators, and without the words of pandas's grammar."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    try:
        wanted = frame.query(text, parser="python", engine="python")
    except (NotImplementedError, SyntaxError) as error:
        with pytest.raises(type(error)):
            lazy.query(text, parser="python")
    else:
        equal(lazy.query(text, parser="python"), wanted)


def test_labels_and_times_in_expressions():
    """Levels of labels have names; numbers are times beside times."""
    names: list[Any] = ["k", None]
    frame = table(9).set_index(["k", "s"]).rename_axis(index=names)
    lazy = md.DataFrame(table(9), chunk_size=4).set_index(["k", "s"]).rename_axis(index=names)
    for text in ("k > 0 and ilevel_1 == 'a'", "ilevel_1 != 'a'", "t < 19700104", "u > 2 and k < 2"):
        equal(lazy.query(text), frame.query(text))


@pytest.mark.parametrize("text", ["k + 1", "k > 1", "m + 1", "`('k', 'b')` > 2", "u * 2"])
def test_columns_of_several_levels(text):
    """A name is no key of the first level of columns, but one of row labels may have it."""
    columns = pd.MultiIndex.from_tuples([("k", "a"), ("k", "b"), ("m", "a")])
    index = pd.MultiIndex.from_tuples([(1, 5.0), (2, 6.0)], names=["k", "u"])
    frame = pd.DataFrame([[1, 2, 3], [2, 3, 4]], index, columns)
    lazy = md.DataFrame(frame, chunk_size=1)
    try:
        wanted = frame.eval(text)
    except pd.errors.UndefinedVariableError as error:
        with pytest.raises(type(error)):
            lazy.eval(text)
    else:
        equal(lazy.eval(text), wanted)
