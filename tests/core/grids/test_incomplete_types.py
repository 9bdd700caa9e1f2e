"""Texts whose width, and times whose unit, only values tell: each function is right about them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.compilation.rules.simplification import substitute
from marsdask.core.compilation.serialization import SerializedCompilation
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.core.session import Session
from marsdask.learn.preprocessing import LabelEncoder, OneHotEncoder, OrdinalEncoder
from marsdask.learn.wrappers import ParallelPostFit

Call = Callable[[Any, Any], Any]

WORDS = np.array(["b", "longer", "a", "ccc", "b", "", "zz", "dddd"])
MINUTES = np.array([300, 3, 9, 60, 3, 8, 120, 7], "M8[m]")
VALUES = {"texts": WORDS, "bytes": WORDS.astype("S"), "times": MINUTES}


@pytest.fixture(params=["default", "sent"], autouse=True)
def _mode(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile here, or as a scheduler of a cluster does: what was sent, with chunks as given."""
    if request.param == "sent":
        monkeypatch.setattr(Session, "compilation", _received)
    with option_context({"coalesce": request.param == "default"}):
        yield


def _received(session: Session, nodes: Any, *, lasting: bool = False) -> Any:
    plan = replace(session.plan(), lasting=lasting)
    graph = substitute(Graph(nodes), session._results)
    sent = SerializedCompilation(graph, plan, check=True)
    return pickle.loads(cloudpickle.dumps(sent))


def incomplete(kind: str, chunk_size: int = 1) -> Any:
    """Return the values of a kind, cast chunk by chunk to a type without width or unit."""
    values = VALUES[kind]
    if kind != "times":
        return mt.tensor(values.astype(object), chunk_size=chunk_size).astype(values.dtype.kind)
    whole = values.astype("M8[h]")
    told = [str(h) if h == m else str(m) for h, m in zip(whole, values, strict=True)]
    return mt.tensor(np.array(told), chunk_size=chunk_size).astype("M8")


@pytest.fixture(params=VALUES)
def kind(request: Any) -> str:
    """Return the name of some values."""
    name: str = request.param
    return name


def assert_alike(found: Any, expected: Any) -> None:
    """Check values, types and shapes of one result or several."""
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for own, other in zip(found, expected, strict=True):
            assert_alike(own, other)
        return
    value = np.asarray(found.compute() if hasattr(found, "compute") else found)
    other = np.asarray(expected)
    assert value.dtype == other.dtype
    np.testing.assert_array_equal(value, other)


CALLS: dict[str, Call] = {
    "of one": lambda f, x: f(x),
    "of two": lambda f, x: f(x, x[::-1]),
    "of a list": lambda f, x: f([x, x]),
    "with a number": lambda f, x: f(x, 1),
    "along rows": lambda f, x: f(x.reshape(4, 2), axis=1),
    "along columns": lambda f, x: f(x.reshape(4, 2), axis=0),
    "of a matrix": lambda f, x: f(x.reshape(4, 2)),
    "of a mask and two": lambda f, x: f(x == x[:1], x, x[::-1]),
    "at positions": lambda f, x: f(x, [1], x[1:2]),
}
#: Those that write, draw or leave values open, that are undefined for texts, or that NumPy too
#: leaves without an order.
OTHER = {
    *("copyto", "empty", "empty_like", "fromiter", "frombuffer", "mintypecode", "put", "putmask"),
    *("place", "put_along_axis", "save", "savetxt", "savez", "savez_compressed", "searchsorted"),
    *(
        "unique_values",
        "vander",
        "isnat",
        "isnan",
        "isinf",
        "isfinite",
        "can_cast",
        "fill_diagonal",
    ),
    *("compress", "extract", "trim_zeros", "intersect1d", "setxor1d", "histogram"),
    *("histogram_bin_edges", "from_dlpack", "genfromtxt"),
    "is_busday",  # NumPy takes minutes in a list for days, and in an array for an error
}
FUNCTIONS = sorted(
    name
    for name in dir(mt)
    if name not in OTHER
    and not name.startswith(("_", "set_", "get_", "array_str", "array_repr", "array2"))
    and callable(getattr(np, name, None))
    and not isinstance(getattr(np, name), type)
)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_equals_numpys(name: str, kind: str) -> None:
    """Whatever NumPy can do with the values, or it is refused by name."""
    for call in CALLS.values():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                expected = call(getattr(np, name), VALUES[kind].copy())
            except Exception:  # noqa: BLE001, S112 - it takes other arguments
                continue
            if not isinstance(expected, np.ndarray | np.generic | tuple | list | bool):
                continue
            try:
                found = call(getattr(mt, name), incomplete(kind))
            except NotImplementedError:
                continue
            assert_alike(found, expected)


