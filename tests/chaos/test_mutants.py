"""The changes of `make chaos-mutants` still apply."""

from __future__ import annotations

import pytest

from tests.chaos.mutants import MUTANTS
from tests.source import ROOT


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name):
    """The text of each is in its file once, its change compiles, and its tests exist."""
    mutant = MUTANTS[name]
    text = (ROOT / mutant.file).read_text()
    assert text.count(mutant.old) == 1
    compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")
    assert all((ROOT / one.partition("::")[0]).is_file() for one in mutant.tests.split())
