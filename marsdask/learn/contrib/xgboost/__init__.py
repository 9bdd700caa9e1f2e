"""XGBoost over tensors and frames; it needs the extra ``xgboost``.

On a session with a ``distributed.Client`` it runs by XGBoost's own Dask interface, else in this
process, to which one chunk after the other is brought.
"""

from marsdask.learn.contrib.extras import refusal, refused_class

try:
    from .estimators import XGBClassifier, XGBRegressor
    from .matrix import MarsDMatrix
    from .training import predict, train
except ModuleNotFoundError as error:
    if error.name != "xgboost":
        raise
    MarsDMatrix = refused_class("MarsDMatrix", "xgboost", "xgboost")  # type: ignore[misc]
    predict = refusal("predict", "xgboost", "xgboost")
    train = refusal("train", "xgboost", "xgboost")
    XGBClassifier = refused_class(  # type: ignore[misc]
        "XGBClassifier", "xgboost", "xgboost", "fit", "predict", "predict_proba"
    )
    XGBRegressor = refused_class("XGBRegressor", "xgboost", "xgboost", "fit", "predict")  # type: ignore[misc]

__all__ = ["MarsDMatrix", "XGBClassifier", "XGBRegressor", "predict", "train"]
