"""Results that a scheduler holds between the stages of a compilation, until their last use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from ..grids.grid import Grid, Ref

Keys = tuple[Any, ...]


class StageResults:
    """The chunks of earlier stages, by key.

    A chunk is dropped with the last stage that may read it. The scheduler frees it after the last
    task that reads it.
    """

    def __init__(self) -> None:
        self._held: dict[Any, Grid] = {}
        self._after: dict[Any, Grid] = {}
        self.dropped: Keys = ()
        """The results that the stage planned last frees."""

    @property
    def keys(self) -> Collection[Any]:
        """Results that a stage may read without computing them."""
        return self._held.keys()

    @property
    def grids(self) -> set[str]:
        """The names of the grids that have such chunks."""
        return {grid.name for grid in self._held.values()}

    def settle(self) -> None:
        """Record that the stage planned last has run."""
        self._held = self._after

    def plan(self, targets: Iterable[Ref], later: Iterable[Grid]) -> None:
        """Plan a stage for ``targets``, after which the ``later`` grids may be read."""
        outputs = {ref.grid.key(ref.index): ref.grid for ref in targets}
        together = {**self._held, **outputs}
        names = _read(later, Counter(grid.name for grid in together.values()))
        self.dropped = tuple(
            key for key, grid in self._held.items() if grid.name not in names and key not in outputs
        )
        dropped_keys = set(self.dropped)
        self._after = {key: grid for key, grid in together.items() if key not in dropped_keys}


def _read(grids: Iterable[Grid], held: Counter[str]) -> set[str]:
    """Return the names of all ancestors of some grids, except those below fully held grids."""
    names: set[str] = set()
    stack = list(grids)
    while stack:
        grid = stack.pop()
        if grid.name not in names:
            names.add(grid.name)
            if held[grid.name] < len(grid):
                stack.extend(grid.rule.inputs)
    return names
