"""Random states: the seed, the count of calls, and one line for each law."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.config import options
from marsdask.core.node import Node
from marsdask.core.types import Chunks, numbers
from marsdask.tensor.base import as_node
from marsdask.tensor.chunks import as_shape, normalize_chunks
from marsdask.tensor.pointwise import Elementwise, assign
from marsdask.tensor.sort import argsort

from .samplers import PLAIN, SAMPLERS
from .tiles import Draw, snapped, tile_steps

#: What every law takes after its own parameters.
_COMMON = ("size", "chunk_size", "gpu", "dtype", "chunks")
_UNSET = Parameter.empty


def law(name: str, **params: Any) -> Callable[..., Any]:
    """Return the method that draws from NumPy's law ``name`` with these parameters' defaults."""
    fields = [
        Parameter(field, Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for field, default in params.items()
    ]
    common = [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, default=None) for key in _COMMON]
    # The parameters without a default come first in every law, so the signature is a legal one.
    signature = Signature([*fields, *common])

    def method(self: RandomState, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        values = tuple(given[field] for field in params)
        return self._draw(name, values, **{key: given[key] for key in _COMMON})

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Draw from ``{name}``. See numpy.random.Generator.{name}."
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    method.__signature__ = Signature([own, *signature.parameters.values()])  # type: ignore[attr-defined]
    return method


def _refuse_gpu(gpu: Any) -> None:
    if gpu:
        raise NotImplementedError("tensors on GPUs are not supported yet: leave out gpu=")


class RandomState:
    """A seed and a count of calls.

    Differs from NumPy: another stream; the values depend on the seed, the shape, the dtype and how
    many calls came before, never on the chunks.
    """

    def __init__(self, seed: Any = None) -> None:
        self.seed(seed)

    def seed(self, seed: Any = None) -> None:
        """Start again from ``seed``, or from the system's entropy."""
        if isinstance(seed, np.ndarray):
            seed = seed.tolist()
        entropy: Any = np.random.SeedSequence(seed).entropy
        self._entropy = tuple(entropy) if isinstance(entropy, Sequence) else entropy
        self._calls = itertools.count()

    def _draw(
        self,
        name: str,
        params: tuple[Any, ...],
        *,
        size: Any = None,
        chunk_size: Any = None,
        gpu: Any = None,
        dtype: Any = None,
        chunks: Any = None,
        events: tuple[int, ...] = (),
    ) -> Any:
        _refuse_gpu(gpu)
        if all(isinstance(item, int | float) for item in params):
            name, params = PLAIN.get((name, params), (name, params))
        whole = bool(events) or name == "choice"
        params = tuple(_parameter(item, whole=whole) for item in params)
        kind = _result_dtype(name, params, dtype)
        extent = _extent(size, [] if whole else params) + events
        splits = _splits(chunk_size if chunk_size is not None else chunks, extent, kind, events)
        node = Draw(name, params, self._entropy, next(self._calls), kind, splits, len(events))
        return wrap(node)

    beta = law("beta", a=_UNSET, b=_UNSET)
    binomial = law("binomial", n=_UNSET, p=_UNSET)
    chisquare = law("chisquare", df=_UNSET)
    exponential = law("exponential", scale=1.0)
    f = law("f", dfnum=_UNSET, dfden=_UNSET)
    gamma = law("gamma", shape=_UNSET, scale=1.0)
    geometric = law("geometric", p=_UNSET)
    gumbel = law("gumbel", loc=0.0, scale=1.0)
    hypergeometric = law("hypergeometric", ngood=_UNSET, nbad=_UNSET, nsample=_UNSET)
    laplace = law("laplace", loc=0.0, scale=1.0)
    logistic = law("logistic", loc=0.0, scale=1.0)
    lognormal = law("lognormal", mean=0.0, sigma=1.0)
    logseries = law("logseries", p=_UNSET)
    negative_binomial = law("negative_binomial", n=_UNSET, p=_UNSET)
    noncentral_chisquare = law("noncentral_chisquare", df=_UNSET, nonc=_UNSET)
    noncentral_f = law("noncentral_f", dfnum=_UNSET, dfden=_UNSET, nonc=_UNSET)
    normal = law("normal", loc=0.0, scale=1.0)
    pareto = law("pareto", a=_UNSET)
    poisson = law("poisson", lam=1.0)
    power = law("power", a=_UNSET)
    rayleigh = law("rayleigh", scale=1.0)
    random = law("random")
    random_sample = law("random")
    ranf = law("random")
    sample = law("random")
    standard_cauchy = law("standard_cauchy")
    standard_exponential = law("standard_exponential")
    standard_gamma = law("standard_gamma", shape=_UNSET)
    standard_normal = law("standard_normal")
    standard_t = law("standard_t", df=_UNSET)
    triangular = law("triangular", left=_UNSET, mode=_UNSET, right=_UNSET)
    uniform = law("uniform", low=0.0, high=1.0)
    vonmises = law("vonmises", mu=_UNSET, kappa=_UNSET)
    wald = law("wald", mean=_UNSET, scale=_UNSET)
    weibull = law("weibull", a=_UNSET)
    zipf = law("zipf", a=_UNSET)

    def rand(self, *shape: Any, **options: Any) -> Any:
        """Draw uniformly from [0, 1) in the given shape. See numpy.random.rand."""
        return self._draw("random", (), size=shape, **options)

    def randn(self, *shape: Any, **options: Any) -> Any:
        """Draw standard normal numbers in the given shape. See numpy.random.randn."""
        return self._draw("standard_normal", (), size=shape, **options)

    def randint(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = int, **options: Any
    ) -> Any:
        """Draw integers from [low, high). See numpy.random.randint."""
        bounds = (0, low) if high is None else (low, high)
        return self._draw("integers", bounds, size=size, dtype=dtype, **options)

    def random_integers(self, low: Any, high: Any = None, size: Any = None, **options: Any) -> Any:
        """Draw integers from [low, high]. See numpy.random.random_integers."""
        bounds = (1, low) if high is None else (low, high)
        return self.randint(bounds[0], bounds[1] + 1, size, **options)

    def multinomial(self, n: Any, pvals: Any, size: Any = None, **options: Any) -> Any:
        """Draw counts of ``n`` trials over categories. See numpy.random.multinomial."""
        pvals = np.asarray(pvals)
        return self._draw("multinomial", (n, pvals), size=size, events=pvals.shape, **options)

    def dirichlet(self, alpha: Any, size: Any = None, **options: Any) -> Any:
        """Draw points of a simplex. See numpy.random.dirichlet."""
        alpha = np.asarray(alpha)
        return self._draw("dirichlet", (alpha,), size=size, events=alpha.shape, **options)

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, **options: Any) -> Any:
        """Draw normal vectors. See numpy.random.Generator.multivariate_normal."""
        mean, cov = np.asarray(mean), np.asarray(cov)
        params = (mean, cov)
        return self._draw("multivariate_normal", params, size=size, events=mean.shape, **options)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **options: Any
    ) -> Any:
        """Draw elements of a vector (of ``range(a)`` for an int). See numpy.random.choice."""
        items = None if isinstance(a, int | np.integer) else as_node(a)
        if items is not None and len(items.chunks) != 1:
            raise ValueError("a is one-dimensional or an int")
        (count,) = (operator.index(a),) if items is None else numbers(items.shape)
        extent = () if size is None else as_shape(size)
        if count <= 0 and 0 not in extent:
            raise ValueError("a is empty: there is nothing to draw from")
        if replace:
            index = self._draw_index(count, extent, p, options)
        elif p is not None:
            raise NotImplementedError("p= without replacement is not supported: use replace=True")
        else:
            index = self._draw_distinct(count, extent)
        return index if items is None else _taken(items, index)

    def _draw_index(
        self, count: int, extent: tuple[int, ...], p: Any, options: dict[str, Any]
    ) -> Any:
        if p is None:
            return self.randint(0, count, extent, **options)
        weights = np.asarray(p, dtype=np.float64)
        if weights.shape != (count,):
            raise ValueError(f"a has {count} elements and p {weights.shape}")
        if (weights < 0).any() or not np.isclose(weights.sum(), 1.0):
            raise ValueError("probabilities are not negative and sum to 1")
        cumulated = np.cumsum(weights) / weights.sum()
        return self._draw("choice", (cumulated,), size=extent, dtype=np.int64, **options)

    def _draw_distinct(self, count: int, extent: tuple[int, ...]) -> Any:
        wanted = int(np.prod(extent, dtype=np.int64))
        if wanted > count:
            raise ValueError(f"{wanted} elements cannot be drawn from {count} without replacement")
        return self.permutation(count)[:wanted].reshape(extent)

    def permutation(self, x: Any, **options: Any) -> Any:
        """Return ``x`` (``range(x)`` for an int) in random order along axis 0.

        See numpy.random.permutation.
        """
        if isinstance(x, int | np.integer):
            # Ties among 64-bit keys are broken by position: a bias of the order of n / 2**64.
            keys = self.randint(0, 2**64, operator.index(x), np.uint64, **options)
            return argsort(keys)
        node = as_node(x)
        order = self.permutation(numbers(node.shape)[0])
        return wrap(node)[order]

    def shuffle(self, x: Any) -> None:
        """Put a tensor in random order along axis 0, in place. See numpy.random.shuffle."""
        if not isinstance(x, Collection):
            raise TypeError("shuffle() works on tensors; use permutation() for other sequences")
        assign(x, self.permutation(x).node)

    def bytes(self, length: int) -> bytes:
        """Return random bytes, at once."""
        sequence = np.random.SeedSequence(self._entropy, spawn_key=(next(self._calls),))
        return np.random.Generator(np.random.SFC64(sequence)).bytes(length)


