"""Estimators that transform some of the columns each."""

from sklearn.compose import make_column_selector

from .column_transformer import ColumnTransformer, make_column_transformer

__all__ = ["ColumnTransformer", "make_column_selector", "make_column_transformer"]
