"""Runs a small program on the reference and on ours in every mode, and compares.

A program is text; its last line is an expression. ``md`` and ``mt`` in it are pandas and NumPy or
ours, ``preprocessing`` and ``linear_model`` scikit-learn's or ours, and ``pd`` and ``np`` always
pandas and NumPy. ``lazy(value)`` is a frame, a series or an array, with us in chunks, and
``here("name")`` a path of an empty folder.
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn.base
import sklearn.linear_model
import sklearn.preprocessing

import marsdask.dataframe as md
import marsdask.learn.linear_model
import marsdask.learn.preprocessing
import marsdask.learn.wrappers
import marsdask.tensor as mt
from marsdask.core.config import option_context
from tests.fuzzing.programs import check_equal


@dataclass(frozen=True)
class Mode:
    """How a program runs: rows of a chunk (None: all), other options, what happened before."""

    rows: int | None = 2
    options: dict[str, Any] = field(default_factory=dict)
    executed: bool = False

    @contextmanager
    def set(self) -> Iterator[None]:
        """Set the options; users do not verify plans."""
        with option_context({"verify": False, **self.options}):
            yield

    def lazy(self, value: Any) -> Any:
        """Return a value as ours."""
        if isinstance(value, pd.DataFrame):
            ours: Any = md.DataFrame(value, chunk_size=self.rows)
        elif isinstance(value, pd.Series):
            ours = md.Series(value, chunk_size=self.rows)
        else:
            ours = mt.tensor(value, chunk_size=self.rows)
        return ours.execute() if self.executed else ours


def _chunks(rows: int, kernels: str = "auto", *, executed: bool = False) -> Mode:
    return Mode(rows, {"coalesce": False, "dataframe.kernels": kernels}, executed)


MODES = {
    "default": Mode(),
    "one chunk": Mode(None),
    "chunks of 1": _chunks(1),
    "chunks of 2": _chunks(2),
    "chunks of 3": _chunks(3),
    "pandas": _chunks(2, "pandas"),
    "polars": _chunks(2, "polars"),
    "executed": Mode(executed=True),
    "executed in chunks": _chunks(2, executed=True),
}


@dataclass
class Raised:
    """What a program raised."""

    error: Exception


def _post_fit(estimator: Any, **options: Any) -> Any:
    """Return what scikit-learn has in place of a wrapper: the estimator."""
    return estimator


def _vocabulary(folder: Path) -> dict[str, Any]:
    folder.mkdir()
    modules = {"np": np, "pd": pd, "datetime": dt, "functools": functools}
    return {**modules, "here": lambda name: str(folder / name)}


def reference(text: str, folder: Path) -> Any:
    """Return what a program gives with pandas, NumPy and scikit-learn."""
    names = {
        "md": pd,
        "mt": np,
        "lazy": lambda value: value.copy(),
        "read_csv": pd.read_csv,
        "preprocessing": sklearn.preprocessing,
        "linear_model": sklearn.linear_model,
        "ParallelPostFit": _post_fit,
        "Incremental": _post_fit,
    }
    return outcome(text, _vocabulary(folder) | names)


def ours(text: str, folder: Path, mode: Mode) -> Any:
    """Return what a program gives with ours, computed."""
    size = 4 * (mode.rows or 2**20) + 3
    names = {
        "md": md,
        "mt": mt,
        "lazy": mode.lazy,
        "read_csv": functools.partial(md.read_csv, chunk_bytes=size),
        "preprocessing": marsdask.learn.preprocessing,
        "linear_model": marsdask.learn.linear_model,
        "ParallelPostFit": marsdask.learn.wrappers.ParallelPostFit,
        "Incremental": marsdask.learn.wrappers.Incremental,
    }
    with mode.set():
        return outcome(text, _vocabulary(folder) | names)


def outcome(text: str, names: dict[str, Any]) -> Any:
    """Run a program; return the value of its last line, or its failure."""
    body = ast.parse(text.strip()).body
    last = body.pop()
    assert isinstance(last, ast.Expr), text
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(compile(ast.Module(body, []), "<program>", "exec"), names)  # noqa: S102
            code = compile(ast.Expression(last.value), "<program>", "eval")
            return computed(eval(code, names))  # noqa: S307
        except Exception as error:  # noqa: BLE001 - ours must be of its type
            return Raised(error)


def computed(value: Any) -> Any:
    """Return a value of ours as the reference has it."""
    if isinstance(value, list | tuple) and type(value) in {list, tuple}:
        return type(value)(computed(item) for item in value)
    return value.compute() if callable(getattr(value, "compute", None)) else value


def check(result: Any, wanted: Any) -> None:
    """Raise AssertionError if something differs: values, types, labels, names, order or error."""
    if isinstance(result, Raised) and not isinstance(wanted, Raised):
        raise AssertionError(f"raised {result.error!r}") from result.error
    if isinstance(wanted, Raised):
        message = f"{result!r}, not {wanted.error!r}"
        assert isinstance(result, Raised), message
        assert isinstance(result.error, type(wanted.error)), message
    elif isinstance(wanted, list | tuple) and type(wanted) in {list, tuple}:
        assert type(result) is type(wanted), f"{result!r}, not {wanted!r}"
        assert len(result) == len(wanted), f"{result!r}, not {wanted!r}"
        for item, other in zip(result, wanted, strict=True):
            check(item, other)
    elif isinstance(wanted, pd.api.extensions.ExtensionArray):
        pd.testing.assert_extension_array_equal(result, wanted)
    elif isinstance(wanted, float) and np.isfinite(wanted):
        assert np.isclose(result, wanted), f"{result!r}, not {wanted!r}"
    else:
        if isinstance(wanted, np.ndarray):
            assert isinstance(result, np.ndarray), f"{result!r}, not {wanted!r}"
        check_equal(result, wanted)


def differences(text: str, want: str | None, folder: Path, modes: dict[str, Mode]) -> str:
    """Return in which modes a program gives something else than the reference, and what."""
    wanted = reference(text if want is None else want, folder / "reference")
    lines = []
    for name, mode in modes.items():
        try:
            check(ours(text, folder / name.replace(" ", "_"), mode), wanted)
        except AssertionError as error:
            lines.append(f"{name}: {error}")
    return "\n".join(lines)


def refusals(text: str, words: str, folder: Path, modes: dict[str, Mode]) -> str:
    """Return in which modes a program raises no error with certain words."""
    lines = []
    for name, mode in modes.items():
        result = ours(text, folder / name.replace(" ", "_"), mode)
        if not (isinstance(result, Raised) and words in str(result.error)):
            lines.append(f"{name}: {result!r}")
    return "\n".join(lines)
