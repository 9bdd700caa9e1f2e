"""A pytest plugin: in the tests of dask.array, its public names are those of ``marsdask.tensor``.

The imports of a test file are read and answered with ours; Dask's own modules stay as they are. A
test that names what is no public name of dask.array is set apart, with the name: it is about how
Dask works, not about what its users see.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import dask.array
import dask.array.fft
import dask.array.image
import dask.array.stats
import dask.array.utils
import dask.dataframe
import pytest

import marsdask.tensor as mt
from marsdask.tensor import Tensor

#: Modules of dask.array whose names, but those with an underscore, are public, and ours.
OURS: dict[str, Any] = {
    "dask.array": mt,
    "dask.array.fft": mt.fft,
    "dask.array.lib": mt.lib,
    "dask.array.lib.stride_tricks": mt.lib,
    "dask.array.linalg": mt.linalg,
    "dask.array.ma": mt.ma,
    "dask.array.overlap": mt.overlap,
    "dask.array.random": mt.random,
    "dask.array.stats": mt.stats,
    "dask.array.image": mt,
}

#: What compares arrays and tells versions: theirs serves both.
TOOLS = ("dask.array.utils", "dask.array.numpy_compat")

#: Where graphs and tasks are from.
GRAPHS = (
    *("dask._task_spec", "dask.blockwise", "dask.core", "dask.highlevelgraph", "dask.layers"),
    *("dask.optimization", "dask.order"),
)

#: Attributes and names that stand for a graph's inside.
INSIDE = {"dask", "__dask_graph__", "__dask_layers__", "__dask_optimize__", "layers"}
INSIDE |= {"collections_to_expr", "optimize", "hlg_layer_topological", "compute_as_if_collection"}


def public(module: str, name: str) -> bool:
    """Tell whether a name of a module of dask.array's is public."""
    if module in TOOLS:
        return not name.startswith("_") and name != "meta_from_array"
    value = getattr(importlib.import_module(module), name, None)
    if isinstance(value, ModuleType):
        return value.__name__ in OURS
    exported = getattr(importlib.import_module(module), "__all__", None)
    if name in dask.array.__all__ and getattr(dask.array, name) is value:
        return True
    if module not in OURS or name.startswith("_") or module == "dask.array":
        return False
    return name in exported if exported else getattr(value, "__module__", module) == module


class Answer(ModuleType):
    """A module of dask.array's as its tests see it."""

    def __getattr__(self, name: str) -> Any:
        path = self.__name__
        if path in TOOLS:
            return getattr(importlib.import_module(path), name)
        if (path, name) == ("dask.array", "rechunk"):
            return mt.rechunk  # the function, which hides the module
        if name == "register_chunk_type":
            return _registered
        if f"{path}.{name}" in OURS and (path, name) != ("dask.array", "image"):
            return answer(f"{path}.{name}")
        value = getattr(importlib.import_module(path), name, None)
        if isinstance(value, ModuleType) and value.__name__.startswith("dask.array"):
            return answer(value.__name__)
        if value is not None and not public(path, name):
            return value
        shared = name in dask.array.__all__ and getattr(dask.array, name) is value
        try:
            return getattr(mt if shared else OURS.get(path, mt), name)
        except AttributeError:
            if value is None or not shared or path not in OURS:
                raise
            return getattr(OURS[path], name)


def answer(module: str, name: str | None = None) -> Any:
    """Return what an import of a module, or of a name of it, is answered with."""
    if name is None:
        return Answer(module)
    try:
        return getattr(Answer(module), name)
    except AttributeError as error:
        return partial(_fail, error)  # the rest of the file can be tested


def _registered(kind: type) -> None:
    """Let files be imported that register types we refuse: what needs them fails."""
    with suppress(NotImplementedError):
        mt.register_chunk_type(kind)


def _fail(error: AttributeError, *args: Any, **kwargs: Any) -> None:
    raise error


class Imports(ast.NodeTransformer):
    """Answers imports of dask.array, and ``dask.array`` in expressions, with ours."""

    def visit_Import(self, node: ast.Import) -> Any:
        """Bind what is said after ``as``; ``import dask.array.fft`` binds dask alone."""
        kept: list[ast.stmt] = []
        for name in node.names:
            if not _is_array(name.name):
                kept.append(ast.Import([name]))
            elif name.asname:
                kept.append(_bound(name.asname, _answered(name.name)))
            else:
                kept.append(ast.Import([ast.alias("dask")]))
        return kept

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Bind each name."""
        module = node.module or ""
        if module == "dask" and any(name.name == "array" for name in node.names):
            module = "dask.array"
            return [_bound("array", _answered(module))]
        if not _is_array(module) or module.startswith("dask.array.tests"):
            return node
        return [
            _bound(name.asname or name.name, _answered(module, name.name)) for name in node.names
        ]

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Answer ``dask.array`` in an expression."""
        if isinstance(node.value, ast.Name) and (node.value.id, node.attr) == ("dask", "array"):
            return _answered("dask.array")
        return self.generic_visit(node)


def _is_array(module: str) -> bool:
    return module == "dask.array" or module.startswith("dask.array.")


def _answered(*names: str) -> ast.expr:
    function = ast.Name("__answer__", ast.Load())
    return ast.Call(function, [ast.Constant(name) for name in names], [])


