"""Where results are: for clients that fetch them from workers, or in parts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..base import Key


def holders(scheduler: Any, keys: Collection[Key]) -> dict[str, Any]:
    """Return the size and the holders of each known result, and the id of each holder."""
    found = [ts for key in keys if (ts := scheduler.tasks.get(key)) is not None and ts.who_has]
    workers = {ws for ts in found for ws in ts.who_has}
    return {
        "sizes": {ts.key: ts.get_nbytes() for ts in found},
        "holders": {ts.key: [ws.address for ws in ts.who_has] for ts in found},
        "ids": {ws.address: ws.server_id for ws in workers},
    }
