"""Arguments of functions are checked as scikit-learn checks its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils._param_validation import validate_parameter_constraints


def check_arguments(theirs: Callable[..., Any], **given: Any) -> None:
    """Raise scikit-learn's error for a value that its function of the name does not take."""
    constraints = vars(theirs)["_skl_parameter_constraints"]
    rules = {name: constraints[name] for name in given if name in constraints}
    validate_parameter_constraints(rules, given, caller_name=theirs.__qualname__)
