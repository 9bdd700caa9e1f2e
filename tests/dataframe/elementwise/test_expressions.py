"""Expressions of columns as text equal pandas's."""

from __future__ import annotations

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
    with pytest.raises(pd.errors.UndefinedVariableError, match="LIMIT"):
        md.eval("LIMIT + y", global_dict={"y": 2})
    for error, words, call in [
        (pd.errors.UndefinedVariableError, "nope", lambda: md.eval("nope + 1")),
        (SyntaxError, "not allowed", lambda: md.eval("@lazy + 1")),
        (NotImplementedError, "eval\\(\\) of a frame", lambda: md.eval("a = lazy")),
        (NotImplementedError, "local_dict", lambda: md.eval("lazy", parser="python")),
    ]:
        with pytest.raises(error, match=words):
            call()
