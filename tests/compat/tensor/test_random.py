"""The module of random numbers under the alias."""

from __future__ import annotations

import importlib

import marsdask.compat
import marsdask.tensor as mt
from marsdask.compat.tensor import random


def test_names_are_those_of_tensors() -> None:
    """Distributions are marsdask's; fields of Mars's operands are declared without effect."""
    marsdask.compat.install()
    try:
        assert importlib.import_module("mars.tensor").random is random
        assert importlib.import_module("mars.tensor.random").rand is mt.random.rand
    finally:
        marsdask.compat.uninstall()
    random.RandomStateField("state", on_serialize=None)
    assert {"rand", "RandomState", "RandomStateField"} <= set(random.__all__)
