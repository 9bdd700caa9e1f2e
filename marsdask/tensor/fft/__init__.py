"""Discrete Fourier transforms along axes, which must be one chunk each."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marsdask.core.arguments import listed
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.parts import loops_beside
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import is_large
from marsdask.core.node import Axes, MemoryOrder, Node
from marsdask.core.sizes import Chunks, Size, Unknown, numbers, total

from ..chunkwise.lanes import in_lanes, lane_bytes
from ..chunkwise.rechunk import rechunk
from ..creation.from_shape import arange
from ..device import placed_on
from ..elementwise.ufuncs import astype, greater_equal, multiply, subtract
from ..indexing.assignment import into
from ..kernels.duck_arrays import is_foreign
from ..manipulation.join import roll
from ..memory_order import settled
from ..operands import as_node
from ..typing import TensorFunction, public
from ..unknown_lengths import like, waits_for_lengths

__all__ = [
    "fft",
    "fft2",
    "fft_wrap",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


@dataclass(frozen=True, eq=False)
class Transform(Node):
    """One of NumPy's transforms, by name."""

    kind: str
    a: Node
    lengths: tuple[int | None, ...] | None
    """The lengths given, to which input is cut or padded; ``None`` for an axis's own."""
    axes: tuple[int, ...]
    norm: str | None
    func: Any = None
    """A library's function for blocks; by default the one that is fastest for a block."""

    @property
    def label(self) -> str:
        return self.kind

    @property
    def meta(self) -> Any:
        sample = np.ones((1,) * self.a.meta.ndim, self.a.meta.dtype)
        result = transform(sample, self.kind, (2,) * len(self.axes), self.axes, None)
        return np.empty((0,) * result.ndim, result.dtype)

    @property
    def chunks(self) -> Chunks:
        return self._result(self.a.chunks)

    @property
    def loop_axes(self) -> tuple[Axes, ...]:
        return (loops_beside(self.axes, len(self.a.chunks)),)

    @property
    def memory_order(self) -> MemoryOrder:
        return settled(self.a.memory_order, self.shape)

    def _result(self, chunks: Chunks) -> Chunks:
        result: list[tuple[Size, ...]] = list(chunks)
        lengths = self.points(chunks)
        for axis, length in zip(self.axes, lengths, strict=True):
            result[axis] = (length,)
        last = self.axes[-1]
        if self.kind in ("rfft", "rfftn", "ihfft"):
            result[last] = (_changed(lengths[-1], half_of),)
        return tuple(result)

    def points(self, chunks: Chunks) -> tuple[Size, ...]:
        """Return the lengths of the transform's real or complex side."""
        own = [total(chunks[axis]) for axis in self.axes]
        if self.lengths is not None:
            pairs = zip(self.lengths, own, strict=True)
            own = [size if length is None else length for length, size in pairs]
        elif self.kind in ("irfft", "irfftn", "hfft"):
            own[-1] = _changed(own[-1], whole_of)
        for size in own:
            if isinstance(size, int) and size < 1:
                raise ValueError(f"Invalid number of FFT data points ({size}) specified.")
        return tuple(own)

    def tile(self, a: Grid) -> Generator[Look, Any, Grid]:
        (a,) = yield from resolved(a)
        if len(self.axes) > 1 and self.func is None and is_large(lane_bytes(a, self.axes)):
            return self._axis_by_axis(a)
        a = in_lanes(a, self.axes)
        options = {
            "name": self.kind,
            "lengths": self.points(a.chunks),
            "axes": self.axes,
            "norm": self.norm,
            "func": self.func,
        }
        chunks = self._result(a.chunks)
        return map_blocks(transform, a, chunks=chunks, meta=self.meta, kwargs=options)

    def _axis_by_axis(self, a: Grid) -> Grid:
        """Transform along one axis after the other, as NumPy does: real numbers are at one end."""
        inner = "ifft" if self.kind.startswith("i") else "fft"
        steps = [(inner, axis) for axis in reversed(self.axes)]
        if self.kind == "rfftn":
            steps[0] = ("rfft", self.axes[-1])
        elif self.kind == "irfftn":
            steps = [(inner, axis) for axis in self.axes[:-1]] + [("irfft", self.axes[-1])]
        lengths = dict(zip(self.axes, numbers(self.points(a.chunks)), strict=True))
        for kind, axis in steps:
            a = in_lanes(a, (axis,))
            sample = np.ones((1,) * a.ndim, a.meta.dtype)
            dtype = transform(sample, kind, (2,), (axis,), None).dtype
            chunks = list(a.chunks)
            chunks[axis] = (half_of(lengths[axis]) if kind == "rfft" else lengths[axis],)
            options = {"name": kind, "lengths": (lengths[axis],), "axes": (axis,)}
            a = map_blocks(
                transform,
                a,
                chunks=tuple(chunks),
                meta=np.empty((0,) * a.ndim, dtype),
                kwargs={**options, "norm": self.norm},
            )
        return a


def half_of(length: int) -> int:
    """Return the length of a real signal's spectrum."""
    return length // 2 + 1


