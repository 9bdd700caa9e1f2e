"""Tensors, and what is fetched of them, lie in memory as NumPy's arrays do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask.tensor.memory_order import Ordered, by_strides, laid_out, lies_in
from tests.strategies import HISTORIES, chunkings, draws, histories, shapes

LETTERS = st.sampled_from("CFAK")

#: Orders of memory that Dask's arrays do not tell are not those of what is taken in from them.
KNOWING = tuple(name for name in HISTORIES if "adopted" not in name)


@pytest.fixture(autouse=True, scope="module")
def session() -> Iterator[None]:
    """Run in a session of little memory, which is full soon."""
    with marsdask.new_session("threads", n_workers=1, memory_limit=2**26):
        yield


@st.composite
def arrays(draw: Any) -> Any:
    """Return an array whose axes lie in memory in any order."""
    shape = draw(shapes(max_dims=3))
    dtype = draw(st.sampled_from(["f8", "i4", "?", "c16"]))
    order = draw(st.permutations(range(len(shape))))
    values = (np.arange(math.prod(shape)) % 7).astype(dtype).reshape(shape)
    return laid_out(values, tuple(order)) if shape else values


def _axis(draw: Any, x: Any) -> int:
    return int(draw(st.integers(0, x.ndim - 1)))


def _key(draw: Any, x: Any) -> Any:
    parts = [slice(None), slice(1, None), slice(None, None, 2), slice(None, None, -1)]
    return tuple(draw(st.sampled_from([*parts, None])) for _ in x.shape)[:3]


def _forms(x: Any) -> list[tuple[int, ...]]:
    size = int(x.size)
    return [(-1,), *((n, size // n) for n in range(1, size + 1) if size % n == 0)]


def _lengths(x: Any) -> tuple[int, ...]:
    return tuple(map(int, x.shape))


def _known(x: Any) -> Any:
    """Return a tensor whose lengths are known."""
    return x.execute() if isinstance(x, mt.Tensor) else x


def _spread(xp: Any, x: Any) -> Any:
    """Return what has a repeated axis, if there is room for one."""
    return xp.broadcast_to(x, (2, *_lengths(x))) if x.ndim < 3 else x


def _other(draw: Any, x: Any) -> Any:
    """Draw something that does more than one step, of any array."""
    letter = draw(LETTERS)
    made = "F" if letter == "F" else "C"  # NumPy makes new arrays in no other order
    calls = {
        "copy": lambda xp, a: xp.copy(a, order=letter),
        "copy as it is": lambda xp, a: xp.copy(a),
        "copied": lambda xp, a: a.copy(),
        "copied in order": lambda xp, a: a.copy(order=letter),
        "array": lambda xp, a: xp.array(a, order=letter),
        "asarray": lambda xp, a: xp.asarray(a, order=letter),
        "astype": lambda xp, a: a.astype("c8", order=letter),
        "like": lambda xp, a: xp.zeros_like(a),
        "like in order": lambda xp, a: xp.ones_like(a, order=letter),
        "full like": lambda xp, a: xp.full_like(a, 3),
        "columns": lambda xp, a: xp.asfortranarray(a),
        "rows": lambda xp, a: xp.ascontiguousarray(a),
        "one more": lambda xp, a: a + 1,
        "twice": lambda xp, a: a + a,
        "with others": lambda xp, a: a + xp.ones(_lengths(a), order=made),
        "in order": lambda xp, a: xp.add(a, 1, order=letter),
        "of two": lambda xp, a: xp.divmod(a.real + 0.0, 2)[1],
        "where": lambda xp, a: xp.where(a == 1, a, 0),
        "the real part": lambda xp, a: a.real,
        "transpose": lambda xp, a: a.T,
        "raveled": lambda xp, a: xp.ravel(a, order=letter).reshape(_lengths(a), order="F"),
        "stacked": lambda xp, a: xp.stack([a, a]) if a.ndim < 3 else a,
        "selected": lambda xp, a: xp.select([a == 1], [a]),
        "by pieces": lambda xp, a: xp.piecewise(a, [a == 1], [3]),
        "repeated": lambda xp, a: xp.tile(a, 2),
        "spread and copied": lambda xp, a: xp.copy(_spread(xp, a)),
        "spread in another type": lambda xp, a: _spread(xp, a).astype("c8"),
        "like what is spread": lambda xp, a: xp.zeros_like(_spread(xp, a)),
        "out": lambda xp, a: xp.add(a, a, out=xp.zeros(_lengths(a), complex, order=made)),
    }
    return calls[draw(st.sampled_from(sorted(calls)))]


def _of_axes(draw: Any, x: Any) -> Any:
    """Draw something that needs an axis."""
    axis, order, key = _axis(draw, x), draw(st.permutations(range(x.ndim))), _key(draw, x)
    form, letter = draw(st.sampled_from(_forms(x))), draw(st.sampled_from("CFA"))
    keeps = draw(st.booleans())
    places = [0, -1] if x.shape[axis] else []
    mask = np.arange(x.shape[axis]) % 2 == 0

    def assigned(xp: Any, a: Any) -> Any:
        a = xp.array(a)
        a[:1] = 1
        a[a == 1] = 0
        a += a
        return a

    calls = {
        "moved": lambda xp, a: a.transpose(order),
        "part": lambda xp, a: a[key],
        "reshaped": lambda xp, a: xp.reshape(a, form, order=letter) if 0 not in a.shape else a,
        "sum": lambda xp, a: xp.sum(a, axis=axis, keepdims=keeps) if a.ndim > 1 else a,
        "any": lambda xp, a: xp.any(a, axis=axis) if a.ndim > 1 else a,
        "running": lambda xp, a: xp.cumsum(a, axis=axis),
        "sorted": lambda xp, a: xp.sort(a.real, axis=axis),
        "joined": lambda xp, a: xp.concatenate([a, a], axis=axis),
        "mixed": lambda xp, a: xp.concatenate([a, xp.zeros_like(a, order=letter)], axis=axis),
        "assigned": assigned,
        "spread": lambda xp, a: a + xp.arange(int(a.shape[-1])),
        "swapped": lambda xp, a: xp.swapaxes(a, 0, -1),
        "taken": lambda xp, a: xp.take(a, places, axis=axis),
        "at places": lambda xp, a: a[(slice(None),) * axis + (places,)],
        "at places of two axes": lambda xp, a: (
            a[(slice(None),) * axis + ([places, places],)] if a.ndim < 3 else a
        ),
        "at places and one": lambda xp, a: a[(0, places)] if a.ndim > 1 and a.shape[1] else a,
        "where a mask holds": lambda xp, a: _known(a[(slice(None),) * axis + (mask,)]),
        "inserted": lambda xp, a: xp.insert(a, places, 3, axis=axis),
        "deleted": lambda xp, a: xp.delete(a, [*places, 0] if places else [], axis=axis),
        "one deleted": lambda xp, a: xp.delete(a, slice(1), axis=axis),
        "transformed": lambda xp, a: xp.fft.fft(a, axis=axis) if a.shape[axis] else a,
        "middle": lambda xp, a: xp.median(a.real, axis=axis) if a.ndim > 1 and a.size else a,
    }
    return calls[draw(st.sampled_from(sorted(calls)))]


def _steps(x: Any) -> list[int]:
    """Return the strides that matter: where there are several elements."""
    return [stride for stride, length in zip(x.strides, x.shape, strict=True) if length > 1]


def _assert_lies_like(ours: Any, theirs: Any) -> None:
    for flag in ("c_contiguous", "f_contiguous"):
        assert getattr(ours.flags, flag) == getattr(theirs.flags, flag), flag
    if theirs.size:
        assert _steps(ours) == _steps(theirs)


@draws(60)
@given(st.data())
def test_programs(data: Any) -> None:
    """Flags, strides and what is fetched, after each history of what is worked on."""
    array = data.draw(arrays())
    kept: list[Any] = [mt.tensor(array, chunks=data.draw(chunkings(array.shape)))]
    turn = data.draw(st.integers(0, 20))
    for _ in range(data.draw(st.integers(1, 3))):
        draw = _of_axes if array.ndim and data.draw(st.booleans()) else _other
        call = draw(data.draw, array)
        with np.errstate(all="ignore"):
            array = np.asarray(call(np, array))
            kept.append(call(mt, kept[-1]))
        _assert_lies_like(kept[-1], array)
        # A view that was pickled or persisted is alone, and lies without gaps.
        (name,) = histories(turn, 1)[:1]
        if name in ("executed", "executed as given", "spilled"):
            HISTORIES[name](kept[-1])
    value = np.asarray(kept[-1].compute())
    np.testing.assert_array_equal(value, array)
    _assert_lies_like(value, np.copy(array))
    _assert_lies_like(np.asarray(kept[-1].execute().fetch()), np.copy(array))


@pytest.mark.parametrize("name", KNOWING)
def test_histories(name: str) -> None:
    """New arrays lie as before; what is made of them, too."""
    array = np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0) + 0
    x = HISTORIES[name](mt.tensor(array, chunk_size=2))
    for ours, theirs in (
        (x, array),
        (x * 2, array * 2),
        (x.sum(axis=1), array.sum(axis=1)),
        (x.reshape(3, 2, 4), array.reshape(3, 2, 4)),
    ):
        _assert_lies_like(ours, theirs)
        _assert_lies_like(ours.compute(), np.copy(theirs))


def test_dask_computes() -> None:
    """Dask's own verbs give the same order."""
    x = mt.ones((4, 6), order="F", chunk_size=2) + 1
    assert dask.compute(x)[0].flags.f_contiguous
    assert not dask.compute(x.T)[0].flags.f_contiguous
    assert dask.persist(x)[0].compute().flags.f_contiguous


