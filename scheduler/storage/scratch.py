"""A folder for the files of a running task, which ends with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..errors import SpillFull
from . import private_folder
from .spill_directories import SpillDirectories, full, refusal, room


class ScratchFolder:
    """A folder of this process alone; a tenth of its disk stays free."""

    def __init__(self, path: str) -> None:
        self.path = path

    def check_room(self) -> None:
        """Raise SpillFull if no more may be written."""
        if not room(self.path):
            raise full([f"{self.path}: a tenth of the disk stays free"])

    def refused(self, error: OSError) -> SpillFull:
        """Return the error for a file that could not be written."""
        return full([refusal(self.path, error)])


@contextmanager
def scratch_folder(folders: Sequence[str] | None) -> Iterator[ScratchFolder | None]:
    """Give a folder below that of ``folders`` with the most room; nothing if there is none.

    None stands for the place of this process: a worker's own folder, or that for temporary files.
    """
    places = _own_places() if folders is None else folders
    if not places:
        yield None
        return
    directories = SpillDirectories(places)
    try:
        yield ScratchFolder(directories.path(max(places, key=room)))
    finally:
        directories.close()


def _own_places() -> list[str]:
    from distributed import get_worker

    try:
        return [get_worker().local_directory]
    except ValueError:
        return [private_folder.temporary()]
