"""Private names of dask and distributed that we use: all of them, and that they exist."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: (where, name): why nothing public will do.
PRIVATE = {
    ("dask._task_spec", "convert_legacy_graph"): "the one parser of graphs of tuples",
    # Called through `client.scheduler`, so no import shows it.
    ("distributed.recreate_tasks", "ReplayTaskScheduler.get_error_cause"): "which task failed",
}


def private_uses(source: str) -> set[tuple[str, str]]:
    """Return the private names that a module takes from dask or distributed."""
    uses = set()
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            ours = [name for name in names if name.split(".")[0] in ("dask", "distributed")]
            packages |= {name.split(".")[0] for name in ours}
            uses |= {(name, "") for name in ours if "._" in name}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            if module.split(".")[0] not in ("dask", "distributed"):
                continue
            packages |= {alias.asname or alias.name for alias in node.names}
            uses |= {
                (module, alias.name)
                for alias in node.names
                if "._" in module or alias.name.startswith("_")
            }
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in packages and node.attr[:2] != "__":
                uses.add((ast.unparse(node.value), node.attr))
    return uses


def test_every_private_use_is_listed():
    """A private name of dask or distributed under scheduler/ stands in the list above."""
    used = {
        (str(path.relative_to(ROOT)), use)
        for path in (ROOT / "scheduler").rglob("*.py")
        for use in private_uses(path.read_text())
    }
    assert {use for _, use in used} <= set(PRIVATE), used
    assert used, "the walk finds nothing at all"


def test_the_walk_sees_private_names():
    """Imports and attributes of private names are found, others are not."""
    source = """
import dask._expr
import distributed
from dask import delayed
from dask._task_spec import Task
from distributed.client import _wait
distributed.client._get_global_client()
distributed.Client.__doc__
delayed.public
self._private
"""
    assert private_uses(source) == {
        ("dask._expr", ""),
        ("dask._task_spec", "Task"),
        ("distributed.client", "_wait"),
        ("distributed.client", "_get_global_client"),
    }


@pytest.mark.parametrize(("module", "name"), PRIVATE)
def test_it_exists(module, name):
    """Each listed name is there in the dask that is installed."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
