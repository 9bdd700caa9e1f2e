"""What pandas's own tests see instead of pandas's names: frames are those of the plugin before.

``our_frames`` has those of ours. Without it they are pandas's, by the same way: a test that fails
so says nothing of ours.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pandas._testing as tm
import pytest

FRAMES: Any = sys.modules.get("our_frames")

#: Functions of pandas that take frames, or return them.
FUNCTIONS = (
    *("concat", "crosstab", "cut", "eval", "factorize", "from_dummies", "get_dummies", "isna"),
    *("isnull", "json_normalize", "lreshape", "melt", "merge", "merge_asof", "merge_ordered"),
    *("notna", "notnull", "pivot", "pivot_table", "qcut", "read_csv", "read_fwf", "read_parquet"),
    *("read_table", "to_datetime", "to_numeric", "to_timedelta", "unique", "wide_to_long"),
)

#: Of these, the ones that are pandas's where no frame is given: their results are no frames.
OF_ARRAYS = {"factorize", "isna", "isnull", "notna", "notnull", "unique"}

#: What the assertions of pandas are told when only the values count.
VALUES_ONLY = dict.fromkeys(
    (
        *("check_dtype", "check_index_type", "check_column_type", "check_names", "exact"),
        *("check_categorical", "check_exact", "check_freq", "check_category_order"),
    ),
    False,
)


class NoErrorError(AssertionError):
    """Pandas raises here; what was called returned."""


class OtherErrorError(AssertionError):
    """Pandas raises another class of error here."""


class OtherKindError(AssertionError):
    """The values are pandas's; a type, a name or categories are not."""


class RefusedFrame:
    """A frame that could not be handed over: comparing reads pandas's, any other use is refused."""

    def __init__(self, value: Any, error: Exception) -> None:
        vars(self).update(value=value, error=error)

    def __getattr__(self, name: str) -> Any:
        raise self.error


def _refuse(refused: RefusedFrame, *args: Any, **kwargs: Any) -> Any:
    raise refused.error


for _operator in (
    *("add", "and", "array", "bool", "contains", "delitem", "eq", "floordiv", "ge", "getitem"),
    *("gt", "invert", "iter", "le", "len", "lt", "mod", "mul", "ne", "neg", "or", "pow", "radd"),
    *("rmul", "rsub", "setattr", "setitem", "sub", "truediv"),
):
    setattr(RefusedFrame, f"__{_operator}__", _refuse)


def in_a_task() -> bool:
    """Tell whether ours calls a function of the test now, whose frames are pandas's."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("marsdask."):
            return True
        frame = frame.f_back
    return False


def is_ours(value: Any) -> bool:
    """Tell whether a value is lazy."""
    kind = type(value)
    return kind.__module__.startswith("marsdask.") and callable(getattr(kind, "compute", None))


def hand_over(value: Any) -> Any:
    """Return ours for pandas's frames, within containers too, and stand-ins for its names."""
    kind = type(value)
    if kind in (pd.DataFrame, pd.Series):
        if FRAMES is None:
            return value
        try:
            return FRAMES.of_pandas(value)
        except Exception as error:  # noqa: BLE001 - raised by whatever uses the frame
            return RefusedFrame(value, error)
    if kind in (list, tuple):
        return kind(map(hand_over, value))
    if kind is dict:
        return {key: hand_over(item) for key, item in value.items()}
    if callable(value):
        with contextlib.suppress(TypeError):
            return STAND_INS.get(value, value)
    return value


def fetch(value: Any) -> Any:
    """Return pandas's values for ours, in lists, tuples and dicts too."""
    kind = type(value)
    if kind is RefusedFrame:
        return value.value
    if kind is Class:
        return value.kind
    if inspect.isclass(value) and value.__module__.startswith("marsdask."):
        return getattr(pd, value.__name__, value)
    if kind is list or kind is tuple or kind.__name__ == "ExecutableTuple":
        return (list if kind is list else tuple)(map(fetch, value))
    if kind is dict:
        return {fetch(key): fetch(item) for key, item in value.items()}
    return value.compute() if is_ours(value) else value


def fetch_constant(value: Any) -> Any:
    """Return a value as `is` compares it: Python's bools and NumPy's one nan."""
    value = fetch(value)
    if isinstance(value, np.bool_):
        return bool(value)
    return np.nan if isinstance(value, float) and np.isnan(value) else value


