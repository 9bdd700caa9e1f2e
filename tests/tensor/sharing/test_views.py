"""What is a view, and random programs of views, copies and writes: all as in NumPy."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import chunkings, draws


def _slices(draw: Any, length: int) -> Any:
    step = draw(st.sampled_from([1, 1, 2, -1, -2]))
    bounds = st.none() | st.integers(-length - 1, length + 1)
    return slice(draw(bounds), draw(bounds), step)


def _key(draw: Any, shape: tuple[int, ...]) -> Any:
    """Draw a basic key; some name all axes by numbers."""
    parts: list[Any] = []
    for length in shape[: draw(st.integers(0, len(shape)))]:
        one = length and draw(st.booleans())
        parts.append(draw(st.integers(-length, length - 1)) if one else _slices(draw, length))
    extra = draw(st.sampled_from(["", "", "...", "new"]))
    if extra:
        parts.insert(draw(st.integers(0, len(parts))), ... if extra == "..." else None)
    return tuple(parts)


def _forms(size: int) -> list[tuple[int, ...]]:
    """Return the shapes of some elements."""
    pairs = [(n, size // n) for n in range(1, size + 1) if size % n == 0]
    return [(size,), (-1, 1), *pairs]


def _view(draw: Any, x: Any) -> Any:
    """Draw what makes a view, or a copy where NumPy does."""
    axes = tuple(draw(st.permutations(range(x.ndim))))
    form = draw(st.sampled_from(_forms(x.size) or [x.shape]))
    key = _key(draw, x.shape)
    calls = {
        "getitem": lambda xp, a: a[key],
        "transpose": lambda xp, a: a.transpose(axes),
        "reshape": lambda xp, a: a.reshape(form),
        "ravel": lambda xp, a: xp.ravel(a),
        "flip": lambda xp, a: xp.flip(a),
        "squeeze": lambda xp, a: a.squeeze(),
        "expand_dims": lambda xp, a: xp.expand_dims(a, 0),
        "real": lambda xp, a: a.real,
        "view": lambda xp, a: a.view("i8" if a.dtype == "f8" else "f8"),
        "broadcast": lambda xp, a: xp.broadcast_to(a, (2, *a.shape)),
        "copy": lambda xp, a: a.copy(),
        "fancy": lambda xp, a: xp.take(a, [0, -1], axis=0) if a.ndim else a.copy(),
    }
    if x.ndim >= 2:
        calls["diagonal"] = lambda xp, a: xp.diagonal(a)
        calls["split"] = lambda xp, a: xp.array_split(a, 2, axis=1)[1]
    return calls[draw(st.sampled_from([*calls, "getitem", "transpose", "reshape"]))]


def _write(draw: Any, x: Any) -> Any:
    """Draw what writes to an array."""
    key = _key(draw, x.shape)
    value = draw(st.integers(-9, 9))

    def set_item(xp: Any, a: Any) -> None:
        a[key] = value

    def add(xp: Any, a: Any) -> None:
        a += value

    def mask(xp: Any, a: Any) -> None:
        a[a > 2] = value

    def out(xp: Any, a: Any) -> None:
        xp.multiply(a, 2, out=a)

    def flat(xp: Any, a: Any) -> None:
        if a.size:
            a.flat[-1] = value

    calls = [
        set_item,
        add,
        mask,
        out,
        flat,
        lambda xp, a: a.fill(value),
        lambda xp, a: a.sort() if a.ndim else None,
        lambda xp, a: xp.put(a, [0], [value]) if a.size else None,
        lambda xp, a: xp.copyto(a, value, casting="unsafe"),
    ]
    return draw(st.sampled_from([set_item, *calls]))


class ViewProgram:
    """Pairs of an array and a tensor, to which the same is done."""

    def __init__(self, array: Any, chunks: Any) -> None:
        self.pairs: list[tuple[Any, Any]] = [(array.copy(), mt.tensor(array, chunks=chunks))]

    def step(self, draw: Any) -> None:
        """Do one thing to a pair."""
        array, tensor = draw(st.sampled_from(self.pairs))
        what = draw(
            st.sampled_from(["view", "view", "write", "write", "execute", "drop", "pickle"])
        )
        if what == "view":
            call = _view(draw, array)
            self.pairs.append((np.asanyarray(call(np, array)), call(mt, tensor)))
        elif what == "write":
            self._write(_write(draw, array), array, tensor)
        elif what == "execute":
            tensor.execute()
        elif what == "drop":
            kept = [pair for pair in self.pairs if pair[1] is not tensor]
            self.pairs = kept or self.pairs
        elif what == "pickle":
            self.pairs.append((array.copy(), pickle.loads(pickle.dumps(tensor))))

    def _write(self, call: Any, array: Any, tensor: Any) -> None:
        if array.flags.writeable:
            call(np, array)
            call(mt, tensor)
            return
        before = array.copy()
        for xp, target in ((np, array), (mt, tensor)):
            with suppress(ValueError):  # nothing is written where a key selects nothing
                call(xp, target)
        np.testing.assert_array_equal(array, before)

    def check(self) -> None:
        """Compare all pairs, and which of them share elements."""
        for array, tensor in self.pairs:
            np.testing.assert_array_equal(tensor.compute(), array)
        for array, tensor in self.pairs:
            for other, twin in self.pairs:
                assert mt.shares_memory(tensor, twin) == np.shares_memory(array, other)


@settings(parent=draws(40), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_programs(data: Any) -> None:
    """Of views of views, written to in all ways, executed, dropped and pickled in between."""
    shape = data.draw(st.sampled_from([(4, 3), (2, 3, 2), (6,), (1, 4)]))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    program = ViewProgram(array, data.draw(chunkings(shape)))
    for _ in range(data.draw(st.integers(2, 8))):
        program.step(data.draw)
    program.check()


MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(24.0).reshape(2, 3, 4)
RECORDS = np.zeros((3, 2), [("x", "f8"), ("y", "i4"), ("z", "f8")])

#: Calls by their name: of most a result shares elements with the argument in NumPy.
CALLS: dict[str, Any] = {
    "rows": lambda xp, a: a[1:],
    "row": lambda xp, a: a[1],
    "element": lambda xp, a: a[1, 2],
    "element as an array": lambda xp, a: a[1, 2, ...],
    "steps back": lambda xp, a: a[::-2, 1:3],
    "new axis": lambda xp, a: a[:, None],
    "nothing": lambda xp, a: a[3:],
    "all": lambda xp, a: a[...],
    "positions": lambda xp, a: a[[0, 1]],
    "mask": lambda xp, a: a[a > 3],
    "rows of positions": lambda xp, a: a[1:][:, [0, 1]],
    "T": lambda xp, a: a.T,
    "mT": lambda xp, a: a.mT,
    "real": lambda xp, a: a.real,
    "conj": lambda xp, a: a.conj(),
    "conjugate": lambda xp, a: xp.conjugate(a),
    "view": lambda xp, a: a.view(),
    "bytes": lambda xp, a: a.view("i8"),
    "narrow bytes": lambda xp, a: a.view("i2"),
    "wide bytes": lambda xp, a: a.view("c16"),
    "transpose": lambda xp, a: xp.transpose(a),
    "permute_dims": lambda xp, a: xp.permute_dims(a, (1, 0)),
    "matrix_transpose": lambda xp, a: xp.linalg.matrix_transpose(a),
    "swapaxes": lambda xp, a: xp.swapaxes(a, 0, 1),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, 1),
    "rollaxis": lambda xp, a: xp.rollaxis(a, 1),
    "reshape": lambda xp, a: xp.reshape(a, (2, 6)),
    "reshape copied": lambda xp, a: xp.reshape(a, (2, 6), copy=True),
    "reshape F": lambda xp, a: xp.reshape(a, (2, 6), order="F"),
    "reshape of rows": lambda xp, a: a[1:].reshape(-1),
    "reshape of columns": lambda xp, a: a[:, 1:].reshape(-1),
    "reshape of the transpose": lambda xp, a: a.T.reshape(-1),
    "reshape of the transpose F": lambda xp, a: a.T.reshape(-1, order="F"),
    "reshape of one more axis": lambda xp, a: a.T.reshape(4, 3, 1),
    "ravel": lambda xp, a: xp.ravel(a),
    "ravel of a column": lambda xp, a: xp.ravel(a[:, 1]),
    "ravel of the transpose": lambda xp, a: xp.ravel(a.T),
    "flatten": lambda xp, a: a.flatten(),
    "squeeze": lambda xp, a: xp.squeeze(a[:1]),
    "expand_dims": lambda xp, a: xp.expand_dims(a, (0, 2)),
    "atleast_1d": lambda xp, a: xp.atleast_1d(a),
    "atleast_3d": lambda xp, a: xp.atleast_3d(a),
    "atleast_2d of two": lambda xp, a: xp.atleast_2d(a[0], a),
    "flip": lambda xp, a: xp.flip(a),
    "flipud": lambda xp, a: xp.flipud(a),
    "fliplr": lambda xp, a: xp.fliplr(a),
    "rot90": lambda xp, a: xp.rot90(a),
    "rot90 by nothing": lambda xp, a: xp.rot90(a, 4),
    "roll": lambda xp, a: xp.roll(a, 0),
    "tile": lambda xp, a: xp.tile(a, 1),
    "concatenate": lambda xp, a: xp.concatenate([a]),
    "array_split": lambda xp, a: xp.array_split(a, 2),
    "split": lambda xp, a: xp.split(a, [1]),
    "hsplit": lambda xp, a: xp.hsplit(a, 2),
    "vsplit": lambda xp, a: xp.vsplit(a, 3),
    "dsplit": lambda xp, a: xp.dsplit(a[:, :, None], 1),
    "unstack": lambda xp, a: xp.unstack(a),
    "unstack of elements": lambda xp, a: xp.unstack(a[0]),
    "rows in a loop": lambda xp, a: list(a),
    "diagonal": lambda xp, a: xp.diagonal(a, 1),
    "diagonal of nothing": lambda xp, a: xp.diagonal(a, 9),
    "diag": lambda xp, a: xp.diag(a),
    "nonzero": lambda xp, a: xp.nonzero(a),
    "where": lambda xp, a: xp.where(a > 3),
    "diag of a vector": lambda xp, a: xp.diag(a[0]),
    "diagonal of matrices": lambda xp, a: xp.linalg.diagonal(a),
    "einsum": lambda xp, a: xp.einsum("ij->ji", a),
    "einsum of a diagonal": lambda xp, a: xp.einsum("ii->i", a[:, 1:]),
    "einsum of sums": lambda xp, a: xp.einsum("ij->i", a),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (2, 3, 4)),
    "broadcast_to itself": lambda xp, a: xp.broadcast_to(a, (3, 4)),
    "broadcast_arrays": lambda xp, a: xp.broadcast_arrays(a, a)[0],
    "meshgrid": lambda xp, a: xp.meshgrid(a[0], a[1], copy=False, sparse=True),
    "meshgrid copied": lambda xp, a: xp.meshgrid(a[0], a[1], sparse=True),
    "ix_": lambda xp, a: xp.ix_(a[0], a[1]),
    "windows": lambda xp, a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=0),
    "windows of rows": lambda xp, a: np.lib.stride_tricks.sliding_window_view(a[1:], 2, axis=1),
    "asarray": lambda xp, a: xp.asarray(a),
    "array": lambda xp, a: xp.array(a),
    "array not copied": lambda xp, a: xp.array(a, copy=False),
    "ascontiguousarray": lambda xp, a: xp.ascontiguousarray(a),
    "ascontiguousarray of columns": lambda xp, a: xp.ascontiguousarray(a[:, 1:]),
    "asfortranarray": lambda xp, a: xp.asfortranarray(a),
    "asfortranarray of the transpose": lambda xp, a: xp.asfortranarray(a.T),
    "astype": lambda xp, a: a.astype("f8"),
    "astype not copied": lambda xp, a: a.astype("f8", copy=False),
    "copy": lambda xp, a: a.copy(),
    "from_dlpack": lambda xp, a: xp.from_dlpack(a),
    "nan_to_num": lambda xp, a: xp.nan_to_num(a),
    "nan_to_num in place": lambda xp, a: xp.nan_to_num(a, copy=False),
    "diff of nothing": lambda xp, a: xp.diff(a, 0),
    "take": lambda xp, a: xp.take(a, [0], axis=0),
    "compress": lambda xp, a: xp.compress([True], a, axis=0),
    "repeat": lambda xp, a: xp.repeat(a, 1, axis=0),
    "sum": lambda xp, a: xp.sum(a, axis=0),
    "arithmetic": lambda xp, a: a + 0,
    "views of views": lambda xp, a: a[1:].T[::-1][:, None].reshape(4, 2),
}

#: The same for an array of other elements.
OTHERS: dict[str, tuple[Any, Any]] = {
    "real parts": (MATRIX + 1j, lambda xp, a: xp.real(a)),
    "imaginary parts": (MATRIX + 1j, lambda xp, a: a.imag),
    "imaginary parts of real numbers": (MATRIX, lambda xp, a: a.imag),
    "conjugates": (MATRIX + 1j, lambda xp, a: a.conj()),
    "parts of a row": (MATRIX + 1j, lambda xp, a: a[0].real[1:]),
    "a field": (RECORDS, lambda xp, a: a["x"]),
    "fields": (RECORDS, lambda xp, a: a[["x", "z"]]),
    "a field of a row": (RECORDS, lambda xp, a: a[0]["y"]),
    "three axes": (CUBE, lambda xp, a: a.transpose(1, 0, 2)[1:, :, ::2]),
    "some axes merged": (CUBE, lambda xp, a: a.transpose(0, 2, 1).reshape(2, -1)),
    "einsum of three": (np.arange(27.0).reshape(3, 3, 3), lambda xp, a: xp.einsum("iij->ji", a)),
    "no axes": (np.array(3.0), lambda xp, a: a[()]),
    "no axes, an array": (np.array(3.0), lambda xp, a: a[...]),
    "strings": (np.array(["a", "b"]), lambda xp, a: a[1:]),
    "objects": (np.array([1, None], object), lambda xp, a: a[1:]),
}
CASES = {**{name: (MATRIX, call) for name, call in CALLS.items()}, **OTHERS}


def _steps(array: Any) -> list[int]:
    """Return the strides, but for axes of one element: nobody takes a step there."""
    return [step for step, length in zip(array.strides, array.shape, strict=True) if length > 1]


def listed(found: Any) -> list[Any]:
    """Return one result, or several, as a list."""
    return list(found) if isinstance(found, tuple | list) else [found]


@pytest.mark.parametrize("name", CASES)
def test_which_results_are_views(name: str) -> None:
    """They share elements, have a base, lie in memory and take writes as NumPy's do."""
    given, call = CASES[name]
    array = given.copy()
    tensor = mt.tensor(given, chunk_size=2)
    results = map(np.asanyarray, listed(call(np, array)))
    for ours, theirs in zip(listed(call(mt, tensor)), results, strict=True):
        shared = np.shares_memory(array, theirs)
        assert mt.shares_memory(tensor, ours) == np.shares_memory(tensor, ours) == shared
        assert mt.may_share_memory(tensor, ours) == np.may_share_memory(array, theirs)
        assert (ours is tensor) == (theirs is array)
        assert ours.flags.owndata == (ours.base is None)
        assert ours.flags.writeable == theirs.flags.writeable
        if shared:
            assert ours.base is (None if theirs is array else tensor)
            assert _steps(ours) == _steps(theirs)
            assert ours.flags.c_contiguous == theirs.flags.c_contiguous


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_writes_go_both_ways(name: str, *, executed: bool) -> None:
    """Views see what is written to the base, and it sees what is written to them; copies do not."""
    given, call = CASES[name]
    array = given.copy()
    tensor = mt.tensor(given, chunk_size=2)
    ours, theirs = listed(call(mt, tensor)), [np.asanyarray(x) for x in listed(call(np, array))]
    if executed:
        mt.ExecutableTuple([tensor, *ours]).execute()
    value = "z" if given.dtype.kind == "U" else 7
    for target in (array, tensor):
        target[(..., slice(-1, None)) if target.ndim else ...] = value
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own.compute(), other)
        if other.flags.writeable:
            for item in (own, other):
                item[...] = "y" if given.dtype.kind == "U" else 8
        else:
            with pytest.raises(ValueError, match="assignment destination is read-only"):
                own[...] = 8
        np.testing.assert_array_equal(tensor.compute(), array)
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own.compute(), other)
