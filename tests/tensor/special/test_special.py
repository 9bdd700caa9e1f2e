"""Special functions equal SciPy's, whatever the chunks."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.tensor as mt
from marsdask.tensor import special
from tests.strategies import arrays_and_chunks, assert_same, chunkings, draws, grids, tensor_of

TESTED_APART = {"log_softmax", "logsumexp", "sinc", "softmax"}
TABLE = [name for name in dir(special) if name not in TESTED_APART]

#: What the operands of a function are where not every one is an array: {name: operands}.
#: A number stays one, ``None`` is an array.
FIXED: dict[str, tuple[Any, ...]] = {
    "comb": (None, None),
    "diric": (None, 3),
    "ellip_harm": (0.25, 0.5, 1, 2, None),
    "ellip_harm_2": (0.25, 0.5, 1, 2, None),
    "ellip_normal": (0.25, 0.5, 1, None),
    "factorial": (None,),
    "factorial2": (None,),
    "factorialk": (None, 3),
    "h1vp": (None, None, 1),
    "h2vp": (None, None, 1),
    "ivp": (None, None, 2),
    "jvp": (None, None, 1),
    "kvp": (None, None, 1),
    "lambertw": (None,),
    "multigammaln": (None, 2),
    "perm": (None, None),
    "polygamma": (2, None),
    "softplus": (None,),
    "spherical_in": (2, None),
    "spherical_jn": (2, None),
    "spherical_kn": (2, None),
    "spherical_yn": (1, None),
    "stirling2": (None, None),
    "yvp": (None, None, 1),
    "zeta": (None,),
}
WHOLE = {"factorial", "factorial2", "factorialk", "stirling2"}


#: Functions that SciPy takes very long for outside of what they are made for.
SLOW = tuple(name for name in TABLE if name.startswith(("obl_", "pro_", "nct", "ncf", "chnd")))


def choices(name: str, dtype: str) -> Any:
    """Return values where most functions are finite, some of them poles or out of the domain."""
    if name in WHOLE:
        return np.array([0, 2, 5])
    if name == "ellip_normal":
        return np.array([1, 2, 3])
    if name in SLOW:
        return np.array([1.0, 2.0, 1.0], dtype)
    low = 1.5 if name in ("ellip_harm", "ellip_harm_2", "multigammaln") else 0.0
    return np.array([0.25, 3.5, -0.5 if low == 0 else 2.0], dtype) + np.array(low, dtype)


def assert_as_scipy(name: str, arrays: list[Any], lazies: list[Any]) -> None:
    """Check one function of operands, or that both refuse them."""
    func = getattr(scipy.special, name)
    fixed = operands_of(name)
    plain, lazy = iter(arrays), iter(lazies)
    with warnings.catch_warnings(), np.errstate(all="ignore"), grids(merged=False):
        warnings.simplefilter("ignore")  # "truncated to an integer", "slow convergence"
        operands = [next(lazy) if item is None else item for item in fixed]
        try:
            expected = func(*(next(plain) if item is None else item for item in fixed))
        except TypeError:
            with pytest.raises(TypeError):
                np.asarray(getattr(special, name)(*operands))
            return
        results = getattr(special, name)(*operands)
        several = expected if isinstance(expected, tuple) else (expected,)
        results = results if isinstance(results, tuple) else (results,)
        for result, value in zip(results, several, strict=True):
            assert_same(result, value, rtol=1e-4 if np.asarray(value).dtype.char in "fF" else 1e-9)


def operands_of(name: str) -> tuple[Any, ...]:
    """Return what a function takes: numbers, and ``None`` for arrays."""
    func = getattr(scipy.special, name)
    return (None,) * func.nin if isinstance(func, np.ufunc) else FIXED[name]


@pytest.mark.parametrize("name", TABLE)
def test_every_function_equals_scipys(name: str) -> None:
    """Values and types are SciPy's for single, double and complex numbers, in ragged chunks."""
    count = operands_of(name).count(None)
    for dtype in ("f8", "c8"):
        places = np.arange(6).reshape(2, 3)
        arrays = [choices(name, dtype)[(places + i) % 3] for i in range(count)]
        assert_as_scipy(name, arrays, [tensor_of(x, ((2,), (2, 1))) for x in arrays])


