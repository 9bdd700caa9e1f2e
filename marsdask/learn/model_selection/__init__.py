"""Samples divided into parts, and estimators judged on them, as in scikit-learn."""

from sklearn.model_selection import ParameterGrid, ParameterSampler

from .search import GridSearchCV, RandomizedSearchCV
from .split import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    train_test_split,
)
from .validation import (
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)

__all__ = [
    "GridSearchCV",
    "GroupKFold",
    "GroupShuffleSplit",
    "KFold",
    "LeaveOneGroupOut",
    "LeaveOneOut",
    "ParameterGrid",
    "ParameterSampler",
    "RandomizedSearchCV",
    "RepeatedKFold",
    "RepeatedStratifiedKFold",
    "ShuffleSplit",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "StratifiedShuffleSplit",
    "TimeSeriesSplit",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "learning_curve",
    "train_test_split",
    "validation_curve",
]
