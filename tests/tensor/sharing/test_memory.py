"""What shares elements, and for how long: results live no longer than before there were views."""

from __future__ import annotations

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.results.stored import Stored
from marsdask.core.sizes import UnknownShapeError
from marsdask.tensor.sharing.memory import ElementsView
from tests.core.recording import recording_session

CHANGES: dict[str, Any] = {
    "transposed": lambda x: (x + 1).T,
    "turned around": lambda x: (x + 1)[::-1],
    "reshaped": lambda x: (x + 1).reshape(-1, 4),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_loop_of_views_holds_one_result(change: Any) -> None:
    """An executed view of what nobody else has is its own: the rest is let go."""
    with recording_session() as (_, scheduler):
        x = mt.ones((4, 4), chunk_size=2)
        for _ in range(3):
            x = change(x)
            assert x.base is not None
            x.execute()
            gc.collect()
            assert len(scheduler.results) == len(x.node.result.layout.keys)
        assert x.base is None
        assert x.flags.owndata
        np.testing.assert_array_equal(x.fetch(), np.full((4, 4), 4.0))


@pytest.mark.parametrize("of_base", [False, True])
def test_an_executed_view_outlives_its_base(*, of_base: bool) -> None:
    """When the last other tensor goes, so does what only the base was made of."""
    with recording_session() as (_, scheduler):
        source = mt.ones((4, 4), chunk_size=2).execute()
        base = source + 1
        view = base[:1]
        marsdask.execute(view, base) if of_base else view.execute()
        assert view.base is base
        stored: Any = view.node
        held = stored.result.layout.keys
        del source, base, stored
        gc.collect()
        assert len(scheduler.results) == len(held)
        assert view.base is None
        view[0, 0] = 7
        np.testing.assert_array_equal(view.compute(), [[7.0, 2, 2, 2]])


def test_a_view_does_not_execute_its_base() -> None:
    """What is asked for is computed, before a write and after it, and nothing else."""
    with recording_session() as (_, scheduler), option_context({"coalesce": False}):
        base = mt.ones((8, 2), chunk_size=2) + 1
        view = base[:2].execute()
        assert len(scheduler.results) == 1
        assert not isinstance(base.node, Stored)
        for _ in range(4):
            view += 1
            view.execute()
        # The base is made of the view before last: its values were not computed since.
        assert len(scheduler.results) == 2
        assert base[:3].compute().tolist() == [[6.0, 6.0]] * 2 + [[2.0, 2.0]]


def test_a_base_that_nobody_has_comes_back() -> None:
    """Of an unnamed base there is one object, which shows what is written to its views."""
    first: Any = (mt.ones((2, 3)) + 1)[0]
    base = first.base
    assert base is first.base
    assert base.base is None
    second = base[1]
    assert second.base is base
    first[:] = 7
    second[0] = 9
    assert base.compute().tolist() == [[7, 7, 7], [9, 2, 2]]
    del base
    assert first.base.compute().tolist() == [[7, 7, 7], [9, 2, 2]]


def test_copies_are_apart() -> None:
    """By all ways of copying; a pickled view is alone."""
    base = mt.arange(6, chunk_size=2)
    view = base[1:4]
    others = [
        view.copy(),
        copy.copy(view),
        copy.deepcopy(view),
        pickle.loads(pickle.dumps(view)),
        view.persist(),
        mt.array(view),
        view.rechunk(1),
        view.rechunk(3),
        view.blocks[:],
    ]
    view[...] = 9
    assert all(other.compute().tolist() == [1, 2, 3] for other in others)
    assert all(other.base is None for other in others)


def test_what_was_made_of_a_view_keeps_its_values() -> None:
    """Expressions are of the values when they were written, as NumPy's results are."""
    base = mt.arange(4, chunk_size=2)
    view = base[::-1]
    before = view * 2
    base[0] = 50
    assert before.compute().tolist() == [6, 4, 2, 0]
    assert (view * 2).compute().tolist() == [6, 4, 2, 100]


def test_writes_of_threads_to_their_own_parts() -> None:
    """None is lost."""
    base = mt.zeros((40, 3), chunk_size=7)
    rows = list(base)

    def fill(i: int) -> None:
        rows[i][:] = i
        rows[i][1] += 100

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fill, range(40)))
    expected = np.repeat(np.arange(40.0)[:, None], 3, axis=1)
    expected[:, 1] += 100
    np.testing.assert_array_equal(base.compute(), expected)


def test_a_write_while_old_values_are_computed() -> None:
    """What was executing when it came is not taken for the new values."""
    with recording_session() as (session, _):
        base = mt.arange(4, chunk_size=2)
        view = base[:2]
        future = marsdask.execute(base, view, wait=False)
        view[0] = 70
        base[3] = 30
        future.result()
        assert base.compute(session=session).tolist() == [70, 1, 2, 30]
        assert view.compute(session=session).tolist() == [70, 1]


