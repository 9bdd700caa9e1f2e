"""Each line of the threat model has a test."""

import ast

from tests.source import ROOT, tree

_LINES = (ROOT / "SECURITY.md").read_text().split("### Threat model")[1].split("\n### ")[0]


def test_each_line_has_a_test():
    """The last cell names one that is there."""
    rows = [line.split("|") for line in _LINES.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        assert len(row) == 7, row
        path, _, name = row[5].strip(" `").partition("::")
        functions = [one for one in tree(ROOT / path).body if isinstance(one, ast.FunctionDef)]
        assert name in {one.name for one in functions}, row
