"""The functions of numpy.strings: NumPy's results, whatever the chunks and widths."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import chunkings, draws, grids, shapes, tensor_of

Call = Callable[..., Any]

#: Letters of one to four bytes, of two cases (one of which is longer), spaces and digits.
LETTERS = "aaXb 1\tßé%\N{DESERET CAPITAL LETTER LONG I}"
ASCII = "aaXb 1\t%"

COMPARED = "equal not_equal less less_equal greater greater_equal add"
PLAIN = """isalpha isdigit isspace isalnum islower isupper istitle isdecimal isnumeric str_len
    upper lower swapcase capitalize title decode encode"""
FINDING = "find rfind index rindex count startswith endswith"
SIZED = "multiply center ljust rjust zfill expandtabs"


def calls_of(names: str, *calls: Any) -> dict[str, tuple[Call, ...]]:
    """Return calls of a method, which comes first, for each of some names."""
    return {
        name: tuple(partial(_call_method, name, call) for call in calls) for name in names.split()
    }


def _call_method(name: str, call: Call, module: Any, *args: Any) -> Any:
    return call(getattr(module, name), *args)


#: Calls with a module, texts, other texts, numbers, and what makes scalars of the texts' type.
CALLS: dict[str, tuple[Call, ...]] = {
    **calls_of(COMPARED, lambda f, a, b, n, t: f(a, b)),
    **calls_of(PLAIN, lambda f, a, b, n, t: f(a)),
    **calls_of(
        FINDING, lambda f, a, b, n, t: f(a, t("a")), lambda f, a, b, n, t: f(a, b, n, end=4)
    ),
    **calls_of(
        "strip lstrip rstrip", lambda f, a, b, n, t: f(a), lambda f, a, b, n, t: f(a, chars=b)
    ),
    **calls_of(
        SIZED,
        lambda f, a, b, n, t: f(a, n),
        lambda f, a, b, n, t: f(a, 5),
        lambda f, a, b, n, t: f(a, 1.5),
    ),
    **calls_of(
        "partition rpartition",
        lambda f, a, b, n, t: f(a, t("a")),
        lambda f, a, b, n, t: f(a, b),
    ),
    "replace": (
        lambda s, a, b, n, t: s.replace(a, t("a"), t("long")),
        lambda s, a, b, n, t: s.replace(a, b, a, count=n),
        lambda s, a, b, n, t: s.replace(a, [t("aX")], [t("b")]),
    ),
    "slice": (
        lambda s, a, b, n, t: s.slice(a, 2),
        lambda s, a, b, n, t: s.slice(a, n, None, 2),
        lambda s, a, b, n, t: s.slice(a, None, None, -1),
        lambda s, a, b, n, t: s.slice(a, 0, 3, 0),
    ),
    "mod": (
        lambda s, a, b, n, t: s.mod(a, b),
        lambda s, a, b, n, t: s.mod(s.add(a, t("%d")), n),
    ),
    "translate": (
        lambda s, a, b, n, t: s.translate(a, {97: "QQ"} if t("") == "" else bytes(range(256))),
        lambda s, a, b, n, t: s.translate(a, bytes(range(256)), b"a"),
    ),
}


@st.composite
def texts_and_chunks(draw: Any, kinds: str = "UST", min_dims: int = 0) -> Any:
    """Return texts, other texts of one row of them, numbers, and chunk sizes for each."""
    kind, shape = draw(st.sampled_from(kinds)), draw(shapes(min_dims, max_dims=2))
    arrays = []
    for form in (shape, shape[1:] if draw(st.booleans()) else shape):
        count = int(np.prod(form))
        letters = st.text(
            ASCII if kind == "S" else LETTERS, max_size=draw(st.sampled_from([1, 5, 20]))
        )
        cells = draw(st.lists(letters, min_size=count, max_size=count))
        width = draw(st.integers(1, 3)) + max(map(len, cells), default=0)
        dtype = np.dtypes.StringDType() if kind == "T" else f"{kind}{width}"
        arrays.append(np.array(cells, dtype).reshape(form))
    numbers = draw(st.lists(st.integers(-1, 7), min_size=arrays[0].size, max_size=arrays[0].size))
    arrays.append(np.array(numbers, int).reshape(shape))
    return arrays, [draw(chunkings(array.shape)) for array in arrays]


def typed_as(array: Any) -> Callable[[str], Any]:
    """Return what makes scalars that go with texts or bytes."""
    return str.encode if array.dtype.kind == "S" else str


def assert_texts(lazy: Any, expected: Any) -> None:
    """Check each result: its type, which is at least one letter wide, its shape and its values."""
    several = isinstance(expected, tuple)
    assert isinstance(lazy, tuple) is several
    for item, wanted in zip(lazy, expected, strict=True) if several else [(lazy, expected)]:
        assert isinstance(item, mt.Tensor)
        array = np.asarray(wanted)
        if not array.ndim:  # a scalar, which is as wide as itself
            assert item.compute() == array[()]
            continue
        dtype = array.dtype if array.dtype.itemsize else np.dtype(f"{array.dtype.char}1")
        assert item.dtype.kind == dtype.kind
        value = item.compute()
        assert value.dtype == dtype
        np.testing.assert_array_equal(value, array)
        assert value.shape == array.shape


def assert_as_numpy(call: Call, model: Any, ours: Any, arrays: Any, chunks: Any) -> None:
    """Check a call, or that it raises as NumPy's does; no elements may have no width."""
    scalar = typed_as(arrays[0])
    lazy = [tensor_of(*case) for case in zip(arrays, chunks, strict=True)]
    try:
        expected = call(model, *arrays, scalar)
    except ValueError as error:
        if "zero-size array" in str(error):
            results = call(ours, *lazy, scalar)
            for item in results if isinstance(results, tuple) else [results]:
                assert item.compute().size == 0
            return
        with pytest.raises(ValueError):  # noqa: PT011 - NumPy's own
            _computed(call(ours, *lazy, scalar))
        return
    except Exception as error:  # noqa: BLE001 - ours must be of its type
        with pytest.raises(type(error)):
            _computed(call(ours, *lazy, scalar))
        return
    assert_texts(call(ours, *lazy, scalar), expected)


