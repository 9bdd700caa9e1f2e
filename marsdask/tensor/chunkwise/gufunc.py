"""Generalised ufuncs: functions of whole core axes, mapped over all others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import ExecutableTuple, wrap
from marsdask.core.grids.blockwise import Axes
from marsdask.core.grids.blockwise import blockwise as map_grids
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.node import Axes as LoopAxes
from marsdask.core.node import MultiOutput, Node
from marsdask.core.sizes import Chunks, Size, Sizes, known, total, upper
from marsdask.core.snapshots.functions import function_name
from marsdask.scheduler.errors import did_you_mean

from ..elementwise.nodes import output
from ..manipulation.shape import expand_dims, moveaxis, whole
from ..operands import as_node
from ..typing import public
from .blockwise import Labels, aligned_labels, sizes_by_label
from .map_blocks import infer
from .user_functions import UserFunction

_NAME = r"[^\d\W]\w*"
_GROUP = rf"\((?:{_NAME}(?:,{_NAME})*)?\)"
_SIGNATURE = re.compile(rf"^(?:{_GROUP}(?:,{_GROUP})*)?->{_GROUP}(?:,{_GROUP})*,?$")


@dataclass(frozen=True)
class Signature:
    """The core axes of the inputs and of the outputs, by name."""

    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]
    several: bool
    """Whether the function returns a tuple."""


def parse_signature(text: Any) -> Signature:
    """Read a signature such as ``(m,n),(n,p)->(m,p)``."""
    if not isinstance(text, str):
        raise TypeError("`signature` has to be of type string")
    text = re.sub(r"\s+", "", text)
    if not _SIGNATURE.match(text):
        raise ValueError(f"Not a valid gufunc signature: {text}")
    lhs, rhs = text.split("->")
    inputs, outputs = (
        tuple(tuple(re.findall(_NAME, group)) for group in re.findall(_GROUP, side))
        for side in (lhs, rhs)
    )
    return Signature(inputs, outputs, len(outputs) > 1 or rhs.endswith(","))


def settle_axes(
    signature: Signature, axes: Any, axis: Any, *, keepdims: bool
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the core axes of each input and output."""
    inputs, outputs = signature.inputs, signature.outputs
    if keepdims and (any(outputs) or len(set(map(len, inputs))) > 1):
        raise ValueError("`keepdims` goes with inputs of equally many core axes, outputs of none")
    if axes is not None and axis is not None:
        raise ValueError("Only one of `axis` or `axes` keyword arguments should be given")
    if axis is not None:
        names = {name for group in (*inputs, *outputs) for name in group}
        if not isinstance(axis, int | np.integer):
            raise TypeError("`axis` argument has to be an integer value")
        if len(names) > 1 or any(len(group) > 1 for group in (*inputs, *outputs)):
            raise ValueError("`axis` can be used only, if one core dimension is present")
        axes = [(int(axis),) * len(group) for group in (*inputs, *outputs)]
    if axes is None:
        axes = [tuple(range(-len(group), 0)) for group in (*inputs, *outputs)]
    if not isinstance(axes, list | tuple):
        raise ValueError(f"`axes` has to be of type list, not {type(axes).__name__}")
    core_axes = [
        (item,) if isinstance(item, int | np.integer) else tuple(item) for item in list(axes)
    ]
    if len(core_axes) == len(inputs) and not any(outputs):
        core_axes += [()] * len(outputs)
    if keepdims:
        core_axes = core_axes[: len(inputs)] + [core_axes[0]] * len(outputs)
    groups = [*inputs, *([inputs[0]] * len(outputs) if keepdims else outputs)]
    if len(core_axes) != len(groups):
        raise ValueError(f"`axes` has {len(core_axes)} items for {len(groups)} inputs and outputs")
    for own, group in zip(core_axes, groups, strict=True):
        if len(own) != len(group):
            raise ValueError(f"`axes` item {own} has to name {len(group)} core axes")
    return core_axes[: len(inputs)], core_axes[len(inputs) :]