def _bound(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


class ArrayTests(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the tests of dask.array with our answers to their imports."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """Find the tests, and nothing else."""
        if not name.startswith("dask.array.tests.test_"):
            return None
        folder = Path(dask.array.__file__).parent / "tests"
        file = folder / f"{name.rpartition('.')[2]}.py"
        return importlib.util.spec_from_file_location(name, file, loader=self)

    def create_module(self, spec: Any) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the file with our answers."""
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        APART[module.__name__] = Internals(tree).of_tests()
        tree = ast.fix_missing_locations(Imports().visit(tree))
        vars(module)["__answer__"] = answer
        exec(compile(tree, module.__file__, "exec"), vars(module))  # noqa: S102 - a test file


#: For each test file: {test: the internal name in it}.
APART: dict[str, dict[str, str]] = {}


class Internals:
    """The internal names that the functions of a file have, in themselves or what they call."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._modules: dict[str, str] = {"dask": "dask"}
        self._bound: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    if name.asname and name.name.startswith("dask"):
                        self._modules[name.asname] = name.name
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dask"):
                self._imported(node)
        self._values: dict[str, ast.AST] = {}
        for statement in tree.body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self._values[statement.name] = statement
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name):
                            self._values[part.id] = statement.value

    def _imported(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for name in node.names:
            known = name.asname or name.name
            if module == "dask" and name.name == "array":
                self._modules[known] = "dask.array"
            elif (
                module.startswith(GRAPHS)
                or name.name.startswith("_")
                or (_is_array(module) and ".tests" not in module and not public(module, name.name))
            ):
                self._bound[known] = f"{module}.{name.name}"

    def of_tests(self) -> dict[str, str]:
        """Return for each test the first internal name."""
        found = {}
        for name, value in self._values.items():
            if isinstance(value, ast.FunctionDef) and name.startswith("test"):
                internal = next(self._in(value, set()), None)
                if internal:
                    found[name] = internal
        return found

    def _in(self, value: ast.AST, seen: set[str]) -> Iterator[str]:
        for node in ast.walk(value):
            if isinstance(node, (ast.Name, ast.arg)):
                name = node.id if isinstance(node, ast.Name) else node.arg
                if name in self._bound:
                    yield self._bound[name]
                elif name in INSIDE - {"dask", "layers", "optimize"}:
                    yield name
                elif name in self._values and name not in seen:
                    seen.add(name)
                    yield from self._in(self._values[name], seen)
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(node)
            elif isinstance(node, ast.Call) and _called(node) == "Array":
                yield "Array(graph)"
            elif isinstance(node, ast.Constant) and str(node.value).startswith("dask.array."):
                yield str(node.value)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        private = node.attr.startswith("_") and not node.attr.startswith("__")
        if private or node.attr in INSIDE:
            yield node.attr
        path = self._path(node.value)
        if path is not None and path.startswith(GRAPHS):
            yield f"{path}.{node.attr}"
        elif path is not None and _is_array(path):
            module = importlib.import_module(path)
            if hasattr(module, node.attr) and not public(path, node.attr):
                value = getattr(module, node.attr)
                if not (isinstance(value, ModuleType) and _is_array(value.__name__)):
                    yield f"{path}.{node.attr}"

    def _path(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._modules.get(node.id)
        if isinstance(node, ast.Attribute):
            before = self._path(node.value)
            path = f"{before}.{node.attr}"
            if before and path in sys.modules:
                return path
        return None


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _check_chunks(x: Any, check_ndim: bool = True, scheduler: Any = None) -> Any:
    """Compare the shapes and types of ours as Dask's own test tool does with its arrays."""
    if isinstance(x, Tensor):
        computed = x.persist()  # as theirs does: what follows computes nothing again
        stock_check(computed.to_dask(), check_ndim=check_ndim, scheduler=scheduler)
        return computed
    return stock_check(x, check_ndim=check_ndim, scheduler=scheduler)


def _check_graph(graph: Any) -> None:
    """Leave out how Dask wants its graphs: ours are told by rules."""


def _same_keys(a: Any, b: Any) -> bool:
    return bool(a.name == b.name and a.chunks == b.chunks)


def _from_array(arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Make one of Dask's frames of a tensor: its values are a tensor again, over the same keys."""
    if not isinstance(arr, Tensor):
        return frame_from_array(arr, *args, **kwargs)
    return frame_from_array(arr.to_dask(), *args, **kwargs)


def _values(frame: Any) -> Any:
    return mt.from_dask(frame_values(frame))


frame_from_array: Any = dask.dataframe.from_array
FRAME: Any = dask.dataframe.DataFrame
frame_values: Any = FRAME.values.fget
dask.dataframe.from_array = _from_array
FRAME.values = property(_values)
stock_check: Any = dask.array.utils._check_chunks
dask.array.utils._check_chunks = _check_chunks
dask.array.utils._check_dsk = _check_graph
dask.array.utils.same_keys = _same_keys
sys.meta_path.insert(0, ArrayTests())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Tell the tests that only fail because nothing was refused."""
    report = yield
    raised = call.excinfo.value if call.excinfo is not None else None
    if isinstance(raised, pytest.fail.Exception) and str(raised).startswith("DID NOT RAISE"):
        with open(item.config.getoption("--outcomes"), "a", encoding="utf-8") as file:
            file.write(f"refused\t{item.nodeid}\n")
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Set apart the tests that name what is internal."""
    apart, kept = [], []
    for item in items:
        name = APART.get(item.module.__name__, {}).get(item.originalname)
        if name:
            apart.append(item)
            item.internal = name
        else:
            kept.append(item)
    config.hook.pytest_deselected(items=apart)
    items[:] = kept
    with open(config.getoption("--outcomes"), "a", encoding="utf-8") as file:
        file.writelines(f"internal {item.internal}\t{item.nodeid}\n" for item in apart)
