"""What pyright sees of the package: how many public names have a type, how many say ``Any``."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import marsdask
import marsdask.dataframe
import marsdask.session
import marsdask.tensor
from marsdask.core.collection import Collection
from tests.source import ROOT

pytest.importorskip("basedpyright", reason="pyright is of the extra `dev`")

#: The share of names, over all modules, whose type pyright need not guess. It only rises.
SCORE = 0.91

#: Public functions, methods and properties that return ``Any``. A number may only fall.
CEILINGS = {"marsdask": 20, "tensor": 24, "dataframe": 15, "learn": 2}

FAMILIES = ("char", "fft", "lib", "linalg", "ma", "random", "special", "stats", "strings")
ESTIMATORS = ("cluster", "decomposition", "preprocessing")

#: What these return is what ``set_output`` says.
TRANSFORMS = {"transform", "fit_transform", "inverse_transform"}

#: Classes that users get from functions, besides those that are public by name.
RESULTS = {
    "dataframe": {
        "marsdask.dataframe.keyed.groupby.GroupBy": "[DataFrame, Series]",
        "marsdask.dataframe.windows.rolling.Rolling": "[DataFrame]",
    }
}

#: Special methods that people write as operators; others are called by Python and libraries.
_UNARY = "abs eq ge getitem gt invert iter le lt ne neg pos"
_BINARY = "add and divmod floordiv lshift matmul mod mul or pow rshift sub truediv xor"
OPERATORS = {
    *(f"__{name}__" for name in _UNARY.split()),
    *(f"__{side}{name}__" for name in _BINARY.split() for side in ("", "r")),
}


def pyright(folder: Path, *args: str) -> Any:
    """Run pyright in a folder, and return what it says."""
    # An editable installation is an import hook, which pyright does not run: it is given the path.
    # With --verifytypes it asks the first Python of PATH where packages are, whatever it was told.
    scripts = str(Path(sys.executable).parent)
    paths = {"PATH": os.pathsep.join((scripts, os.environ["PATH"])), "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [
            sys.executable,
            "-m",
            "basedpyright",
            "--pythonpath",
            sys.executable,
            "--outputjson",
            *args,
        ],
        cwd=folder,
        env={**os.environ, **paths},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert found.stdout, found.stderr
    return json.loads(found.stdout)


def test_most_names_have_a_type() -> None:
    """Type checkers agree on the types of public names, and the share of these rises."""
    found = pyright(ROOT, "--verifytypes", "marsdask", "--ignoreexternal")["typeCompleteness"]
    assert Path(found["pyTypedPath"]).parent == ROOT / "marsdask"
    guessed = [one["name"] for one in found["symbols"] if not one["isTypeKnown"]]
    assert found["completenessScore"] >= SCORE, guessed


def modules(chapter: str) -> list[Any]:
    """Return the modules of a chapter."""
    if chapter == "marsdask":
        return [marsdask, marsdask.session]
    names = {"tensor": ("", *FAMILIES), "dataframe": ("",), "learn": ESTIMATORS}[chapter]
    return [importlib.import_module(f"marsdask.{chapter}.{name}".rstrip(".")) for name in names]


def expressions(chapter: str) -> Iterator[tuple[str, bool]]:
    """Yield public functions, methods and properties, and whether their value is of a call."""
    seen = set()  # of classes, some of which have several names
    for module in modules(chapter):
        for name in module.__all__:
            item, path = getattr(module, name), f"{module.__name__}.{name}"
            if inspect.isclass(item):
                if item.__module__.startswith("marsdask") and item not in seen:
                    seen.add(item)
                    yield from members(item, path)
            elif callable(item):
                yield path, True
    for path, parameters in RESULTS.get(chapter, {}).items():
        place, _, name = path.rpartition(".")
        yield from members(getattr(importlib.import_module(place), name), path + parameters)


def members(kind: type, path: str) -> Iterator[tuple[str, bool]]:
    """Yield the public methods, operators and properties of a class, as those of an object."""
    if issubclass(kind, BaseException):
        return
    for name in dir(kind):
        item = inspect.getattr_static(kind, name)
        owner = next(one for one in kind.__mro__ if name in vars(one))
        # What is inherited is counted once, where Python says what it means not at all.
        if not owner.__module__.startswith("marsdask") or (owner is Collection is not kind):
            continue
        # Our base wraps methods that are inherited from scikit-learn; their types are its own.
        if str(getattr(item, "__module__", "")).startswith("sklearn."):
            continue
        if name in TRANSFORMS or (name.startswith("_") and name not in OPERATORS):
            continue
        if isinstance(item, property):
            yield f"an({path}).{name}", False
        elif callable(item) or isinstance(item, classmethod | staticmethod):
            yield f"an({path}).{name}", True


@pytest.fixture(scope="module")
def revealed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Return the types of what the functions of each chapter return."""
    public = {chapter: list(expressions(chapter)) for chapter in CEILINGS}
    shown = [
        f"result({path})" if called else path for each in public.values() for path, called in each
    ]
    told = types_of(shown, tmp_path_factory.mktemp("types"))
    return {chapter: {path: next(told) for path, _ in public[chapter]} for chapter in CEILINGS}


def types_of(shown: list[str], folder: Path) -> Iterator[str]:
    """Yield the types of expressions, in their order."""
    places = {module.__name__ for chapter in CEILINGS for module in modules(chapter)}
    places |= {path.rpartition(".")[0] for paths in RESULTS.values() for path in paths}
    start = [
        *(f"import {name}" for name in sorted(places)),
        "from marsdask.dataframe import DataFrame, Series",
        "from collections.abc import Callable",
        "def an[T](kind: type[T]) -> T: ...",
        "def result[T](func: Callable[..., T]) -> T: ...",
    ]
    lines = [*start, *(f"reveal_type({one})" for one in shown)]
    (folder / "snippet.py").write_text("\n".join(lines), encoding="utf-8")
    config = {"pythonVersion": "3.13", "typeCheckingMode": "basic"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    told = {
        one["range"]["start"]["line"] - len(start): one["message"]
        for one in pyright(folder)["generalDiagnostics"]
        if one["severity"] == "information"
    }
    assert sorted(told) == list(range(len(shown)))
    return (told[line].rpartition(" is ")[2].strip('"') for line in sorted(told))


@pytest.mark.parametrize("chapter", CEILINGS)
def test_few_results_are_any(chapter: str, revealed: dict[str, dict[str, str]]) -> None:
    """At most as many public functions, methods and properties return ``Any`` as ever before."""
    found = revealed[chapter]
    untyped = [path for path, kind in found.items() if kind == "Any" or "Unknown" in kind]
    assert len(untyped) <= CEILINGS[chapter], untyped