def _computed(result: Any) -> None:
    for item in result if isinstance(result, tuple) else [result]:
        item.compute()


@pytest.mark.parametrize("name", CALLS)
@draws(8)
@given(case=texts_and_chunks(), merged=st.booleans())
def test_functions_are_numpys(name: str, case: Any, merged: bool) -> None:
    """Of texts, bytes and StringDType, with arguments that broadcast."""
    if name == "zfill":  # NumPy reads the sign of an empty text from behind it
        arrays, chunks = case
        case = [np.where(arrays[0], arrays[0], typed_as(arrays[0])("-")), *arrays[1:]], chunks
    with grids(merged=merged):
        for call in CALLS[name]:
            assert_as_numpy(call, np.strings, mt.strings, *case)


#: Texts whose widths differ from chunk to chunk, one of which is empty.
TEXTS = np.array(["aXb", "", "ß a", "longer X than others", "%d", "1"])
OTHERS = np.array(["X", "wide", "a", "X", "d", "1"])
CHUNKS = ((2, 0, 1, 3),)
NUMBERS = np.array([3, 0, 1, 2, 4, 1])


def computed(name: str, module: Any, make: Callable[[Any], Any]) -> list[Any]:
    """Return the results of the calls of a name, or the types of their errors."""
    results: list[Any] = []
    for call in CALLS[name]:
        try:
            result = call(module, make(TEXTS), make(OTHERS), mt.tensor(NUMBERS, chunks=CHUNKS), str)
            parts = result if isinstance(result, tuple) else (result,)
            results += [part.compute() for part in parts]
        except Exception as error:  # noqa: BLE001 - compared by its type
            results.append(type(error))
    return results


@pytest.mark.parametrize("name", CALLS)
def test_widths_of_arguments_may_be_unknown(name: str) -> None:
    """Texts made of objects, and computed before."""
    plain = computed(name, mt.strings, lambda a: mt.tensor(a, chunks=CHUNKS))
    unsettled = computed(
        name, mt.strings, lambda a: mt.tensor(a.astype(object), chunks=CHUNKS).astype(str)
    )
    executed = computed(name, mt.strings, lambda a: mt.tensor(a, chunks=CHUNKS).execute())
    dispatched = computed(name, np.strings, lambda a: mt.tensor(a, chunks=CHUNKS))
    for results in (unsettled, executed, dispatched):
        assert len(results) == len(plain)
        for value, wanted in zip(results, plain, strict=True):
            assert getattr(value, "dtype", value) == getattr(wanted, "dtype", wanted)
            np.testing.assert_array_equal(value, wanted)


