"""Functions of users: what they are called, what they capture, and what of it they change."""

from __future__ import annotations

import builtins
import dis
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

#: The module name of a script; the same name may mean other code in the next script.
MAINS = ("__main__", "__mp_main__")

#: Methods that change the object whose methods they are.
CHANGING = frozenset(
    [
        "append",
        "appendleft",
        "extend",
        "extendleft",
        "insert",
        "add",
        "update",
        "setdefault",
        "pop",
        "popleft",
        "popitem",
        "remove",
        "discard",
        "clear",
        "sort",
        "reverse",
        "write",
        "writelines",
        "put",
        "put_nowait",
        "set",
        "acquire",
        "release",
        "fill",
        "itemset",
        "subtract",
        "send",
        "fit",
        "partial_fit",
        "difference_update",
        "intersection_update",
        "symmetric_difference_update",
        "__setitem__",
        "__delitem__",
        "__setattr__",
    ]
)
#: Methods that prepare an object before anybody has it.
_PREPARING = frozenset(("__init__", "__new__", "__post_init__", "__setstate__"))

_OUTER = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
#: How many values lie above the container on the stack when an item is stored or deleted.
_ITEMS = {"STORE_SUBSCR": 1, "DELETE_SUBSCR": 1, "STORE_SLICE": 2}
#: Stands for an object that only running the code tells.
_ANY = "?"


def function_name(func: Any) -> str:
    """Return the name of any callable for messages and labels; it never raises.

    Partial functions have the name of their function, callable objects that of their class.
    """
    try:
        while isinstance(func, partial):
            func = func.func
        name = getattr(func, "__name__", None)
    except Exception:  # noqa: BLE001 - attributes of users' objects may raise any exception
        name = None
    return name if isinstance(name, str) else type(func).__name__


def function_label(func: Any) -> str:
    """Return the name of any callable as the label of an operation."""
    return function_name(func).strip("<>")


def shown_text(value: Any, limit: int = 200) -> str:
    """Return the text of any object for messages, cut to a length; it never raises."""
    try:
        return repr(value)[:limit]
    except Exception:  # noqa: BLE001 - users' objects may raise any exception
        return f"<{type(value).__name__}>"


def import_path(part: Any) -> str | None:
    """Return the dotted name under which a function or a class can be imported, if there is one."""
    module, name = getattr(part, "__module__", None), getattr(part, "__qualname__", None)
    if not isinstance(name, str):
        name = getattr(part, "__name__", None)
    if module in MAINS or not isinstance(name, str) or "<" in name:
        return None
    place: Any = sys.modules.get(str(module))
    for step in name.split("."):
        place = getattr(place, step, None)
    return f"{module}.{name}" if place is part else None


class Capture(NamedTuple):
    """The variables that a function captures: globals, closures and defaults."""

    cells: dict[str, Any]
    outer: dict[str, Any]
    """Module variables."""
    defaults: dict[str, Any]
    attributes: dict[str, Any]
    missing: frozenset[str]
    """Variables that have no value yet."""

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and the values."""
        return chain.from_iterable(part.items() for part in self[:4])


def captured(func: types.FunctionType) -> Capture:
    """Return what a function captures."""
    code, cells = func.__code__, {}
    for name, cell in zip(code.co_freevars, func.__closure__ or (), strict=True):
        with suppress(ValueError):  # it is given a value later
            cells[name] = cell.cell_contents
    global_names, namespace = _usage(code).outer, func.__globals__
    outer = {name: namespace[name] for name in global_names if name in namespace}
    absent = (
        name for name in global_names if name not in namespace and not hasattr(builtins, name)
    )
    undefined = frozenset((*absent, *(name for name in code.co_freevars if name not in cells)))
    default_values = func.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(default_values) :]
    defaults = {**dict(zip(names, default_values, strict=True)), **(func.__kwdefaults__ or {})}
    return Capture(cells, outer, defaults, vars(func), undefined)


def changed_names(func: types.FunctionType) -> frozenset[str]:
    """Return the variables whose objects, or which themselves, the code of a function changes.

    ``"?"`` among them stands for an object without a name. The code tells only what it does
    itself, and not what functions do that it calls.
    """
    return _usage(func.__code__).changed


class _Usage(NamedTuple):
    """The uses of variables in a code object."""

    outer: tuple[str, ...]
    changed: frozenset[str]


@lru_cache(4096)
def _usage(code: types.CodeType) -> _Usage:
    steps = list(dis.get_instructions(code))
    outer = {step.argval for step in steps if step.opname in _OUTER[:2]}
    outer.update(step.argval for step in steps if step.opname.endswith("E_GLOBAL"))
    outer.difference_update(step.argval for step in steps if step.opname == "STORE_NAME")
    assigned = {name for place in range(len(steps)) if (name := _changed(steps, place))}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _usage(constant)
            outer.update(inner.outer)
            # Variables of the inner function are no others' of the same name.
            assigned.update(inner.changed - set(constant.co_varnames) - set(constant.co_cellvars))
    return _Usage(tuple(sorted(outer)), frozenset(assigned - set(code.co_cellvars)))


def _changed(steps: Sequence[dis.Instruction], place: int) -> str | None:
    """Return the variable that an instruction changes, or whose object it changes."""
    step = steps[place]
    name = step.opname
    if name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"):
        return str(step.argval)
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return _variable(steps, _below(steps, place, 0))
    if name in _ITEMS:
        return _variable(steps, _below(steps, place, _ITEMS[name]))
    if name in _ATTRIBUTES and step.argval in CHANGING:
        return _variable(steps, place - 1)
    return None


def _below(steps: Sequence[dis.Instruction], place: int, count: int) -> int:
    """Return the instruction that puts the object on the stack under ``count`` other values."""
    place -= 1
    if place >= 0 and steps[place].opname == "SWAP":  # x[i] += 1 copies both before
        while place >= 0 and steps[place].opname != "COPY":
            place -= 1
        place -= min(count, 1)
        while place >= 0 and steps[place].opname == "COPY":
            place -= 1
        if not count:
            return place
    while count > 0 and place >= 0:
        count -= dis.stack_effect(steps[place].opcode, steps[place].arg, jump=False)
        place -= 1
    return place


def _variable(steps: Sequence[dis.Instruction], place: int) -> str | None:
    """Return the variable from which an expression starts that ends at an instruction."""
    while place >= 0:
        step = steps[place]
        if step.opname in _ATTRIBUTES:
            place -= 1
        elif step.opname in ("BINARY_SUBSCR", "BINARY_SLICE") or (
            step.opname == "BINARY_OP" and step.argrepr == "[]"
        ):
            place = _below(steps, place, 2 if step.opname == "BINARY_SLICE" else 1)
        elif step.opname in _OUTER:
            return str(step.argval)
        elif step.opname.startswith("LOAD_FAST"):
            value = step.argval
            return str(value[-1] if isinstance(value, tuple) else value)
        elif step.opname.startswith(("CALL", "BINARY", "BUILD", "LIST", "PRECALL")):
            return None  # an object that the code has just made
        else:
            return _ANY
    return _ANY


def changes_itself(kind: type) -> bool:
    """Tell whether methods of a class change their object once it is made."""
    return any(
        name not in _PREPARING and _changes_first(method)
        for owner in kind.__mro__
        for name, method in vars(owner).items()
    )


def _changes_first(method: Any) -> bool:
    if not isinstance(method, types.FunctionType) or not method.__code__.co_argcount:
        return False
    return method.__code__.co_varnames[0] in changed_names(method)