def _set_flat(x: Any) -> None:
    x.flat[2] = x[1]


def _set_view(x: Any) -> None:
    part = x[:3]
    part[0] = x[1]


def _set_item(key: Any, value: Any = 1) -> Callable[[Any], None]:
    def assign(x: Any) -> None:
        x[key] = x[value]

    return assign


IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "an element": _set_item(0),
    "a slice": _set_item(slice(0, 3)),
    "points": _set_item([0, 2], [1, 7]),
    "a mask": lambda x: x.__setitem__(x == x[0], x[1]),
    "a view": _set_view,
    "flat": _set_flat,
    "sort": lambda x: x.sort(),
    "partition": lambda x: x.partition(3),
    "put": lambda x: x.put([0, 2], x[[1, 7]]),
}


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", IN_PLACE)
def test_changes_in_place_are_not_cut(name: str, kind: str) -> None:
    """What is written fits, and other values keep their width and their unit."""
    expected, found = VALUES[kind].copy(), incomplete(kind)
    IN_PLACE[name](expected)
    IN_PLACE[name](found)
    assert_alike(found, expected)


WIDE: dict[str, Call] = {
    "fill": lambda p, x: x.fill("WIDER"),
    "copyto": lambda p, x: p.copyto(x, np.full(8, "WIDER")),
    "putmask": lambda p, x: p.putmask(x, np.arange(8) % 2 == 0, ["WIDER", "Y"]),
    "place": lambda p, x: p.place(x, np.arange(8) % 2 == 0, ["WIDER", "Y"]),
    "put": lambda p, x: p.put(x, [0, 3], ["WIDER", "Y"]),
    "put_along_axis": lambda p, x: p.put_along_axis(
        x, np.array([0, 3]), np.array(["WIDER", "Y"]), 0
    ),
    "slice": lambda p, x: x.__setitem__(slice(None), "WIDER"),
    "+=": lambda p, x: x.__iadd__("WIDER"),
    "out=": lambda p, x: p.add(x, "WIDER", out=x),
    "where=": lambda p, x: p.add(x, "WIDER", out=x, where=np.arange(8) % 2 == 0),
}


@pytest.mark.parametrize("name", WIDE)
def test_new_texts_have_the_width_of_the_widest(name: str) -> None:
    """They are cut where NumPy cuts them, and nowhere else."""
    expected, found = WORDS.copy(), incomplete("texts")
    WIDE[name](np, expected)
    WIDE[name](mt, found)
    assert_alike(found, expected)


def test_an_empty_tensor_like_it_takes_all_values(kind: str) -> None:
    """Of the same width."""
    found = mt.empty_like(incomplete(kind))
    found[:] = incomplete(kind)
    assert_alike(found, VALUES[kind])


def _saved(x: Any, folder: Path) -> Any:
    mt.save(folder / "x.npy", x)
    return np.load(folder / "x.npy")


def _archived(x: Any, folder: Path) -> Any:
    mt.savez(folder / "x.npz", x=x)
    return np.load(folder / "x.npz")["x"]


def _in_zarr(x: Any, folder: Path) -> Any:
    mt.to_zarr(x, str(folder / "x.zarr"))
    return mt.from_zarr(str(folder / "x.zarr"))


def _stacked(x: Any, folder: Path) -> Any:
    mt.to_npy_stack(str(folder / "x"), x)
    return mt.from_npy_stack(str(folder / "x"))


def _as_text(x: Any, folder: Path) -> Any:
    mt.savetxt(folder / "x.txt", x.astype(str), fmt="%s")
    return np.array((folder / "x.txt").read_text().split("\n")[:-1]).astype(x.compute().dtype)


def _later(x: Any, folder: Path) -> Any:
    written: Any = mt.save(folder / "x.npy", x, compute=False)
    written.execute()
    return np.load(folder / "x.npy")


@pytest.mark.parametrize("write", [_saved, _archived, _in_zarr, _stacked, _as_text, _later])
@pytest.mark.filterwarnings("ignore:The data type")
@pytest.mark.filterwarnings("ignore:The codec")
def test_every_writer_writes_whole_values(
    write: Callable[[Any, Path], Any], kind: str, tmp_path: Path
) -> None:
    """Files have the width and the unit of all."""
    if write is _as_text and kind == "bytes":
        return  # NumPy writes b'...'
    assert_alike(write(incomplete(kind), tmp_path), VALUES[kind])


def test_hdf5_has_the_width_of_all(tmp_path: Path) -> None:
    """Of bytes."""
    mt.to_hdf5(tmp_path / "x.h5", incomplete("bytes"), dataset="x")
    assert_alike(mt.from_hdf5(tmp_path / "x.h5", dataset="x"), VALUES["bytes"])


