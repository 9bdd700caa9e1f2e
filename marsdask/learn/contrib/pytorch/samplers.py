"""Orders of the items of a data set."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence, Sized
from typing import Any

import numpy as np


def _generator(given: Any) -> np.random.Generator:
    """Return NumPy's generator of a seed, or of the seed of torch's generator."""
    seed = given.initial_seed() if hasattr(given, "initial_seed") else given
    return np.random.default_rng(seed)


class SequentialSampler:
    """The items in order. See torch.utils.data.SequentialSampler.

    Examples
    --------
    >>> from marsdask.learn.contrib.pytorch import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler:
    """The items in another order each time. See torch.utils.data.RandomSampler.

    Differs from PyTorch: draws by NumPy, so that torch's generator only gives its seed.

    Parameters
    ----------
    data_source : sized
        The data set.
    replacement : bool
        Whether items may be drawn several times.
    num_samples : int, optional
        How many are drawn; by default as many as there are.
    generator : int, numpy.random.Generator or torch.Generator, optional
        The seed.

    Raises
    ------
    ValueError
        If ``num_samples`` is not positive, or there are no items to draw from.

    Examples
    --------
    >>> from marsdask.learn.contrib.pytorch import RandomSampler
    >>> sorted(RandomSampler("abc", generator=0))
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        if num_samples is not None and num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer, got {num_samples}")
        if num_samples is not None and not len(data_source):
            raise ValueError(f"cannot draw {num_samples} samples from an empty data set")
        self.data_source = data_source
        self.replacement = replacement
        self._wanted = num_samples
        self._draws = _generator(generator)

    @property
    def num_samples(self) -> int:
        """How many items are drawn."""
        return len(self.data_source) if self._wanted is None else self._wanted

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if self.replacement:
            yield from self._draws.integers(0, count, self.num_samples).tolist()
            return
        number = self.num_samples if count else 0
        while number > 0:  # more than there are: in several rounds
            yield from self._draws.permutation(count)[:number].tolist()
            number -= count

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler:
    """Some items in another order each time. See torch.utils.data.SubsetRandomSampler.

    Differs from PyTorch: draws by NumPy, so that torch's generator only gives its seed.

    Examples
    --------
    >>> from marsdask.learn.contrib.pytorch import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([5, 2], generator=0))
    [2, 5]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self._draws = _generator(generator)

    def __iter__(self) -> Iterator[int]:
        for place in self._draws.permutation(len(self.indices)):
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class DistributedSampler:
    """The items that one of several processes takes. See torch.utils.data.DistributedSampler.

    Differs from PyTorch: draws by NumPy. Inside of :func:`run_pytorch_script` the process and their
    number need not be given.

    Parameters
    ----------
    dataset : sized
        The data set.
    num_replicas, rank : int, optional
        The number of processes, and which one this is; by default as the environment says.
    shuffle : bool
        Whether each epoch has an order of its own.
    seed : int
        The seed, which has to be the same in all processes.
    drop_last : bool
        Whether items that do not make a full round are left out; otherwise some are taken twice.

    Raises
    ------
    ValueError
        If there is no such process.

    Examples
    --------
    >>> from marsdask.learn.contrib.pytorch import DistributedSampler
    >>> [list(DistributedSampler("abcde", 2, rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        getenv = os.environ.get
        self.num_replicas = int(getenv("WORLD_SIZE", 1)) if num_replicas is None else num_replicas
        self.rank = int(getenv("RANK", 0)) if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval "
                f"[0, {self.num_replicas - 1}]"
            )
        self.dataset = dataset
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch.

        Parameters
        ----------
        epoch : int
            Its number.

        Examples
        --------
        >>> from marsdask.learn.contrib.pytorch import DistributedSampler
        >>> DistributedSampler("abc", 1, 0).set_epoch(1)
        """
        self.epoch = epoch

    def generate_indices(self) -> list[int]:
        """Return the items of this process.

        Returns
        -------
        list of int
            Their numbers.

        Examples
        --------
        >>> from marsdask.learn.contrib.pytorch import DistributedSampler
        >>> DistributedSampler("abcd", 2, 1, shuffle=False).generate_indices()
        [1, 3]
        """
        count = len(self.dataset)
        order = np.arange(count)
        if self.shuffle:
            order = np.random.default_rng((self.seed, self.epoch)).permutation(count)
        every = np.resize(order, len(self) * self.num_replicas)
        return [int(place) for place in every[self.rank :: self.num_replicas]]

    def __iter__(self) -> Iterator[int]:
        return iter(self.generate_indices())

    def __len__(self) -> int:
        share = len(self.dataset) / self.num_replicas
        return math.floor(share) if self.drop_last else math.ceil(share)
