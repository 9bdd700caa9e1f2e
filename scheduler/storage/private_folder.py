"""Folders in which only this user can write: files there may be run, followed or unpickled.

On the way to a folder nobody else may be able to replace a part of it. Each part belongs to this
user or to root, and others cannot write there unless it is sticky, as ``/tmp`` is: there others
add files, but rename and remove only their own. A group counts as others, unless it is this user's
own. In a pod of Kubernetes volumes are open to all, but no other user is there to write.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import dask.config

try:
    import grp
    import pwd
except ImportError:  # Windows: the folder for temporary files is the user's own
    grp = pwd = None  # type: ignore[assignment]

#: The configuration that names folders whose writers this user trusts.
TRUSTED: Final = "marsdask.trusted-directories"

#: The variable by which a process knows that it runs in a pod.
_POD: Final = "KUBERNETES_SERVICE_HOST"

#: Links on the way to a folder that are followed, as on Linux.
_LINKS: Final = 40


def temporary() -> str:
    """Return this user's private folder below the one for temporary files; create it if needed."""
    return within(tempfile.gettempdir())


def within(path: str) -> str:
    """Return a private folder: ``path`` if it is one, else one below it; create what is missing.

    Raises PermissionError if others could replace it.
    """
    create(path)
    if is_private(path):
        return path
    own = os.path.join(path, f"marsdask-{os.geteuid()}")
    # Another user may have taken the first name.
    for place in (own, *sorted(glob.glob(f"{glob.escape(own)}-*"))):
        if _is_own(place):
            return place
    return tempfile.mkdtemp(prefix=f"{os.path.basename(own)}-", dir=path)


def create(path: str) -> None:
    """Create a folder if it is missing; raise PermissionError if others could replace it."""
    with suppress(FileNotFoundError):
        check(path)
    _make(path)
    check(path)


def check(path: str) -> None:
    """Raise PermissionError if another user could replace a folder, or what this user has there."""
    if pwd is None:
        return
    trusted = _trusted()
    for part, status in _parts(path):
        if part in trusted:
            continue
        if status.st_uid not in _owners():
            raise PermissionError(
                f"{_named(part, path)} belongs to another user (uid {status.st_uid}), who could "
                f"run code here: choose another folder, or add it to {TRUSTED}"
            )
        if others_write(status) and not is_sticky(status) and _POD not in os.environ:
            raise PermissionError(
                f"other users may write to {_named(part, path)}, and so run code here: chmod go-w "
                f"or chmod +t {part}, choose another folder, or add it to {TRUSTED}"
            )


def is_private(path: str) -> bool:
    """Return whether a folder is this user's, and others cannot write to it."""
    if pwd is None:
        return True
    status = os.stat(path)
    return status.st_uid == os.geteuid() and not others_write(status)


def _is_own(place: str) -> bool:
    """Create a folder for this user alone; return whether it is one, also if it was there."""
    with suppress(FileExistsError):
        os.mkdir(place, 0o700)
    status = os.lstat(place)
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    )


def _make(path: str) -> None:
    """Create a folder and those above it, all for this user alone."""
    if not os.path.isdir(path):
        parent = os.path.dirname(os.path.abspath(path))
        if parent != path:
            _make(parent)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):  # else another process has just made it
                raise


def _parts(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the folders and links on the way to a folder, and it, with their status."""
    here, links = "/", 0
    names = os.path.join(os.getcwd(), path).split("/")[::-1]
    yield here, os.lstat(here)
    while names:
        name = names.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = os.path.dirname(here)
            continue
        step = os.path.join(here, name)
        status = os.lstat(step)
        yield step, status
        if not stat.S_ISLNK(status.st_mode):
            here = step
            continue
        if (links := links + 1) > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(step)
        here = "/" if target.startswith("/") else here
        names += target.split("/")[::-1]


def _owners() -> set[int]:
    """Return who may own what is on the way: this user, root, and whoever else owns everything.

    In a container the owner of the root directory may have another number.
    """
    return {os.geteuid(), 0, os.stat("/").st_uid}


def others_write(status: os.stat_result) -> bool:
    """Return whether others than this user and root may write to a file or folder."""
    return not stat.S_ISLNK(status.st_mode) and _others_may(
        status, group=stat.S_IWGRP, everybody=stat.S_IWOTH
    )


def others_read(path: str) -> bool:
    """Return whether others than this user and root may read a file, unless it is in a pod."""
    if pwd is None or _POD in os.environ:
        return False
    return _others_may(os.stat(path), group=stat.S_IRGRP, everybody=stat.S_IROTH)


def is_sticky(status: os.stat_result) -> bool:
    """Return whether only its owner and a folder's can rename what is in that folder."""
    return stat.S_ISDIR(status.st_mode) and bool(status.st_mode & stat.S_ISVTX)


def _others_may(status: os.stat_result, group: int, everybody: int) -> bool:
    if status.st_mode & everybody:
        return True
    return bool(status.st_mode & group) and not is_own_group(status.st_gid)


def is_own_group(gid: int) -> bool:
    """Return whether a group has no members but this user and root."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    own = gid == 0 or (gid == user.pw_gid and group.gr_name == user.pw_name)
    return own and {*group.gr_mem} <= {user.pw_name, "root"}


def _trusted() -> set[str]:
    paths = dask.config.get(TRUSTED, None) or ()
    return {os.path.realpath(path) for path in ([paths] if isinstance(paths, str) else paths)}


def _named(part: str, path: str) -> str:
    return part if part == os.path.abspath(path) else f"{part}, which is on the way to {path},"
