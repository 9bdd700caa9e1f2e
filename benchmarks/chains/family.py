"""What a family of operations is, and the data its chain starts from, in both systems' words."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd

import marsdask.dataframe as md
import marsdask.tensor as mt


class Vocabulary(NamedTuple):
    """The modules of one system, and how its data are cut."""

    array: ModuleType
    frame: ModuleType
    chunks: str

    def square(self) -> Any:
        """Return an array of 40 x 40 in 16 chunks."""
        return self.ones((40, 40), 10)

    def vector(self) -> Any:
        """Return 64 numbers in four chunks."""
        return self.ones(64, 16)

    def tall(self) -> Any:
        """Return an array of 40 x 4 in four chunks of rows."""
        return self.ones((40, 4), (10, 4))

    def identity(self) -> Any:
        """Return the identity of 40 x 40 in 16 chunks."""
        return self.array.eye(40, **{self.chunks: 10})

    def ones(self, shape: Any, chunks: Any) -> Any:
        """Return ones in chunks."""
        return self.array.ones(shape, **{self.chunks: chunks})

    def uniform(self, seed: int) -> Any:
        """Return random numbers of the shape of `square`."""
        return self.array.random.RandomState(seed).uniform(size=(40, 40), **{self.chunks: 10})

    def table(self) -> Any:
        """Return a frame of 40 rows in four partitions, with a column of text."""
        rows = np.arange(40)
        columns = {"k": rows % 5, "a": rows, "b": rows / 1.0, "t": np.array(["x", "yy"])[rows % 2]}
        if self is OURS:
            return self.frame.DataFrame(pd.DataFrame(columns), chunk_size=10)
        return self.frame.from_pandas(pd.DataFrame(columns), npartitions=4)

    def numbers(self) -> Any:
        """Return the columns of a frame that hold numbers."""
        return self.table()[["a", "b"]]

    def column(self) -> Any:
        """Return one column of a frame."""
        return self.table()["b"]

    def text(self) -> Any:
        """Return the column of text."""
        return self.table()["t"]


OURS = Vocabulary(mt, md, "chunk_size")
DASK = Vocabulary(dask.array, dask.dataframe, "chunks")


class Family(NamedTuple):
    """A chain: what it starts from, and what each of its links adds to it.

    A link is given the vocabulary, the chain so far and its number.
    """

    start: Callable[[Vocabulary], Any]
    link: Callable[[Vocabulary, Any, int], Any]

    def built(self, system: Vocabulary, links: int) -> Any:
        """Return the end of a chain."""
        chain = self.start(system)
        for number in range(links):
            chain = self.link(system, chain, number)
        return chain
