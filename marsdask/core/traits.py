"""Traits: what is known of rows besides their number, and of which rows lie in which chunk."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias


@dataclass(frozen=True)
class Level:
    """A level of the row labels, as a key; a column is a key by its label."""

    number: int = 0


@dataclass(frozen=True)
class SeriesValues:
    """The values of a series, as a key."""


VALUES = SeriesValues()

#: The key that stands in a result for a key of an input, ``None`` if none has its values.
Carry: TypeAlias = Callable[[Hashable], Hashable | None]


class SortKey(NamedTuple):
    """A key that rows are sorted by."""

    key: Hashable
    ascending: bool = True
    na_first: bool | None = None
    """The position of missing values; ``None`` if there are none."""

    def meets(self, wanted: SortKey) -> bool:
        """Tell whether rows in this order are in the wanted one."""
        return self[:2] == wanted[:2] and self.na_first in {None, wanted.na_first}


#: Keys that rows are sorted by, the first one first.
Ordering: TypeAlias = tuple[SortKey, ...]


@dataclass(frozen=True)
class Traits:
    """What is known of a node's rows.

    Missing values are equal to each other here, as they are to ``drop_duplicates`` and ``merge``.
    """

    rows: str
    """A name of the rows and their labels: equal names are equal rows."""
    orderings: tuple[Ordering, ...] = ()
    """In which orders the rows are, each of them a fact of its own."""
    unique: tuple[frozenset[Hashable], ...] = ()
    """Sets of keys of which no two rows have the same values."""

    def is_unique(self, keys: Iterable[Hashable]) -> bool:
        """Tell whether no two rows have the same values of some keys."""
        key_set = frozenset(keys)
        return any(unique_keys <= key_set for unique_keys in self.unique)

    def is_sorted(self, wanted: Sequence[SortKey]) -> bool:
        """Tell whether a stable sort would leave all rows where they are."""
        return any(self._meets(ordering, wanted) for ordering in self.orderings)

    def _meets(self, ordering: Ordering, wanted: Sequence[SortKey]) -> bool:
        for position, key in enumerate(wanted):
            if self.is_unique(sort_key.key for sort_key in wanted[:position]):
                return True  # no two rows are equal so far: further keys decide nothing
            if position == len(ordering) or not ordering[position].meets(key):
                return False
        return True

    def of(self, rows: str) -> Traits:
        """Return what holds of some of the rows in the same order, which go by another name."""
        return replace(self, rows=rows)

    def sorted_by(self, first: Ordering) -> Traits:
        """Return what holds after a stable sort: rows that are equal keep their order."""
        keys = {sort_key.key for sort_key in first}
        orderings = [
            first + tuple(sort_key for sort_key in ordering if sort_key.key not in keys)
            for ordering in self.orderings or ((),)
        ]
        return replace(self, orderings=tuple(dict.fromkeys(orderings)))

    def unordered(self) -> Traits:
        """Return what holds of the rows in any order."""
        return replace(self, orderings=())

    def and_unique(self, keys: Iterable[Hashable]) -> Traits:
        """Return what holds if no two rows have the same values of some keys, too."""
        return replace(self, unique=tuple(dict.fromkeys((*self.unique, frozenset(keys)))))

    def and_those(self, others: Traits) -> Traits:
        """Return what holds if all that ``others`` say of these rows holds, too."""
        orderings = tuple(dict.fromkeys((*self.orderings, *others.orderings)))
        unique = tuple(dict.fromkeys((*self.unique, *others.unique)))
        return replace(self, orderings=orderings, unique=unique)

    def carried(self, carry: Carry) -> Traits:
        """Return what holds of the keys that a result has."""
        if not (self.orderings or self.unique):
            return self
        orderings = (_carried_order(ordering, carry) for ordering in self.orderings)
        unique = (_carried_keys(keys, carry) for keys in self.unique)
        return Traits(
            self.rows,
            tuple(dict.fromkeys(ordering for ordering in orderings if ordering)),
            tuple(dict.fromkeys(frozenset(keys) for keys in unique if keys is not None)),
        )


def _carried_order(ordering: Ordering, carry: Carry) -> Ordering:
    """Return as much of an order as is left: up to the first key that is not."""
    sort_keys: list[SortKey] = []
    for sort_key in ordering:
        key = carry(sort_key.key)
        if key is None:
            break
        sort_keys.append(sort_key._replace(key=key))
    return tuple(sort_keys)


def _carried_keys(keys: Iterable[Hashable], carry: Carry) -> tuple[Hashable, ...] | None:
    carried = tuple(map(carry, keys))
    return None if any(key is None for key in carried) else carried


@dataclass(frozen=True)
class Partitioning:
    """Which rows lie in which chunk: all rows of equal keys lie in one."""

    by: Literal["hash", "ranges"]
    keys: tuple[Hashable, ...]
    casts: tuple[Any, ...] = ()
    """To what each key is cast before it is hashed, ``None`` for as is."""

    def holds_whole(self, keys: Iterable[Hashable]) -> bool:
        """Tell whether all rows of equal ``keys`` lie in one chunk."""
        return set(self.keys) <= set(keys)

    def carried(self, carry: Carry) -> Partitioning | None:
        """Return the same of the keys that a result has, ``None`` where it lacks one."""
        keys = _carried_keys(self.keys, carry)
        return None if keys is None else replace(self, keys=keys)


def kept(partitioning: Partitioning | None, carry: Carry) -> Partitioning | None:
    """Return the partitioning of a map over chunks: that of the keys that are left."""
    return None if partitioning is None else partitioning.carried(carry)