@dataclass(frozen=True, eq=False)
class GUFunc(MultiOutput):
    """A function of core axes, which come last in each array, mapped over the loop axes."""

    values_tell: ClassVar[bool] = True

    pins_grid: ClassVar[bool] = True

    func: UserFunction
    signature: Signature
    arrays: tuple[Node, ...]
    sizes: tuple[tuple[str, int], ...]
    """The lengths of core axes that are of no input."""
    kwargs: Mapping[str, Any] | None
    dtypes: tuple[Any, ...] = field(repr=False)
    is_vectorized: bool = False
    """Whether the function is called for each place along the loop axes alone."""

    @property
    def label(self) -> str:
        return self.func.__name__.strip("<>_")

    @property
    def labels(self) -> tuple[Labels, ...]:
        """For each input, the labels of its axes: numbers below zero are loop axes."""
        labels = []
        for node, core in zip(self.arrays, self.signature.inputs, strict=True):
            loops = len(node.chunks) - len(core)
            labels.append((*range(-loops, 0), *core))
        return tuple(labels)

    @property
    def _loops(self) -> Labels:
        count = max((len(own) for own in self._loop_labels), default=0)
        return tuple(range(-count, 0))

    @property
    def _loop_labels(self) -> list[list[Any]]:
        return [[label for label in own if isinstance(label, int)] for own in self.labels]

    @property
    def loop_axes(self) -> tuple[LoopAxes, ...] | None:
        if not self.is_vectorized:
            return None  # the function sees whole chunks
        loops = len(self._loops)
        return tuple(
            tuple(label + loops if isinstance(label, int) else None for label in own)
            for own in self.labels
        )

    @property
    def meta(self) -> Any:
        loops = len(self._loops)
        pairs = zip(self.signature.outputs, self.dtypes, strict=True)
        return tuple(np.empty((0,) * (loops + len(core)), kind) for core, kind in pairs)

    @property
    def chunks(self) -> Any:
        return self._out_chunks(sizes_by_label([node.chunks for node in self.arrays], self.labels))

    def _out_chunks(self, sizes: Mapping[Any, Sizes]) -> tuple[Chunks, ...]:
        lengths: dict[str, Size] = {
            name: total(own) for name, own in sizes.items() if isinstance(name, str)
        }
        lengths.update(self.sizes)
        loops = tuple(sizes[label] for label in self._loops)
        return tuple(
            (*loops, *((lengths[name],) for name in core)) for core in self.signature.outputs
        )

    def tile(self, *inputs: Grid) -> Any:
        distinct = dict(zip(self.inputs, inputs, strict=True))
        grids: tuple[Grid, ...] = tuple(distinct[node] for node in self.arrays)
        if any(
            grid.numblocks[axis] > 1 and not known(grid.chunks[axis])
            for grid, own in zip(grids, self.labels, strict=True)
            for axis, label in enumerate(own)
            if isinstance(label, str)
        ):
            grids = yield from resolved(*grids)
        grids, sizes = yield from aligned_labels(grids, self.labels)
        loops = len(self._loops)
        sources = []
        for grid, own in zip(grids, self.labels, strict=True):
            axes: Axes = tuple(
                None if isinstance(label, str) or count == 1 else label + loops
                for label, count in zip(own, grid.numblocks, strict=True)
            )
            core = [axis for axis, label in enumerate(own) if isinstance(label, str)]
            sources.append((whole(grid, core), axes))
        chunks = self._out_chunks(sizes)
        if not self.signature.several:
            (meta,) = self.meta
            result = map_grids(self.func, sources, chunks=chunks[0], meta=meta, kwargs=self.kwargs)
            return (result,)
        return self._parted(sources, chunks)

    def _parted(self, sources: Sequence[Any], chunks: tuple[Chunks, ...]) -> tuple[Grid, ...]:
        loops = len(self._loops)
        width = 0.0
        for meta, splits in zip(self.meta, chunks, strict=True):
            lengths = [upper(sizes[0]) or 1 for sizes in splits[loops:]]
            width += float(np.prod(lengths, dtype=float)) * meta.dtype.itemsize
        results = map_grids(
            self.func, sources, chunks=chunks[0][:loops], itemsize=width, kwargs=self.kwargs
        )
        whole_axes: Axes = tuple(range(loops))
        return tuple(
            map_grids(
                output,
                [(results, whole_axes)],
                chunks=splits,
                meta=meta,
                kwargs={"position": position},
                cheap=True,
            )
            for position, (meta, splits) in enumerate(zip(self.meta, chunks, strict=True))
        )


@public
def apply_gufunc(
    func: Callable[..., Any],
    signature: str,
    *args: Any,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    output_dtypes: Any = None,
    output_sizes: Mapping[str, int] | None = None,
    vectorize: bool | None = None,
    allow_rechunk: bool = False,
    meta: Any = None,
    **kwargs: Any,
) -> Any:
    """Call a function of core axes, mapped over all others. See dask.array.apply_gufunc.

    Differs from Dask: loop axes with different chunks are rechunked.
    """
    form = parse_signature(signature)
    nodes = tuple(as_node(arg) for arg in args)
    if len(nodes) != len(form.inputs):
        raise ValueError(
            f"According to `signature`, `func` requires {len(form.inputs)} arguments, but "
            f"{len(nodes)} given"
        )
    places = (None,) * len(nodes), tuple(range(len(nodes)))
    pattern = re.sub(r"\s+", "", signature) if vectorize else None
    call = UserFunction(np.vectorize(func, signature=pattern) if pattern else func, *places)
    dtypes = _dtypes(form, call, nodes, kwargs, output_dtypes, meta)
    if pattern and all(dtype.kind in "biufcO" for dtype in dtypes):
        # With given types, NumPy accepts chunks without elements too.
        types = "".join(dtype.char for dtype in dtypes)
        call = UserFunction(np.vectorize(func, types, signature=pattern), *places)
    into, out = settle_axes(form, axes, axis, keepdims=keepdims)
    arrays = tuple(
        as_node(moveaxis.node(node, own, range(-len(own), 0))) if own else node
        for node, own in zip(nodes, into, strict=True)
    )
    _check_core(form, arrays, output_sizes or {}, allow_rechunk=allow_rechunk)
    sizes = tuple((name, int(size)) for name, size in (output_sizes or {}).items())
    inputs = (call, form, arrays, sizes, kwargs or None, dtypes)
    node = GUFunc(*inputs, is_vectorized=pattern is not None)
    pairs = zip(node.parts(), out, strict=True)
    results = [_placed(wrap(part), own, keepdims=keepdims) for part, own in pairs]
    return ExecutableTuple(results) if form.several else results[0]


