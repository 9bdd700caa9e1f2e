"""A session of a client, on which the Dask interface of a library is seen to learn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client

import marsdask


@contextmanager
def session_that_sees(monkeypatch: Any, kind: Any) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Yield the session, and the arguments of each ``fit`` of a class of the interface."""
    seen: list[dict[str, Any]] = []
    fit = kind.fit

    def noted(self: Any, X: Any, y: Any, **how: Any) -> Any:
        seen.append({"X": X, "y": y, **how})
        return fit(self, X, y, **how)

    monkeypatch.setattr(kind, "fit", noted)
    with (
        Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
        ) as client,
        marsdask.new_session(client) as session,
    ):
        yield session, seen