class Generator(RandomState):
    """The methods of numpy.random.Generator where their names differ from RandomState's."""

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
        **options: Any,
    ) -> Any:
        """Draw integers. See numpy.random.Generator.integers."""
        bounds = (0, low) if high is None else (low, high)
        return self.randint(bounds[0], bounds[1] + bool(endpoint), size, dtype, **options)


def default_rng(seed: Any = None) -> Generator:
    """Return a generator; one given is returned as it is."""
    return seed if isinstance(seed, Generator) else Generator(seed)


def _parameter(value: Any, *, whole: bool) -> Any:
    """Return a parameter that broadcasts as a node, one that each draw needs whole as an array."""
    if isinstance(value, Collection):
        if whole:
            raise NotImplementedError("a tensor cannot be a multivariate parameter: pass an array")
        return value.node
    if isinstance(value, list | tuple | np.ndarray):
        array = np.asarray(value)
        return as_node(array) if array.ndim and not whole else array
    return value


def _result_dtype(name: str, params: tuple[Any, ...], dtype: Any) -> np.dtype[Any]:
    """Check constant parameters with NumPy's own eyes, and find the dtype."""
    wanted = None if dtype is None else np.dtype(dtype)
    if name == "choice":
        return np.dtype(np.int64)
    samples = [
        np.ones((1,) * item.meta.ndim, item.meta.dtype) if isinstance(item, Node) else item
        for item in params
    ]
    generator = np.random.default_rng(0)
    if name == "integers":
        if not any(isinstance(item, Node) for item in params):
            low, high = samples
            generator.integers(low, high, size=1, dtype=wanted)
        return np.dtype(wanted)
    if any(isinstance(item, Node) for item in params):
        found = np.asarray(getattr(generator, name)(*samples)).dtype
    else:
        found = getattr(generator, name)(*samples, size=1).dtype
    if wanted is not None and name in SAMPLERS and wanted not in (np.float32, np.float64):
        raise TypeError(f"{name} draws float64 or float32, not {wanted}")
    return wanted if wanted is not None else np.dtype(found)


def _extent(size: Any, params: Sequence[Any]) -> tuple[int, ...]:
    shapes = [numbers(item.shape) for item in params if isinstance(item, Node)]
    natural = np.broadcast_shapes(*shapes)
    if size is None:
        return natural
    extent = as_shape(size)
    if np.broadcast_shapes(natural, extent) != extent:
        raise ValueError(f"parameters of shape {natural} do not fit size {extent}")
    return extent


def _splits(
    chunk_size: Any, extent: tuple[int, ...], dtype: np.dtype[Any], events: tuple[int, ...]
) -> Chunks:
    lead = extent[: len(extent) - len(events)]
    splits = normalize_chunks(chunk_size, lead, dtype)
    if chunk_size is None and options.chunk_size is None:
        splits = snapped(splits, tile_steps(extent, len(events))[: len(lead)])
    return (*splits, *((length,) for length in events))


def _taken(items: Node, index: Any) -> Any:
    """Return the elements that an index tensor names."""
    if not items.inputs and hasattr(items, "array"):
        return wrap(Elementwise(np.take, (items.array, index.node)))
    return wrap(items)[index]
