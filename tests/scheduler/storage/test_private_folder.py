"""Folders that only this user can write to."""

import os
import stat
from types import SimpleNamespace

import dask.config
import pytest

from marsdask.scheduler.storage import private_folder
from marsdask.scheduler.storage.private_folder import check, create, is_private, within

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners and modes")

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="NOT TESTED WITHOUT ROOT: gives away"
)

#: A user and a group that are not this one's.
OTHER = 54321


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """Be in no pod, whatever runs the tests."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "given"
    path.mkdir(mode=0o700)
    return path


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
def test_a_folder_of_ones_own(folder, mode):
    """It is used itself, also if others may read it."""
    folder.chmod(mode)
    assert within(str(folder)) == str(folder)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("missing", ["new", "new/and/deep"])
def test_a_missing_folder(folder, missing):
    """It is created with all above it, for this user alone, whatever the umask is."""
    before = os.umask(0)
    try:
        made = within(str(folder / missing))
    finally:
        os.umask(before)
    assert made == str(folder / missing)
    for path in folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.parametrize("where", ["folder", "above", "below-a-link"])
def test_where_others_may_write(folder, where):
    """They could rename what is there, so it is refused, and the error says what helps."""
    path = folder / "below"
    path.mkdir()
    open_one = path if where == "folder" else folder
    open_one.chmod(0o777)
    if where == "below-a-link":
        link = folder.parent / "link"
        link.symlink_to(path)
        path = link
    with pytest.raises(PermissionError, match=rf"write to {open_one}.* chmod go-w or chmod \+t"):
        within(str(path))
    with dask.config.set({"marsdask.trusted-directories": str(open_one)}):
        check(str(path))


@pytest.mark.parametrize("sticky", [True, False])
def test_a_shared_folder(folder, sticky, monkeypatch):
    """Like ``/tmp``, or a volume of a pod: there this user has a private one, always the same."""
    folder.chmod(0o1777 if sticky else 0o777)
    if not sticky:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    made = within(str(folder))
    assert os.path.dirname(made) == str(folder)
    assert is_private(made)
    assert stat.S_IMODE(os.stat(made).st_mode) == 0o700
    assert within(str(folder)) == made


@pytest.mark.parametrize("taken", ["open", "link", "file"])
def test_a_name_that_is_taken(folder, taken):
    """What stands there is neither used nor followed: another name is, for later calls too."""
    folder.chmod(0o1777)
    name = folder / f"marsdask-{os.geteuid()}"
    if taken == "open":
        name.mkdir()
        name.chmod(0o777)
    elif taken == "link":
        name.symlink_to(folder.parent)
    else:
        name.touch()
    made = within(str(folder))
    assert made.startswith(f"{name}-")
    assert is_private(made)
    assert within(str(folder)) == made


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o1777])
@pytest.mark.parametrize("above", [False, True])
def test_what_belongs_to_another(folder, mode, above):
    """Its owner can rename what is there, also if it is sticky."""
    path = folder / "below"
    path.mkdir()
    theirs = folder if above else path
    theirs.chmod(mode)
    os.chown(theirs, OTHER, OTHER)
    with pytest.raises(PermissionError, match=rf"{theirs}.* belongs to another user"):
        create(str(path))
    with dask.config.set({"marsdask.trusted-directories": [str(theirs)]}):
        create(str(path))


@needs_root
def test_a_link_of_another(folder):
    """It may lead elsewhere tomorrow."""
    folder.chmod(0o1777)
    (folder / "target").mkdir()
    (folder / "link").symlink_to("target")
    os.lchown(folder / "link", OTHER, OTHER)
    with pytest.raises(PermissionError, match="another user"):
        check(str(folder / "link"))
    check(str(folder / "target"))


@needs_root
def test_another_group(folder):
    """Its members are others, while nobody but root is in root's group."""
    folder.chmod(0o770)
    assert within(str(folder)) == str(folder)
    os.chown(folder, 0, OTHER)
    with pytest.raises(PermissionError, match="other users may write"):
        check(str(folder))


@pytest.mark.parametrize(
    ("user", "group", "members", "own"),
    [
        ("me", "me", [], True),
        ("me", "me", ["me", "root"], True),
        ("me", "me", ["me", "you"], False),
        ("me", "users", [], False),
    ],
)
def test_the_group_of_one_user(monkeypatch, user, group, members, own):
    """Many systems give each user a group, of the same name and with no members."""
    entries = SimpleNamespace(
        getpwuid=lambda uid: SimpleNamespace(pw_name=user, pw_gid=1000),
        getgrgid=lambda gid: SimpleNamespace(gr_name=group, gr_mem=members),
    )
    monkeypatch.setattr(private_folder, "pwd", entries)
    monkeypatch.setattr(private_folder, "grp", entries)
    assert private_folder.is_own_group(1000) is own
    assert not private_folder.is_own_group(1001)


def test_links_in_a_circle(folder):
    """They end with the system's error."""
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("../given/a")
    with pytest.raises(OSError, match="symbolic links"):
        check(str(folder / "a"))


def test_relative_ways(folder, monkeypatch):
    """They start in the working directory, and ``..`` leads to where a link's target is."""
    (folder / "inner").mkdir()
    (folder.parent / "link").symlink_to("given/inner")
    folder.chmod(0o777)
    monkeypatch.chdir(folder.parent)
    with pytest.raises(PermissionError, match=f"{folder}"):
        check("link/..")
    check(".")
