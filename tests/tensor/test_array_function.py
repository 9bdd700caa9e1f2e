"""What NumPy dispatches to tensors: the values, and the side effects, that it has on arrays."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

X = np.arange(12.0).reshape(3, 4)
FIRST = np.arange(3)

#: Functions that change an array in memory; ``t`` makes tensors of what they are given.
CHANGES: dict[str, Any] = {
    "copyto": lambda out, t: np.copyto(out, t(X)),
    "copyto where": lambda out, t: np.copyto(out, 1.0, where=t(X > 5)),
    "put": lambda out, t: np.put(out, t(FIRST), t(FIRST + 5)),
    "putmask": lambda out, t: np.putmask(out, t(X > 5), t(X)),
    "place": lambda out, t: np.place(out, t(X > 5), t(FIRST)),
    "fill_diagonal": lambda out, t: np.fill_diagonal(out, t(FIRST + 1)),
    "put_along_axis": lambda out, t: np.put_along_axis(out, t(FIRST[:, None]), t(X[:, :1]), 1),
    "sum": lambda out, t: np.sum(t(X), axis=0, out=out[0]),
    "sum named": lambda out, t: np.sum(a=t(X), axis=1, keepdims=True, out=out[:, :1]),
    "clip": lambda out, t: np.clip(t(X), 2, 5, out=out),
    "cumsum": lambda out, t: np.cumsum(t(X), axis=1, out=out),
    "concatenate": lambda out, t: np.concatenate([t(X[:1]), t(X[1:])], out=out),
    "median": lambda out, t: np.median(t(X), axis=0, out=out[1]),
    "take": lambda out, t: np.take(t(X), [2, 0, 1], axis=0, out=out),
    "dot": lambda out, t: np.dot(t(X), t(np.eye(4)), out=out),
    "einsum": lambda out, t: np.einsum("ij,ij->ij", t(X), t(X), out=out),
    "wrong shape": lambda out, t: np.sum(t(X), axis=0, out=out),
    "wrong type": lambda out, t: np.clip(t(X), 0, 3, out=out.view(np.int64)),
}


def lazy(array: Any) -> Any:
    """Return a tensor in chunks of two."""
    return mt.tensor(array, chunk_size=2)


def outcome(change: Any, make: Any) -> tuple[Any, Any, type | None]:
    """Return what an array became, what was returned, and what was raised."""
    out = np.full((3, 4), -1.0)
    try:
        returned = change(out, make)
    except (TypeError, ValueError) as error:
        kinds = (TypeError, ValueError)
        return out, None, next(kind for kind in kinds if isinstance(error, kind))
    return out, returned, None


@pytest.mark.parametrize("name", CHANGES)
def test_arrays_in_memory_are_filled(name: str) -> None:
    """At once, and the array is returned where NumPy returns it."""
    expected, ours = (outcome(CHANGES[name], make) for make in (np.asarray, lazy))
    np.testing.assert_array_equal(ours[0], expected[0])
    assert type(ours[1]) is type(expected[1])
    assert ours[2] is expected[2]


#: Functions whose answer is no array.
TEXTS: dict[str, Any] = {
    "array_repr": np.array_repr,
    "array_str": np.array_str,
    "array2string": lambda x: np.array2string(x, precision=1),
    "einsum_path": lambda x: np.einsum_path("ij,kj,kl->il", x, x, x, optimize="optimal")[0],
    "iterable": np.iterable,
    "ndim": np.ndim,
    "shape": np.shape,
    "size": np.size,
    "can_cast": lambda x: np.can_cast(x.dtype, "f4"),
    "result_type": lambda x: np.result_type(x, np.float32(1)),
    "common_type": np.common_type,
    "min_scalar_type": np.min_scalar_type,
    "iscomplexobj": np.iscomplexobj,
}


@pytest.mark.parametrize("name", TEXTS)
def test_answers_that_are_no_arrays(name: str) -> None:
    """Are NumPy's own."""
    assert TEXTS[name](lazy(X)) == TEXTS[name](X)


def test_views_of_windows() -> None:
    """Found where NumPy has it, in a module of its own."""
    found = np.lib.stride_tricks.sliding_window_view(lazy(X), 2, axis=1)
    expected = np.lib.stride_tricks.sliding_window_view(X, 2, axis=1)
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_files(tmp_path: Path) -> None:
    """They are written at the call, and nothing is returned, to paths and to open files."""
    np.save(tmp_path / "a", lazy(X))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), X)
    for save in (np.save, np.savez, np.savez_compressed):
        opened = io.BytesIO()
        assert save(opened, lazy(X)) is None
        opened.seek(0)
        found = np.load(opened)
        np.testing.assert_array_equal(found if save is np.save else found["arr_0"], X)
    words = np.array([["a", 1], [None, 2.5]], object)
    np.save(tmp_path / "o.npy", mt.tensor(words), allow_pickle=True)
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy", allow_pickle=True), words)
    with pytest.raises(ValueError, match="allow_pickle"):
        np.save(tmp_path / "p.npy", mt.tensor(words), allow_pickle=False)
    text = io.StringIO()
    np.savetxt(text, lazy(X))
    np.testing.assert_array_equal(np.loadtxt(io.StringIO(text.getvalue())), X)


def test_a_file_may_be_what_the_tensor_is_read_from(tmp_path: Path) -> None:
    """It is replaced when all is written; what fails leaves it as it was, and nothing besides."""
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "a.npy", mt.load(tmp_path / "a.npy", chunk_size=2) + 1)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), X + 1)
    with pytest.raises(ZeroDivisionError):
        np.save(tmp_path / "a.npy", lazy(X).map_blocks(failing, dtype=float))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), X + 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def failing(block: Any) -> Any:
    """Raise an error."""
    return 1 / 0 + block
