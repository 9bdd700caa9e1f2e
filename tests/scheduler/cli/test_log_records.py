"""Log records: as JSON, and those that repeat."""

import json
import logging
import os
import subprocess
import sys

from marsdask.scheduler.cli.log_records import JsonFormatter, LogLimit
from tests.source import ROOT

#: A command and a process that it starts, such as one of workers.
RUN = """
import logging, subprocess, sys
from marsdask.scheduler.cli import logs
logs.configure("info", "json", None)
logging.getLogger("marsdask.scheduler").info("a %s", "parent")
logging.getLogger("marsdask.scheduler").debug("not told")
child = "import distributed, logging; logging.getLogger('distributed.worker').warning('a child')"
subprocess.run([sys.executable, "-c", child], check=True)
"""


def test_a_line_of_each_record():
    """Whatever the message is, a record is one line; an error has its traceback."""
    record = logging.LogRecord("a.b", logging.ERROR, __file__, 1, 'x "%s"\n\u00e9', ("y",), None)
    record.created, record.process = 1.5, 7
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line) == {
        "time": "1970-01-01T00:00:01.500+00:00",
        "level": "error",
        "logger": "a.b",
        "message": 'x "y"\n\u00e9',
        "process": 7,
    }
    try:
        raise ValueError("why")
    except ValueError:
        record.exc_info = sys.exc_info()
    told = json.loads(JsonFormatter().format(record))
    assert told["error"].endswith("ValueError: why")


def test_processes_of_workers_write_json_too():
    """They configure their logging when they import distributed; the level is the command's."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(one["level"], one["logger"], one["message"]) for one in told] == [
        ("info", "marsdask.scheduler", "a parent"),
        ("warning", "distributed.worker", "a child"),
    ]
    assert told[0]["process"] != told[1]["process"]


class StoppedClock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self):
        return self.now


def test_a_message_is_logged_so_often():
    """Its arguments do not matter; another message has its own count; the next period tells."""
    clock = StoppedClock()
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