def test_views_that_end_during_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lets go of them, a write reaches those that are left."""
    tensor = mt.ones((4, 2), chunk_size=2)
    views = [tensor[position:] for position in range(4)]
    kept, settle = tensor[:2], ElementsView.settle

    def dropping(view: ElementsView) -> None:
        if view is not tensor._view:
            views.clear()
        settle(view)

    monkeypatch.setattr(ElementsView, "settle", dropping)
    tensor[0, 0] = 7
    assert kept[0, 0].compute() == 7


def test_eager_writes() -> None:
    """In eager mode all that share elements are computed again."""
    with option_context({"eager_mode": True}):
        base = mt.arange(6, chunk_size=2)
        view, other = base[:3], base[::2]
        view[1:] = 9
        other += 1
        assert base.fetch().tolist() == [1, 9, 10, 3, 5, 5]
        assert view.fetch().tolist() == [1, 9, 10]
        assert repr(other) == "array([ 1, 10,  5])"


def test_another_shape_in_place() -> None:
    """Who shares the elements still does; what would need a copy is refused, as in NumPy."""
    for xp in (np, mt):
        base = xp.arange(6)
        view = base[2:]
        base.shape = (3, 2)
        base[2, 1] = 50
        view.shape = (2, 2)
        view[0] = 8
        assert np.asarray(base).tolist() == [[0, 1], [8, 8], [4, 50]]
        assert base.base is None
        assert view.base is base
        with pytest.raises(AttributeError, match="Incompatible shape"):
            base.T.shape = (6,)
        with pytest.raises(ValueError, match="does not own its data"):
            view.resize((2, 3))
        with pytest.raises(ValueError, match="referenced"):
            base.resize((9, 2))
    base.resize((1, 2), refcheck=False)
    base[...] = 4
    assert view.compute().tolist() == [[8, 8], [4, 50]]


def test_lengths_that_are_not_known() -> None:
    """Writes are traced where lengths need not be known; where they must be, the error says so."""
    values = np.arange(8.0)
    lazy, array = mt.tensor(values, chunk_size=3), values.copy()
    lazy, array = lazy[lazy > 1], array[array > 1]
    for x in (lazy, array):
        x[1:][::2] = 50
        x[None][0, :1] = 60
        x.reshape(-1, 1)[-1] = 70
    np.testing.assert_array_equal(lazy.compute(), array)
    halves = mt.array_split(lazy, 2)
    lazy[0] = 80
    assert halves[0].compute().tolist() == [80.0, 50, 4]
    with pytest.raises(NotImplementedError, match="copy"):
        halves[0][:] = 1
    lazy.execute()
    mt.array_split(lazy, 2)[0][:] = 1
    assert lazy.compute().tolist() == [1, 1, 1, *array[3:]]
    with pytest.raises(NotImplementedError, match="copy"):
        mt.trim_zeros(lazy)[:1] = 1
    two = mt.ones((4, 4))[mt.arange(4) > 1][:, mt.arange(4) > 1]
    flat = two.reshape(-1)
    with pytest.raises((NotImplementedError, UnknownShapeError)):
        flat[0] = 2


LAID_OUT: dict[str, Any] = {
    "transpose": lambda xp, a: a.T,
    "steps": lambda xp, a: a[:, ::2],
    "rows": lambda xp, a: a[1:],
    "columns": lambda xp, a: a[:, 1:],
    "column": lambda xp, a: a[:, 1],
    "flip": lambda xp, a: xp.flip(a),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (2, 4, 6)),
    "broadcast_to itself": lambda xp, a: xp.broadcast_to(a, (4, 6)),
    "diagonal": lambda xp, a: xp.diagonal(a),
    "reshape of the transpose": lambda xp, a: a.reshape(6, 4).T,
    "windows": lambda xp, a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=0),
    "real": lambda xp, a: (a + 1j).real,
    "bytes": lambda xp, a: a.view("f4")[:, ::2],
    "a mask's rows": lambda xp, a: a[a[:, 0] > 3][:, ::2],
    "texts": lambda xp, a: a.astype(object).astype(str)[:, ::2],
    "a field": lambda xp, a: a.view([("u", "f8"), ("v", "f8")])["v"],
}
HISTORIES: dict[str, Any] = {
    "nothing": lambda x: None,
    "execute": lambda x: x.execute() if isinstance(x, mt.Tensor) else None,
    "write": lambda x: x.__setitem__(..., x[...] * 1),
    "both": lambda x: [HISTORIES["write"](x), HISTORIES["execute"](x)],
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=list(HISTORIES))
@pytest.mark.parametrize("call", LAID_OUT.values(), ids=list(LAID_OUT))
def test_alone_a_view_lies_as_it_did(call: Any, history: Any) -> None:
    """What nobody else shares is let go, and yet copies stay copies: NumPy's array has gaps."""
    matrix = np.arange(24.0).reshape(4, 6)
    array, tensor = call(np, matrix.copy()), call(mt, mt.tensor(matrix, chunk_size=2))
    if array.dtype.kind == "U" and history is not HISTORIES["nothing"]:
        history = HISTORIES["execute"]
    for x in (array, tensor):
        if array.flags.writeable or history is HISTORIES["execute"]:
            history(x)
    assert mt.shares_memory(tensor, tensor.ravel()) == np.shares_memory(array, array.ravel())
    assert tensor.flags.c_contiguous == array.flags.c_contiguous
    assert tensor.ravel().flags.writeable == array.ravel().flags.writeable
    for x in (array, tensor):
        flat = x.ravel()
        if array.ravel().flags.writeable:
            flat[:1] = flat[-1:]
    np.testing.assert_array_equal(tensor.execute().fetch(), array)
    if tensor.base is None and tensor.flags.writeable and array.dtype.kind == "f":
        tensor.resize((30,), refcheck=False)
        assert tensor.strides == (array.itemsize,)
