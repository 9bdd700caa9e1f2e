"""Random states: the seed, the count of calls, and one line for each distribution."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.config import options
from marsdask.core.display.suggestions import check_keywords, suggesting_methods
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, numbers
from marsdask.tensor.chunks import as_shape, normalize_chunks
from marsdask.tensor.device import placed_on
from marsdask.tensor.elementwise.nodes import Elementwise
from marsdask.tensor.elementwise.ufuncs import divide, multiply
from marsdask.tensor.indexing.assignment import assign
from marsdask.tensor.indexing.getitem import take
from marsdask.tensor.manipulation.diagonals import take_along_axis
from marsdask.tensor.manipulation.shape import normalize_axis
from marsdask.tensor.operands import Literal, as_node
from marsdask.tensor.sorting.sort import argsort
from marsdask.tensor.sparse.conversion import tosparse

from .samplers import PLAIN, SAMPLERS
from .tiles import Draw, align_to_tiles, tile_steps

if TYPE_CHECKING:
    from ..tensor import Tensor

#: The common arguments of all distributions, after their own parameters.
_COMMON = ("size", "chunk_size", "gpu", "dtype", "chunks", "out")
_UNSET = Parameter.empty


def law(name: str, **params: Any) -> Callable[..., Tensor]:
    """Return the method for NumPy's distribution ``name`` with these defaults of parameters."""
    fields = [
        Parameter(field, Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for field, default in params.items()
    ]
    common = [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, default=None) for key in _COMMON]
    # The parameters without a default come first in every distribution, so the signature is valid.
    signature = Signature([*fields, *common])

    def method(self: RandomState, *args: Any, **kwargs: Any) -> Tensor:
        binding = signature.bind(*args, **kwargs)
        binding.apply_defaults()
        arguments = binding.arguments
        values = tuple(arguments[field] for field in params)
        return self._draw(name, values, **{key: arguments[key] for key in _COMMON})

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Draw from ``{name}``. See numpy.random.Generator.{name}."
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    method.__signature__ = Signature([own, *signature.parameters.values()])  # type: ignore[attr-defined]
    return method


