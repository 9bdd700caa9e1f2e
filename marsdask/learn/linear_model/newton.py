"""Minimization of penalized losses: Newton's method, its proximal form, and L-BFGS."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from marsdask.core.sizes import numbers

from .passes import Objective, Totals

#: So many coefficients have a Hessian that is small beside a chunk of samples.
DENSE = 600

#: Steps are halved so many times before the search ends.
HALVINGS = 20


#: Of so many rows one is looked at first. An odd number meets all classes that alternate.
STEP = 33

#: The rows that are looked at first: at least so many, and so many times the coefficients.
FEW, FEW_EACH = 2**12, 50


class Minimum(NamedTuple):
    """The coefficients found, and in how many iterations."""

    coefficients: Any
    n_iter: int


def minimum(
    objective: Objective, start: Any, *, absolute: float, tol: float, max_iter: int, name: str
) -> Minimum:
    """Return the minimum of the objective, with a penalty on absolute coefficients too.

    A search that does not converge ends with scikit-learn's ConvergenceWarning.
    """
    search = _newton if start.size <= DENSE else _lbfgs
    solution, converged = search(objective, start, absolute, tol, max_iter)
    if not converged:
        warnings.warn(
            f"{name} failed to converge after {solution.n_iter} iterations. Increase the number of "
            f"iterations (max_iter={max_iter}) or scale the data.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return solution


def head_start(objective: Objective, absolute: float, highest: float) -> Any:
    """Return the minimum of few of the rows, ``None`` if there are not many or it tells nothing.

    A search that begins there takes two or three passes over all rows. ``highest`` is the loss of
    zeros, which the minimum has to beat.
    """
    (count,) = numbers(objective.rows.shape[:1])
    size = math.prod(objective.shape)
    if size > DENSE or count // STEP < max(FEW, FEW_EACH * size):
        return None
    few = objective.of_every(STEP)
    if len(np.unique(few.few[1])) < max(2, objective.outputs):
        return None
    with np.errstate(all="ignore"):
        solution, _ = _newton(few, np.zeros(size), absolute, 1e-4, HALVINGS)
    better = few(solution.coefficients, hessian=False).loss < highest
    return solution.coefficients if better and np.isfinite(solution.coefficients).all() else None


def _newton(
    objective: Objective, start: Any, absolute: float, tol: float, max_iter: int
) -> tuple[Minimum, bool]:
    penalty = np.where(_is_intercept(objective), 0.0, absolute)
    coefficients, totals = start, objective(start)
    iteration = 0
    while _violation(totals.gradient, coefficients, penalty) > tol:
        if iteration == max_iter:
            return Minimum(coefficients, iteration), False
        iteration += 1
        goal = _goal(totals, coefficients, penalty)
        step = _search(objective, totals, coefficients, goal - coefficients, penalty)
        if step is None:
            # No step is downhill but for rounding errors.
            return Minimum(coefficients, iteration), True
        coefficients, totals = step
    return Minimum(coefficients, max(1, iteration)), True


def _is_intercept(objective: Objective) -> Any:
    mask = np.zeros(objective.shape, bool)
    mask[:, objective.width :] = True
    return mask.ravel()


def _violation(gradient: Any, coefficients: Any, penalty: Any) -> float:
    """Return how far the nearest subgradient is from zero."""
    residual = np.where(
        coefficients != 0,
        np.abs(gradient + penalty * np.sign(coefficients)),
        np.maximum(np.abs(gradient) - penalty, 0.0),
    )
    return float(residual.max(initial=0.0))


def _goal(seen: Totals, coefficients: Any, penalty: Any) -> Any:
    """Return the minimum of the quadratic that touches the objective."""
    if penalty.any():
        return _descend(seen, coefficients, penalty)
    try:
        return coefficients - cho_solve(cho_factor(seen.hessian), seen.gradient)
    except LinAlgError:
        # Directions without curvature, as of intercepts that all classes share: the shortest step.
        return coefficients - np.linalg.lstsq(seen.hessian, seen.gradient)[0]


def _descend(seen: Totals, coefficients: Any, penalty: Any) -> Any:
    """Minimize the quadratic and the absolute penalty by coordinate descent."""
    hessian = seen.hessian
    curvature = np.maximum(np.diag(hessian), np.finfo(float).tiny)
    goal, slope = coefficients.copy(), seen.gradient.copy()
    for _ in range(1000):
        largest = 0.0
        for i in range(len(goal)):
            wish = goal[i] - slope[i] / curvature[i]
            wish = np.sign(wish) * max(abs(wish) - penalty[i] / curvature[i], 0.0)
            step = wish - goal[i]
            if step:
                goal[i] = wish
                slope += step * hessian[i]
                largest = max(largest, abs(step) * curvature[i])
        if largest <= 1e-12 + 1e-4 * _violation(seen.gradient, coefficients, penalty):
            break
    return goal


def _search(
    objective: Objective, seen: Totals, coefficients: Any, step: Any, penalty: Any
) -> tuple[Any, Totals] | None:
    """Return the first of halved steps that lowers the objective enough, and what is there."""
    value = seen.loss + penalty @ np.abs(coefficients)
    promised = seen.gradient @ step + penalty @ (np.abs(coefficients + step) - np.abs(coefficients))
    slack = np.finfo(float).eps * max(1.0, abs(value))
    for halving in range(HALVINGS if -promised > slack else 0):
        share = 0.5**halving
        trial = coefficients + share * step
        with np.errstate(over="ignore", invalid="ignore"):
            there = objective(trial)
        if there.loss + penalty @ np.abs(trial) - value <= 1e-4 * share * promised + 8 * slack:
            return trial, there
    return None


def _lbfgs(
    objective: Objective, start: Any, absolute: float, tol: float, max_iter: int
) -> tuple[Minimum, bool]:
    """Minimize by scipy.optimize; absolute penalties make two coefficients of bounds of each."""
    penalty = np.where(_is_intercept(objective), 0.0, absolute)
    halves = np.concatenate([np.maximum(start, 0.0), np.maximum(-start, 0.0)])
    split = bool(penalty.any())

    def value(trial: Any) -> tuple[float, Any]:
        coefficients = trial[: start.size] - trial[start.size :] if split else trial
        totals = objective(coefficients, hessian=False)
        if not split:
            return totals.loss, totals.gradient
        loss = totals.loss + penalty @ (trial[: start.size] + trial[start.size :])
        return loss, np.concatenate([totals.gradient + penalty, penalty - totals.gradient])

    solution = minimize(
        value,
        halves if split else start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * halves.size if split else None,
        options={"maxiter": max_iter, "maxls": 50, "gtol": tol, "ftol": 64 * np.finfo(float).eps},
    )
    best = solution.x[: start.size] - solution.x[start.size :] if split else solution.x
    return Minimum(best, max(1, int(solution.nit))), solution.status == 0
