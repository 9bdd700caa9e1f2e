"""Eager mode: each call of a public function executes once, whatever steps it is made of."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.core.collection import Collection
from marsdask.core.config import option_context
from marsdask.core.session import Session
from marsdask.learn.cluster import KMeans
from marsdask.learn.decomposition import PCA
from marsdask.learn.preprocessing import StandardScaler
from tests.conformance import eager_calls, history

#: What computes its arguments at the call, and says so.
COMPUTES = {"repeat": "repeats", "linspace": "ends", "geomspace": "ends", "logspace": "ends"}

#: What the table calls as a method.
METHODS = {"tosparse"}

CALLS = {name: call for name, call in history.calls().items() if hasattr(mt, name.split(".")[0])}
CALLS = {name: call for name, call in CALLS.items() if name not in METHODS}


class EagerOperands:
    """Tensors and a frame by their names, made when first asked for."""

    @property
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp())

    def __getattr__(self, name: str) -> Any:
        found = history.fresh(name)
        self.__dict__[name] = found
        return found


@pytest.fixture(autouse=True)
def session() -> Iterator[Session]:
    """Run each in a session that holds nothing."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with new_session("threads", nthreads=1) as made:
            yield made


@pytest.fixture
def executions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many collections each execution computes."""
    noted: list[int] = []
    execute = Session.execute

    def counted(self: Session, nodes: Any, **kwargs: Any) -> Any:
        noted.append(len(nodes))
        return execute(self, nodes, **kwargs)

    monkeypatch.setattr(Session, "execute", counted)
    return noted


def eagerly(func: Callable[..., Any], executions: list[int], counts: list[int]) -> Any:
    """Return a function that is called in eager mode and counts the executions of each call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = len(executions)
        with option_context({"eager_mode": True}):
            found = func(*args, **kwargs)
        counts.append(len(executions) - before)
        return found

    return call


@pytest.mark.parametrize("name", CALLS)
def test_a_call_executes_once(
    name: str, executions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A public function in eager mode executes once, not at each of its steps."""
    *folder, last = name.split(".")
    module = getattr(mt, folder[0]) if folder else mt
    counts: list[int] = []
    monkeypatch.setattr(module, last, eagerly(getattr(module, last), executions, counts))
    CALLS[name](EagerOperands())
    assert counts
    assert set(counts) == {1} if name not in COMPUTES else min(counts) > 1


TABLES = {
    **eager_calls.FRAMES,
    **eager_calls.MASKED,
    **eager_calls.STATISTICS,
    **eager_calls.TENSORS,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_call_of_the_tables_executes_once(
    name: str, executions: list[int], tmp_path: Path
) -> None:
    """So do functions and methods of frames, of groups, of masked tensors and of statistics."""
    operands = eager_calls.operands(tmp_path)
    executions.clear()
    with option_context({"eager_mode": True}):
        TABLES[name](operands)
    assert len(executions) == 1


def test_the_tables_have_every_public_function() -> None:
    """What is added to frames, masked tensors and statistics is called here, too."""
    assert eager_calls.frame_names() <= set(eager_calls.FRAMES)
    constants = {"MaskedTensor", "masked", "nomask"}
    assert {f"ma.{name}" for name in mt.ma.__all__ if name not in constants} <= set(
        eager_calls.MASKED
    )
    assert {f"stats.{name}" for name in mt.stats.__all__} <= set(eager_calls.STATISTICS)


@pytest.mark.parametrize("owner", eager_calls.NOT_EXECUTED)
def test_what_yields_or_waits_executes_nothing(
    owner: str, executions: list[int], tmp_path: Path
) -> None:
    """Groups and windows execute when they are aggregated, iteration when it goes on."""
    operands = eager_calls.operands(tmp_path)
    which = {"DataFrame": operands.f, "Series": operands.v, "Index": operands.i}[owner]
    by: list[Any] = ["key"] if owner == "DataFrame" else [operands.m]
    given: dict[str, list[Any]] = {"groupby": by, "rolling": [2], "ewm": [2], "resample": ["D"]}
    timed = operands.t if owner == "DataFrame" else operands.t.v
    executions.clear()
    with option_context({"eager_mode": True}):
        for name in eager_calls.NOT_EXECUTED[owner].split():
            rows = timed if name == "resample" else which
            getattr(rows, name)(*given.get(name, []))
    assert not executions


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "StandardScaler": StandardScaler,
    "PCA": partial(PCA, 2, whiten=True),
    "KMeans": partial(KMeans, 2, random_state=0),
    "KMeans of several starts": partial(KMeans, 2, init="random", n_init=2, random_state=0),
    "KMeans of few passes": partial(KMeans, 2, init="k-means||", random_state=0),
}

ESTIMATED = """fit partial_fit transform fit_transform inverse_transform fit_predict predict score
    score_samples"""


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_execute_once_a_pass(name: str, executions: list[int]) -> None:
    """In eager mode a method executes its passes as ever, and what it returns once."""
    samples = np.random.default_rng(3).random((24, 4))
    X = mt.tensor(samples, chunk_size=(10, 4))
    for method in ESTIMATED.split():
        estimator = ESTIMATORS[name]().fit(X)
        if not hasattr(estimator, method):
            continue
        Z = estimator.transform(X) if method == "inverse_transform" else X
        counts = []
        for eager in (False, True):
            executions.clear()
            with option_context({"eager_mode": eager}):
                found = getattr(ESTIMATORS[name]() if "fit" in method else estimator, method)(Z)
            counts.append(len(executions))
            if not eager:
                lazy = isinstance(found, Collection) and not found._is_executed()
        assert counts[1] == counts[0] + lazy, method
