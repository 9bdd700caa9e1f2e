"""Who may import what: the import directions of the design, read off the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.layer_exceptions import IN_CIRCLES, UNDECLARED, WRAPS
from tests.lazy_imports import LAZY_IMPORTS, LAZY_PACKAGES
from tests.source import ROOT, files, module_name, title, tree

#: The parts of marsdask that each part may import besides itself. What is not listed (session.py,
#: config.py, __init__.py and the like) is the top, and may import everything.
BELOW = {
    "scheduler": set(),
    "core": {"scheduler"},
    "tensor": {"core", "scheduler"},
    "dataframe": {"core", "scheduler", "tensor"},
    "learn": {"core", "scheduler", "tensor", "dataframe", "remote"},
    "remote": {"core", "scheduler"},
    "deploy": {"core", "scheduler"},
}

#: Core sees the contract of schedulers, and nothing of how they work.
CONTRACT = {"base", "events", "registry", "errors"}

#: What else Core takes of it, to speak Dask as it does: graphs made plain, and the default ``get``.
DASK_SIDE = {"dask_graph", "get"}

#: Who sees more of scheduler/ than that, and why: {file: {module: reason}}.
BEYOND_CONTRACT = {
    "marsdask/dataframe/relations/duckdb_kernels/engine.py": {
        "storage": "a running query has files of its own"
    },
    "marsdask/dataframe/relations/results/rows.py": {"storage": "as above"},
    "marsdask/core/session.py": {
        "callbacks": "a computation is several submissions, which it joins",
        "limits": "what is computed or fetched has to fit this process's memory",
    },
    "marsdask/dataframe/rows.py": {"storage": "rows are released by the copy of what is kept"},
    "marsdask/remote/function_call.py": {
        "inprocess": "pickles functions of scripts by value, as `processes` does",
        "worker_client": "functions compute on the cluster that runs them",
    },
    "marsdask/remote/node.py": {"worker_client": "handles refer to what the cluster holds"},
    "marsdask/remote/run_script.py": {
        "inprocess": "pickles data for processes that start as those of `processes` do",
        "worker_client": "a script runs beside workers",
    },
    "marsdask/remote/script_process.py": {"storage": "checks folders", "worker_client": "is one"},
    "marsdask/remote/task_log.py": {"worker_client": "a worker sends logs to its scheduler"},
    "marsdask/core/protocol/layer.py": {"get": "is what Dask computes collections with"},
    "marsdask/core/dask/source.py": {"dask_graph": "graphs are normalised as getters do"},
    **{
        f"marsdask/deploy/{name}.py": {"cli": "is the command under a name of Mars's"}
        for name in (
            "kubernetes/scheduler",
            "kubernetes/supervisor",
            "kubernetes/web",
            "kubernetes/worker",
            "oscar/supervisor",
            "oscar/worker",
        )
    },
    "marsdask/deploy/kubernetes/in_pod/lease.py": {"cluster": "decides between supervisors"},
    "marsdask/deploy/kubernetes/in_pod/scaler.py": {"cluster": "scales a supervisor's workers"},
}

#: Who knows Dask outside scheduler/, and why.
DASK_USERS = {
    "marsdask/core/compilation/lowering.py": "makes dask.task_spec Tasks",
    "marsdask/tensor/chunks.py": "reads sizes such as '128MiB' as Dask does",
    "marsdask/tensor/creation/from_data.py": "reads under locks that can be pickled",
    "marsdask/core/snapshots/tokens.py": "leaves to dask.tokenize what it does not know itself",
    "marsdask/core/dask/source.py": "takes in the tasks of Dask's graphs",
    "marsdask/core/dask/context.py": "asks Dask where it computes",
    "marsdask/core/config.py": "reads sizes such as '128MiB' as Dask does",
    "marsdask/core/collection.py": "implements the Dask collection protocol",
    "marsdask/core/protocol/finalization.py": "is what Dask calls with the results of a graph",
    "marsdask/core/protocol/layer.py": "is the lazy Layer",
    "marsdask/core/dask/single_value.py": "takes in the values of Delayed, bags and Futures",
    "marsdask/compat/contrib/dask/converter.py": "takes Dask's collections",
    "marsdask/compat/contrib/dask/scheduler.py": "runs Dask's graphs",
    "marsdask/compat/xarray.py": "chooses the chunks of files as xarray has it of Dask",
    "marsdask/core/display/explain.py": "says bytes as Dask does",
    "marsdask/core/arguments.py": "computes lazy scalars of Dask",
    "marsdask/core/compilation/memory.py": "says bytes as Dask does",
    "marsdask/dataframe/display.py": "says bytes as Dask does",
    "marsdask/dataframe/relations/choice.py": "says bytes as Dask does",
    "marsdask/dataframe/relations/estimates.py": "says bytes as Dask does",
    "marsdask/dataframe/io/dask_frames.py": "makes dask.dataframes of frames and frames of those",
    "marsdask/tensor/io/dask_arrays.py": "makes dask.arrays of tensors and tensors of dask.arrays",
    "marsdask/tensor/blocks.py": "draws chunks and says bytes as Dask does",
    "marsdask/tensor/io/hdf5_files.py": "takes Dask's lock that travels",
    "marsdask/tensor/io/store.py": "takes Dask's delayed targets, and its lock that travels",
    "marsdask/deploy/kubernetes/in_pod/events.py": "hears what distributed's scheduler records",
}

#: Who knows Dask at the top: the drop-in for `import dask` hands Dask's own functions on.
DASK_DROP_IN = {
    "marsdask/dask_verbs.py": "hands Dask's verbs on where they are not ours",
    "marsdask/__init__.py": "offers Dask's verbs beside Mars's",
    "marsdask/config.py": "offers Dask's configuration beside Mars's options",
}

#: Who reaches a module or a name at run time, unseen by the rules for imports: {file: {what: why}}.
AT_RUN_TIME = {
    "marsdask/learn/contrib/pytorch/__init__.py": {
        "import_module": "processes of a script import samplers, which need NumPy alone"
    },
    "marsdask/__init__.py": {"import_module": "loads the families below when they are asked for"},
    "marsdask/compat/__main__.py": {"sys.modules": "runs a program as the main module"},
    "marsdask/compat/alias.py": {
        "import_module": "loads modules of ours under the names of Mars's",
        "sys.modules": "tells whether Mars is imported",
    },
    "marsdask/compat/estimators.py": {"sys.modules": "gives what is imported its old keywords"},
    "marsdask/compat/mars.py": {"import_module": "loads packages of Mars when they are asked for"},
    "marsdask/core/dask/context.py": {"sys.modules": "asks distributed only if somebody loaded it"},
    "marsdask/core/display/progress.py": {"sys.modules": "tells notebooks"},
    "marsdask/core/snapshots/functions.py": {"sys.modules": "tells if a name finds a function"},
    "marsdask/tensor/__init__.py": {"import_module": "loads its packages when they are asked for"},
}


class Import(NamedTuple):
    """One import of one module, by its absolute name."""

    module: str
    line: int
    local: bool
    relative: bool


def imports(path: Path) -> list[Import]:
    """Return every import of a file except those for type checkers only."""
    return list(_walk(path, tree(path).body, local=False))


def _walk(path: Path, body: list[ast.stmt], *, local: bool) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (Import(a.name, node.lineno, local, relative=False) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _from(path, node, local=local)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _walk(path, node.orelse, local=local)
        else:
            inside = local or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _walk(path, getattr(node, field, []), local=inside)


def _from(path: Path, node: ast.ImportFrom, *, local: bool) -> Iterator[Import]:
    """Yield what ``from base import a, b`` names: submodules by their own name."""
    base = node.module or ""
    if node.level:
        package = module_name(path).split(".")
        drop = node.level - (path.name == "__init__.py")
        base = ".".join([*package[: len(package) - drop], *filter(None, [node.module])])
    names = [f"{base}.{alias.name}" for alias in node.names]
    for module in dict.fromkeys(name if _is_module(name) else base for name in names):
        yield Import(module, node.lineno, local, relative=node.level > 0)


def _is_module(name: str) -> bool:
    folder = ROOT.joinpath(*name.split("."))
    return folder.is_dir() or folder.with_suffix(".py").is_file()


def part(module: str) -> str | None:
    """Return which part of marsdask a module belongs to, ``None`` for the top and for others."""
    names = module.split(".")
    return names[1] if names[0] == "marsdask" and len(names) > 1 and names[1] in BELOW else None


def is_ours(module: str) -> bool:
    """Say whether a module is one of marsdask's."""
    return module.split(".", maxsplit=1)[0] == "marsdask"