def whole_of(length: int) -> int:
    """Return the length of a real signal for the length of its spectrum."""
    return 2 * (length - 1)


def _changed(size: Size, change: Callable[[int], int]) -> Size:
    if not isinstance(size, Unknown):
        return change(size)
    bound = None if size.upper is None else change(size.upper)
    return Unknown(f"{change.__name__}({size.name}@{size.index})", -1, bound)


@kernel(scratch=3.0)
def transform(
    block: Any,
    name: str,
    lengths: tuple[int, ...],
    axes: tuple[int, ...],
    norm: str | None,
    func: Callable[..., Any] | None = None,
) -> Any:
    """Call the transform of that name on whole lanes, if no other function is given.

    SciPy's is faster for several strided lanes, NumPy's for one; only NumPy's keeps float16, and
    dispatches to other libraries.
    """
    from scipy import fft  # heavy, and only transforms need it

    empty = [axis for axis, length in enumerate(block.shape) if not length and axis not in axes]
    if empty:
        # No lanes: NumPy's n-dimensional functions fail for them.
        lanes = np.zeros([1 if axis in empty else n for axis, n in enumerate(block.shape)])
        result = transform(lanes.astype(block.dtype), name, lengths, axes, norm, func)
        return result[tuple(slice(0 if axis in empty else None) for axis in range(block.ndim))]
    where: Any = (lengths, axes) if name.endswith("n") else (lengths[0], axes[0])
    if func is not None:
        return func(block, *where, norm)
    if block.dtype == np.float16 or is_foreign(block):
        return getattr(np.fft, name)(block, *where, norm)
    if name == "ihfft":
        return np.conjugate(fft.rfft(block, *where, _OPPOSITE[norm]))
    result = getattr(fft, name)(block, *where, norm)
    if block.dtype.kind != "c" and name in _WITH_BOTH_SIGNS:
        result.imag += 0.0  # no zero is negative, as in NumPy: angles of negative numbers are pi
    return result


#: The transforms of real numbers that have the same bins as those of complex ones.
_WITH_BOTH_SIGNS = ("fft", "ifft", "fftn", "ifftn")
#: The scale that the inverse transform of each has.
_OPPOSITE = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


#: What NumPy says.
_NO_AXES = "`axes` should not be `None` if `s` is not `None`: give the axes"

_NORMS = (None, "backward", "ortho", "forward")


def _transformed(
    name: str,
    a: Any,
    lengths: Sequence[Any] | None,
    axes: Sequence[int],
    norm: str | None,
    func: Callable[..., Any] | None,
) -> Node:
    node = as_node(a)
    normalize = np.lib.array_utils.normalize_axis_index
    axes = tuple(normalize(operator.index(axis), node.meta.ndim) for axis in axes)
    if node.meta.dtype.kind not in "biufc":
        raise TypeError(f"{name} takes numbers, not elements of type {node.meta.dtype}")
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if name in ("rfft", "rfftn", "ihfft") and node.meta.dtype.kind == "c":
        raise TypeError(f"{name} takes real input; take the real part or use the complex transform")
    if len(set(axes)) < len(axes):
        raise ValueError("all axes must be unique; for an axis given twice, use two calls")
    sizes = None
    if lengths is not None:
        sizes = tuple(
            None if length in (None, -1) else operator.index(length) for length in lengths
        )
    result = Transform(name, node, sizes, axes, norm, func)
    result.points(node.chunks)  # refuses no points
    return result


def one_axis(name: str, func: Callable[..., Any] | None = None) -> TensorFunction:
    """Return the lazy form of a transform along one axis, or of a library's function."""

    def lazy(
        a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None
    ) -> Any:
        result = _transformed(name, a, None if n is None else [n], [axis], norm, func)
        return into(out, result)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Transform along one axis. See numpy.fft.{name}."
    return public(lazy)


def many_axes(
    name: str,
    kernel_name: str,
    default: tuple[int, ...] | None,
    func: Callable[..., Any] | None = None,
) -> TensorFunction:
    """Return the lazy form of a transform along several axes, of a function if one is given."""

    def lazy(
        a: Any, s: Any = None, axes: Any = default, norm: str | None = None, out: Any = None
    ) -> Any:
        s, axes = listed(s), listed(axes)
        if axes is None:
            if s is not None:
                warnings.warn(_NO_AXES, DeprecationWarning, stacklevel=3)
            ndim = as_node(a).meta.ndim
            axes = range(-(ndim if s is None else len(s)), 0)
        if s is not None and len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        if len(axes) == 0:
            raise ValueError("at least 1 axis must be transformed")
        result = _transformed(kernel_name, a, s, axes, norm, func)
        return into(out, result)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Transform along several axes. See numpy.fft.{name}."
    return public(lazy)


