"""A library that is not installed is named, with the extra that has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from marsdask.learn.contrib.extras import refusal, refused_class

NAMES = {
    "xgboost": ("MarsDMatrix", "train", "XGBClassifier"),
    "lightgbm": ("LGBMRanker", "predict_proba"),
    "statsmodels": ("MarsDistributedModel",),
}

#: Blocks the libraries, then calls what needs them.
PROGRAM = """
import sys
for library in {libraries}:
    sys.modules[library] = None
import importlib
for library, names in {names}.items():
    module = importlib.import_module("marsdask.learn.contrib." + library)
    assert set(names) <= set(module.__all__)
    for name in module.__all__:
        try:
            getattr(module, name)()
        except ImportError as error:
            print(library, name, "install 'marsdask[" in str(error))
"""


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: names have no chunks to merge."""


def test_what_stands_for_a_name():
    """It has the methods of the real class, and tells what to install."""
    words = r"Model needs trees, which is not installed: pip install 'marsdask\[forest\]'"
    kind = refused_class("Model", "trees", "forest", "fit")
    assert callable(kind.fit)
    for call in (kind, refusal("Model", "trees", "forest")):
        with pytest.raises(ImportError, match=words):
            call(1, a=2)


def test_modules_without_their_libraries():
    """Can be imported; each name refuses when it is called."""
    code = PROGRAM.format(libraries=sorted(NAMES), names=NAMES)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = told.stdout.split("\n")[:-1]
    assert len(lines) == 5 + 5 + 2
    assert all(line.endswith(" True") for line in lines)