def test_every_name_of_numpy_is_there() -> None:
    """And in the table of calls."""
    assert set(mt.strings.__all__) == set(np.strings.__all__) == set(CALLS)


def test_widths_are_those_of_all_chunks() -> None:
    """They are not known before chunks have run, and what follows is told."""
    lazy = mt.tensor(TEXTS, chunks=CHUNKS)
    assert mt.strings.upper(lazy).node.settled
    wide = mt.strings.multiply(lazy, 2)
    assert wide.dtype == "U0"
    assert (wide + wide).compute().dtype == "U80"
    assert mt.strings.upper(mt.strings.center(wide, 50)).compute().dtype == "U50"
    assert mt.stack(mt.strings.partition(lazy, "X")).compute().dtype == "U12"
    assert pickle.loads(pickle.dumps(wide)).compute().dtype == "U40"
    assert mt.strings.mod(mt.zeros((0, 2), "U7"), 1).compute().dtype == "U7"


def test_separators_have_the_width_of_the_widest() -> None:
    """Of all, in whatever chunk one is found, or one letter if none is."""
    lazy = mt.tensor(TEXTS, chunk_size=1)
    for others in (OTHERS, np.array(["none", "of", "these", "is", "in", "it"])):
        for name in ("partition", "rpartition"):
            with grids(merged=False):
                results = getattr(mt.strings, name)(lazy, mt.tensor(others, chunk_size=1))
                assert_texts(results, getattr(np.strings, name)(TEXTS, others))
            assert_texts(
                getattr(mt.strings, name)(TEXTS, list(others)),
                getattr(np.strings, name)(TEXTS, list(others)),
            )


def test_other_values_are_taken() -> None:
    """Scalars, lists and arrays."""
    for values in ("aX", ["aX", "b"], TEXTS):
        assert_texts(mt.strings.find(values, "X"), np.strings.find(values, "X"))
        assert_texts(mt.strings.upper(values), np.strings.upper(values))
        assert_texts(mt.strings.ljust(values, 4, "-"), np.strings.ljust(values, 4, "-"))
    short = np.array(["ab", "ba"])  # in lists, NumPy cuts what is looked for to its width
    expected = np.strings.replace(short, ["abc", "x"], ["long", "y"])
    assert_texts(mt.strings.replace(mt.tensor(short), ["abc", "x"], ["long", "y"]), expected)
    assert_texts(mt.strings.count("aXbXa", mt.tensor(OTHERS)), np.strings.count("aXbXa", OTHERS))


ERRORS: dict[str, tuple[Call, type[Exception]]] = {
    "no integers": (lambda s, a: s.multiply(a, 1.5), TypeError),
    "two letters": (lambda s, a: s.center(a, 5, "ab"), TypeError),
    "a text for a width": (lambda s, a: s.zfill(a, "5"), TypeError),
    "no texts": (lambda s, a: s.upper([1, 2]), TypeError),
    "nothing to find": (lambda s, a: s.find(a), TypeError),
    "a number to find": (lambda s, a: s.find(a, 5), TypeError),
    "no step": (lambda s, a: s.slice(a, 0, 1, 0), ValueError),
    "no count": (lambda s, a: s.replace(a, "a", "b", 1.5), TypeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_raised_at_the_call(case: str) -> None:
    """Where types and numbers tell."""
    call, error = ERRORS[case]
    with pytest.raises(error):
        call(np.strings, TEXTS)
    with pytest.raises(error):
        call(mt.strings, mt.tensor(TEXTS, chunk_size=2))


def test_masked_texts_are_refused_by_name() -> None:
    """NumPy forgets the mask."""
    with pytest.raises(NotImplementedError, match="masked tensors are not supported"):
        mt.strings.upper(mt.ma.masked_array(TEXTS, [True] + [False] * 5))


def test_equal_calls_are_one_node() -> None:
    """NumPy's ufuncs of texts have names of their own."""
    lazy = mt.tensor(TEXTS, chunk_size=2)
    for name in ("isalpha", "str_len", "upper", "multiply"):
        args = (2,) if name == "multiply" else ()
        first, second = (getattr(mt.strings, name)(lazy, *args) for _ in range(2))
        assert first.node is second.node
