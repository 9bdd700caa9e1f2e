"""The file for logging that is used without an option."""

import logging
import os

import pytest

from marsdask.scheduler.cli import logs
from marsdask.scheduler.storage import private_folder

CONF = """[loggers]
keys=root
[handlers]
keys=one
[formatters]
keys=
[logger_root]
level=INFO
handlers=one
[handler_one]
class=NullHandler
args=(open("ran", "w").close(),)[:0]
"""


@pytest.fixture
def _given(tmp_path, monkeypatch):
    """Make the file in the working directory; nothing of what it sets outlives the test."""
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    (tmp_path / "logging.conf").write_text(CONF)
    (tmp_path / "logging.conf").chmod(0o644)
    before = [logging.getLogger(name) for name in (None, *logs.LOGGERS)]
    kept = [(one, one.level, one.handlers[:], one.propagate) for one in before]
    yield
    for one, level, handlers, propagate in kept:
        one.level, one.handlers, one.propagate = level, handlers, propagate


def give_away(path, monkeypatch):
    """Let a file belong to another user, who is not root."""
    if os.geteuid() == 0:
        os.chown(path, 12345, -1, follow_symlinks=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)


def ran():
    """Say whether the expressions of the file have been evaluated."""
    logs.configure(None, None, None, {})
    return os.path.exists("ran")


@pytest.mark.usefixtures("_given")
def test_the_file_of_this_user(tmp_path, capsys):
    """It is used, in a sticky directory as well."""
    tmp_path.chmod(0o1777)
    assert ran()
    assert "ignoring" not in capsys.readouterr().err


@pytest.mark.usefixtures("_given")
@pytest.mark.parametrize("how", ["file", "folder", "owner", "link", "group", "group-of-folder"])
def test_a_file_that_others_may_have_written(how, tmp_path, monkeypatch, capsys):
    """Its expressions could do anything: it is named and not read, unless it is asked for."""
    path = tmp_path / "logging.conf"
    if how.startswith("group"):
        monkeypatch.setattr(private_folder, "is_own_group", lambda gid: False)
        (tmp_path if "folder" in how else path).chmod(0o775)
    elif how == "file":
        path.chmod(0o666)
    elif how == "folder":
        tmp_path.chmod(0o777)
    else:
        if how == "link":
            path.rename(tmp_path / "other.conf")
            path.symlink_to("other.conf")
        give_away(path, monkeypatch)
    assert not ran()
    assert f"ignoring {path}, which another user may have written" in capsys.readouterr().err
    logs.configure(None, None, str(path), {})
    assert os.path.exists("ran")
