"""Draw a distribution's numbers: into a buffer if NumPy can, else as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Params = tuple[Any, ...]


@dataclass(frozen=True)
class Sampler:
    """A ``method`` of NumPy's generator, then optionally ``finish(values, *params)`` in place.

    ``fills`` means that the method takes no parameters, but ``out=`` and the float dtypes.
    """

    method: str
    fills: bool = False
    finish: Callable[..., None] | None = None

    def fill(self, generator: np.random.Generator, out: Any, params: Params) -> None:
        """Draw into a C-contiguous buffer."""
        getattr(generator, self.method)(dtype=out.dtype, out=out)
        if self.finish is not None:
            self.finish(out, *params)

    def draw(
        self,
        generator: np.random.Generator,
        size: tuple[int, ...],
        dtype: np.dtype[Any],
        params: Params,
    ) -> Any:
        """Return new values."""
        if self.method == "integers":
            low, high = params
            return generator.integers(low, high, size=size, dtype=dtype)
        if self.method == "choice":
            (cumulated,) = params
            return np.searchsorted(cumulated, generator.random(size), side="right")
        if self.method == "multivariate_normal":
            # Checked at the call.
            mean, cov = params
            return generator.multivariate_normal(mean, cov, size=size, check_valid="ignore")
        return getattr(generator, self.method)(*params, size=size)


def scale(values: Any, factor: Any) -> None:
    """Multiply in place."""
    np.multiply(values, factor, out=values, casting="same_kind")


def scale_and_shift(values: Any, shift: Any, factor: Any) -> None:
    """Multiply and add in place."""
    np.multiply(values, factor, out=values, casting="same_kind")
    np.add(values, shift, out=values, casting="same_kind")


def stretch(values: Any, low: Any, high: Any) -> None:
    """Scale the unit interval in place."""
    scale_and_shift(values, low, np.subtract(high, low))


SAMPLERS = {
    "random": Sampler("random", fills=True),
    "standard_normal": Sampler("standard_normal", fills=True),
    "standard_exponential": Sampler("standard_exponential", fills=True),
    "normal": Sampler("standard_normal", fills=True, finish=scale_and_shift),
    "uniform": Sampler("random", fills=True, finish=stretch),
    "exponential": Sampler("standard_exponential", fills=True, finish=scale),
}

#: Distributions that equal another one without further steps.
PLAIN: dict[tuple[str, Params], tuple[str, Params]] = {
    ("normal", (0.0, 1.0)): ("standard_normal", ()),
    ("uniform", (0.0, 1.0)): ("random", ()),
    ("exponential", (1.0,)): ("standard_exponential", ()),
}


def by_name(law: str) -> Sampler:
    """Return the sampler of a distribution; those not listed are drawn as by NumPy."""
    return SAMPLERS.get(law) or Sampler(law)
