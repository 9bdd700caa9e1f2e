"""What happened to operands before changes no value: neither of functions nor of their chunks."""

from __future__ import annotations

import operator
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client

import marsdask.tensor as mt
from marsdask import new_session
from marsdask.core.dask.source import FromDask
from marsdask.core.graph import Graph
from marsdask.core.node import Node
from marsdask.core.session import Session
from marsdask.scheduler.storage import memory
from tests.conformance import history
from tests.strategies import HISTORIES, LATER, histories

CALLS = history.calls()
PINNED = {
    f"{kind}: {what}": call
    for kind, calls in history.PINNED.items()
    for what, call in calls.items()
}


class Operands:
    """Tensors and a frame by their names, made when first asked for, with a history."""

    def __init__(self, happened: Callable[[Any], Any] | None = None) -> None:
        self._happened = happened
        self.made: list[Any] = []

    @property
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp())

    def __getattr__(self, name: str) -> Any:
        found = history.fresh(name)
        if self._happened is not None:
            found = self._happened(found)
        self.__dict__[name] = found
        self.made.append(found)
        return found


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Run each in a session that knows nothing, in little memory, of which all can be spilled."""
    monkeypatch.setattr(memory, "SPILL_FROM", 1)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with new_session("threads", nthreads=1, memory_limit="8MiB") as made:
            yield made


def results_of(found: Any) -> list[Any]:
    """Return the tensors of a result that may be one, or several in lists and tuples."""
    if isinstance(found, list | tuple):
        return [item for one in found for item in results_of(one)]
    return [found]


def seen(results: Sequence[Any]) -> list[Any]:
    """Return what each result is, and what functions see of its chunks."""
    chunks = [mt.map_blocks(history.facts, item, dtype=float) for item in results]
    return [item.compute() for item in (*results, *chunks)]


def assert_equal(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Compare arrays: values up to rounding, types, shapes and masks."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.ma.getmaskarray(one).tolist() == np.ma.getmaskarray(other).tolist()
        if np.asarray(one).dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(one, other)


def built_before(call: history.Call, later: str) -> list[Any]:
    """Return what was built on operands to which something happened only then."""
    operands = Operands()
    results = results_of(call(operands))
    for operand in operands.made:
        HISTORIES[later](operand)
    return results


def assert_no_history(call: history.Call, names: Sequence[str], later: Sequence[str]) -> None:
    """Check that operands with these histories, and a result executed itself, are like others."""
    expected = seen(results_of(call(Operands())))
    for name in names:
        results = results_of(call(Operands(HISTORIES[name])))
        assert_equal(seen(results), expected)
        mt.ExecutableTuple(results).execute()
        assert_equal(seen(results), expected)
        del results
    for name in later:
        assert_equal(seen(built_before(call, name)), expected)


@pytest.mark.parametrize("name", CALLS)
def test_values_do_not_depend_on_history(name: str) -> None:
    """Of operands executed, moved, adopted, before and after; for some histories a function."""
    turn = list(CALLS).index(name)
    later = LATER[turn % len(LATER)]
    assert_no_history(CALLS[name], histories(turn, 2), [later])


@pytest.mark.parametrize("name", PINNED)
def test_chunks_that_functions_see_do_not_depend_on_history(name: str) -> None:
    """For every history."""
    assert_no_history(PINNED[name], list(HISTORIES), LATER)


@pytest.mark.parametrize("scheduler", ["inline", "synchronous", "processes"])
def test_chunks_that_functions_see_do_not_depend_on_the_scheduler(scheduler: str) -> None:
    """Nor on Dask, where it can be given the graph."""
    # What is written to the memory of this process is not written by others.
    calls = [call for name, call in PINNED.items() if not name.startswith("Write:")]
    expected = [seen(results_of(call(Operands()))) for call in calls]
    with new_session(scheduler):
        for call, values in zip(calls, expected, strict=True):
            results = results_of(call(Operands(HISTORIES["executed"])))
            assert_equal(seen(results), values)
            for item, value in zip(results, values, strict=False):
                with suppress(NotImplementedError):
                    assert_equal([item.compute(scheduler="synchronous")], [value])
            del item, results


@contextmanager
def on_cluster(kind: str) -> Iterator[None]:
    """Open the default session on a cluster: Dask's current one, or one of its own."""
    if kind == "n_worker":
        with new_session(n_worker=1, n_cpu=1):
            yield
    else:
        how: dict[str, Any] = {"processes": False, "dashboard_address": ":0"}
        with Client(n_workers=1, threads_per_worker=1, **how) as client, new_session(client):
            yield


def _executed_and_taken_back(x: Any) -> Any:
    return mt.from_dask(x.execute().to_dask())


def _executed_and_sent_to_dask(x: Any) -> Any:
    return mt.from_dask(dask.persist(x.execute())[0].to_dask())


