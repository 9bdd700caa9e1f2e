"""Random numbers: distributions as in NumPy, with values that do not depend on chunks."""

from typing import Final

from numpy.random import (
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    BitGenerator,
    Philox,
    SeedSequence,
)

from .state import Generator, RandomState, default_rng

_state = RandomState()

seed: Final = _state.seed
beta: Final = _state.beta
binomial: Final = _state.binomial
bytes: Final = _state.bytes
chisquare: Final = _state.chisquare
choice: Final = _state.choice
dirichlet: Final = _state.dirichlet
exponential: Final = _state.exponential
f: Final = _state.f
gamma: Final = _state.gamma
geometric: Final = _state.geometric
get_state: Final = _state.get_state
gumbel: Final = _state.gumbel
hypergeometric: Final = _state.hypergeometric
laplace: Final = _state.laplace
logistic: Final = _state.logistic
lognormal: Final = _state.lognormal
logseries: Final = _state.logseries
multinomial: Final = _state.multinomial
multivariate_normal: Final = _state.multivariate_normal
negative_binomial: Final = _state.negative_binomial
noncentral_chisquare: Final = _state.noncentral_chisquare
noncentral_f: Final = _state.noncentral_f
normal: Final = _state.normal
pareto: Final = _state.pareto
permutation: Final = _state.permutation
poisson: Final = _state.poisson
power: Final = _state.power
rand: Final = _state.rand
randint: Final = _state.randint
randn: Final = _state.randn
random: Final = _state.random
random_integers: Final = _state.random_integers
random_sample: Final = _state.random_sample
ranf: Final = _state.ranf
rayleigh: Final = _state.rayleigh
sample: Final = _state.sample
set_state: Final = _state.set_state
shuffle: Final = _state.shuffle
standard_cauchy: Final = _state.standard_cauchy
standard_exponential: Final = _state.standard_exponential
standard_gamma: Final = _state.standard_gamma
standard_normal: Final = _state.standard_normal
standard_t: Final = _state.standard_t
triangular: Final = _state.triangular
uniform: Final = _state.uniform
vonmises: Final = _state.vonmises
wald: Final = _state.wald
weibull: Final = _state.weibull
zipf: Final = _state.zipf

__all__ = [
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "SFC64",
    "BitGenerator",
    "Generator",
    "Philox",
    "RandomState",
    "SeedSequence",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "seed",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]