def _blocks(x: Any) -> Any:
    result = x.execute().node.result
    return result.scheduler.gather(list(result.layout.keys.values()))


def test_chunks_lie_as_the_whole() -> None:
    """Those that are made, those that are computed and those that are put in order."""
    x = mt.ones((400, 600), order="F", chunk_size=(200, 300))
    given = mt.tensor(np.asfortranarray(np.ones((400, 600))), chunk_size=(200, 300))
    ordered = mt.asfortranarray(mt.ones((400, 600), chunk_size=(200, 300)))
    for tensor in (x, x * 2 + x, given * 2 + 1, ordered, given.rechunk((400, 150)) + 1):
        for block in _blocks(tensor):
            assert block.flags.f_contiguous
            assert not block.flags.c_contiguous
    for block in _blocks(x.copy()):
        assert block.flags.c_contiguous


def test_rows() -> None:
    """Those of executed tensors, and those that a loop reads together."""
    array = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    x = mt.tensor(array, chunk_size=2)
    executed = (x + 0).execute()
    for row in (x[1], executed[1], list(x)[1], list(executed)[1]):
        _assert_lies_like(row, array[1])
        _assert_lies_like(row.compute(), np.copy(array[1]))


def test_functions_elsewhere_get_it() -> None:
    """An argument of a remote function lies as the tensor."""
    x = mt.ones((4, 6), order="F", chunk_size=2)
    assert mr.spawn(np.isfortran, args=(x + 1,)).execute().fetch()


