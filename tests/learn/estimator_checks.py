"""Count scikit-learn's checks of all estimators, over arrays and over tensors: ``make estimators``.

It prints a line for each estimator, and ends with an error if a check fails that may not, or if too
few pass. Checks that the extended class of another library fails, too, do not count.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import marsdask
from marsdask.learn.fitted_values import sklearn_class
from tests.learn.checked_estimators import QUICK, SLOW
from tests.learn.over_tensors import over_tensors

#: The least share of checks that pass.
LEAST = 0.98


@dataclass
class Outcomes:
    """The checks that ran, and what those said that failed."""

    ran: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)


def outcomes(kind: Any, model: Any) -> Outcomes:
    """Run the checks over a class with a model's parameters, but for those it does not have."""
    ours = set(type(model)._get_param_names()) - set(kind._get_param_names())
    params = {name: item for name, item in model.get_params(deep=False).items() if name not in ours}
    # Libraries' own threads would wait for each other longer than they work.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        results = check_estimator(kind(**params), on_skip=None, on_fail=None)
    found = Outcomes({one["check_name"] for one in results if one["status"] != "skipped"})
    for one in results:
        if one["status"] == "failed":
            error = one["exception"]
            found.failed[one["check_name"]] = f"{type(error).__name__}: {error}"[:300]
    return found


def own_failures(model: Any) -> set[str]:
    """Return the checks that the class fails which an estimator extends; dask-ml's extend none."""
    try:
        kind = sklearn_class(type(model))
    except StopIteration:
        return set()
    return set() if kind.__module__ == "sklearn.base" else set(outcomes(kind, model).failed)


def count(model: Any, reasons: dict[str, str]) -> Counter[str]:
    """Check an estimator, and print its line and what failed without a reason."""
    kinds = {"arrays": type(model), "tensors": over_tensors(type(model))}  # type: ignore[arg-type]
    found = {over: outcomes(kind, model) for over, kind in kinds.items()}
    own = own_failures(model) if any(one.failed for one in found.values()) else set()
    title, total, shares = type(model).__name__, Counter[str](), []
    for over, one in found.items():
        failed = set(one.failed) - own
        total.update(ran=len(one.ran - own), failed=len(failed), bad=len(failed - set(reasons)))
        shares.append(f"{len(one.ran - own) - len(failed)}/{len(one.ran - own)}")
        for name in sorted(failed - set(reasons)):
            print(f"  FAILS: {name} of {title} over {over}: {one.failed[name]}", flush=True)
    known = {name for one in found.values() for name in one.failed if name not in own}
    print(f"{title:28} {shares[0]:>8} {shares[1]:>8}  {', '.join(sorted(known))}", flush=True)
    return total


def main(arguments: list[str]) -> int:
    """Print the table; return 1 if something failed that may not."""
    parser = argparse.ArgumentParser(prog="python -m tests.learn.estimator_checks")
    parser.add_argument("names", nargs="*", help="estimators (default all)")
    names = parser.parse_args(arguments).names
    print(f"{'estimator':28} {'arrays':>8} {'tensors':>8}  may fail")
    total: Counter[str] = Counter()
    for model, reasons in {**QUICK, **SLOW}.items():
        if not names or type(model).__name__ in names:
            total += count(model, reasons)
    passed = total["ran"] - total["failed"]
    share = passed / max(1, total["ran"])
    print(f"{passed} of {total['ran']} checks pass ({100 * share:.1f} %)")
    return int(bool(total["bad"]) or share < LEAST)


if __name__ == "__main__":
    with marsdask.new_session("synchronous"):
        sys.exit(main(sys.argv[1:]))
