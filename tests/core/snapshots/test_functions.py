"""Functions of users: their names, what they capture, and their errors, which arrive."""

from __future__ import annotations

import functools
import re
from types import FunctionType
from typing import Any, cast
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask.core.snapshots.functions import (
    captured,
    changed_names,
    function_label,
    function_name,
    import_path,
    shown_text,
)


class TrueError(Exception):
    """What the user's function raises."""


def fail(*_: Any, **__: Any) -> Any:
    """Raise the user's error."""
    raise TrueError("the true error")


class Failing:
    """An object without a name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fail()

    def method(self, *args: Any, **kwargs: Any) -> Any:
        """Raise the user's error."""
        fail()


class Shy(Failing):
    """It cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class WithoutHash(Failing):
    """It is no key."""

    __hash__ = None  # type: ignore[assignment]


FUNCTIONS: dict[str, Any] = {
    "partial": functools.partial(fail),
    "object": Failing(),
    "method": Failing().method,
    "lambda": lambda *_, **__: fail(),
    "ufunc": np.frompyfunc(fail, 1, 1),
    "without a text": Shy(),
    "partial without a text": functools.partial(Shy(), Shy()),
    "without a hash": WithoutHash(),
    "mock": mock.Mock(side_effect=TrueError("the true error")),
    "wrapper": functools.wraps(len)(lambda *_, **__: fail()),
}


def t() -> Any:
    """Return a tensor."""
    return mt.tensor(np.arange(1.0, 5.0), chunk_size=2)


def s() -> Any:
    """Return a series."""
    return md.Series([1.0, 2.0, 3.0, 4.0], chunk_size=2)


def d() -> Any:
    """Return a frame."""
    return md.DataFrame({"g": [1, 1, 2, 2], "v": [1.0, 2.0, 3.0, 4.0]}, chunk_size=2)


def times() -> Any:
    """Return a series with times as labels."""
    return md.Series(pd.Series([1.0, 2.0], pd.date_range("2020", periods=2)))


CALLS: dict[str, Any] = {
    "map_blocks": lambda f: t().map_blocks(f, dtype=float),
    "map_blocks, types unknown": lambda f: t().map_blocks(f),
    "map_chunk": lambda f: t().map_chunk(f),
    "map_overlap": lambda f: t().map_overlap(f, depth=1, dtype=float),
    "apply_gufunc": lambda f: mt.apply_gufunc(f, "()->()", t(), output_dtypes=float),
    "blockwise": lambda f: mt.blockwise(f, "i", t(), "i", dtype=float),
    "fromfunction": lambda f: mt.fromfunction(f, shape=(4,), chunk_size=2, dtype=float),
    "apply_along_axis": lambda f: mt.apply_along_axis(f, 0, mt.ones((4, 4), chunk_size=2)),
    "vectorize": lambda f: mt.vectorize(f, otypes=[float])(t()),
    "frompyfunc": lambda f: mt.frompyfunc(f, 1, 1)(t()),
    "piecewise": lambda f: mt.piecewise(t(), [t() > 2], [f, 0]),
    "spawn": lambda f: mr.spawn(f, args=(1.0,)),
    "spawn(retry)": lambda f: mr.spawn(f, args=(1.0,), retry_when_fail=True),
    "spawn(n_output)": lambda f: mr.spawn(f, args=(1.0,), n_output=2)[0],
    "Series.apply": lambda f: s().apply(f),
    "Series.map": lambda f: s().map(f),
    "Series.transform": lambda f: s().transform(f),
    "Series.agg list": lambda f: s().agg([f, "sum"]),
    "Series.pipe": lambda f: s().pipe(f),
    "Series.map_partitions": lambda f: s().map_partitions(f, meta=(None, float)),
    "Series.map_partitions, types unknown": lambda f: s().map_partitions(f),
    "Series.map_chunk": lambda f: s().map_chunk(f),
    "DataFrame.apply": lambda f: d().apply(f),
    "DataFrame.map": lambda f: d().map(f),
    "DataFrame.map_partitions": lambda f: d().map_partitions(f, meta={"g": int, "v": float}),
    "groupby.apply": lambda f: d().groupby("g").apply(f),
    "groupby.agg": lambda f: d().groupby("g").agg(f),
    "groupby.agg dict": lambda f: d().groupby("g").agg({"v": f}),
    "groupby.transform": lambda f: d().groupby("g").transform(f),
    "groupby.filter": lambda f: d().groupby("g").filter(f),
    "groupby(function)": lambda f: d().groupby(f).sum(),
    "rolling.apply": lambda f: s().rolling(2).apply(f),
    "rolling.agg list": lambda f: s().rolling(2).agg([f]),
    "expanding.agg list": lambda f: s().expanding().agg([f]),
    "resample.apply": lambda f: times().resample("D").apply(f),
    "from_map": lambda f: md.from_map(f, [1, 2], meta=pd.DataFrame({"a": [1.0]})),
    "from_map, types unknown": lambda f: md.from_map(f, [1, 2]),
    "pivot_table list": lambda f: d().pivot_table(index="g", values="v", aggfunc=[f]),
    "Index.map": lambda f: md.Index([1.0, 2.0]).map(f),
}


def raised(call: Any, func: Any) -> None:
    """Run what fails; its own text must say why, since anything has the cause as its context."""
    call(func).execute()


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_the_true_error_arrives(call, kind):
    """Whatever the function is, no description of its error raises another."""
    with pytest.raises((Exception,), match="the true error"):
        raised(CALLS[call], FUNCTIONS[kind])


@pytest.mark.parametrize("kind", ["partial", "object", "without a text"])
def test_errors_say_what_was_read(kind):
    """The note names the function and an item, of which any may fail first."""
    func = FUNCTIONS[kind]
    with pytest.raises(TrueError) as caught:
        CALLS["from_map"](func).execute()
    notes = "".join(caught.value.__notes__)
    assert re.search(rf"read from {re.escape(function_name(func))} of \([12],\)", notes)


def test_any_callable_has_a_name():
    """It never raises."""
    named = {kind: function_name(func) for kind, func in FUNCTIONS.items()}
    assert named["partial"] == "fail"
    assert named["object"] == "Failing"
    assert named["method"] == "method"
    assert named["without a text"] == named["partial without a text"] == "Shy"
    assert named["mock"] == "Mock"
    assert function_label(FUNCTIONS["lambda"]) == "lambda"
    assert shown_text(Shy()) == "<Shy>"


def test_import_paths_lead_to_the_function():
    """Wrappers have the names of others."""
    assert import_path(fail) == f"{__name__}.fail"
    assert import_path(Failing.method) == f"{__name__}.Failing.method"
    assert import_path(FUNCTIONS["wrapper"]) is None
    assert import_path(lambda: 1) is None


def test_code_tells_what_it_changes():
    """Items, attributes and outer variables, but nothing of its own."""
    weights: list[float] = []
    by_key: dict[Any, Any] = {}

    def one(x: Any) -> Any:
        by_key[len(x)] = 1
        by_key["a"] += 1
        return weights[0]

    def other(x):
        result = [0]
        result[0] += 1
        result.append(x)
        return np.add(weights, len(by_key))

    one_code, other_code = cast("FunctionType", one), cast("FunctionType", other)
    assert changed_names(one_code) == {"by_key"}
    assert not changed_names(other_code) & {"weights", "by_key"}
    assert set(captured(one_code).cells) == {"by_key", "weights"}
    assert captured(other_code).outer == {"np": np}
