"""The spans of a supervisor."""

from __future__ import annotations

import operator
from typing import Any

from marsdask.scheduler.supervisor import spans
from tests.cluster.loop import run, supervised, until


def test_spans_go_with_their_tasks(monkeypatch):
    """But for the last ones, those of results that are held, and those that users named."""
    monkeypatch.setattr(spans, "_KEPT", 3)

    async def main():
        async with supervised({}) as (supervisor, client):
            known: Any = supervisor.extensions["spans"]
            held = client.submit(operator.neg, 1, key="held-1")
            assert await held == -1
            first = next(iter(known.spans))
            for number in range(20):
                key = f"passing{number}-1"
                future = client.submit(operator.neg, number, key=key)
                assert await future == -number
                future.release()
                await until(lambda key=key: key not in supervisor.tasks, supervisor)
            assert 3 < len(known.spans) <= 7
            assert first in known.spans
            tables = (known.root_spans, known.spans_search_by_tag["default"])
            assert all([span.id for span in table] == list(known.spans) for table in tables)
            assert await client.submit(operator.neg, held, key="held-2") == 1

    run(main)