SOURCES = files("marsdask", "scheduler")


def all_imports() -> Iterator[tuple[Path, Import]]:
    """Yield each import of each file that ships."""
    return ((path, found) for path in SOURCES for found in imports(path))


def test_imports_point_down() -> None:
    """A part of marsdask imports itself and the parts below it, nothing beside or above."""
    broken = []
    for path, found in all_imports():
        mine, theirs = part(module_name(path)), part(found.module)
        if mine is None or not is_ours(found.module) or theirs == mine:
            continue
        if theirs not in BELOW[mine]:
            broken.append(f"{title(path)}:{found.line}: {mine} imports {found.module}")
    assert not broken, "\n".join(broken)


def units_in_circles(package: str) -> set[str]:
    """Return the folders and modules directly in a package that import themselves at last."""
    depth = package.count(".") + 1
    below: dict[str, set[str]] = {}
    for path, found in all_imports():
        names = [name.split(".") for name in (module_name(path), found.module)]
        if found.local or any(".".join(name[:depth]) != package for name in names):
            continue
        mine, theirs = (name[depth] if len(name) > depth else "__init__" for name in names)
        if mine != theirs:
            below.setdefault(mine, set()).add(theirs)
    return {unit for unit in below if unit in _reached(unit, below)}


def _reached(unit: str, below: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    pending = [unit]
    while pending:
        new = below.get(pending.pop(), set()) - reached
        reached |= new
        pending += new
    return reached


@pytest.mark.parametrize("package", IN_CIRCLES)
def test_folders_are_layers(package: str) -> None:
    """Folders and modules of a package import those below them, except for the known circles."""
    assert len(units_in_circles(package)) == IN_CIRCLES[package]


#: The chapters of NumPy's that cut and choose: grids of any family are cut and chosen by core.
CUTTING = ("marsdask.tensor.chunkwise", "marsdask.tensor.indexing")


def test_grids_are_cut_in_core() -> None:
    """Frames and learn take no algebra of grids from tensors: it is in core/grids."""
    algebra = {
        name
        for path in files("marsdask/core/grids")
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for name in [node.name]
    }
    assert {"common_sizes", "resolved", "StartAt", "cut_axis"} <= algebra
    broken = [
        f"{title(path)}:{node.lineno}: {alias.name} of {node.module}"
        for path in files("marsdask/dataframe", "marsdask/learn")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("marsdask.tensor")
        for alias in node.names
        if alias.name in algebra or (node.module or "").startswith(CUTTING)
    ]
    assert not broken, "\n".join(broken)


def test_the_scheduler_stands_alone() -> None:
    """scheduler/ reaches nothing of marsdask outside itself, and itself only relatively."""
    broken = [
        f"{title(path)}:{found.line}: {found.module}"
        for path, found in all_imports()
        if part(module_name(path)) == "scheduler"
        and is_ours(found.module)
        and (not found.relative or part(found.module) != "scheduler")
    ]
    assert not broken, "\n".join(broken)


def test_core_sees_the_contract_of_schedulers_only() -> None:
    """Core, and what stands on it, imports base, events, registry and errors of scheduler/."""
    broken = []
    for path, found in all_imports():
        mine = part(module_name(path))
        if mine in {None, "scheduler"} or part(found.module) != "scheduler":
            continue
        name = ".".join(found.module.split(".")[2:3])
        if name not in CONTRACT | BEYOND_CONTRACT.get(title(path), {}).keys():
            broken.append(f"{title(path)}:{found.line}: {found.module}")
    assert not broken, "\n".join(broken)


def test_dask_is_known_in_few_places() -> None:
    """Outside scheduler/ only the listed files import dask or distributed."""
    known = DASK_USERS | DASK_DROP_IN
    broken = [
        f"{title(path)}:{found.line}: {found.module}"
        for path, found in all_imports()
        if found.module.split(".")[0] in {"dask", "distributed"}
        and part(module_name(path)) != "scheduler"
        and title(path) not in known
    ]
    assert not broken, "\n".join(broken)


def test_imports_stand_at_the_top() -> None:
    """A function imports only packages that are heavy or optional, or what is on the list."""
    broken = [
        f"{title(path)}:{found.line}: {found.module}"
        for path, found in all_imports()
        if found.local
        and found.module.split(".")[0] not in LAZY_PACKAGES
        and found.module not in LAZY_IMPORTS.get(title(path), {})
    ]
    assert not broken, "\n".join(broken)


def attribute_guesses(module: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that objects are asked for in case they have it, and the line."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            name = node.args[1]
            is_guess = node.func.id == {2: "hasattr", 3: "getattr"}.get(len(node.args))
            if is_guess and isinstance(name, ast.Constant):
                yield str(name.value), node.lineno


def test_attributes_are_declared() -> None:
    """Outside scheduler/ only foreign objects are asked for what they may not have."""
    used: set[str] = set()
    broken = []
    for path in files("marsdask"):
        for name, line in attribute_guesses(tree(path)):
            used.add(name)
            if name not in UNDECLARED and not name.startswith("__"):
                broken.append(f"{title(path)}:{line}: {name}")
    assert not broken, "\n".join(broken)
    assert set(UNDECLARED) <= used


def test_every_way_to_guess_an_attribute_is_seen() -> None:
    """What is read without a default has to be there; names that are computed are no protocol."""
    code = """
a = hasattr(x, "one")
b = getattr(x, "two", None)
c = getattr(x, "three")
d = getattr(x, name, None)
"""
    assert [name for name, _ in attribute_guesses(ast.parse(code))] == ["one", "two"]


def run_time_reaches(module: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield what finds modules or names at run time, and the line."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules":
            yield "sys.modules", node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from (("sys.modules", node.lineno) for a in node.names if a.name == "modules")
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).removeprefix("importlib.")
            if name in {"import_module", "__import__", "globals"}:
                yield name, node.lineno


def test_modules_and_names_are_imported_and_not_looked_up() -> None:
    """Outside scheduler/ only the listed files find modules or names at run time, and they do."""
    found: dict[str, set[str]] = {}
    broken = []
    for path in files("marsdask"):
        for what, line in run_time_reaches(tree(path)):
            found.setdefault(title(path), set()).add(what)
            if what not in AT_RUN_TIME.get(title(path), {}):
                broken.append(f"{title(path)}:{line}: {what}")
    assert not broken, "\n".join(broken)
    assert found == {name: set(reasons) for name, reasons in AT_RUN_TIME.items()}


def test_every_way_to_reach_a_module_at_run_time_is_seen() -> None:
    """By attribute, by a name imported from sys, through importlib and the builtins."""
    code = """
import importlib, sys
from sys import modules
a = sys.modules["x"]
b = importlib.import_module("x")
c = import_module("x")
d = __import__("x")
globals().update({})
"""
    kinds = [what for what, _ in run_time_reaches(ast.parse(code))]
    assert sorted(kinds) == [
        "__import__",
        "globals",
        "import_module",
        "import_module",
        "sys.modules",
        "sys.modules",
    ]


def test_exceptions_name_files_that_exist() -> None:
    """A file that was renamed or removed leaves no exception behind."""
    names = {*LAZY_IMPORTS, *DASK_USERS, *DASK_DROP_IN, *BEYOND_CONTRACT}
    assert {name for name in names if not (ROOT / name).is_file()} == set()


def test_the_walk_sees_every_form_of_import() -> None:
    """Relative, local, conditional and submodule imports are all found; typing-only ones not."""
    path = ROOT / "marsdask" / "core" / "imaginary.py"
    code = """
from ..scheduler import base
from . import node
if TYPE_CHECKING:
    import hidden
try:
    import tried
except ImportError:
    import instead
def f():
    with x:
        from dask.base import tokenize
"""
    found = list(_walk(path, ast.parse(code).body, local=False))
    assert [(one.module, one.local, one.relative) for one in found] == [
        ("marsdask.scheduler.base", False, True),
        ("marsdask.core.node", False, True),
        ("tried", False, False),
        ("instead", False, False),
        ("dask.base", True, False),
    ]


def test_operations_compose_nodes() -> None:
    """Who returns nodes and calls ``f.node`` of others executes once in eager mode."""
    found = {
        title(path): sum(
            isinstance(node, ast.Call) and ast.unparse(node.func) == "wrap"
            for node in ast.walk(tree(path))
        )
        for path in files("marsdask/tensor", "marsdask/dataframe", "marsdask/learn")
    }
    assert {path: count for path, count in found.items() if count} == WRAPS
