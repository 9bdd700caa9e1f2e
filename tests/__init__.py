"""Tests; a package, so that ``from tests.strategies import ...`` never finds another one."""
