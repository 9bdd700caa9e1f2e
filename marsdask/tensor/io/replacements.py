"""Targets that are written beside what has their name, and replace it when all is written."""

from __future__ import annotations

import os
import threading
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marsdask.core.files.places import Place, file_place
from marsdask.core.files.replacement import beside, remove, take_place

#: How many threads of this process write to each target, by its mark; those that have failed.
_WRITING: Counter[str] = Counter()
_FAILED: set[str] = set()
_CHANGED = threading.Condition()


def unique_mark() -> str:
    """Return a text that no other writing has."""
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Replacement:
    """A file or a folder that is written beside."""

    path: str
    mark: str = field(default_factory=unique_mark, kw_only=True)
    """A part of the names of incomplete files that no other write uses."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The target, which is replaced and read back."""
        return (file_place(self.path),)

    @property
    def new(self) -> str:
        """The temporary place of an incomplete target."""
        return beside(self.path, self.mark)

    def begin(self) -> None:
        """Make room for the blocks."""
        raise NotImplementedError

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block beside."""
        raise NotImplementedError

    def write_unless_failed(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block beside, unless another has failed in this process."""
        with _CHANGED:
            if self.mark in _FAILED:
                return
            _WRITING[self.mark] += 1
        try:
            self.write(parts, block)
        finally:
            with _CHANGED:
                _WRITING[self.mark] -= 1
                if not _WRITING[self.mark]:
                    del _WRITING[self.mark]
                    _CHANGED.notify_all()

    def finish(self) -> None:
        """Give it its name."""
        take_place(self.new, self.path)

    def discard(self) -> None:
        """Remove what is incomplete, once no thread of this process writes to it."""
        with _CHANGED:
            _FAILED.add(self.mark)
            _CHANGED.wait_for(lambda: self.mark not in _WRITING)
        remove(self.new)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        """Read a part of what was written."""
        raise NotImplementedError


@dataclass(frozen=True)
class ZarrReplacement(Replacement):
    """A zarr array in a local folder, alone or in a group."""

    root: str
    name: str | None
    settings: Mapping[str, Any] = field(repr=False)

    @property
    def new(self) -> str:
        """The temporary place of an incomplete target, outside of the group."""
        return beside(self.root, self.mark)

    def begin(self) -> None:
        """Make the array."""
        # zarr is optional.
        import zarr

        zarr.create_array(self.new, overwrite=True, **self.settings)

    def write(self, parts: tuple[slice, ...], block: Any) -> None:
        """Write a block beside."""
        # zarr is optional.
        import zarr

        array = zarr.open_array(self.new, mode="r+")
        array[parts] = block
        name = "zarr.json" if array.metadata.zarr_format == 3 else ".zarray"
        if not os.path.exists(os.path.join(self.new, name)):
            # Another task has failed meanwhile; zarr makes missing folders.
            remove(self.new)

    def finish(self) -> None:
        """Move the array to its place, and make the groups above it."""
        # zarr is optional.
        import zarr

        if not os.path.isdir(self.path):
            zarr.create_array(self.root, name=self.name, **self.settings)
        take_place(self.new, self.path)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        """Read a part of what was written."""
        # zarr is optional.
        import zarr

        return np.asarray(zarr.open_array(self.path, mode="r")[parts])
