"""The runbook: it has each warning and error of clusters, and each figure."""

import ast
import re

from marsdask.scheduler import errors
from tests.source import ROOT, files, title, tree

RUNBOOK = (ROOT / "docs/runbook.md").read_text()

#: What the commands and servers consist of.
PARTS = (
    *("cli", "cluster", "remote", "storage", "supervisor", "web", "worker"),
    *("preload.py", "clock.py"),
)

_PLACE = re.compile(r"%[a-z]")


def told():
    """Return the messages that clusters log, with a dot in each place for a value."""
    found = set()
    for path in files("scheduler"):
        if path.relative_to(ROOT / "scheduler").parts[0] not in PARTS:
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and _logs(node.func):
                message = node.args[0]
                if isinstance(message, ast.Constant) and message.value != "%s":
                    found.add(_PLACE.sub("…", str(message.value)))
    return found


def _logs(function):
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("warning", "error", "exception", "critical")
        and isinstance(function.value, ast.Name)
        and function.value.id == "logger"
    )


def rows(heading):
    """Return the first cells of the table of a section."""
    section = RUNBOOK.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [line.split(" | ")[0].removeprefix("| ") for line in lines]


def test_each_message_is_explained():
    """The table of logs has the messages of the code, and no others."""
    assert {cell.strip("`") for cell in rows("Logs")} == told()


def test_each_error_is_explained():
    """So does that of errors, for those that a program may get."""
    named = {name for cell in rows("Errors") for name in re.findall(r"`(\w+)`", cell)}
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.MarsdaskError)
    }
    ours = {"NoValidWorkers", "NoWorkers", "WorkersDied"}  # of clusters
    directories = {"PermissionError"}
    assert named == (kinds - {"MarsdaskError"}) | ours | directories


def test_each_figure_is_explained():
    """And that of metrics."""
    named = {name for cell in rows("Metrics") for name in re.findall(r"`(\w+)", cell)}
    named.remove("marsdask_")  # the heading
    found = set()
    for path in files("scheduler"):
        if title(path) in ("scheduler/web/metrics.py", "scheduler/worker/metrics.py"):
            text = path.read_text()
            found |= set(re.findall(r"Figure(?:\.of)?\(\s*\"(\w+)\"", text))
    assert named == found
