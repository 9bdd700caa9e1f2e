"""What type checkers see of public functions of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import assert_type

import pytest

import marsdask.tensor as mt
from marsdask.tensor import Tensor
from tests.source import ROOT

api = pytest.importorskip("mypy.api", reason="mypy is of the extra `dev`")

#: Families of functions besides those of the package itself; those of special are found by name.
FAMILIES = ("fft", "linalg", "lib", "ma", "random", "stats")

#: The share of public functions whose result has a type. It only rises.
FLOOR = 0.83


def test_results_are_tensors() -> None:
    """Functions of tables, of other functions, and methods of results have types."""
    x = mt.ones((4, 4), chunk_size=2)
    assert_type(x, Tensor)
    assert_type(mt.sum(x, axis=0), Tensor)
    assert_type(mt.add(x, 1), Tensor)
    assert_type(mt.add.reduce(x), Tensor)
    assert_type(mt.modf(x), tuple[Tensor, ...])
    assert_type(mt.cov(x), Tensor)
    assert_type(mt.reshape(x, (2, 8)), Tensor)
    assert_type(mt.linalg.inv(x), Tensor)
    assert_type(mt.fft.fft(x), Tensor)
    assert_type(mt.nonzero(x), tuple[Tensor, ...])
    assert_type(x.ndim, int)
    assert_type(x.sum(axis=0), Tensor)
    assert_type(2 * x + 1, Tensor)
    assert_type(x == 1, Tensor)
    assert_type(x.T, Tensor)
    assert_type(x[0], Tensor)
    assert_type(x.astype("f4"), Tensor)
    assert_type(mt.special.erf(x), Tensor)


def names() -> Iterator[str]:
    """Yield the public functions."""
    places: list[tuple[str, ModuleType]] = [("mt", mt)]
    places += [(f"mt.{name}", getattr(mt, name)) for name in FAMILIES]
    for path, module in places:
        for name in getattr(module, "__all__", ()):
            if callable(found := getattr(module, name)) and not isinstance(found, type):
                yield f"{path}.{name}"


def test_most_results_have_a_type(tmp_path: Path) -> None:
    """The share of functions that return ``Any`` falls."""
    public = list(names())
    snippet = tmp_path / "snippet.py"
    reveal = [f"reveal_type({name})" for name in public]
    snippet.write_text("\n".join(["import marsdask.tensor as mt", *reveal]), encoding="utf-8")
    config = str(ROOT / "pyproject.toml")
    text, _, _ = api.run(["--config-file", config, "--no-pretty", str(snippet)])
    seen = [line for line in text.splitlines() if "Revealed type" in line]
    assert len(seen) == len(public)
    typed = [line for line in seen if not line.endswith(('-> Any"', ', Any]"', 'is "Any"'))]
    assert len(typed) / len(seen) >= FLOOR
