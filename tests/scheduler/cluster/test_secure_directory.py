"""The files of ``mars-supervisor --secure``."""

import datetime as dt
import os

import pytest

from marsdask.scheduler.cluster import authority
from marsdask.scheduler.cluster.secure_directory import folder, prepare


def test_where_it_is():
    """Its variable goes before the configuration's."""
    assert str(folder({"MARS_SECURE_DIR": "/a"})) == "/a"
    assert str(folder({"XDG_CONFIG_HOME": "/b"})) == "/b/marsdask/secure"


def test_it_is_kept(tmp_path):
    """Authority and secret are those of the first start; only this user may read them."""
    place = tmp_path / "secure"
    first, again = prepare(place), prepare(place)
    assert first.secret == again.secret
    assert first.token(7005) == again.token(7005)
    assert place.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in place.iterdir()} == {0o600}
    assert len(list(place.iterdir())) == 5, "nothing else is left"
    assert int(first.secret, 16), "no dash may begin it: the lines give it after an option"
    lines = first.lines("h", 1, 2)
    assert first.secret not in repr(first)
    assert all(first.secret in line for line in lines)


def test_what_others_may_read_is_refused(tmp_path):
    """The directory, the key of the authority, and the secret."""
    place = tmp_path / "secure"
    prepare(place)
    for path in (place, place / "ca.key", place / "token"):
        mode = path.stat().st_mode
        path.chmod(0o755)
        with pytest.raises(ValueError, match="other users"):
            prepare(place)
        path.chmod(mode)
    tmp_path.chmod(0o777)
    with pytest.raises(ValueError, match="other users may write"):
        prepare(place)
    tmp_path.chmod(0o700)
    (place / "ca.pem").write_text("no certificate")
    with pytest.raises(ValueError, match="invalid file"):
        prepare(place)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="NOT TESTED WITHOUT ROOT: gives away"
)
@pytest.mark.parametrize("name", [".", "ca.key", "token"])
def test_what_another_user_made_is_refused(name, tmp_path):
    """They would know the secret, and could sign."""
    place = tmp_path / "secure"
    prepare(place)
    os.chown(place / name, 54321, 54321)
    with pytest.raises(ValueError, match="belongs to another user"):
        prepare(place)


def test_an_authority_that_ends(tmp_path, monkeypatch, caplog):
    """It is said before that, and refused afterwards."""
    place = tmp_path / "secure"
    prepare(place)
    assert not caplog.messages
    for name in ("ca.pem", "ca.key"):
        (place / name).unlink()
    monkeypatch.setattr(authority, "_AUTHORITY_VALID", dt.timedelta(days=89))
    prepare(place)
    assert f"the authority in {place} expires on " in caplog.text
    for name in ("ca.pem", "ca.key"):
        (place / name).unlink()
    monkeypatch.setattr(authority, "_AUTHORITY_VALID", dt.timedelta(minutes=-1))
    with pytest.raises(ValueError, match=f"has expired on .*: delete {place}"):
        prepare(place)


def test_a_key_of_another_authority(tmp_path):
    """The start says so, not each connection."""
    prepare(tmp_path / "a")
    prepare(tmp_path / "b")
    (tmp_path / "a" / "ca.key").write_bytes((tmp_path / "b" / "ca.key").read_bytes())
    with pytest.raises(ValueError, match="of another key"):
        prepare(tmp_path / "a")
