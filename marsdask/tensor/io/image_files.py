"""Images as tensors."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marsdask.core.files.places import Place, file_place
from marsdask.core.files.stamps import Stamp, local_stamp, unchanged
from marsdask.core.node import Node

from ..chunks import normalize_chunks
from ..creation.from_data import Dataset
from ..creation.from_shape import chunks_from
from ..typing import public

__all__ = ["imread"]


def read_image(path: str) -> Any:
    """Return one image as an array of rows, columns and (unless it is grey) channels."""
    try:
        # pillow is optional.
        from PIL import Image
    except ImportError as error:
        raise ImportError("imread() needs the package pillow: pip install pillow") from error
    with Image.open(path) as image:
        return np.asarray(image)


@dataclass(frozen=True)
class ImageFile:
    """One image."""

    path: str
    stamp: Stamp

    @property
    def places(self) -> tuple[Place, ...]:
        """The files that are read."""
        return (file_place(self.path),)

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        with unchanged([(self.path, self.stamp)], "imread"):
            return read_image(self.path)[parts]


@dataclass(frozen=True)
class ImageFiles:
    """Images of one shape, along a first axis."""

    paths: tuple[str, ...] = field(repr=False)
    stamps: tuple[Stamp, ...] = field(repr=False)
    shape: tuple[int, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """The files that are read."""
        return tuple(map(file_place, self.paths))

    def __call__(self, parts: tuple[slice, ...]) -> Any:
        first, *tail = parts
        versions = list(zip(self.paths[first], self.stamps[first], strict=True))
        with unchanged(versions, "imread"):
            images = [self._read(path) for path, _ in versions]
        return np.stack(images)[(slice(None), *tail)]

    def _read(self, path: str) -> Any:
        image = read_image(path)
        if image.shape != self.shape:
            raise ValueError(
                f"{path} has the shape {image.shape}, the first image {self.shape}: images in one "
                "tensor have one shape"
            )
        return image


@public
def imread(path: Any, chunk_size: Any = None, **extra: Any) -> Node:
    """Return the tensor of an image, or of several (a list, a pattern) along a new first axis.

    Differs from dask.array.image.imread: one file without a pattern has no first axis, as in Mars.

    Parameters
    ----------
    path : str or list of str
        A file, several files, or a pattern.
    chunk_size : int, tuple or dict, optional
        The sizes of chunks; by default they are chosen.
    **extra
        Further arguments of Mars and Dask, such as ``chunks``.

    Returns
    -------
    Tensor
        The pixels; those of several files along a new first axis.

    Raises
    ------
    FileNotFoundError
        If no file fits the pattern.

    Examples
    --------
    >>> pixels = mt.imread("photographs/*.png")  # doctest: +SKIP
    """
    chunk_size = chunks_from(chunk_size, extra)
    several = isinstance(path, list | tuple)
    names = [os.fspath(item) for item in path] if several else [os.fspath(path)]
    if not several and glob.has_magic(names[0]):
        several, names = True, sorted(glob.glob(names[0]))
    if not names:
        raise FileNotFoundError(f"no images match {path!r}")
    names = [os.path.abspath(name) for name in names]
    stamps = tuple(map(local_stamp, names))
    image = read_image(names[0])
    if not several:
        splits = normalize_chunks(chunk_size, image.shape, image.dtype)
        return Dataset(ImageFile(names[0], stamps[0]), (), image.dtype, splits)
    shape = (len(names), *image.shape)
    if chunk_size is None or isinstance(chunk_size, int):
        # Each image is read whole.
        chunk_size = (chunk_size, *[-1] * image.ndim)
    splits = normalize_chunks(chunk_size, shape, image.dtype)
    return Dataset(ImageFiles(tuple(names), stamps, image.shape), (), image.dtype, splits)
