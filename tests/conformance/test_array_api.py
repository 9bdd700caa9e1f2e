"""``marsdask.tensor`` keeps the array API standard, by its own rules and by NumPy's example.

NumPy's namespace follows the standard, so what it returns is what has to come out here: values,
types and shapes. ``make conformance`` also calls array-api-strict, and the community's own suite
where a checkout of it is given.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.conformance import array_api
from tests.strategies import chunkings

KINDS = {name: np.dtype(name).kind for name in array_api.DTYPES}
MATRIX = np.array([[1, 0, 2, 3], [2, 2, 1, 0], [3, 1, 1, 2]])
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, np.inf, -np.inf, np.nan]
TABLES = (array_api.CREATION, array_api.CALLS, array_api.FLOATS, array_api.REALS)


def arrays_in(result: Any) -> list[Any]:
    """Return the arrays of a result that may be one, or several in a tuple or list."""
    if isinstance(result, list | tuple):
        return [item for one in result for item in arrays_in(one)]
    return [result]


def assert_like(found: Any, expected: Any) -> None:
    """Check arrays one by one: type, shape and values."""
    ours, theirs = arrays_in(found), arrays_in(expected)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        value = np.asarray(one.compute())
        assert one.dtype == value.dtype == np.asarray(other).dtype
        assert value.shape == np.shape(other)
        tolerance = 1e-9 if value.real.dtype == np.float64 else 1e-4
        np.testing.assert_allclose(value, np.asarray(other), rtol=tolerance, atol=tolerance)


def find(xp: Any, name: str) -> Any:
    """Return what a dotted name stands for."""
    for part in name.split("."):
        xp = getattr(xp, part)
    return xp


def test_every_name_is_there():
    """Functions, extensions, types and constants; and each type and constant is NumPy's own."""
    names = itertools.chain(array_api.UNARY, array_api.BINARY, *TABLES, array_api.ELSEWHERE)
    for name in names:
        assert callable(find(mt, name)), name
    for name in (*array_api.DTYPES, *array_api.CONSTANTS):
        assert getattr(mt, name) is getattr(np, name)
    assert mt.__array_api_version__ == "2024.12"


@pytest.mark.parametrize("name", array_api.CREATION)
def test_creation(name):
    """Every type, and the keywords of the standard."""
    call = array_api.CREATION[name]
    for dtype in array_api.DTYPES:
        if name in ("arange", "linspace") and dtype == "bool":
            continue
        assert_like(call(mt, getattr(mt, dtype)), call(np, getattr(np, dtype)))


@pytest.mark.parametrize("name", [*array_api.CALLS, *array_api.FLOATS, *array_api.REALS])
@given(data=st.data())
def test_calls(name, data):
    """Every keyword, on some types at a time, whatever the chunks."""
    kinds = "fc" if name in array_api.FLOATS else "f" if name in array_api.REALS else "iuf"
    call = {**array_api.CALLS, **array_api.FLOATS, **array_api.REALS}[name]
    dtype = data.draw(st.sampled_from([item for item in KINDS if KINDS[item] in kinds]))
    x = MATRIX.astype(dtype)
    t = mt.asarray(x, chunks=data.draw(chunkings(x.shape)))
    assert_like(call(mt, t), call(np, x))


@pytest.mark.parametrize("name", array_api.UNARY)
def test_functions_of_one_array(name):
    """Types are kept, but where the answer is a truth or a real part."""
    for dtype in (item for item, kind in KINDS.items() if kind in array_api.UNARY[name]):
        result = getattr(mt, name)(mt.asarray([0, 1, 1], dtype=dtype))
        expected = np.dtype(bool) if name in array_api.TRUTHS else np.dtype(dtype)
        if name in ("abs", "real", "imag") and expected.kind == "c":
            expected = np.zeros((), expected).real.dtype
        assert result.dtype == expected, dtype


@pytest.mark.parametrize("name", array_api.BINARY)
def test_promotion(name):
    """Two types promote as the table of the standard says; Python's scalars do not widen."""
    pairs = itertools.product(KINDS, repeat=2)
    allowed = array_api.BINARY[name]
    for first, second in pairs:
        expected = array_api.promoted(first, second)
        if expected is None or KINDS[first] not in allowed or KINDS[second] not in allowed:
            continue
        assert mt.result_type(mt.zeros(1, dtype=first), second) == expected
        ones = mt.ones(1, dtype=first), mt.ones(1, dtype=second)
        result = getattr(mt, name)(*ones)
        assert result.dtype == (bool if name in array_api.TRUTHS else expected), (first, second)
    for dtype in (item for item in KINDS if KINDS[item] in allowed):
        scalar = {"b": True, "f": 1.0, "c": 1j}.get(KINDS[dtype], 1)
        for args in ((mt.ones(1, dtype=dtype), scalar), (scalar, mt.ones(1, dtype=dtype))):
            expected = np.dtype(bool if name in array_api.TRUTHS else dtype)
            assert getattr(mt, name)(*args).dtype == expected


