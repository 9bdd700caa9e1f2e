"""Programs of Mars run unchanged: ``import mars`` means marsdask where somebody asked for it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.compat
import marsdask.compat.session
import marsdask.tensor as mt
from marsdask.compat import alias
from marsdask.compat.missing import INSTEAD
from tests.source import ROOT

#: Modules of Mars's documents, and what they are.
SAME = {
    "mars.dataframe": "marsdask.compat.dataframe",
    "mars.dataframe.core": "marsdask.compat.core",
    "mars.remote": "marsdask.remote",
    "mars.config": "marsdask.compat.config",
    "mars.session": "marsdask.compat.session",
    "mars.tensor": "marsdask.compat.tensor",
    "mars.tensor.linalg": "marsdask.compat.tensor.linalg",
    "mars.tensor.fft": "marsdask.tensor.fft",
    "mars.tensor.spatial.distance": "marsdask.tensor.spatial.distance",
    "mars.learn.cluster": "marsdask.learn.cluster",
    "mars.deploy.oscar.session": "marsdask.compat.session",
    "mars.deploy.kubernetes": "marsdask.deploy.kubernetes",
}


@pytest.fixture
def installed() -> Iterator[None]:
    marsdask.compat.install()
    yield
    marsdask.compat.uninstall()
    assert "mars" not in sys.modules
    assert alias.VARIABLE not in os.environ


@pytest.mark.parametrize("name", SAME)
def test_modules_are_the_same(installed: None, name: str) -> None:
    """A module is ours, under its own name and with its own spec."""
    ours = importlib.import_module(SAME[name])
    assert importlib.import_module(name) is ours
    assert ours.__name__ == SAME[name]
    assert ours.__spec__ is not None
    assert ours.__spec__.name == SAME[name]


def test_modules_run_as_programs(installed: None) -> None:
    """``python -m mars.x`` runs the code of our module, and calls it by its file."""
    spec: Any = importlib.util.find_spec("mars.deploy.kubernetes.probe")
    ours: Any = importlib.util.find_spec("marsdask.deploy.kubernetes.probe")
    assert spec.origin == ours.origin
    assert spec.loader.get_code(spec.name) == ours.loader.get_code(ours.name)


def test_names(installed: None) -> None:
    """``mars`` has marsdask's names and packages; pickles know nothing of it."""
    mars = importlib.import_module("mars")
    assert mars.new_session is marsdask.new_session
    assert mars.tensor.Tensor is mt.Tensor
    assert b"mars.compat" not in pickle.dumps(mars.tensor.ones(3))
    with pytest.raises(AttributeError, match="module 'mars' has no attribute 'oscar': Mars's act"):
        _ = mars.oscar
    with pytest.raises(NotImplementedError, match=r"new_session\(n_worker="):
        mars.new_ray_session()


def test_values_without_axes_are_pythons(installed: None) -> None:
    """As in Mars; points in time and arrays stay NumPy's, and so does all once it is undone."""
    lazy = mt.arange(3, chunk_size=2)
    assert type(lazy.sum().execute().fetch()) is int
    assert type(lazy.mean().compute()) is float
    assert type((lazy.max() > 1).to_numpy()) is bool
    both = marsdask.ExecutableTuple([lazy.min(), lazy])
    assert [type(value) for value in both.execute().fetch()] == [int, np.ndarray]
    assert [type(value) for value in both.compute()] == [int, np.ndarray]
    assert [type(value) for value in marsdask.fetch(*both)] == [int, np.ndarray]
    times = mt.tensor(np.array(["2020-01-01", "2021-01-01"], "M8[s]"))
    assert type(times.max().compute()) is np.datetime64
    with marsdask.option_context({"python_scalars": False}):
        assert type(lazy.sum().compute()) is np.int64
    marsdask.compat.uninstall()
    assert type(lazy.sum().compute()) is np.int64


def test_all_names_are_imported(installed: None) -> None:
    """``from mars.tensor import *`` gives the names of tensors."""
    names: dict[str, Any] = {}
    exec("from mars.tensor import *\nfrom mars.tensor.linalg import *", names)  # noqa: S102
    assert names["ones"] is mt.ones
    assert names["cholesky"] is not mt.linalg.cholesky


def test_functions_are_not_replaced_by_modules_of_their_names(installed: None) -> None:
    """``mars.learn.utils.shuffle`` is a function, and a module that can be imported."""
    module = importlib.import_module("mars.learn.utils.shuffle")
    assert module is sys.modules["marsdask.learn.utils.shuffle"]
    assert importlib.import_module("mars.learn.utils").shuffle is module.shuffle


def documented() -> list[str]:
    """Return the modules of which Mars's names are."""
    found = set()
    for page in sorted((ROOT / "docs/names").glob("mars*.txt")):
        chapter = page.stem.removeprefix("mars").strip("_") or "tensor"
        prefix = "" if chapter == "session" else f"{chapter}."
        for name in page.read_text(encoding="utf-8").split():
            space = f"{prefix}{name}".rpartition(".")[0]
            if space and space == space.lower() and "options" not in space:
                found.add(f"mars.{space}")
    return sorted(found)


def test_each_module_imports_or_says_what_to_use(installed: None) -> None:
    """No documented module fails without a word about what there is instead."""
    assert len(documented()) > 30
    told = {}
    for name in documented():
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            told[name] = str(error)
    assert not [name for name, words in told.items() if "nor has Mars" in words]
    assert "mars.learn.cluster" not in told


def test_texts_know_what_exists(installed: None) -> None:
    """Of a module that is there they say that names are in it, and of no other."""
    for name, words in INSTEAD.items():
        try:
            importlib.import_module(f"mars.{name}")
        except ModuleNotFoundError:
            assert f"mars.{name} " not in f"{words} "
        else:
            where = name.removesuffix(".core")
            assert name == "core" or re.search(rf"\bin mars\.{where}\b", words), name


class Finder:
    """Finds a module of Mars's, as if it were installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec("mars", None, origin="/site/mars") if name == "mars" else None


def test_an_installed_mars_is_not_hidden_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to be asked for, and a program that imported Mars keeps it."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    with pytest.raises(marsdask.compat.MarsInstalled, match=r"/site/mars.*replace=True"):
        marsdask.compat.install()
    assert not marsdask.compat.is_installed()
    marsdask.compat.install(replace=True)
    assert importlib.import_module("mars.tensor").ones is mt.ones
    marsdask.compat.uninstall()
    monkeypatch.setitem(sys.modules, "mars", sys)
    with pytest.raises(marsdask.compat.MarsInstalled, match="imported already"):
        marsdask.compat.install(replace=True)
    monkeypatch.delitem(sys.modules, "mars")


PROGRAM = """
import sys
import mars
import mars.remote as mr
import mars.tensor as mt

def inner():
    import mars.tensor as again
    return float(again.ones(3).sum().execute().fetch())

if __name__ == "__main__":
    with mars.new_session("processes", n_workers=1):
        print(sys.argv[1:], mt.arange(3).sum().execute(), mr.spawn(inner).execute().fetch())
"""


def test_a_program_runs_unchanged(tmp_path: Path) -> None:
    """As a script with arguments; functions in child processes import mars, too."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "marsdask.compat", str(program), "-x", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "['-x', '1'] 3 3.0\n", ran.stderr


def test_preload() -> None:
    """A worker that preloads the module has the alias."""
    alias.dask_setup(None)
    try:
        assert marsdask.compat.is_installed()
    finally:
        marsdask.compat.uninstall()
