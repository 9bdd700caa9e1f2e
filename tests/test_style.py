"""How large things may grow, how they are named, and what each test must say."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.source import FOLDERS, files, title, tree

FILE_LIMIT = 400
FUNCTION_LIMIT = 40
EXCEPTION_LIMIT = 60

#: Words for a variable that do not tell what it holds; the share of names that may be such.
VAGUE = re.compile(
    "asked|begun|both|chosen|done|drawn|each|found|given|gone|got|held|it|kept|known|made|met|"
    "moved|named|needed|one|ones|others|passed|put|rest|said|same|seen|sent|shown|some|taken|"
    "that|them|this|those|told|tried|wanted|which|who"
)
VAGUE_SHARE = 0.02

#: The most files of a folder of code, besides ``__init__.py``.
FOLDER_LIMIT = 15

#: Functions that may have up to 60 code lines: {"file::function": reason}.
LONG_FUNCTIONS: dict[str, str] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(node: ast.AST, text: list[str]) -> int:
    """Count a node's lines without docstrings, blanks, comments, rows of tables and exports."""
    first = getattr(node, "lineno", 1)
    last = getattr(node, "end_lineno", None) or len(text)
    skipped = {line for part in _uncounted(node) for line in part}
    return sum(
        number not in skipped and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(text[first - 1 : last], first)
    )


def _uncounted(node: ast.AST) -> Iterator[range]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Module | ast.ClassDef | Function) and ast.get_docstring(inner):
            yield range(inner.body[0].lineno, (inner.body[0].end_lineno or 0) + 1)
        if isinstance(inner, ast.Module | ast.ClassDef):
            rows = (x for x in inner.body if _is_row(x) or _is_export(x))
            yield from (range(x.lineno, (x.end_lineno or 0) + 1) for x in rows)


def _is_row(node: ast.stmt) -> bool:
    """Say whether a statement is a row of a table: ``name = call(...)`` on one line."""
    return (
        isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and node.lineno == node.end_lineno
    )


def _is_export(node: ast.stmt) -> bool:
    """Say whether a statement lists names: an import, or ``__all__``."""
    if isinstance(node, ast.Assign):
        return any(isinstance(name, ast.Name) and name.id == "__all__" for name in node.targets)
    return isinstance(node, ast.ImportFrom)


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Yield each function below a node with its qualified name."""
    for inner in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(inner, ast.ClassDef | Function):
            name = f"{prefix}.{inner.name}" if prefix else inner.name
        if isinstance(inner, Function):
            yield name, inner
        yield from functions(inner, name)


def lines(path: Path) -> list[str]:
    """Return a file's lines."""
    return path.read_text(encoding="utf-8").splitlines()


ALL = files(*FOLDERS)


def test_files_stay_small() -> None:
    """No file has more than 400 lines of code."""
    counts = {title(path): code_lines(tree(path), lines(path)) for path in ALL}
    assert {path: count for path, count in counts.items() if count > FILE_LIMIT} == {}


def test_folders_stay_small() -> None:
    """A folder of code has at most 15 files."""
    code = (path for path in files("marsdask", "scheduler") if path.name != "__init__.py")
    counts = Counter(title(path.parent) for path in code)
    assert {folder for folder, count in counts.items() if count > FOLDER_LIMIT} == set()


def test_functions_stay_small() -> None:
    """No function has more than 40 lines of code, or 60 with a reason."""
    counts = {
        f"{title(path)}::{name}": code_lines(function, text)
        for path in ALL
        for text in [lines(path)]
        for name, function in functions(tree(path))
    }
    long = {name: count for name, count in counts.items() if count > FUNCTION_LIMIT}
    assert {name: count for name, count in long.items() if name not in LONG_FUNCTIONS} == {}
    assert all(count <= EXCEPTION_LIMIT for count in long.values())
    # A function that was shortened, renamed or removed leaves no exception behind.
    assert set(LONG_FUNCTIONS) <= set(long)


def test_names_of_variables_are_nouns() -> None:
    """A name is the noun of what it holds, such as ``rows``: neither "found" nor "one"."""
    names = [
        node.id
        for path in files("marsdask", "scheduler")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    vague = Counter(filter(VAGUE.fullmatch, names))
    assert vague.total() <= VAGUE_SHARE * len(names), vague.most_common(10)


def test_every_test_states_its_claim() -> None:
    """Each test has a docstring."""
    silent = [
        f"{title(path)}::{name}"
        for path in files("tests")
        for name, function in functions(tree(path))
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def test_counting_skips_what_is_not_code() -> None:
    """Docstrings, blanks, comments and one-line rows are not counted; code is."""
    code = '''"""Doc
string."""

# comment
add = elementwise(np.add)
LIMIT = 4
wide = reduction(
    np.sum,
)

class Tensor:
    """Doc."""
    sum = method(reduce.sum)
    def f(self):
        """Doc."""
        x = g(1)  # counted: not at the top
        return x
'''
    assert code_lines(ast.parse(code), code.splitlines()) == 1 + 3 + 1 + 3


def test_one_class_has_a_name() -> None:
    """A reader who searches for a class finds one."""
    found: dict[str, list[str]] = {}
    for path in files(*FOLDERS, "docs"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(title(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
