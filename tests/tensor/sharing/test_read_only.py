"""What NumPy does not let write to is refused here too, with its error and before all others."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

windows = np.lib.stride_tricks.sliding_window_view


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


#: What makes a read-only array of a matrix.
MAKERS: dict[str, Any] = {
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (2, 3, 4)),
    "broadcast_to itself": lambda xp, a: xp.broadcast_to(a, (3, 4)),
    "real": lambda xp, a: xp.broadcast_to(a + 1j, (2, 3, 4)).real,
    "imag": lambda xp, a: a.imag,
    "diagonal": lambda xp, a: xp.diagonal(a),
    "linalg.diagonal": lambda xp, a: xp.linalg.diagonal(a),
    "diag": lambda xp, a: xp.diag(a),
    "windows": lambda xp, a: windows(a, 2, axis=0),
    "setflags": lambda xp, a: _frozen(a),
    "a row": lambda xp, a: _frozen(a)[1],
    "rows": lambda xp, a: xp.broadcast_to(a, (3, 4))[1:],
    "new axis": lambda xp, a: xp.broadcast_to(a, (3, 4))[:, None],
    "T": lambda xp, a: xp.broadcast_to(a, (3, 4)).T,
    "swapaxes": lambda xp, a: xp.swapaxes(xp.broadcast_to(a, (2, 3, 4)), 0, 1),
    "moveaxis": lambda xp, a: xp.moveaxis(xp.broadcast_to(a, (2, 3, 4)), 0, 1),
    "expand_dims": lambda xp, a: xp.expand_dims(xp.diagonal(a), 0),
    "squeeze": lambda xp, a: xp.squeeze(xp.broadcast_to(a, (1, 3, 4))),
    "reshape": lambda xp, a: xp.broadcast_to(a, (3, 4)).reshape(2, 6),
    "ravel": lambda xp, a: xp.broadcast_to(a, (3, 4)).ravel(),
    "flip": lambda xp, a: xp.flip(xp.broadcast_to(a, (2, 3, 4))),
    "rot90": lambda xp, a: xp.rot90(xp.broadcast_to(a, (3, 4))),
    "atleast_2d": lambda xp, a: xp.atleast_2d(xp.diagonal(a)),
    "atleast_3d": lambda xp, a: xp.atleast_3d(xp.broadcast_to(a, (3, 4))),
    "split": lambda xp, a: xp.split(xp.broadcast_to(a, (2, 3, 4)), 2)[0],
    "unstack": lambda xp, a: xp.unstack(xp.broadcast_to(a, (2, 3, 4)))[1],
    "asarray": lambda xp, a: xp.asarray(xp.broadcast_to(a, (2, 3, 4))),
    "view": lambda xp, a: xp.broadcast_to(a, (3, 4)).view("i8"),
    "frombuffer": lambda xp, a: xp.frombuffer(b"12345678" * 4).reshape(2, 2),
}
#: What makes an array of its own memory of one.
COPIES: dict[str, Any] = {
    "ravel": lambda xp, a: xp.broadcast_to(a, (2, 3, 4)).ravel(),
    "reshape": lambda xp, a: xp.broadcast_to(a, (2, 3, 4)).reshape(-1, 2),
    "copy": lambda xp, a: xp.diagonal(a).copy(),
    "arithmetic": lambda xp, a: xp.diagonal(a) + 1,
    "positions": lambda xp, a: xp.broadcast_to(a, (2, 3, 4))[[0, 1]],
    "frombuffer": lambda xp, a: xp.frombuffer(bytearray(b"12345678" * 4)),
    "of a pickled imaginary part": lambda xp, a: pickle.loads(pickle.dumps(a[0].imag)).ravel(),
}
#: What writes to an array; many of them are wrong besides.
WRITES: dict[str, Any] = {
    "element": lambda xp, a: a.__setitem__(0, 5),
    "all": lambda xp, a: a.__setitem__(..., 5),
    "nothing": lambda xp, a: a.__setitem__(slice(0, 0), 5),
    "out of bounds": lambda xp, a: a.__setitem__(99, 5),
    "too many indices": lambda xp, a: a.__setitem__((0,) * 9, 5),
    "another shape": lambda xp, a: a.__setitem__(..., [1] * 7),
    "no number": lambda xp, a: a.__setitem__(0, "x"),
    "mask": lambda xp, a: a.__setitem__(a > 1, 5),
    "mask of nothing": lambda xp, a: a.__setitem__(a > 99, 5),
    "wrong mask": lambda xp, a: a.__setitem__(np.ones(77, bool), 5),
    "positions": lambda xp, a: a.__setitem__([0], 5),
    "positions out of bounds": lambda xp, a: a.__setitem__([99], 5),
    "field": lambda xp, a: a.__setitem__("a", 5),
    "+=": lambda xp, a: a.__iadd__(1),
    "+= of another shape": lambda xp, a: a.__iadd__(np.ones(7)),
    "+= of another type": lambda xp, a: a.__iadd__(1j),
    "fill": lambda xp, a: a.fill(1),
    "fill with no number": lambda xp, a: a.fill("x"),
    "sort": lambda xp, a: a.sort(),
    "partition": lambda xp, a: a.partition(0),
    "partition out of bounds": lambda xp, a: a.partition(99),
    "put": lambda xp, a: a.put([0], [1]),
    "put nothing": lambda xp, a: xp.put(a, [], [1]),
    "put out of bounds": lambda xp, a: xp.put(a, [999], [1]),
    "putmask": lambda xp, a: xp.putmask(a, a > 1, 0),
    "putmask of another shape": lambda xp, a: xp.putmask(a, np.ones(77, bool), 0),
    "place": lambda xp, a: xp.place(a, a > 1, []),
    "copyto": lambda xp, a: xp.copyto(a, 0),
    "copyto of another shape": lambda xp, a: xp.copyto(a, np.ones(77)),
    "copyto of another type": lambda xp, a: xp.copyto(a, 1j),
    "flat": lambda xp, a: a.flat.__setitem__(0, 1),
    "flat out of bounds": lambda xp, a: a.flat.__setitem__(999, 1),
    "out= of a ufunc": lambda xp, a: xp.add(a, 1, out=a),
    "out= of another type": lambda xp, a: xp.add(a, 1j, out=a),
    "out= where": lambda xp, a: xp.add(a, 1, out=a, where=a > 3),
    "out= of sum": lambda xp, a: xp.sum(a[None], axis=0, out=a),
    "out= of max": lambda xp, a: xp.max(a[None], axis=0, out=a),
    "out= of cumsum": lambda xp, a: xp.cumsum(a, axis=0, out=a),
    "out= of clip": lambda xp, a: xp.clip(a, 0, 1, out=a),
    "out= of median": lambda xp, a: xp.median(a[None], axis=0, out=a),
    "out= of choose": lambda xp, a: xp.choose((a * 0).astype(int), [a], out=a),
}


def _error(call: Any) -> Any:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error), str(error)
    return None


def _pair(make: Any) -> tuple[Any, Any]:
    matrix = np.arange(12.0).reshape(3, 4)
    return make(np, matrix.copy()), make(mt, mt.tensor(matrix, chunk_size=2))


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_read_only(make: Any) -> None:
    """Each write to each such array raises what it raises in NumPy, and changes nothing."""
    for name, write in WRITES.items():
        array, tensor = _pair(make)
        error = _error(lambda call=write, a=array: call(np, a))
        assert error is not None
        assert _error(lambda call=write, a=tensor: call(mt, a)) == error, name
        assert not tensor.flags.writeable
        np.testing.assert_array_equal(tensor.compute(), array)


@pytest.mark.parametrize("make", COPIES.values(), ids=list(COPIES))
def test_copies(make: Any) -> None:
    """Where NumPy makes a copy it can be written to, also once it was executed."""
    for executed in (False, True):
        array, tensor = _pair(make)
        if executed:
            tensor.execute()
        array[0] = tensor[0] = 50
        np.testing.assert_array_equal(tensor.compute(), array)
