"""Random draws for generators of samples, and the chunks of their results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from marsdask.core.sizes import Sizes
from marsdask.tensor.chunks import normalize_chunks
from marsdask.tensor.random import RandomState

from .feistel import ROUNDS, permuted


class Draws:
    """The generator of what is small, and ``lazy`` for what is as long as the samples."""

    def __init__(self, random_state: Any) -> None:
        ours = isinstance(random_state, RandomState)
        self.generator = check_random_state(random_state.to_numpy() if ours else random_state)

    @cached_property
    def lazy(self) -> RandomState:
        """The random state of tensors, seeded when it is first asked for."""
        return RandomState(self.integers(4))

    def integers(self, count: int) -> list[int]:
        """Return random numbers for seeds and keys."""
        result: list[int] = self.generator.randint(2**31 - 1, size=count).tolist()
        return result

    def dealing(self, counts: Any, *, shuffle: bool) -> Dealing:
        """Return how samples are dealt to groups of these sizes."""
        keys = tuple(self.integers(ROUNDS)) if shuffle else None
        return Dealing(tuple(np.cumsum(counts).tolist()), keys)


@dataclass(frozen=True)
class Dealing:
    """To which group each sample belongs: groups have ``ends`` before they are permuted."""

    ends: tuple[int, ...]
    keys: tuple[int, ...] | None

    def __call__(self, positions: Any) -> Any:
        if self.keys is not None:
            positions = permuted(positions, self.ends[-1], self.keys)
        return np.searchsorted(self.ends, positions, side="right")


def row_sizes(samples: int, width: int, chunks: Any, chunk_size: Any) -> Sizes:
    """Return the lengths of the chunks; their rows are whole."""
    request = chunks if chunk_size is None else chunk_size
    if not isinstance(request, list | tuple):
        request = (request, -1)
    return normalize_chunks(request, (samples, width), np.float64)[0]