def test_what_is_not_known_is_told(kind: str) -> None:
    """The type has no width or unit; executed, it has."""
    x = incomplete(kind)
    assert x.dtype == np.dtype(VALUES[kind].dtype.kind)
    assert np.isnan(x.nbytes) == (kind != "times")
    assert f"dtype={x.dtype}" in repr(x[1:])
    assert mt.result_type(x) == VALUES[kind].dtype
    assert x.execute().dtype == VALUES[kind].dtype
    assert x.nbytes == VALUES[kind].nbytes


USER: dict[str, tuple[Callable[[], Any], Any]] = {
    "vectorize": (
        lambda: mt.vectorize(lambda n: "a" * int(n))(mt.arange(1, 5, chunk_size=1)),
        np.array(["a", "aa", "aaa", "aaaa"]),
    ),
    "vectorize of types": (
        lambda: mt.vectorize(lambda n: "a" * int(n), otypes="U")(mt.arange(1, 5, chunk_size=1)),
        np.array(["a", "aa", "aaa", "aaaa"]),
    ),
    "map_blocks": (
        lambda: mt.arange(1, 5, chunk_size=1).map_blocks(
            lambda block: np.array(["a" * int(n) for n in block])
        ),
        np.array(["a", "aa", "aaa", "aaaa"]),
    ),
    "fromfunction": (
        lambda: mt.fromfunction(lambda i: np.where(i > 1, "long", "a"), (4,), chunk_size=1),
        np.array(["a", "a", "long", "long"]),
    ),
    "apply_gufunc": (
        lambda: mt.apply_gufunc(
            lambda a: np.array(["a" * int(n) for n in a]), "()->()", mt.arange(1, 5, chunk_size=1)
        ),
        np.array(["a", "aa", "aaa", "aaaa"]),
    ),
    "frames": (
        lambda: md.DataFrame({"k": ["a", "bcd"]}, chunk_size=1)["k"].to_tensor().astype(str),
        np.array(["a", "bcd"]),
    ),
    "dask": (
        lambda: mt.from_dask(
            dask.array.from_array(np.array(["a", "bcd"], dtype=object), chunks=1).astype(str)
        ),
        np.array(["a", "bcd"]),
    ),
    "objects of bytes": (
        lambda: mt.tensor(np.array([b"a", b"bcd"], dtype=object), chunk_size=1).astype("S"),
        np.array([b"a", b"bcd"]),
    ),
}


@pytest.mark.parametrize("source", USER)
def test_every_source_of_texts_is_looked_at(source: str, tmp_path: Path) -> None:
    """What is made of them, or written, is whole."""
    make, expected = USER[source]
    n = len(expected)
    assert_alike(make(), expected)
    assert_alike(mt.insert(make(), 0, make()[-1]), np.insert(expected, 0, expected[-1]))
    assert_alike(make()[::-1].rechunk(n), expected[::-1])
    assert_alike(_saved(make(), tmp_path), expected)


CODED = np.array(["aa", "b", "cccc"], dtype=object)


@pytest.mark.parametrize("chunk_size", [1, 3])
def test_encoders_learn_whole_categories(chunk_size: int) -> None:
    """Of one column, and of labels."""
    texts = mt.tensor(CODED, chunk_size=chunk_size).astype(str)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder.fit(texts.reshape(-1, 1))
    assert encoder.categories_[0].tolist() == CODED.tolist()
    assert_alike(encoder.transform(texts.reshape(-1, 1)), np.eye(3))
    places = OrdinalEncoder().fit_transform(texts.reshape(-1, 1))
    assert_alike(places, np.arange(3.0).reshape(-1, 1))
    assert_alike(LabelEncoder().fit_transform(texts), np.arange(3))


def test_predicted_labels_are_whole(tmp_path: Path) -> None:
    """Though a stand-in of one row has told their type."""
    rows = np.arange(3.0).reshape(-1, 1)
    model = KNeighborsClassifier(1).fit(rows, CODED.astype(str))
    labels = ParallelPostFit(model).predict(mt.tensor(rows, chunk_size=1))
    assert_alike(_saved(labels, tmp_path), CODED.astype(str))
    same = ParallelPostFit(DummyClassifier().fit(rows, CODED)).predict(mt.tensor(rows))
    assert same.compute().tolist() == ["aa"] * 3


def test_dasks_own_graphs_refuse_what_has_to_look() -> None:
    """They cannot run chunks first; what needs no look is there."""
    x = incomplete("texts")
    assert dask.compute(x == "b")[0].tolist() == (WORDS == "b").tolist()
    with pytest.raises(NotImplementedError, match=r"execute\(\) first"):
        dask.compute(mt.insert(x, 0, "b"))
