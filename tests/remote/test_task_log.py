"""The logs of calls: apart from each other, within bounds, and readable while functions run."""

# ruff: noqa: T201 - printing is what is tested

from __future__ import annotations

import os
import stat
import sys
import tempfile
import threading

import marsdask
import marsdask.remote as mr
from marsdask.remote import task_log
from marsdask.remote.names import NAMES
from marsdask.remote.task_log import CallLog, LogsInMemory, capturing, read_log


def test_the_log_of_a_call_is_bounded(monkeypatch):
    """What exceeds the limit of a call is dropped, and the log says so."""
    monkeypatch.setattr(task_log, "ONE_LIMIT", 10)
    log = CallLog(name := NAMES.new())
    for text in ("12345", "6789", "abc", "def"):
        log.write(text)
    log.flush()
    assert read_log(name) == "123456789a\n[the rest of the log is not kept]\n"


def test_logs_of_children_are_their_users_alone(monkeypatch, tmp_path):
    """The folder they write to is closed to others, whatever the umask says."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = os.umask(0)
    try:
        log = CallLog(name := "another-process-0")
        log.write("secret")
        log.flush()
    finally:
        os.umask(before)
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert read_log(name) == "secret"


def test_all_logs_together_are_bounded():
    """The oldest logs are dropped first; the one that is written is kept."""
    logs = LogsInMemory(limit=10)
    for name in "abc":
        logs.add(name, name * 4)
    assert [logs.text(name) for name in "abc"] == ["", "bbbb", "cccc"]
    logs.add("d", "d" * 20)
    assert logs.text("d") == "d" * 20


def test_only_the_call_that_prints_is_logged(capsys):
    """Calls that run at the same time have logs of their own; the output has everything."""
    first, second = NAMES.new(), NAMES.new()
    with capturing(first):
        print("one")
        with capturing(second):
            print("two")
        other = threading.Thread(target=print, args=("nobody's",))
        other.start()
        other.join()
    print("after")
    assert (read_log(first), read_log(second)) == ("one\n", "two\n")
    assert capsys.readouterr().out == "one\ntwo\nnobody's\nafter\n"
    assert not isinstance(sys.stdout, task_log.LoggedOutput)


def test_all_that_is_written_is_logged(capsys):
    """To write several texts is to write each."""
    with capturing(name := NAMES.new()):
        sys.stdout.writelines(["one\n", "two\n"])
    assert read_log(name) == "one\ntwo\n"
    assert capsys.readouterr().out == "one\ntwo\n"


def talk(said: threading.Event, go_on: threading.Event) -> None:
    print("begun")
    said.set()
    go_on.wait(60)
    print("ended")


def test_logs_are_live():
    """A log can be fetched while the function runs, and the rest later."""
    said, go_on = threading.Event(), threading.Event()
    with marsdask.new_session("threads", n_workers=1):
        call = mr.spawn(talk, (said, go_on))
        future = call.execute(wait=False)
        assert said.wait(60)
        log = call.fetch_log()
        assert (str(log), log.offsets) == ("begun\n", [6])
        go_on.set()
        future.result()
        log.fetch()
        assert str(log) == "ended\n"
        assert str(call.fetch_log(offsets=2, sizes=[3])) == "gun"


def test_logs_of_several_calls():
    """Tuples of calls have a log each; what prints nothing has an empty one."""
    with marsdask.new_session("synchronous"):
        calls = mr.ExecutableTuple([mr.spawn(print, (word,)) for word in ("a", "b")])
        calls.execute()
        assert list(map(str, calls.fetch_log())) == ["a\n", "b\n"]
        for fetch_log in (marsdask.fetch_log, mr.fetch_log):
            assert list(map(str, fetch_log(list(calls)))) == ["a\n", "b\n"]
        silent = mr.spawn(len, ([],)).execute().fetch_log()
        assert (len(silent), str(silent), repr(silent)) == (0, "", "''")