def _placed(result: Any, axes: tuple[int, ...], *, keepdims: bool) -> Any:
    """Move the core axes of an output to the requested positions."""
    if keepdims:
        return expand_dims(result, axes)
    return moveaxis(result, range(-len(axes), 0), axes) if axes else result


def _check_core(
    form: Signature, nodes: Sequence[Node], sizes: Mapping[str, int], *, allow_rechunk: bool
) -> None:
    """Raise ``ValueError`` for core axes of several chunks, unknown or different lengths."""
    lengths: dict[str, Size] = {}
    for node, core in zip(nodes, form.inputs, strict=True):
        if len(node.chunks) < len(core):
            raise ValueError(f"a tensor of {len(node.chunks)} axes lacks core dimensions {core}")
        for name, own in zip(core, node.chunks[len(node.chunks) - len(core) :], strict=True):
            if len(own) > 1 and not allow_rechunk:
                raise ValueError(
                    f"Core dimension `{name!r}` consists of multiple chunks. To fix, rechunk into "
                    "a single chunk along this dimension or set `allow_rechunk=True`, but beware "
                    "that this may increase memory usage significantly."
                )
            length = total(own)
            size = lengths.setdefault(name, length)
            if known((length, size)) and 1 not in (length, size) and length != size:
                raise ValueError(f"Dimension `{name!r}` with different lengths in arrays")
    names = {name for group in form.outputs for name in group} - lengths.keys() - sizes.keys()
    if names:
        raise ValueError(f"output_sizes= lacks the core dimensions {sorted(names)} of the output")


def _dtypes(
    form: Signature,
    call: UserFunction,
    nodes: tuple[Node, ...],
    kwargs: Mapping[str, Any],
    output_dtypes: Any,
    meta: Any,
) -> tuple[Any, ...]:
    if meta is not None and output_dtypes is not None:
        raise ValueError("Only one of `meta` and `output_dtypes` should be given")
    types = meta if output_dtypes is None else output_dtypes
    if types is None:
        types = infer(call, nodes, kwargs, "apply_gufunc")
        meta = types
    several = isinstance(types, tuple | list)
    if not form.several:
        if several and len(types) > 1:
            raise ValueError(
                "For a function with one output, must give a single item for "
                "`output_dtypes`/`meta`, not a tuple or list."
            )
        types = types if several else (types,)
    if not isinstance(types, tuple | list) or len(types) != len(form.outputs):
        raise ValueError(
            f"For a function with {len(form.outputs)} outputs, must give a tuple or list of "
            f"{len(form.outputs)} items for `output_dtypes`/`meta`, not {types!r}"
        )
    return tuple(np.asarray(item).dtype if meta is not None else np.dtype(item) for item in types)


class gufunc:  # noqa: N801 - Dask's name
    """A function that is mapped over all but its core axes. See dask.array.gufunc."""

    def __init__(
        self, pyfunc: Callable[..., Any], *, signature: str | None = None, **options: Any
    ) -> None:
        for name in options.keys() - _OPTIONS:
            hint = did_you_mean(name, _OPTIONS)
            raise TypeError(f"gufunc() got an unexpected keyword argument {name!r}{hint}")
        self.pyfunc = pyfunc
        self.signature = signature
        self.options = options
        self.__name__ = function_name(pyfunc)
        self.__doc__ = getattr(pyfunc, "__doc__", None)
        if signature is not None:
            parse_signature(signature)

    def __call__(self, *args: Any, allow_rechunk: bool | None = None, **kwargs: Any) -> Any:
        options = dict(self.options)
        if allow_rechunk is not None:
            options["allow_rechunk"] = allow_rechunk
        return apply_gufunc(self.pyfunc, self.signature, *args, **options, **kwargs)


_OPTIONS = {
    "vectorize",
    "axes",
    "axis",
    "keepdims",
    "output_sizes",
    "output_dtypes",
    "allow_rechunk",
    "meta",
}


def as_gufunc(signature: str | None = None, **options: Any) -> Callable[[Any], gufunc]:
    """Map a function over all axes but its core axes. See dask.array.as_gufunc."""

    def decorate(pyfunc: Callable[..., Any]) -> gufunc:
        return gufunc(pyfunc, signature=signature, **options)

    return decorate
