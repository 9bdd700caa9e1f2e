"""Log lines that repeat."""

import logging

from marsdask.scheduler.cli.log_limit import LogLimit


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self):
        return self.now


def test_a_message_is_logged_so_often():
    """Its arguments do not matter; another message has its own count; the next period tells."""
    clock = Clock()
    limit = LogLimit(most=2, period=10, clock=clock)

    def logged(message, *arguments):
        record = logging.LogRecord("one", logging.INFO, "", 0, message, arguments, None)
        return record.getMessage() if limit.filter(record) else None

    lines = [logged("failed: %s", number) for number in range(5)]
    assert lines == ["failed: 0", "failed: 1", None, None, None]
    assert logged("other") == "other"
    clock.now = 10
    assert logged("failed: %s", 5) == "failed: 5 (3 more lines of this kind were not logged)"
    assert [logged("failed: %s", 6), logged("failed: %s", 7)] == ["failed: 6", None]


def test_memory_is_bounded():
    """Messages that are all different do not gather."""
    limit = LogLimit()
    for number in range(2500):
        record = logging.LogRecord("one", logging.INFO, "", 0, str(number), (), None)
        assert limit.filter(record)
    assert len(limit._counts) <= 1000