def test_special_values():
    """Zeros of both signs, infinities and NaN come out as NumPy's, sign included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y = (np.array(item) for item in zip(*itertools.product(SPECIAL, repeat=2), strict=True))
        a, b = mt.asarray(x, chunk_size=25), mt.asarray(y, chunk_size=40)
        for name, kinds in (*array_api.UNARY.items(), *array_api.BINARY.items()):
            if "f" not in kinds:
                continue
            given = (a, b) if name in array_api.BINARY else (a,)
            found = getattr(mt, name)(*given).compute()
            expected = getattr(np, name)(*((x, y)[: len(given)]))
            np.testing.assert_array_equal(found, expected, err_msg=name)
            if expected.dtype.kind == "f":
                real = ~np.isnan(expected)
                np.testing.assert_array_equal(np.signbit(found)[real], np.signbit(expected)[real])


def test_special_values_of_complex_numbers():
    """Every pair of them as real and imaginary part, signs of both included."""
    pairs = itertools.product(SPECIAL, repeat=2)
    z = np.array([complex(*pair) for pair in pairs])
    x, y = np.repeat(z, 7), np.resize(z, 7 * len(z))
    a, b = mt.asarray(x, chunk_size=100), mt.asarray(y, chunk_size=150)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, kinds in (*array_api.UNARY.items(), *array_api.BINARY.items()):
            if "c" not in kinds:
                continue
            both = name in array_api.BINARY
            found = getattr(mt, name)(*((a, b) if both else (a,))).compute()
            expected = getattr(np, name)(*((x, y) if both else (x,)))
            for part in (np.real, np.imag):
                mine, theirs = part(found), part(expected)
                np.testing.assert_array_equal(mine, theirs, err_msg=name)
                sure = ~np.isnan(theirs)
                np.testing.assert_array_equal(np.signbit(mine[sure]), np.signbit(theirs[sure]))


@pytest.mark.parametrize("name", array_api.OPERATORS)
def test_operators(name):
    """Operators are their functions; reflected ones and those in place go with them."""
    function = array_api.OPERATORS[name]
    kinds = array_api.UNARY.get(function) or array_api.BINARY[function]
    dtype = "float64" if "f" in kinds else "int64"
    x, y = np.array([1, 2, 3], dtype), np.array([3, 1, 2], dtype)
    a, b = mt.asarray(x, chunk_size=2), mt.asarray(y)
    given = () if function in array_api.UNARY else (b,)
    expected = getattr(np, function)(*((x, y)[: 1 + len(given)]))
    assert_like(getattr(a, name)(*given), expected)
    if given and function not in array_api.TRUTHS:
        assert_like(getattr(b, name.replace("__", "__r", 1))(a), expected)
        assert_like(getattr(a, name.replace("__", "__i", 1))(b), expected)


def test_matrix_products_by_operator():
    """``@`` is matmul, reflected and in place too."""
    x = np.arange(9.0).reshape(3, 3)
    a = mt.asarray(x, chunk_size=2)
    assert_like([a.__matmul__(a), a.__rmatmul__(a)], [x @ x, x @ x])
    a @= mt.asarray(x)
    assert_like(a, x @ x)


def test_descending_orders_are_stable():
    """Equal elements keep their order from the large end, too."""
    x = mt.asarray([[2, 1, 2], [1, 1, 3]], chunk_size=2)
    assert mt.argsort(x, axis=1, descending=True).compute().tolist() == [[0, 2, 1], [2, 0, 1]]
    assert mt.sort(x, axis=0, descending=True).compute().tolist() == [[2, 1, 3], [1, 1, 2]]
    assert mt.argsort(x[0][:0], descending=True).compute().tolist() == []


def test_attributes_and_devices():
    """An array says where and what it is."""
    x = mt.asarray([[1.0, 2.0]])
    assert (x.ndim, x.shape, x.size, x.dtype, x.device) == (2, (1, 2), 2, mt.float64, "cpu")  # type: ignore[comparison-overlap]
    turned = np.array([[1.0], [2.0]])
    assert_like([x.T, x.mT, x.to_device("cpu")], [turned, turned, turned.T])
    for call in (
        lambda: x.to_device("gpu"),
        lambda: mt.zeros(3, device="tpu"),
        lambda: mt.asarray(1, device="tpu"),
        lambda: mt.astype(x, mt.int8, device="tpu"),
        lambda: mt.from_dlpack(np.ones(1), device="tpu"),
        lambda: mt.fft.fftfreq(3, device="tpu"),
    ):
        with pytest.raises(ValueError, match=r"[Dd]evice"):
            call()


def test_scalars_of_arrays():
    """An array without axes is a number where Python wants one."""
    assert (bool(mt.asarray(0)), int(mt.asarray(3)), float(mt.asarray(0.5))) == (False, 3, 0.5)
    assert complex(mt.asarray(1j)) == 1j
    assert "abc"[mt.asarray(1)] == "b"
    with pytest.raises(TypeError):
        mt.asarray(1.5).__index__()


def test_the_namespace_of_arrays():
    """It is asked for by version; versions that are not kept are refused."""
    x = mt.asarray([1])
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2024.12") is mt
    with pytest.raises(ValueError, match=r"2019\.12"):
        x.__array_namespace__(api_version="2019.12")


def test_inspection():
    """What the namespace says of itself is so."""
    info = mt.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"]
    assert info.capabilities()["data-dependent shapes"]
    assert info.devices() == [info.default_device()] == ["cpu"]
    assert set(info.dtypes(device="cpu")) == set(array_api.DTYPES)
    assert info.dtypes(kind="complex floating").keys() == {"complex64", "complex128"}
    kinds = {"real floating": 1.0, "complex floating": 1j, "integral": 1, "indexing": 1}
    defaults = info.default_dtypes(device="cpu")
    assert {kind: mt.asarray(value).dtype for kind, value in kinds.items()} == defaults


def test_types():
    """Arrays and types are asked the same questions."""
    x = mt.asarray([1, 2], dtype=mt.int16)
    assert mt.can_cast(x, mt.int32)
    assert not mt.can_cast(mt.float64, mt.int32)
    assert mt.result_type(x, mt.int8, 1) == mt.int16
    assert mt.isdtype(x.dtype, ("signed integer", mt.bool))
    assert mt.finfo(mt.float32).bits == 32
    assert mt.iinfo(mt.int8).max == 127
    assert mt.broadcast_shapes((2, 1), (3,)) == (2, 3)


def test_exchange_of_memory():
    """Other libraries take our values, and we theirs, without their types."""
    x = mt.arange(6).reshape(2, 3)
    assert x.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(np.from_dlpack(x), [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(np.from_dlpack(x.execute()), [[0, 1, 2], [3, 4, 5]])
    assert_like(
        [mt.from_dlpack(np.ones(2)), mt.from_dlpack(x, copy=True)], [np.ones(2), x.compute()]
    )
    with pytest.raises(BufferError, match="copy"):
        x.__dlpack__(copy=False)


def test_copies_are_apart():
    """What is assigned to a copy does not reach the original."""
    x = mt.asarray([1, 2, 3])
    for copy in (mt.astype(x, x.dtype), mt.asarray(x, copy=True), mt.from_dlpack(x, copy=True)):
        copy[0] = 9
        assert x.compute().tolist() == [1, 2, 3]


def test_shapes_that_data_decide():
    """Selections have one axis of a length not known, and serve where it is not asked for."""
    x = mt.asarray([3, 1, 3, 2], chunk_size=2)
    found = x[x > 1]
    assert found.ndim == 1
    assert_like([mt.sum(found), mt.sort(found)], [np.int64(8), np.array([2, 3, 3])])
    assert found.execute().shape == (3,)


def test_the_helpers_of_other_libraries_know_us():
    """scikit-learn, by the helpers that it brings along, finds the namespace of a tensor."""
    # By name: to mypy, one of its modules with types hides all those without.
    array_api_compat = pytest.importorskip(
        "sklearn.externals.array_api_compat", reason="scikit-learn 1.6 brings none along"
    )
    x = mt.asarray([1.0])
    assert array_api_compat.array_namespace(x) is mt
    assert array_api_compat.is_array_api_obj(x)
    assert (array_api_compat.device(x), array_api_compat.size(x)) == ("cpu", 1)


def strict() -> Any:
    """Return the strict namespace, which ``make conformance`` installs."""
    return pytest.importorskip("array_api_strict", reason="make conformance installs it")


@pytest.mark.parametrize("name", [*array_api.CALLS, *array_api.FLOATS, *array_api.REALS])
def test_calls_of_the_strict_namespace(name):
    """The tables of calls are the standard's, and so are the types that come out."""
    xp = strict()
    floats = "complex64" if name.startswith("fft") else "float32"
    dtype = {**dict.fromkeys(array_api.FLOATS, floats), **dict.fromkeys(array_api.REALS, "float32")}
    matrix = MATRIX.astype(dtype.get(name, "int32"))
    call = {**array_api.CALLS, **array_api.FLOATS, **array_api.REALS}[name]
    expected = call(xp, xp.asarray(matrix))
    plain = [np.asarray(item) for item in arrays_in(expected)]
    assert_like(arrays_in(call(mt, mt.asarray(matrix, chunk_size=3))), plain)