@draws(60)
@given(data=st.data())
def test_functions_equal_scipy_in_all_chunks(data: st.DataObject) -> None:
    """Operands broadcast, differ in chunks and type, and may be empty."""
    name = data.draw(st.sampled_from(TABLE))
    sides = hnp.mutually_broadcastable_shapes(
        num_shapes=operands_of(name).count(None), min_dims=1, max_dims=2, max_side=3
    )
    arrays = [
        data.draw(hnp.arrays(values.dtype, shape, elements=st.sampled_from(values.tolist())))
        for shape in data.draw(sides).input_shapes
        for values in [choices(name, data.draw(st.sampled_from(["f4", "f8", "c8", "c16"])))]
    ]
    lazies = [tensor_of(array, data.draw(chunkings(array.shape))) for array in arrays]
    assert_as_scipy(name, arrays, lazies)


def test_mars_names_are_all_there() -> None:
    """What mars.tensor.special has, this module has."""
    text = (
        "airy airye beta betainc betaincinv betaln dawsn digamma ellip_harm ellip_harm_2 "
        "ellip_normal ellipe ellipeinc ellipk ellipkinc ellipkm1 elliprc elliprd elliprf elliprg "
        "elliprj entr erf erfc erfcinv erfcx erfi erfinv fresnel gamma gammainc gammaincc "
        "gammainccinv gammaincinv gammaln gammasgn hankel1 hankel1e hankel2 hankel2e hyp0f1 hyp1f1 "
        "hyp2f1 hyperu itairy iv ive jv jve kl_div kn kv kve loggamma modfresnelm modfresnelp "
        "multigammaln poch polygamma psi rel_entr rgamma voigt_profile wofz xlogy yn yv yve"
    )
    names = text.split()
    assert set(names) <= set(dir(special))
    assert all(callable(getattr(special, name)) for name in names)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = special.nonsense


def test_scipy_is_loaded_on_the_first_use() -> None:
    """Importing the module costs nothing; star imports have every name."""
    code = (
        "import json, sys, marsdask.tensor as mt; before = 'scipy' in sys.modules\n"
        "value = mt.special.erf(mt.zeros(3)).compute().tolist()\n"
        "from marsdask.tensor.special import *\n"
        "print(json.dumps([before, value, callable(airy)]))"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert json.loads(output) == [False, [0, 0, 0], True]


@given(data=st.data())
def test_sums_of_exponentials_equal_scipy(data: st.DataObject) -> None:
    """``logsumexp``, ``softmax`` and ``log_softmax`` equal SciPy's, with infinities and weights."""
    array, chunks = data.draw(
        arrays_and_chunks(("f4", "f8", "i8", "c16"), min_dims=1, min_side=1, nan=False)
    )
    if array.dtype.kind == "f" and data.draw(st.booleans()):
        array = np.where(array == 3, np.inf, np.where(array == 2, -np.inf, array))
        array = array.astype(array.dtype)
    lazy = tensor_of(array, chunks)
    axis = data.draw(st.one_of(st.none(), st.integers(0, array.ndim - 1)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how: dict[str, Any] = {"axis": axis, "keepdims": data.draw(st.booleans())}
        assert_same(mt.special.logsumexp(lazy, **how), scipy.special.logsumexp(array, **how), 1e-5)
        if array.dtype.kind == "f":
            for name in ("softmax", "log_softmax"):
                expected = getattr(scipy.special, name)(array, axis=axis)
                assert_same(getattr(special, name)(lazy, axis=axis), expected, 1e-5)
        weights = np.asarray(data.draw(hnp.arrays("f8", array.shape[-1:], elements=st.just(1.0))))
        weights[: data.draw(st.integers(0, len(weights)))] = data.draw(st.sampled_from([0.0, -2.5]))
        if np.isfinite(array).all():
            found = special.logsumexp(lazy, b=weights, return_sign=True, **how)
            wanted = scipy.special.logsumexp(array, b=weights, return_sign=True, **how)
            for one, other in zip(found, wanted, strict=True):
                assert_same(one, other, 1e-5)


def test_the_largest_keeps_the_digits_of_the_rest() -> None:
    """A term far below the largest is not lost: log1p, not log."""
    values = np.array([0.0, -40.0])
    assert mt.special.logsumexp(mt.tensor(values, chunk_size=1)).compute() == np.exp(-40.0)


def test_ufuncs_of_one_name_are_told_apart() -> None:
    """Users' ufuncs are all called alike, and are different nodes all the same."""
    one, two = np.frompyfunc(abs, 1, 1), np.frompyfunc(float, 1, 1)
    lazy = mt.tensor([-1, 2])
    up, down = (np.frompyfunc(f, 1, 1) for f in (lambda x: x + 1, lambda x: x - 1))
    assert np.asarray(up(lazy)).tolist() == [0, 3]
    assert np.asarray(down(lazy)).tolist() == [-2, 1]
    assert np.asarray(one(lazy)).tolist() == np.asarray(two(mt.tensor([1, 2]))).tolist()
    assert scipy.special.erf(lazy).node is special.erf(lazy).node
