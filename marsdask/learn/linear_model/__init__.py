"""Linear models."""

from .glm import GammaRegressor, PoissonRegressor, TweedieRegressor
from .least_squares import ElasticNet, Lasso, LinearRegression, Ridge
from .logistic import LogisticRegression
from .sgd import SGDClassifier, SGDRegressor

__all__ = [
    "ElasticNet",
    "GammaRegressor",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "PoissonRegressor",
    "Ridge",
    "SGDClassifier",
    "SGDRegressor",
    "TweedieRegressor",
]
