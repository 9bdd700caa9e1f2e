"""Scaling and encoding of samples, and of labels."""

from .by_row import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures
from .categories import OneHotEncoder, OrdinalEncoder
from .frames import BlockTransformer, Categorizer, DummyEncoder
from .labels import LabelBinarizer, LabelEncoder, label_binarize
from .quantiles import QuantileTransformer, RobustScaler
from .ranges import MaxAbsScaler, MinMaxScaler
from .scaler import StandardScaler
from .scaling import (
    binarize,
    maxabs_scale,
    minmax_scale,
    normalize,
    quantile_transform,
    robust_scale,
    scale,
)
from .target_encoder import TargetEncoder

__all__ = [
    "Binarizer",
    "BlockTransformer",
    "Categorizer",
    "DummyEncoder",
    "FunctionTransformer",
    "LabelBinarizer",
    "LabelEncoder",
    "MaxAbsScaler",
    "MinMaxScaler",
    "Normalizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PolynomialFeatures",
    "QuantileTransformer",
    "RobustScaler",
    "StandardScaler",
    "TargetEncoder",
    "binarize",
    "label_binarize",
    "maxabs_scale",
    "minmax_scale",
    "normalize",
    "quantile_transform",
    "robust_scale",
    "scale",
]