def test_equal_values_in_other_orders_are_other_nodes() -> None:
    """A name tells the order, unless there is only one."""
    array = np.arange(6.0).reshape(2, 3)
    c, f = mt.tensor(array), mt.tensor(np.asfortranarray(array))
    assert c.node is not f.node
    assert (c.order, f.order) == ("C", "F")
    assert c.node is mt.tensor(array.copy()).node
    row = array[:1]
    assert mt.tensor(row).node is mt.tensor(np.asfortranarray(row)).node
    assert mt.isfortran(f)
    assert not mt.isfortran(mt.tensor(row.T))


def test_what_is_in_order_stays_itself() -> None:
    """No operation is added, and no tensor copied, without need."""
    x = mt.ones((3, 4))
    assert x.copy().node is x.node
    assert x.astype(float, order="C").node is x.node
    assert mt.ascontiguousarray(x) is x
    assert mt.asarray(x, order="C") is x
    f = mt.asfortranarray(x)
    assert isinstance(f.node, Ordered)
    assert mt.asfortranarray(f) is f
    assert mt.ascontiguousarray(f).node is x.node
    assert mt.asfortranarray(x.T).base is x
    assert mt.array([f, f]).flags.c_contiguous
    line = mt.arange(5)
    assert mt.asfortranarray(line) is line
    assert mt.asfortranarray(mt.ones(())).shape == (1,)


def test_targets_keep_their_order() -> None:
    """What is written to lies as before, and so do views of it."""
    f = mt.zeros((3, 4), order="F")
    part = f[1:]
    mt.add(mt.ones((3, 4)), 1, out=f)
    assert (f.strides, part.strides) == ((8, 24), (8, 24))
    part *= 3
    f[f == 2] = 5
    f.sort(axis=0)
    assert f.order == "F"
    assert f.compute().flags.f_contiguous
    np.testing.assert_array_equal(f.compute(), np.sort([[5] * 4, [6] * 4, [6] * 4], axis=0))
    assert f.T.order == "C"
    f.resize((2, 2), refcheck=False)
    assert f.shape == (2, 2)
    alone = mt.zeros((3, 4), order="F")
    part = alone[:2]
    del part
    mt.add(mt.ones((3, 4)), 1, out=alone)
    assert alone.order == "F"


@pytest.mark.parametrize("decimals", [-1, 0, 1])
@pytest.mark.parametrize("kind", ["f8", "i8", "c16"])
def test_rounded(kind: str, decimals: int) -> None:
    """NumPy rounds to C order, unless all lies in Fortran's; some types it copies."""
    array = np.asfortranarray(np.arange(24).reshape(6, 4).astype(kind))
    turned = np.arange(24).reshape(2, 3, 4).astype(kind).transpose(1, 0, 2)
    for theirs in (array, array[::2], array[:, 1:], turned, array.T):
        ours = mt.tensor(array, chunk_size=3) if theirs.base is array else mt.tensor(theirs)
        if theirs.base is array:
            ours = {(3, 4): ours[::2], (6, 3): ours[:, 1:], (4, 6): ours.T}[theirs.shape]
        assert ours.round(decimals).strides == theirs.round(decimals).strides