def _moved(by: int, happened: Callable[[Any], Any], x: Any) -> Any:
    return happened(by + x)


#: What may happen on a cluster to what it holds.
ON_CLUSTERS: dict[str, Callable[[Any], Any]] = {
    "executed": HISTORIES["executed"],
    "executed and pickled": HISTORIES["executed and pickled"],
    "executed and taken back": _executed_and_taken_back,
    "executed and persisted": _executed_and_sent_to_dask,
}


@pytest.mark.parametrize("kind", ["client", "n_worker"])
def test_chunks_that_functions_see_do_not_depend_on_the_history_on_a_cluster(kind: str) -> None:
    """Of a tensor and of a vector, in all ways in which Dask and ours read what it holds."""
    calls = [PINNED[name] for name in ("MapBlocks: itself", "Overlap: mapped", "Blocks: some")]
    # Each history has values, and so keys, of its own.
    turns = dict(enumerate(ON_CLUSTERS.values()))
    expected = {
        turn: [seen(results_of(call(Operands(partial(operator.add, turn))))) for call in calls]
        for turn in turns
    }
    with on_cluster(kind):
        for turn, happened in turns.items():
            for call, values in zip(calls, expected[turn], strict=True):
                operands = Operands(partial(_moved, turn, happened))
                assert_equal(seen(results_of(call(operands))), values)
        x = Operands(HISTORIES["executed"]).x
        copy = pickle.loads(pickle.dumps(x))
        for item in (x, copy, x.to_dask(), pickle.loads(pickle.dumps(x.to_dask()))):
            assert_equal(dask.compute(item), [history.VALUES["x"]])
        part = x.to_delayed()[0, 1].compute()
        assert_equal([part], [history.VALUES["x"][:2, 1:3]])


@pytest.mark.parametrize("name", history.FRAMES)
def test_frames_do_not_depend_on_history(name: str) -> None:
    """Values, labels, order and types, for every history."""
    call = history.FRAMES[name]
    expected = call(Operands()).compute()
    for happened in HISTORIES.values():
        result = call(Operands(happened))
        assert_same_frame(result.compute(), expected)
        assert_same_frame(result.execute().fetch(), expected)
        assert_same_types(result, expected)
        del result
    for later in LATER:
        (result,) = built_before(call, later)
        assert_same_frame(result.compute(), expected)


def assert_same_frame(found: Any, expected: Any) -> None:
    """Compare frames, series, arrays or numbers."""
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(found, expected)
    else:
        assert_equal([found], [expected])


def assert_same_types(found: Any, expected: Any) -> None:
    """Compare what an executed result is said to hold with what it holds."""
    if isinstance(expected, pd.DataFrame):
        assert list(found.dtypes) == list(expected.dtypes)
    elif hasattr(expected, "dtype"):
        assert found.dtype == expected.dtype
    if isinstance(expected, pd.DataFrame | pd.Series):
        assert found.index.dtype == expected.index.dtype


def kinds(of: type[Node]) -> Iterator[type[Node]]:
    """Return the classes below one."""
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_every_node_that_shows_chunks_has_a_case() -> None:
    """Of its class: a new one needs a case."""
    pinning = {kind.__name__ for kind in kinds(Node) if kind.pins_grid}
    assert pinning == set(history.PINNED)
    for kind in pinning - {
        "ArrowSchemas",
        "ChunkFold",
        "FittedRuns",
        "Write",
        "WriteFiles",
        "WritePartitions",
    }:  # these are executed as they are called
        for call in history.PINNED[kind].values():
            nodes = Graph([item.node for item in results_of(call(Operands()))]).nodes
            assert kind in {type(node).__name__ for node in nodes}


def test_the_tables_name_what_there_is() -> None:
    """No name of a function is wrong; all that are public have a call, or take no tensors."""
    assert set(history.WITHOUT.split()) <= set(mt.__all__)
    words = [history.TWO, history.INTEGERS, history.TWO_INTEGERS]
    words += [history.VECTORS, history.TWO_VECTORS]
    assert {name for names in words for name in names.split()} <= set(mt.__all__)


def test_results_are_held_otherwise_than_shown() -> None:
    """Else this module tests nothing; and what is spilled is on disk."""
    for name in ("x", "v", "t"):
        operand = getattr(Operands(HISTORIES["executed"]), name)
        assert set(map(len, operand.node.result.layout.chunks)) == {1}
        assert max(map(len, operand.chunks)) > 1
    spilled = Operands(HISTORIES["spilled"]).x
    (key,) = spilled.node.result.layout.keys.values()
    assert spilled.node.result.scheduler._engine.state.items[key].file is not None
    taken = Operands(HISTORIES["adopted"]).x
    assert isinstance(taken.node, FromDask)
