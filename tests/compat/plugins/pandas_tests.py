"""A pytest plugin: runs pandas's own tests with stand-ins for its frames, and says how each fails.

The tests are read and rewritten: what stands alone as a statement, what is asserted, and what is
assigned where an error is expected is computed there. A test about how pandas works inside, and not
about what its users get, is set apart, with the name that says so.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import re
import signal
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pandas_stand_ins as stand_ins  # type: ignore[import-not-found]  # a plugin beside it
import pytest

PANDAS = Path(pd.__file__).parent

#: Parametrisations of a test function that run, chosen by a hash of their names.
CASES = 4

#: Seconds for a case.
LIMIT = 30

#: Names of tests, fixtures and attributes that are about memory, identity, texts, plots or parts.
INTERNAL_TESTS = re.compile(
    "attrs|block|cache|consolidat|copy|cow|cython|dir_|docstring|finalize|flags|hash|identity|"
    "inplace_alias|intern|is_same|memory|metadata|no_mutat|numba|numexpr|pickle|plot|repr|share|"
    "signature|stacklevel|subclass|tab_complet|view|warn|weakref|__dir__"
)
INTERNAL_FIXTURES = {"benchmark", "capsys", "httpserver", "monkeypatch", "s3_public_bucket"}
INTERNAL_NAMES = {
    *("__class__", "__dict__", "__finalize__", "__sizeof__", "SubclassedDataFrame", "attrs"),
    *("SubclassedSeries", "base", "boxplot", "core", "external_error_raised", "flags", "gc"),
    *(
        "getrefcount",
        "hist",
        "id",
        "is_",
        "may_share_memory",
        "memory_usage",
        "pickle",
        "plot",
        "plt",
    ),
    *("repr", "set_flags", "shares_memory", "sparse", "style", "use_numexpr", "weakref"),
}
#: Modules of pandas whose names users do not import.
PRIVATE = re.compile(r"pandas\.(_(?!testing)|compat\b|core\b|plotting\b|util\b)")
#: Of those, what tests only ask.
ASKED = {"HAS_PYARROW", "IS64", "SpecificationError", "iNaT"}

#: For each module: {test: the internal name in it}.
APART: dict[str, dict[str, str]] = {}


class Rewriting(ast.NodeTransformer):
    """Computes what a test looks at."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Compute what stands alone: an error of its tasks is expected there."""
        self.generic_visit(node)
        if not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom):
            node.value = _call("fetch", node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        """Compute both sides of a comparison, and what is asked of a value otherwise."""
        self.generic_visit(node)
        node.test = _computed(node.test)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Look for errors, whatever they say."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and _name(node.func.value) == "pytest":
            if node.func.attr == "raises":
                node.func = _tool("raises")
            elif node.func.attr == "warns":
                node.func = _tool("_anything")
        return node

    def visit_With(self, node: ast.With) -> Any:
        """Compute what is assigned where an error is expected."""
        if any("pytest.raises" in ast.unparse(item.context_expr) for item in node.items):
            body: list[ast.stmt] = []
            for statement in node.body:
                body.append(statement)
                body += [ast.Expr(ast.Name(name, ast.Load())) for name in _changed(statement)]
            node.body = body
        return self.generic_visit(node)


def _tool(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("__tools__", ast.Load()), name, ast.Load())


def _call(name: str, value: ast.expr) -> ast.Call:
    return ast.Call(_tool(name), [value], [])


def _computed(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.BoolOp):
        test.values = [_computed(value) for value in test.values]
    elif isinstance(test, ast.UnaryOp):
        test.operand = _computed(test.operand)
    elif isinstance(test, ast.Compare):
        constant = any(isinstance(operator, ast.Is | ast.IsNot) for operator in test.ops)
        how = "fetch_constant" if constant else "fetch"
        test.left = _call(how, test.left)
        test.comparators = [_call(how, value) for value in test.comparators]
    else:
        for call in ast.walk(test):
            if isinstance(call, ast.Call) and _name(call.func) in (
                "isinstance",
                "is_integer",
                "is_scalar",
            ):
                call.args = [_call("fetch", argument) for argument in call.args]
        test = _call("fetch", test)
    return test


def _changed(statement: ast.stmt) -> list[str]:
    """Return the names of frames that a statement assigns to, or changes in place."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign | ast.Delete):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        changes = getattr(call.func, "attr", "") in ("insert", "isetitem", "update")
        if changes or any(keyword.arg == "inplace" for keyword in call.keywords):
            targets = [call.func]
    return [name for name in map(_name, targets) if name]


def _name(node: ast.AST | None) -> str:
    """Return the name at the root of an expression: `x` of `x.loc[0]`."""
    while node is not None and not isinstance(node, ast.Name):
        node = getattr(node, "value", None) or getattr(node, "func", None)
    return "" if node is None else node.id


def internals(tree: ast.Module) -> dict[str, str]:
    """Return for each test of a file the first internal name."""
    private: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and PRIVATE.match(node.module or ""):
            names = {alias.asname or alias.name for alias in node.names}
            private |= {name for name in names if not hasattr(pd, name)} - ASKED
        elif isinstance(node, ast.Import):
            private |= {one.asname for one in node.names if one.asname and PRIVATE.match(one.name)}
    tests = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    reasons = {
        node.name: _internal(node, private) for node in tests if node.name.startswith("test")
    }
    return {name: reason for name, reason in reasons.items() if reason}


def _internal(test: ast.FunctionDef, private: set[str]) -> str:
    if INTERNAL_TESTS.search(test.name):
        return test.name
    for node in ast.walk(test):
        if isinstance(node, ast.arg) and node.arg in INTERNAL_FIXTURES:
            return node.arg
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            hidden = isinstance(node, ast.Attribute) and re.match("_(?!_)|__.*[^_]$", name)
            if hidden or name in private or name in INTERNAL_NAMES:
                return name
        if isinstance(node, ast.Compare) and _is_identity(node):
            return "is"
        if isinstance(node, ast.ClassDef):
            return node.name
    return ""


def _is_identity(node: ast.Compare) -> bool:
    """Tell whether objects are compared, and not a constant or a class."""
    if not isinstance(node.ops[0], ast.Is | ast.IsNot):
        return False
    classes = r"(pd\.)?(DataFrame|Series|NA|NaT)|np\.nan"
    sides = (node.left, node.comparators[0])
    return not any(
        isinstance(side, ast.Constant) or re.fullmatch(classes, ast.unparse(side)) for side in sides
    )


class PandasTests(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the tests of pandas, rewritten."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """Find the files of tests, and nothing else."""
        file = PANDAS.parent.joinpath(*name.split(".")).with_suffix(".py")
        if not name.startswith("pandas.tests.") or not file.exists():
            return None
        return importlib.util.spec_from_file_location(name, file, loader=self)

    def create_module(self, spec: Any) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the file; what it makes for its parameters is pandas's."""
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        APART[module.__name__] = internals(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body = [Rewriting().visit(statement) for statement in node.body]
        vars(module)["__tools__"] = stand_ins
        code = compile(ast.fix_missing_locations(tree), module.__file__, "exec", dont_inherit=True)
        exec(code, vars(module))  # noqa: S102 - a test file


sys.meta_path.insert(0, PandasTests())


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Choose cases, set apart what is internal, and let the modules see the stand-ins."""
    functions: dict[str, list[Any]] = {}
    apart = []
    for item in items:
        internal = APART.get(item.module.__name__, {}).get(item.originalname)
        internal = internal or next(iter(INTERNAL_FIXTURES & set(item.fixturenames)), None)
        if internal:
            apart.append((internal, item))
        else:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in functions.values():
        cases.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
    chosen = {item for cases in functions.values() for item in cases[:CASES]}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]
    with open(config.getoption("--outcomes"), "a", encoding="utf-8") as file:
        file.writelines(f"internal {internal}\t{item.nodeid}\n" for internal, item in apart)
    for name, module in list(sys.modules.items()):
        if name == "pandas.conftest" or name.startswith("pandas.tests."):
            _stand_in(module)


def _stand_in(module: ModuleType) -> None:
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType):
            vars(module)[name] = stand_ins.MODULES.get(value, value)
        elif name != "__tools__":
            vars(module)[name] = stand_ins.hand_over(value)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Any:
    """Hand over the frames of fixtures and parameters."""
    value = stand_ins.hand_over((yield))
    if fixturedef.cached_result is not None:
        fixturedef.cached_result = (value, *fixturedef.cached_result[1:])
    return value


class OutOfTimeError(BaseException):
    """A case took too long."""


def _stop(*args: Any) -> None:
    raise OutOfTimeError(f"more than {LIMIT} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """End a case that takes too long."""
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Note what stops a program with an error: that is known to its user, and is no wrong value."""
    report = yield
    if report.outcome == "failed" and call.excinfo is not None:
        kind = how(call.excinfo)
        with open(item.config.getoption("--outcomes"), "a", encoding="utf-8") as file:
            file.write(f"{kind}\t{item.nodeid}\n")
    return report


def how(raised: pytest.ExceptionInfo[BaseException]) -> str:
    """Return how a case fails: `wrong` ones are those that a user does not notice."""
    error = raised.value
    if isinstance(error, stand_ins.NoErrorError):
        return "wrong: no error"
    if isinstance(error, stand_ins.OtherKindError):
        return "wrong: kind"
    if isinstance(error, OutOfTimeError):
        return "wrong: time"
    if isinstance(error, stand_ins.OtherErrorError):
        return "stopped: another error"
    where = str(raised.traceback[-1].path)
    compares = isinstance(error, AssertionError) and re.search("pandas|numpy/testing", where)
    return "wrong: value" if compares else "stopped"
