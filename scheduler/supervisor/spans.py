"""distributed's spans: its record of each submission, until all its tasks are forgotten."""

from __future__ import annotations

from typing import Any

from distributed.spans import SpansSchedulerExtension

#: The name of unnamed spans.
_NAMELESS = ("default",)

#: Number of unnamed spans that are always kept.
_KEPT = 100


class LimitedSpans(SpansSchedulerExtension):
    """Keeps a limited number of unnamed spans of this scheduler.

    distributed creates a span for each job, with task groups and many metrics, and never removes
    it. Spans that users named stay.
    """

    def __init__(self, scheduler: Any) -> None:
        super().__init__(scheduler)
        self._look_again = 2 * _KEPT

    def heartbeat(self, ws: Any, data: dict[tuple[Any, ...], float]) -> None:
        """Add the metrics of known spans; workers report an earlier supervisor's spans, too."""
        super().heartbeat(ws, {key: took for key, took in data.items() if key[1] in self.spans})

    def observe_tasks(self, *args: Any, **options: Any) -> Any:
        """Record tasks, and remove some finished spans."""
        observed = super().observe_tasks(*args, **options)
        if len(self.spans_search_by_name.get(_NAMELESS, ())) >= self._look_again:
            self._forget()
        return observed

    def _forget(self) -> None:
        nameless = self.spans_search_by_name[_NAMELESS]
        task_groups = self.scheduler.task_groups
        finished = {
            span.id
            for span in nameless[:-_KEPT]
            # New tasks of a group look up its span.
            if not any(task_groups.get(group.name) is group for group in span.groups)
        }
        for table in (self.root_spans, nameless, self.spans_search_by_tag[_NAMELESS[0]]):
            table[:] = [span for span in table if span.id not in finished]
        for number in finished:
            del self.spans[number]
        self._look_again = len(nameless) + _KEPT