class Class:
    """DataFrame or Series: makes pandas's and hands it over; methods are their argument's."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.__name__ = kind.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if in_a_task():
            return self.kind(*args, **kwargs)
        return hand_over(self.kind(*fetch(args), **fetch(kwargs)))

    def __instancecheck__(self, value: Any) -> bool:
        if isinstance(value, RefusedFrame):
            value = value.value
        ours = () if FRAMES is None else (getattr(FRAMES.namespace, self.__name__),)
        return isinstance(value, (self.kind, *ours))

    def __subclasscheck__(self, kind: Any) -> bool:
        return kind is self or (inspect.isclass(kind) and issubclass(kind, self.kind))

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.kind, name)
        if inspect.ismethod(attribute):
            return lambda *args, **kwargs: hand_over(attribute(*fetch(args), **fetch(kwargs)))
        return partial(_method, name) if inspect.isfunction(attribute) else attribute


def _method(name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


def _function(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of ours, or pandas's where no frame is concerned."""
    of_frame = bool(args) and (is_ours(args[0]) or isinstance(args[0], RefusedFrame))
    if FRAMES is None or in_a_task() or (name in OF_ARRAYS and not of_frame):
        return getattr(pd, name)(*args, **kwargs)
    return getattr(FRAMES.namespace, name)(*args, **kwargs)


def _reader(name: str, source: Any, *args: Any, **kwargs: Any) -> Any:
    """Read a file; text in memory is one first."""
    if isinstance(source, StringIO | BytesIO) and not in_a_task():
        text = source.read()
        with tempfile.NamedTemporaryFile("wb", dir=Path.cwd(), suffix=".csv", delete=False) as file:
            file.write(text.encode() if isinstance(text, str) else text)
        source = file.name
    return _function(name, source, *args, **kwargs)


class Module(ModuleType):
    """Pandas, or its testing module, as its tests see it."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self.__dict__["module"] = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["module"], name)
        if self.__dict__["module"] is tm and inspect.isfunction(value):
            return _assertion(name, value)
        return hand_over(value) if callable(value) else value


def _assertion(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of pandas's testing module that computes what is lazy."""
    if "warning" in name or "chained_assignment" in name:
        return _anything
    if name.startswith("assert_") and name.endswith("equal"):
        return partial(_assert_equal, function)
    return lambda *args, **kwargs: hand_over(function(*fetch(args), **fetch(kwargs)))


@contextlib.contextmanager
def _anything(*args: Any, **kwargs: Any) -> Iterator[list[Any]]:
    """Take the place of assertions about warnings."""
    yield []


def _assert_equal(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Compare; tell other values from other types and names."""
    args, kwargs = fetch(args), fetch(kwargs)
    accepted = inspect.signature(function).parameters
    if "check_freq" in accepted:
        kwargs.setdefault("check_freq", False)
    try:
        function(*args, **kwargs)
    except AssertionError as error:
        loose = {name: value for name, value in VALUES_ONLY.items() if name in accepted}
        try:
            function(*map(_as_objects, args), **{**kwargs, **loose})
        except Exception:  # noqa: BLE001 - the first error tells more
            raise error from None
        raise OtherKindError(str(error)) from None


def _as_objects(value: Any) -> Any:
    labelled = isinstance(value, pd.DataFrame | pd.Series | pd.Index)
    return value.astype(object) if labelled and not isinstance(value, pd.MultiIndex) else value


@contextlib.contextmanager
def _raising(expected: Any) -> Iterator[pytest.ExceptionInfo[BaseException]]:
    info = pytest.ExceptionInfo[BaseException].for_later()
    try:
        yield info
    except expected:
        raised = pytest.ExceptionInfo[BaseException].from_current()
        info.fill_unfilled(raised._excinfo)  # type: ignore[arg-type]
    except NotImplementedError:
        raise
    except Exception as error:
        raise OtherErrorError(f"pandas raises {expected}; this is {error!r}") from error
    else:
        raise NoErrorError(f"DID NOT RAISE {expected}")


def raises(expected: Any, *args: Any, match: Any = None, **kwargs: Any) -> Any:
    """Take the place of pytest.raises, whatever the message says."""
    if not args:
        return _raising(expected)
    with _raising(expected) as info:
        fetch(args[0](*args[1:], **kwargs))
    return info


#: What stands in for what, in the modules of the tests.
STAND_INS: dict[Any, Any] = {kind: Class(kind) for kind in (pd.DataFrame, pd.Series)}
STAND_INS |= {
    getattr(pd, name): partial(_reader if name.startswith("read_") else _function, name)
    for name in FUNCTIONS
}
for _kind in (pd.Series, pd.DataFrame):
    STAND_INS |= {
        function: partial(_method, name)
        for name, function in vars(_kind).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }
MODULES = {module: Module(module) for module in (pd, tm)}
