"""Methods refuse names that neither pandas nor they know, and change objects in place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from copy import copy
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

FRAME = pd.DataFrame({"a": [3.0, 1.0, 3.0], "b": [1.0, 2.0, 1.0]}, index=[2, 0, 1])
#: An object of each class, and that of pandas.
OBJECTS: dict[str, tuple[Any, Any]] = {
    "DataFrame": (FRAME, md.DataFrame(FRAME)),
    "Series": (FRAME["a"], md.Series(FRAME["a"])),
    "Index": (FRAME.index, md.Index(FRAME.index)),
    "DataFrame.groupby": (FRAME.groupby("a"), md.DataFrame(FRAME).groupby("a")),
    "Series.groupby": (FRAME.a.groupby(FRAME.b), md.DataFrame(FRAME).groupby("b")["a"]),
    "rolling": (FRAME.rolling(2), md.DataFrame(FRAME).rolling(2)),
    "expanding": (FRAME.expanding(), md.DataFrame(FRAME).expanding()),
    "ewm": (FRAME.ewm(com=1), md.DataFrame(FRAME).ewm(com=1)),
}
#: The arguments that methods need.
NEEDED: dict[str, tuple[Any, ...]] = {
    "add_prefix": ("p",),
    "add_suffix": ("s",),
    "agg": ("sum",),
    "aggregate": (["sum"],),
    "asof": (1,),
    "astype": (float,),
    "drop": ([0],),
    "eval": ("a + b",),
    "fillna": (0,),
    "isin": ([1],),
    "mask": ([True, False, True],),
    "where": ([True, False, True],),
    "query": ("a > 1",),
    "rename": ("n",),
    "rename_axis": ("n",),
    "replace": (1, 2),
    "set_index": ("a",),
    "set_names": ("n",),
    "sort_values": ("a",),
    "take": ([0],),
    "transform": ("cumsum",),
}
#: Methods that write or draw.
ELSEWHERE = {"boxplot", "hist", "plot", "info"}


def arguments_of(kind: str, name: str) -> tuple[Any, ...]:
    """Return the arguments that a method needs."""
    if name == "rename" and kind == "DataFrame":
        return (str,)
    if name == "sort_values" and kind != "DataFrame":
        return ()
    if name in {"mask", "where"} and kind == "DataFrame":
        return ([[True, False]] * 3,)
    return NEEDED.get(name, ())


def methods() -> Iterator[tuple[str, str]]:
    """Yield the methods that pandas and we have."""
    for kind, (theirs, ours) in OBJECTS.items():
        for name in dir(type(theirs)):
            if name.startswith(("_", "to_", "from_")) or name in ELSEWHERE:
                continue
            if callable(getattr(type(theirs), name)) and callable(getattr(type(ours), name, None)):
                yield kind, name


def parameters(kind: str, name: str) -> set[str]:
    """Return the names of the parameters of pandas's method."""
    return set(inspect.signature(getattr(type(OBJECTS[kind][0]), name)).parameters)


def takes_any_names(kind: str, name: str) -> bool:
    """Tell whether pandas's method takes others, which a function of the user gets."""
    found = inspect.signature(getattr(type(OBJECTS[kind][0]), name)).parameters.values()
    return any(one.kind is one.VAR_KEYWORD for one in found)


METHODS = list(methods())
#: Those that take only the names that they show.
CLOSED = [(kind, name) for kind, name in METHODS if not takes_any_names(kind, name)]
IN_PLACE = [(kind, name) for kind, name in METHODS if "inplace" in parameters(kind, name)]


def call(kind: str, name: str, **kwargs: Any) -> Any:
    """Call a lazy method with the arguments that it needs."""
    return getattr(OBJECTS[kind][1], name)(*arguments_of(kind, name), **kwargs)


def test_the_table_is_pandass() -> None:
    """All methods that take ``inplace`` are there."""
    assert len(IN_PLACE) >= 36
    assert {"fillna", "reset_index", "drop_duplicates"} <= {name for _, name in IN_PLACE}


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize(("kind", "name"), IN_PLACE)
def test_in_place(kind: str, name: str) -> None:
    """The object is what the method returns elsewhere, and what is no boolean is an error."""
    with pytest.raises(ValueError, match='"inplace" expected type bool, received type str'):
        call(kind, name, inplace="no")
    assert call(kind, name, inplace=False).node is not None
    theirs, ours = (copy(obj) for obj in OBJECTS[kind])
    arguments = arguments_of(kind, name)
    try:
        expected = getattr(theirs, name)(*arguments, inplace=True)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            getattr(ours, name)(*arguments, inplace=True)
        return
    found = getattr(ours, name)(*arguments, inplace=True)
    assert (found is ours, found is None) == (expected is theirs, expected is None)
    equal(ours, theirs)
    equal(OBJECTS[kind][1], OBJECTS[kind][0])


def test_labels_in_place() -> None:
    """The names of labels are those of the rows that have them."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    lazy.index.rename("n", inplace=True)  # type: ignore[call-arg]  # which all methods take
    equal(lazy, FRAME.rename_axis("n"))


@pytest.mark.parametrize(("kind", "name"), CLOSED)
def test_unknown_names(kind: str, name: str) -> None:
    """A name that nobody knows is refused, whatever else is given."""
    with pytest.raises((TypeError, NotImplementedError)):
        call(kind, name, nonsense=1)


#: Methods whose results are not the same each time, or that keep their own copies of arguments.
RANDOM = {"insert", "sample", "update"}
#: Methods that refuse what pandas takes for a flag: a list has none for each level.
REFUSED = {
    *(("DataFrame", "sort_index"), ("Series", "sort_index")),
    *(("Index", "max"), ("Index", "min"), ("Index", "sort_values")),
}
#: The methods with flags, and those.
FLAGS = [
    (kind, name, flag.name)
    for kind, name in METHODS
    for flag in inspect.signature(getattr(type(OBJECTS[kind][0]), name)).parameters.values()
    if isinstance(flag.default, bool) and flag.name != "inplace" and name not in RANDOM
]


def outcome_of(kind: str, name: str, side: int, **kwargs: Any) -> type[Exception] | None:
    """Return the class of the error that a method raises for some arguments, if any."""
    try:
        result = getattr(OBJECTS[kind][side], name)(*arguments_of(kind, name), **kwargs)
        if side and callable(getattr(result, "compute", None)):
            result.compute()
    except Exception as error:  # noqa: BLE001  # whatever it is
        return type(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name", "flag"), FLAGS)
def test_flags_that_are_no_booleans(kind: str, name: str, flag: str) -> None:
    """They are refused where pandas refuses them, and taken for booleans elsewhere."""
    if outcome_of(kind, name, 0) is not None or (kind, name) in REFUSED:
        return
    values: tuple[Any, ...] = ("x", [], 1)
    for value in values:
        ours = outcome_of(kind, name, 1, **{flag: value})
        unsupported = ours is not None and issubclass(ours, NotImplementedError)
        assert unsupported or ours == outcome_of(kind, name, 0, **{flag: value}), value
