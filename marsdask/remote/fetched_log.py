"""The printed output of functions so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marsdask.scheduler.base import HoldsFutures

from .task_log import read_log

#: Characters of a log that one call returns.
_SIZE = 2**20


class FetchedLog:
    r"""A part of the logs of some calls; its text is that of the only one, or of all with names.

    Parameters
    ----------
    names : sequence of str
        The names of the calls.
    session : Session, optional
        The session that runs them.

    Examples
    --------
    >>> import marsdask.remote as mr
    >>> called = mr.spawn(print, args=("to work",)).execute()
    to work
    >>> str(called.fetch_log())
    'to work\n'
    """

    def __init__(self, names: Sequence[str], session: Any = None) -> None:
        scheduler = None if session is None else session.scheduler
        self._client = scheduler.client if isinstance(scheduler, HoldsFutures) else None
        self._ends = dict.fromkeys(names, 0)
        self._parts: dict[str, str] = {}

    @property
    def chunk_op_keys(self) -> list[str]:
        """The names of the calls that have printed anything."""
        return list(self._parts)

    @property
    def results(self) -> list[str]:
        """The last part of each log that was fetched."""
        return list(self._parts.values())

    @property
    def offsets(self) -> list[int]:
        """The position at which the next part of each log begins."""
        return [self._ends[name] for name in self._parts]

    def fetch(self, offsets: Any = None, sizes: Any = None) -> None:
        r"""Fetch the next part of each log.

        Parameters
        ----------
        offsets : int, sequence of int or mapping, optional
            Where to begin, of all or by call; by default where the last part ended.
        sizes : int, sequence of int or mapping, optional
            The most characters to fetch; by default a million.

        Examples
        --------
        >>> import marsdask.remote as mr
        >>> call = mr.spawn(print, args=("to work",)).execute()
        to work
        >>> log = call.fetch_log(sizes=3)
        >>> log.fetch()
        >>> str(log)
        'work\n'
        """
        for position, name in enumerate(self._ends):
            begin = _of(offsets, position, name, self._ends[name])
            end = begin + _of(sizes, position, name, _SIZE)
            text = read_log(name, self._client)
            if text:
                self._parts[name] = text[begin:end]
                self._ends[name] = min(end, len(text))

    def __len__(self) -> int:
        return len(self._parts)

    def __str__(self) -> str:
        if len(self) == 1:
            return next(iter(self._parts.values()))
        return "".join(
            f"\nChunk op key: {name}\nOut:\n{text}" for name, text in self._parts.items()
        )

    def __repr__(self) -> str:
        return repr(str(self))


def _of(given: Any, position: int, name: str, default: int) -> int:
    """Return the number for a call: one for all, by position, or by name."""
    if given is None:
        return default
    if isinstance(given, Mapping):
        return int(given.get(name, default))
    if isinstance(given, Sequence):
        return int(given[position]) if position < len(given) else default
    return int(given)
