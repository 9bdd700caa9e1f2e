"""Linear models."""

from .glm import GammaRegressor, PoissonRegressor, TweedieRegressor
from .least_squares import ElasticNet, Lasso, LinearRegression, Ridge
from .logistic import LogisticRegression

__all__ = [
    "ElasticNet",
    "GammaRegressor",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "PoissonRegressor",
    "Ridge",
    "TweedieRegressor",
]
