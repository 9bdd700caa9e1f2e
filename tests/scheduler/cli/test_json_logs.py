"""Log records as JSON."""

import json
import logging
import os
import subprocess
import sys

from marsdask.scheduler.cli.json_logs import JsonFormatter
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