@suggesting_methods
class RandomState:
    """A seed and a count of calls.

    Differs from NumPy: another stream. The values depend on the seed, the shape, the dtype and the
    number of earlier calls, never on the chunks.
    """

    def __init__(self, seed: Any = None) -> None:
        self.seed(seed)

    def seed(self, seed: Any = None) -> None:
        """Start again from ``seed``, or from the system's entropy.

        A seed is as in NumPy: numbers, a SeedSequence, a BitGenerator, a Generator.

        Parameters
        ----------
        seed : int or other, optional
            The seed.

        Examples
        --------
        >>> mt.random.seed(1)
        >>> first = mt.random.rand(2).compute()
        >>> mt.random.seed(1)
        >>> bool((mt.random.rand(2).compute() == first).all())
        True
        """
        self._entropy = entropy_of(seed)
        self._calls = CallCounter()

    @classmethod
    def from_numpy(cls, np_random_state: Any) -> Self:
        """Return a state that continues from NumPy's current state, which does not change.

        Parameters
        ----------
        np_random_state : numpy.random.RandomState
            NumPy's state.

        Returns
        -------
        RandomState
            A state that goes on from it.

        Examples
        --------
        >>> mt.random.RandomState.from_numpy(np.random.RandomState(0)).rand(2).shape
        (2,)
        """
        return cls(np_random_state)

    def to_numpy(self) -> np.random.RandomState:
        """Return a state of NumPy's with the same seed.

        Returns
        -------
        numpy.random.RandomState
            NumPy's state.

        Examples
        --------
        >>> mt.random.RandomState(0).to_numpy().rand(2).shape
        (2,)
        """
        return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(self._entropy)))

    def get_state(self, legacy: bool = True) -> tuple[Any, int]:
        """Return the seed and the number of calls. See numpy.random.get_state."""
        del legacy
        return self._entropy, self._calls.made

    def set_state(self, state: Any) -> None:
        """Continue from a state that :meth:`get_state` returned.

        Parameters
        ----------
        state : object
            The state.

        Raises
        ------
        ValueError
            If ``get_state`` did not return it.

        Examples
        --------
        >>> state = mt.random.get_state()
        >>> first = mt.random.rand(2).compute()
        >>> mt.random.set_state(state)
        >>> bool((mt.random.rand(2).compute() == first).all())
        True
        """
        try:
            entropy, calls = state
            self._entropy, self._calls = entropy_of(entropy), CallCounter(operator.index(calls))
        except (TypeError, ValueError):
            raise ValueError(
                "state is what get_state() returns; NumPy's own states go to RandomState.from_numpy"
            ) from None

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
        out: Any = None,
        events: tuple[int, ...] = (),
    ) -> Tensor:
        if out is not None and not isinstance(out, Collection):
            raise TypeError(f"out must be a Tensor, not {type(out).__name__}")
        if out is not None and size is None:
            size = numbers(out.node.shape)
        if all(isinstance(item, int | float) for item in params):
            name, params = PLAIN.get((name, params), (name, params))
        whole = bool(events) or name == "choice"
        params = tuple(_parameter(item, whole=whole) for item in params)
        kind = _result_dtype(name, params, dtype)
        extent = _extent(size, [] if whole else params) + events
        splits = _splits(chunk_size if chunk_size is not None else chunks, extent, kind, events)
        node = Draw(name, params, self._entropy, next(self._calls), kind, splits, len(events))
        result: Tensor = wrap(placed_on(node, gpu)) if out is None else assign(out, node)
        return result

    beta: Final = law("beta", a=_UNSET, b=_UNSET)
    binomial: Final = law("binomial", n=_UNSET, p=_UNSET)
    chisquare: Final = law("chisquare", df=_UNSET)
    exponential: Final = law("exponential", scale=1.0)
    f: Final = law("f", dfnum=_UNSET, dfden=_UNSET)
    gamma: Final = law("gamma", shape=_UNSET, scale=1.0)
    geometric: Final = law("geometric", p=_UNSET)
    gumbel: Final = law("gumbel", loc=0.0, scale=1.0)
    hypergeometric: Final = law("hypergeometric", ngood=_UNSET, nbad=_UNSET, nsample=_UNSET)
    laplace: Final = law("laplace", loc=0.0, scale=1.0)
    logistic: Final = law("logistic", loc=0.0, scale=1.0)
    lognormal: Final = law("lognormal", mean=0.0, sigma=1.0)
    logseries: Final = law("logseries", p=_UNSET)
    negative_binomial: Final = law("negative_binomial", n=_UNSET, p=_UNSET)
    noncentral_chisquare: Final = law("noncentral_chisquare", df=_UNSET, nonc=_UNSET)
    noncentral_f: Final = law("noncentral_f", dfnum=_UNSET, dfden=_UNSET, nonc=_UNSET)
    normal: Final = law("normal", loc=0.0, scale=1.0)
    pareto: Final = law("pareto", a=_UNSET)
    poisson: Final = law("poisson", lam=1.0)
    power: Final = law("power", a=_UNSET)
    rayleigh: Final = law("rayleigh", scale=1.0)
    random: Final = law("random")
    random_sample: Final = law("random")
    ranf: Final = law("random")
    sample: Final = law("random")
    standard_cauchy: Final = law("standard_cauchy")
    standard_exponential = law("standard_exponential")
    standard_gamma: Final = law("standard_gamma", shape=_UNSET)
    standard_normal: Final = law("standard_normal")
    standard_t: Final = law("standard_t", df=_UNSET)
    triangular: Final = law("triangular", left=_UNSET, mode=_UNSET, right=_UNSET)
    uniform: Final = law("uniform", low=0.0, high=1.0)
    vonmises: Final = law("vonmises", mu=_UNSET, kappa=_UNSET)
    wald: Final = law("wald", mean=_UNSET, scale=_UNSET)
    weibull: Final = law("weibull", a=_UNSET)
    zipf: Final = law("zipf", a=_UNSET)

    def rand(self, *shape: Any, **options: Any) -> Tensor:
        """Draw uniformly from [0, 1) in the given shape. See numpy.random.rand."""
        check_keywords(options, _COMMON)
        return self._draw("random", (), size=shape, **options)

    def randn(self, *shape: Any, **options: Any) -> Tensor:
        """Draw standard normal numbers in the given shape. See numpy.random.randn."""
        check_keywords(options, _COMMON)
        return self._draw("standard_normal", (), size=shape, **options)

    def randint(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = int,
        density: float | None = None,
        **options: Any,
    ) -> Tensor:
        """Draw integers from [low, high). See numpy.random.randint.

        With a ``density`` the tensor is sparse, and only this share of it is drawn.
        """
        bounds = (0, low) if high is None else (low, high)
        result = self._draw("integers", bounds, size=size, dtype=dtype, **options)
        if density is None:
            return result
        if not 0 <= density <= 1:
            raise ValueError(f"density is between 0 and 1, not {density}")
        there = self.random(result.shape, chunks=result.chunks) < density
        return tosparse(multiply(result, there))

    def tomaxint(self, size: Any = None, **options: Any) -> Tensor:
        """Draw integers from zero to the largest. See numpy.random.RandomState.tomaxint."""
        return self.randint(0, np.iinfo(np.int64).max + 1, size, np.int64, **options)

    def random_integers(
        self, low: Any, high: Any = None, size: Any = None, **options: Any
    ) -> Tensor:
        """Draw integers from [low, high]. See numpy.random.random_integers."""
        bounds = (1, low) if high is None else (low, high)
        return self.randint(bounds[0], bounds[1] + 1, size, **options)

    def multinomial(self, n: Any, pvals: Any, size: Any = None, **options: Any) -> Tensor:
        """Draw counts of ``n`` trials over categories. See numpy.random.multinomial."""
        pvals = np.asarray(pvals)
        return self._draw("multinomial", (n, pvals), size=size, events=pvals.shape, **options)

    def dirichlet(self, alpha: Any, size: Any = None, **options: Any) -> Tensor:
        """Draw points of a simplex. See numpy.random.dirichlet."""
        alpha = np.asarray(alpha)
        return self._draw("dirichlet", (alpha,), size=size, events=alpha.shape, **options)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str | None = "warn",
        tol: float | None = 1e-8,
        *,
        method: str = "svd",
        **options: Any,
    ) -> Tensor:
        """Draw normal vectors. See numpy.random.Generator.multivariate_normal.

        The covariance is checked at the call.
        """
        mean, cov = np.asarray(mean), np.asarray(cov)
        how: Any = {"check_valid": check_valid or "warn", "tol": tol or 1e-8, "method": method}
        np.random.default_rng(0).multivariate_normal(mean, cov, **how)
        params = (mean, cov)
        return self._draw("multivariate_normal", params, size=size, events=mean.shape, **options)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        **options: Any,
    ) -> Tensor:
        """Draw parts of a tensor along an axis (of ``range(a)`` for an int).

        See numpy.random.Generator.choice.
        """
        del shuffle  # the drawn elements are in random order anyway
        items = None if isinstance(a, int | np.integer) else as_node(a)
        if items is not None and not items.chunks:
            raise ValueError("a must be at least 1-dimensional or an integer")
        axis = 0 if items is None else normalize_axis(axis, len(items.chunks))
        (count,) = (operator.index(a),) if items is None else numbers((items.shape[axis],))
        extent = () if size is None else as_shape(size)
        if count <= 0 and 0 not in extent:
            raise ValueError("a must be greater than 0 unless no samples are taken")
        weights = None if p is None else _weights(p, count)
        if replace:
            index = self._draw_index(count, extent, weights, options)
        else:
            index = self._draw_distinct(count, extent, weights)
        return index if items is None else _taken(items, index, axis)

    def _draw_index(
        self, count: int, extent: tuple[int, ...], weights: Any, options: dict[str, Any]
    ) -> Any:
        if weights is None:
            # From nothing only nothing is drawn.
            return self.randint(0, max(count, 1), extent, **options)
        cumulated = np.cumsum(weights) / weights.sum()
        return self._draw("choice", (cumulated,), size=extent, dtype=np.int64, **options)

    def _draw_distinct(self, count: int, extent: tuple[int, ...], weights: Any) -> Any:
        number = int(np.prod(extent, dtype=np.int64))
        if number > count:
            raise ValueError(
                "Cannot take a larger sample than population when 'replace=False': "
                f"{number} elements of {count}"
            )
        if weights is None:
            return self.permutation(count)[:number].reshape(extent)
        if np.count_nonzero(weights) < number:
            raise ValueError("Fewer non-zero entries in p than size")
        # The order of exponential waiting times (Efraimidis and Spirakis, 2006).
        waits = self.exponential(size=count)
        return argsort(divide(waits, np.where(weights > 0, weights, 1e-300)))[:number].reshape(
            extent
        )

    def permutation(self, x: Any, axis: int = 0, **options: Any) -> Tensor:
        """Return ``x`` (``range(x)`` for an int) in random order along an axis.

        See numpy.random.Generator.permutation.
        """
        if isinstance(x, int | np.integer):
            # Ties among 64-bit keys are broken by position: a bias of the order of n / 2**64.
            keys = self.randint(0, 2**64, operator.index(x), np.uint64, **options)
            return argsort(keys)
        node = as_node(x)
        axis = normalize_axis(axis, len(node.chunks))
        order = self.permutation(numbers((node.shape[axis],))[0])
        return take(wrap(node), order, axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put a tensor in random order along an axis, in place. See numpy.random.shuffle."""
        if not isinstance(x, Collection):
            raise TypeError("shuffle() works on tensors; use permutation() for other sequences")
        assign(x, self.permutation(x, axis).node)

    def bytes(self, length: int) -> bytes:
        """Return random bytes, immediately.

        Parameters
        ----------
        length : int
            How many.

        Returns
        -------
        bytes
            The bytes.

        Examples
        --------
        >>> len(mt.random.bytes(4))
        4
        """
        sequence = np.random.SeedSequence(self._entropy, spawn_key=(next(self._calls),))
        return np.random.Generator(np.random.SFC64(sequence)).bytes(length)


@suggesting_methods
class Generator(RandomState):
    """The methods of numpy.random.Generator whose names differ from RandomState's."""

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """A bit generator of NumPy's with the same seed."""
        return np.random.SFC64(np.random.SeedSequence(self._entropy))

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
        **options: Any,
    ) -> Tensor:
        """Draw integers. See numpy.random.Generator.integers."""
        bounds = (0, low) if high is None else (low, high)
        return self.randint(bounds[0], bounds[1] + bool(endpoint), size, dtype, **options)

    def standard_exponential(
        self, size: Any = None, dtype: Any = None, method: str = "zig", out: Any = None, **more: Any
    ) -> Tensor:
        """Draw exponential numbers. See numpy.random.Generator.standard_exponential."""
        if method not in ("zig", "inv"):
            raise ValueError(f"method is 'zig' or 'inv', not {method!r}")
        return self._draw("standard_exponential", (), size=size, dtype=dtype, out=out, **more)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: int, size: Any = None, method: Any = "marginals", **more: Any
    ) -> Tensor:
        """Draw counts of colours. See numpy.random.Generator.multivariate_hypergeometric."""
        colors = np.asarray(colors)
        np.random.default_rng(0).multivariate_hypergeometric(colors, nsample, method=method)
        params = (colors, operator.index(nsample))
        name = "multivariate_hypergeometric"
        return self._draw(name, params, size=size, events=colors.shape, **more)

    def permuted(self, x: Any, axis: int | None = None, out: Any = None) -> Tensor:
        """Shuffle each lane separately. See numpy.random.Generator.permuted."""
        tensor = wrap(as_node(x))
        flat = tensor.ravel() if axis is None else tensor
        lane = 0 if axis is None else normalize_axis(axis, tensor.ndim)
        keys = self.randint(0, 2**64, flat.shape, np.uint64, chunks=flat.chunks)
        result = take_along_axis(flat, argsort(keys, axis=lane), lane).reshape(tensor.shape)
        output: Tensor = result if out is None else assign(out, result.node)
        return output

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators that are independent of this one. See numpy.random.Generator.spawn."""
        call = next(self._calls)
        keys = ((call, child) for child in range(operator.index(n_children)))
        sequences = (np.random.SeedSequence(self._entropy, spawn_key=key) for key in keys)
        return [Generator(sequence) for sequence in sequences]


class CallCounter:
    """Counts calls from all threads."""

    def __init__(self, made: int = 0) -> None:
        self.made = made
        self._lock = threading.Lock()

    def __next__(self) -> int:
        with self._lock:
            self.made += 1
            return self.made - 1

    def __reduce__(self) -> tuple[Any, ...]:
        return CallCounter, (self.made,)


def entropy_of(seed: Any) -> Any:
    """Return the entropy of a seed: an int, or a tuple of ints."""
    if isinstance(seed, np.random.RandomState):
        _, key, position, *_ = seed.get_state(legacy=True)
        seed = np.random.SeedSequence([*map(int, key), int(position)])
    if isinstance(seed, type) and issubclass(seed, np.random.BitGenerator):
        seed = seed()  # Dask takes the class, too
    if isinstance(seed, np.random.BitGenerator):
        seed = np.random.Generator(seed)
    if isinstance(seed, np.random.Generator):
        return tuple(seed.integers(0, 2**63, 4).tolist())
    if isinstance(seed, np.random.SeedSequence):
        return tuple(seed.generate_state(8).tolist())
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    entropy: Any = np.random.SeedSequence(seed).entropy
    return tuple(entropy) if isinstance(entropy, Sequence) else entropy


def _weights(p: Any, count: int) -> Any:
    weights = np.asarray(p, dtype=np.float64)
    if weights.shape != (count,):
        raise ValueError(
            f"'a' and 'p' must have same size: {count} elements and shape {weights.shape}"
        )
    if (weights < 0).any():
        raise ValueError("probabilities are not non-negative")
    if not np.isclose(weights.sum(), 1.0):
        raise ValueError("probabilities do not sum to 1")
    return weights


def default_rng(seed: Any = None) -> Generator:
    """Return a generator; a given generator is returned unchanged.

    Parameters
    ----------
    seed : int, Generator or other, optional
        A seed, or a generator.

    Returns
    -------
    Generator
        A generator of marsdask's.

    Examples
    --------
    >>> mt.random.default_rng(0).random(3, chunk_size=2).chunks
    ((2, 1),)
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


