"""Estimators that are made of many."""

from .bagging import BaggingClassifier, BaggingRegressor
from .iforest import IsolationForest
from .voting import BlockwiseVotingClassifier, BlockwiseVotingRegressor

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "BlockwiseVotingClassifier",
    "BlockwiseVotingRegressor",
    "IsolationForest",
]
