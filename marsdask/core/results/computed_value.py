"""Values in memory that answer as executed collections do."""

from __future__ import annotations

from typing import Any, Self


class Known:
    """The methods of an executed collection, for a value in memory."""

    __slots__ = ()

    def execute(self, session: Any = None, **kwargs: Any) -> Self:
        """Return the value itself: it is computed already."""
        return self

    def fetch(self, session: Any = None, **kwargs: Any) -> Any:
        """Return the plain value."""
        return self._plain()

    def to_numpy(self, session: Any = None, **kwargs: Any) -> Any:
        """Return the plain value."""
        return self._plain()

    def _plain(self) -> Any:
        """Return the value as a type that has none of these methods."""
        raise NotImplementedError