def _parameter(value: Any, *, whole: bool) -> Any:
    """Return a parameter that broadcasts as a node, one that each draw needs whole as an array."""
    if isinstance(value, Collection):
        if whole:
            raise NotImplementedError(
                "a tensor as multivariate parameter is not supported; use x.compute()"
            )
        return value.node
    if isinstance(value, list | tuple | np.ndarray):
        array = np.asarray(value)
        return as_node(array) if array.ndim and not whole else array
    return value


def _result_dtype(name: str, params: tuple[Any, ...], dtype: Any) -> np.dtype[Any]:
    """Check constant parameters with NumPy's own checks, and find the dtype."""
    kind = None if dtype is None else np.dtype(dtype)
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
            generator.integers(low, high, size=1, dtype=kind)
        return np.dtype(kind)
    if any(isinstance(item, Node) for item in params):
        result_type = np.asarray(getattr(generator, name)(*samples)).dtype
    else:
        result_type = getattr(generator, name)(*samples, size=1).dtype
    if kind is not None and name in SAMPLERS and kind not in (np.float32, np.float64):
        raise TypeError(f"{name} draws float64 or float32, not {kind}")
    return kind if kind is not None else np.dtype(result_type)


def _extent(size: Any, params: Sequence[Any]) -> tuple[int, ...]:
    shapes = [numbers(item.shape) for item in params if isinstance(item, Node)]
    natural = np.broadcast_shapes(*shapes)
    if size is None:
        return natural
    extent = as_shape(size)
    if np.broadcast_shapes(natural, extent) != extent:
        raise ValueError(
            f"Output size {extent} is not compatible with broadcast dimensions of inputs {natural}."
        )
    return extent


def _splits(
    chunk_size: Any, extent: tuple[int, ...], dtype: np.dtype[Any], events: tuple[int, ...]
) -> Chunks:
    lead = extent[: len(extent) - len(events)]
    splits = normalize_chunks(chunk_size, lead, dtype)
    if chunk_size is None and options.chunk_size is None:
        splits = align_to_tiles(splits, tile_steps(extent, len(events))[: len(lead)])
    return (*splits, *((length,) for length in events))


def _taken(items: Node, index: Any, axis: int) -> Tensor:
    """Return the elements for an index tensor."""
    if isinstance(items, Literal) and len(items.chunks) == 1:
        result: Tensor = wrap(Elementwise(np.take, (items.array, index.node)))
        return result
    return take(items, index, axis)