fft: Final = one_axis("fft")
ifft: Final = one_axis("ifft")
rfft: Final = one_axis("rfft")
irfft: Final = one_axis("irfft")
hfft: Final = one_axis("hfft")
ihfft: Final = one_axis("ihfft")
fftn: Final = many_axes("fftn", "fftn", None)
ifftn: Final = many_axes("ifftn", "ifftn", None)
rfftn: Final = many_axes("rfftn", "rfftn", None)
irfftn: Final = many_axes("irfftn", "irfftn", None)
fft2: Final = many_axes("fft2", "fftn", (-2, -1))
ifft2: Final = many_axes("ifft2", "ifftn", (-2, -1))
rfft2: Final = many_axes("rfft2", "rfftn", (-2, -1))
irfft2: Final = many_axes("irfft2", "irfftn", (-2, -1))

#: All of them by name.
TRANSFORMS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        *(fft, ifft, rfft, irfft, hfft, ihfft, fftn, ifftn, rfftn, irfftn),
        *(fft2, ifft2, rfft2, irfft2),
    )
}


def fft_wrap(
    fft_func: Callable[..., Any],
    kind: str | None = None,
    dtype: Any = None,
    allow_fftpack: bool = False,
) -> Any:
    """Return the lazy form of a transform of NumPy's or SciPy's.

    See dask.array.fft.fft_wrap.

    Parameters
    ----------
    fft_func : callable
        A function of ``numpy.fft`` or ``scipy.fft``.
    kind : str, optional
        The name of the transform, if the function has another.
    dtype : dtype, optional
        Has no effect: types are those of the transform.
    allow_fftpack : bool
        Whether a function of ``scipy.fftpack`` gives no warning. The transform is NumPy's: theirs
        of real input has another form.

    Returns
    -------
    callable
        A function of tensors.

    Raises
    ------
    ValueError
        If there is no transform of that name.

    Examples
    --------
    >>> mt.fft.fft_wrap(np.fft.fft)([1.0, 0.0]).compute()
    array([1.+0.j, 1.+0.j])
    """
    del dtype
    name = kind or fft_func.__name__
    if name not in TRANSFORMS:
        raise ValueError(f"Given unknown `kind` {name}.")
    library = getattr(fft_func, "__module__", None) or ""
    if library.startswith("scipy.fftpack"):
        if not allow_fftpack:
            warnings.warn(
                "scipy.fftpack does not match NumPy's API and is considered legacy; use scipy.fft",
                FutureWarning,
                stacklevel=2,
            )
        return TRANSFORMS[name]
    if name.endswith(("2", "n")):
        axes = (-2, -1) if name.endswith("2") else None
        return many_axes(name, f"{name[:-1]}n", axes, fft_func)
    return one_axis(name, fft_func)


#: More frequencies are made by their chunks, and not by the client.
MOST_FREQUENCIES = 2**20


def frequencies(
    name: str, whole: Callable[..., Any], first: Callable[[int], tuple[int, int]]
) -> TensorFunction:
    """Return the lazy form of the frequencies of a transform's bins.

    ``first`` gives the number of bins, and how many of them have no negative frequency.
    """

    def lazy(
        n: int,
        d: float = 1.0,
        chunk_size: Any = None,
        gpu: Any = None,
        *,
        dtype: Any = None,
        device: Any = None,
        chunks: Any = None,
    ) -> Any:
        if dtype is not None and np.dtype(dtype).kind != "f":
            raise ValueError(f"frequencies are real floating-point numbers, not {dtype}")
        cut = chunk_size if chunks is None else chunks
        if isinstance(n, int | np.integer) and n > MOST_FREQUENCIES:
            count, positive = first(int(n))
            bins = as_node(arange.node(count, chunk_size=cut))
            turned = subtract.node(bins, multiply.node(greater_equal.node(bins, positive), int(n)))
            scaled = multiply.node(turned, 1.0 / (n * d))
            return placed_on(astype.node(scaled, dtype or np.float64, copy=False), gpu, device)
        values = whole(n, d).astype(dtype or np.float64, copy=False)
        return placed_on(as_node(values, cut), gpu, device)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Return the frequencies of a transform's bins. See numpy.fft.{name}."
    return public(lazy)


fftfreq: Final = frequencies("fftfreq", np.fft.fftfreq, lambda n: (n, (n - 1) // 2 + 1))
rfftfreq: Final = frequencies("rfftfreq", np.fft.rfftfreq, lambda n: (n // 2 + 1, n))


@public
@waits_for_lengths(lambda x, **_: like(x))
def fftshift(x: Any, axes: Any = None) -> Node:
    """Move the zero frequency to the middle. See numpy.fft.fftshift."""
    return _shifted(x, axes, 1)


@public
@waits_for_lengths(lambda x, **_: like(x))
def ifftshift(x: Any, axes: Any = None) -> Node:
    """Undo :func:`fftshift`. See numpy.fft.ifftshift."""
    return _shifted(x, axes, -1)


def _shifted(x: Any, axes: Any, sign: int) -> Node:
    node = as_node(x)
    ndim = node.meta.ndim
    places = np.lib.array_utils.normalize_axis_tuple(range(ndim) if axes is None else axes, ndim)
    shifts = tuple(sign * (numbers(node.shape)[axis] // 2) for axis in places)
    result = roll.node(node, shifts, places)
    chunks = {axis: -1 for axis in places if len(node.chunks[axis]) == 1}
    return as_node(rechunk.node(result, chunks)) if chunks else result
