"""Hypothesis strategies that all families of tensor operations share."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from dask.task_spec import Task
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask import new_session
from marsdask.core.config import option_context
from marsdask.core.session import get_default_session
from marsdask.scheduler import Hint

#: Types that NumPy treats differently: signed, unsigned, half, single, double, complex, bool.
DTYPES = ("i1", "u2", "i8", "f2", "f4", "f8", "c16", "?")


def draws(count: int) -> settings:
    """Return the settings for so many draws, and for ten times as many in the long run."""
    profile = settings.default
    assert profile is not None
    return settings(max_examples=max(1, count * profile.max_examples // 20))


def _cuts(length: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Return ways to cut one axis: whole, in ones, ragged, with empty chunks."""
    borders = st.lists(st.integers(0, length), max_size=4).map(sorted)

    def sizes(inner: list[int]) -> tuple[int, ...]:
        stops = [*inner, length]
        return tuple(stop - start for start, stop in zip([0, *inner], stops, strict=True))

    ones = (1,) * length or (0,)
    return st.one_of(st.just((length,)), st.just(ones), borders.map(sizes))


def chunkings(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Return explicit chunk sizes for every axis of ``shape``."""
    return st.tuples(*map(_cuts, shape))


def shapes(min_dims: int = 0, max_dims: int = 3, min_side: int = 0) -> Any:
    """Return shapes of small arrays, empty ones among them."""
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=6)


def values(dtype: Any, shape: tuple[int, ...], *, nan: bool = True) -> st.SearchStrategy[Any]:
    """Return arrays of tame numbers, with ties and (if the type has it) nan."""
    dtype = np.dtype(dtype)
    elements: st.SearchStrategy[Any] = st.integers(0 if dtype.kind == "u" else -4, 5)
    if dtype.kind == "b":
        elements = st.booleans()
    elif dtype.kind in "fc":
        special = [st.just(np.nan)] if nan else []
        elements = st.one_of(st.integers(-4, 5), st.sampled_from([0.5, -1.25, 3.75]), *special)
    return hnp.arrays(dtype, shape, elements=elements)


@st.composite
def arrays_and_chunks(
    draw: Any,
    dtypes: Any = DTYPES,
    min_dims: int = 0,
    max_dims: int = 3,
    min_side: int = 0,
    *,
    nan: bool = True,
) -> tuple[Any, Any]:
    """Return an array and chunk sizes for it."""
    shape = draw(shapes(min_dims, max_dims, min_side))
    array = draw(values(draw(st.sampled_from(dtypes)), shape, nan=nan))
    return array, draw(chunkings(shape))


@contextmanager
def grids(*, merged: bool) -> Iterator[None]:
    """Run on the merged grid or on the user's own, every pass verified."""
    with option_context({"coalesce": merged, "verify": True}):
        yield


def assert_same(lazy: Any, expected: Any, rtol: float = 0.0) -> None:
    """Check a tensor against NumPy's array: values, type and shape, before and after running."""
    expected = np.asarray(expected)
    assert lazy.dtype == expected.dtype
    with np.errstate(all="ignore"):
        value = lazy.compute()
    assert np.asarray(value).dtype == expected.dtype
    assert np.shape(value) == expected.shape
    np.testing.assert_allclose(value, expected, rtol=rtol, atol=rtol)


def tensor_of(array: Any, chunks: Any) -> Any:
    """Return a tensor cut in explicit chunks."""
    return mt.tensor(array, chunks=chunks)


def assert_like_numpy(
    call: Callable[..., Any], *cases: tuple[Any, Any], rtol: float = 1e-12, merged: bool = True
) -> None:
    """Check that ``call(mt, *tensors)`` is ``call(np, *arrays)``, or raises what that raises."""
    arrays = [array for array, _ in cases]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with np.errstate(all="ignore"):
                expected = call(np, *(array.copy() for array in arrays))
        except Exception as error:  # noqa: BLE001 - ours must be of its type
            with pytest.raises(type(error)):
                _values(call(mt, *(tensor_of(*case) for case in cases)))
            return
        with grids(merged=merged):
            found = call(mt, *(tensor_of(*case) for case in cases))
            _assert_alike(found, expected, rtol)


def _values(found: Any) -> None:
    for item in found if isinstance(found, tuple | list) else [found]:
        item.compute()


def _assert_alike(found: Any, expected: Any, rtol: float) -> None:
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for own, other in zip(found, expected, strict=True):
            _assert_alike(own, other, rtol)
    elif isinstance(found, mt.Tensor) and np.asarray(expected).dtype.kind in "fc":
        assert_same(found, expected, rtol=rtol)
    elif isinstance(found, mt.Tensor):
        value = found.compute()
        assert found.dtype == value.dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(value, expected, strict=value.ndim > 0)
    else:
        assert found == expected


def _executed(x: Any) -> Any:
    return x.execute()


def _executed_as_given(x: Any) -> Any:
    with option_context({"coalesce": False}):
        return x.execute()


def _spilled(x: Any) -> Any:
    """Execute it, and fill the memory of the session until nothing of it is left there."""
    x.execute()
    session = get_default_session()
    assert session is not None
    scheduler: Any = session.scheduler
    left = scheduler.memory_limit - 1
    scheduler.submit(
        {"filler": Task("filler", bytes, left)}, ["filler"], hints={"filler": Hint(left, left)}
    ).wait()
    scheduler.release(["filler"])
    return x


def _persisted(x: Any) -> Any:
    return x.persist()


def _persisted_by_dask(x: Any) -> Any:
    return x.persist(scheduler="synchronous")


def _pickled(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x))


def _executed_and_pickled(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x.execute()))


def _executed_elsewhere(x: Any) -> Any:
    """Execute it in a session of its own, which needs no end."""
    other = new_session("synchronous", default=False)
    found = x.execute(session=other)
    found._session = None
    return found


def _adopted(x: Any) -> Any:
    package: Any = mt if isinstance(x, mt.Tensor) else md
    return package.from_dask(x.to_dask().persist(scheduler="synchronous"))


def _executed_and_adopted(x: Any) -> Any:
    return _adopted(x.execute())


#: What may have happened to an operand before something is built on it, by its name.
HISTORIES: dict[str, Callable[[Any], Any]] = {
    function.__name__[1:].replace("_", " "): function
    for function in (
        _executed,
        _executed_as_given,
        _spilled,
        _executed_elsewhere,
        _persisted,
        _persisted_by_dask,
        _pickled,
        _executed_and_pickled,
        _adopted,
        _executed_and_adopted,
    )
}

#: What may also happen after something was built on it: the object stays the same.
LATER = ("executed", "executed as given", "spilled")


def histories(turn: int, count: int) -> list[str]:
    """Return the names of so many histories, and of ten times as many in the long run.

    Turns take turns: few of them have all histories among them.
    """
    profile = settings.default
    assert profile is not None
    names = list(HISTORIES)
    count = min(len(names), max(1, count * profile.max_examples // 20))
    return [names[(turn * count + i) % len(names)] for i in range(count)]