@pytest.mark.parametrize("letter", "CFAKfa")
def test_products(letter: Any) -> None:
    """``order=`` of products; of operands that lie as columns, "A" is Fortran's."""
    c = np.arange(6.0).reshape(2, 3)
    f = np.asfortranarray(c)
    for a, b in ((c, c.T), (f, f.T), (f, np.asfortranarray(c.T)), (c[:1], c[:1].T)):
        ours = mt.matmul(mt.tensor(a, chunk_size=2), mt.tensor(b), order=letter)
        theirs = np.matmul(a, b, order=letter)
        _assert_lies_like(ours, theirs)
        np.testing.assert_array_equal(ours.compute(), theirs)
    theirs = np.einsum("ij,jk->ik", f, f.T, order=letter if letter in "CF" else "C")
    ours = mt.einsum("ij,jk->ik", mt.tensor(f), mt.tensor(f.T), order=letter)
    np.testing.assert_array_equal(ours.compute(), theirs)


def test_wrong_orders_are_refused() -> None:
    """With NumPy's errors, by all that take one."""
    x: Any = mt.ones((2, 3))
    calls: list[Any] = [
        lambda: mt.zeros((2, 3), order="X"),
        lambda: mt.zeros_like(x, order="X"),
        lambda: x.astype("f4", order="X"),
        lambda: x.copy(order="X"),
        lambda: mt.add(x, 1, order="X"),
        lambda: mt.matmul(x, x.T, order="X"),
        lambda: x.ravel(order="X"),
        lambda: mt.asarray(x, order="X"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="order must be one of"):
            call()
    with pytest.raises(ValueError, match="not permitted"):
        x.reshape(3, 2, order="K")
    with pytest.raises(TypeError, match="order must be str"):
        x.copy(order=3)


def test_blocks() -> None:
    """A block in order is itself; any other is copied once."""
    block = np.arange(24).reshape(2, 3, 4)
    for order in (None, (2, 1, 0), (1, 0, 2)):
        out = laid_out(block, order)
        assert lies_in(out, order)
        assert by_strides(out) == order
        assert laid_out(out, order) is out
        assert (out is block) == (order is None)
        np.testing.assert_array_equal(out, block)


def test_what_draws_rarely_meet() -> None:
    """Targets without views, reshapes that have to copy, and axes of length one among joined."""
    f = mt.zeros((3, 4), order="F")
    mt.add(mt.ones((3, 4)), 1, out=f)
    assert f.order == "F"
    array = np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0)
    x = mt.tensor(array)
    columns = np.asfortranarray(np.ones((4, 2)))
    for package, source in ((mt, x), (np, array)):
        found = [
            source[:, 1:].reshape(9, 2),
            source.reshape(12, 2),
            package.stack([package.asfortranarray(columns)] * 2, axis=2),
        ]
        assert [item.flags.c_contiguous for item in found] == [True, False, False]
    ours, theirs = (p.stack([p.asfortranarray(columns)] * 2, axis=2) for p in (mt, np))
    assert ours.strides == theirs.strides


NEW: dict[str, Any] = {
    "roll": lambda xp, a: xp.roll(a, 1, axis=0),
    "roll of all": lambda xp, a: xp.roll(a, 1),
    "fftshift": lambda xp, a: xp.fft.fftshift(a, axes=1),
    "pad": lambda xp, a: xp.pad(a, 2),
    "pad of a period": lambda xp, a: xp.pad(a, 5, mode="wrap"),
    "gradient": lambda xp, a: xp.gradient(a, axis=0),
    "choose": lambda xp, a: xp.choose(a.astype(int) % 2, [a, -a]),
    "argwhere": lambda xp, a: xp.argwhere(a > 1),
    "nonzero": lambda xp, a: xp.nonzero(a)[0],
    "where": lambda xp, a: xp.where(a)[1],
}


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
@pytest.mark.parametrize("call", NEW.values(), ids=list(NEW))
def test_what_functions_return(call: Any, axes: Any) -> None:
    """A function of steps that order axes otherwise returns what lies as in NumPy."""
    array = laid_out(np.arange(24.0).reshape(2, 3, 4), axes)
    expected, tensor = call(np, array), call(mt, mt.tensor(array, chunk_size=2)).execute()
    assert tensor.strides == expected.strides
    np.testing.assert_array_equal(tensor.fetch(), expected)
