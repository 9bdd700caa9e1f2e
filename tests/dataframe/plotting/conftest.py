"""Plots are tested once, as users run them: what is drawn is computed by folds."""

from __future__ import annotations

from tests.dataframe import one_mode

_coalesce = one_mode.coalesce
