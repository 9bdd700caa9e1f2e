"""Eager mode: each call of a public function executes once, whatever steps it is made of."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.core.config import option_context
from marsdask.core.session import Session
from tests.conformance import history

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
