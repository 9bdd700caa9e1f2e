"""Searches that stop estimators early which learn block by block: dask-ml's classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from marsdask.learn.lazy import is_lazy
from marsdask.learn.targets import target_classes
from marsdask.learn.wrappers import ParallelPostFit

from .samples import held
from .split import train_test_split
from .trials import Course, Judge, Rung, Trial, table

#: The share of samples in memory that judges estimators.
TEST_SIZE = 0.25


class IncrementalSearchCV(ParallelPostFit):
    """Let estimators with drawn parameters learn block by block, until they improve no more.

    dask-ml's class of this name. Estimators learn by ``partial_fit`` from one chunk after the
    other, which is brought to this process; those of the same block are tasks of the session. Some
    samples are held out: by their scores the best is chosen, which then predicts as
    :class:`ParallelPostFit` does.

    Parameters
    ----------
    estimator : object
        An estimator with ``partial_fit``.
    parameters : dict
        For each parameter a list of values or a distribution.
    n_initial_parameters : int or "grid"
        How many are drawn; ``"grid"`` takes every combination.
    test_size : float or int, optional
        The samples that are held out; by default as many as one chunk has, of arrays a quarter.
    patience : int
        An estimator stops if its score has not grown by ``tol`` for so many blocks; ``False`` lets
        all go on.
    tol : float
        See ``patience``.
    fits_per_score : int
        The number of blocks between two scores.
    max_iter : int
        The number of blocks that an estimator learns from at most; they come again in turn.
    random_state : int or RandomState, optional
        Draws the parameters and the samples that are held out.
    scoring : str or callable, optional
        How to score; by default as the estimator does.
    verbose : bool
        Whether to print the best score from time to time.
    prefix : str
        With what those lines begin.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from marsdask.learn.model_selection import IncrementalSearchCV
    >>> X = mt.arange(60.0, chunk_size=20).reshape(-1, 1) - 30
    >>> given = {"alpha": [1e-4, 1e4]}
    >>> model = SGDClassifier(random_state=0)
    >>> search = IncrementalSearchCV(model, given, "grid", max_iter=4, random_state=0)
    >>> search.fit(X, X[:, 0] > 0).best_params_
    {'alpha': 0.0001}
    """

    def __init__(
        self,
        estimator: Any = None,
        parameters: Any = None,
        n_initial_parameters: int | str = 10,
        test_size: float | None = None,
        patience: int | bool = False,
        tol: float = 0.001,
        fits_per_score: int = 1,
        max_iter: int = 100,
        random_state: Any = None,
        scoring: Any = None,
        verbose: bool = False,
        prefix: str = "",
    ) -> None:
        super().__init__(estimator, scoring)
        self.parameters = parameters
        self.n_initial_parameters = n_initial_parameters
        self.test_size = test_size
        self.patience = patience
        self.tol = tol
        self.fits_per_score = fits_per_score
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.prefix = prefix

    def _rungs(self, candidates: int) -> list[Rung]:
        """Return how many go on, and how far."""
        step = max(1, int(self.fits_per_score))
        stops = [*range(1, int(self.max_iter), step), int(self.max_iter)]
        return [Rung(candidates, calls) for calls in stops]

    def _brackets(self) -> list[tuple[int, list[Rung]]]:
        """Return the number of trials of each bracket, and how they go on."""
        count = self._candidate_count()
        return [(count, self._rungs(count))]

    def _patience(self) -> int:
        if self.patience is True:
            raise ValueError(f"patience=True has no meaning for {type(self).__name__}; give an int")
        return int(self.patience)

    def _candidate_count(self) -> int:
        if self.n_initial_parameters == "grid":
            return len(ParameterGrid(self.parameters))
        return int(self.n_initial_parameters)

    def _draws(self, count: int, random: Any) -> list[dict[str, Any]]:
        if self.n_initial_parameters == "grid":
            return list(ParameterGrid(self.parameters))
        return list(ParameterSampler(self.parameters, count, random_state=random))

    def _offers(self, method: str) -> None:
        if method == "partial_fit":
            raise AttributeError("a search has no partial_fit(); use that of best_estimator_")
        super()._offers(method)

    def _taught(self, model: Any, method: str, X: Any, y: Any, **kwargs: Any) -> Any:
        random = check_random_state(self.random_state)
        size = _test_size(X) if self.test_size is None else self.test_size
        parts = train_test_split(
            *(item for item in (X, y) if item is not None), test_size=size, random_state=random
        )
        train, test = held(*parts[::2]), held(*parts[1::2])
        if is_classifier(model) and "classes" not in kwargs:
            kwargs["classes"] = np.asarray(target_classes(y))
        judge = Judge(model, self.scoring, test[0], test[1] if len(test) > 1 else None)
        targets = train[1] if len(train) > 1 else None
        course = Course(
            train[0],
            targets,
            judge,
            kwargs,
            patience=self._patience(),
            tol=self.tol,
            verbose=bool(self.verbose),
            prefix=self.prefix and f"{self.prefix} ",
        )
        self._search(model, course, random)
        self.scorer_, self.n_splits_, self.multimetric_ = judge.scorer, 1, False
        return self.best_estimator_

    def _search(self, model: Any, course: Course, random: Any) -> None:
        brackets = self._brackets()
        trials: list[Trial] = []
        self.history_: list[dict[str, Any]] = []
        for number, (count, rungs) in enumerate(brackets):
            name = f"bracket={number}-" if len(brackets) > 1 else ""
            candidates = self._draws(count, random)
            own = [
                Trial(f"{name}{place}", params, clone(model).set_params(**params))
                for place, params in enumerate(candidates)
            ]
            self.history_ += course.run(own, rungs)
            trials += own
        best = int(np.argmax([trial.score for trial in trials]))
        self.cv_results_ = table(trials)
        self.model_history_ = {trial.model_id: trial.records for trial in trials}
        self.best_index_ = best
        self.best_estimator_ = trials[best].model
        self.best_params_, self.best_score_ = trials[best].params, trials[best].score
        self.metadata_ = {
            "n_models": len(trials),
            "partial_fit_calls": sum(len(trial.fit_times) for trial in trials),
        }


def _test_size(X: Any) -> float:
    """Return the share of samples that one chunk has on average."""
    chunks = len(X.node.chunks[0]) if is_lazy(X) else 1
    return 1.0 / chunks if chunks > 1 else TEST_SIZE


class InverseDecaySearchCV(IncrementalSearchCV):
    """Let fewer and fewer estimators go on: of ``n``, after ``t`` blocks, ``n / t ** decay_rate``.

    dask-ml's class of this name. The search ends when one is left.

    Parameters
    ----------
    estimator, parameters, n_initial_parameters, test_size, patience, tol : object
        As those of :class:`IncrementalSearchCV`.
    fits_per_score, max_iter, random_state, scoring, verbose, prefix : object
        As those of :class:`IncrementalSearchCV`.
    decay_rate : float
        How fast their number falls.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from marsdask.learn.model_selection import InverseDecaySearchCV
    >>> X = mt.arange(60.0, chunk_size=20).reshape(-1, 1) - 30
    >>> given = {"alpha": [1e-4, 1e4]}
    >>> model = SGDClassifier(random_state=0)
    >>> search = InverseDecaySearchCV(model, given, "grid", random_state=0)
    >>> search.fit(X, X[:, 0] > 0).best_params_
    {'alpha': 0.0001}
    """

    def __init__(
        self,
        estimator: Any = None,
        parameters: Any = None,
        n_initial_parameters: int | str = 10,
        test_size: float | None = None,
        patience: int | bool = False,
        tol: float = 0.001,
        fits_per_score: int = 1,
        max_iter: int = 100,
        random_state: Any = None,
        scoring: Any = None,
        verbose: bool = False,
        prefix: str = "",
        decay_rate: float = 1.0,
    ) -> None:
        super().__init__(
            estimator,
            parameters,
            n_initial_parameters,
            test_size,
            patience,
            tol,
            fits_per_score,
            max_iter,
            random_state,
            scoring,
            verbose,
            prefix,
        )
        self.decay_rate = decay_rate

    def _rungs(self, candidates: int) -> list[Rung]:
        rungs = []
        for rung in super()._rungs(candidates):
            count = max(1, int(candidates / rung.calls**self.decay_rate))
            rungs.append(Rung(count, rung.calls))
            if count == 1 and self.decay_rate:
                break
        return rungs


def halvings(candidates: int, calls: int, aggressiveness: float, most: float) -> list[Rung]:
    """Return the rungs of successive halving: the best share goes on, as many times further."""
    rungs = []
    for power in range(1 + int(math.log(candidates, aggressiveness) + 1e-9)):
        budget = round(calls * aggressiveness**power)
        rungs.append(Rung(int(candidates / aggressiveness**power + 1e-9), int(min(budget, most))))
        if budget >= most:
            break
    return rungs


class SuccessiveHalvingSearchCV(IncrementalSearchCV):
    """Let the best share of the estimators go on, each time by as many times more blocks.

    dask-ml's class of this name.

    Parameters
    ----------
    estimator, parameters, n_initial_parameters, test_size, patience, tol : object
        As those of :class:`IncrementalSearchCV`; ``patience=True`` is the share
        ``1 / aggressiveness`` of the most blocks.
    n_initial_iter : int
        The number of blocks that all learn from.
    max_iter : int, optional
        The number of blocks that an estimator learns from at most.
    aggressiveness : float
        One of so many goes on.
    random_state, scoring, verbose, prefix : object
        As those of :class:`IncrementalSearchCV`.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from marsdask.learn.model_selection import SuccessiveHalvingSearchCV
    >>> X = mt.arange(60.0, chunk_size=20).reshape(-1, 1) - 30
    >>> given = {"alpha": [1e-4, 1e-3, 1e4]}
    >>> model = SGDClassifier(random_state=0)
    >>> search = SuccessiveHalvingSearchCV(model, given, "grid", n_initial_iter=2, random_state=0)
    >>> search.fit(X, X[:, 0] > 0).best_params_["alpha"] < 1
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        parameters: Any = None,
        n_initial_parameters: int | str = 10,
        n_initial_iter: int | None = None,
        max_iter: int | None = None,
        aggressiveness: float = 3,
        test_size: float | None = None,
        patience: int | bool = False,
        tol: float = 0.001,
        random_state: Any = None,
        scoring: Any = None,
        verbose: bool = False,
        prefix: str = "",
    ) -> None:
        super().__init__(
            estimator,
            parameters,
            n_initial_parameters,
            test_size,
            patience,
            tol,
            max_iter=max_iter,  # type: ignore[arg-type]
            random_state=random_state,
            scoring=scoring,
            verbose=verbose,
            prefix=prefix,
        )
        self.n_initial_iter = n_initial_iter
        self.aggressiveness = aggressiveness

    def _rungs(self, candidates: int) -> list[Rung]:
        if self.n_initial_iter is None:
            raise ValueError("n_initial_iter must be specified")
        most = math.inf if self.max_iter is None else self.max_iter
        return halvings(candidates, self.n_initial_iter, self.aggressiveness, most)

    def _patience(self) -> int:
        if self.patience is True:
            last = self._rungs(self._candidate_count())[-1].calls
            return max(1, int(last // self.aggressiveness))
        return int(self.patience)


class HyperbandSearchCV(IncrementalSearchCV):
    """Search by successive halving of many estimators, and of fewer that learn for longer.

    dask-ml's class of this name, by the algorithm of Li et al., "Hyperband" (2018). The brackets
    run one after the other.

    Parameters
    ----------
    estimator, parameters : object
        As those of :class:`IncrementalSearchCV`; values are drawn.
    max_iter : int
        The number of blocks that the best estimators learn from; it decides how many there are.
    aggressiveness : float
        One of so many goes on.
    patience : int or bool
        As that of :class:`SuccessiveHalvingSearchCV`.
    tol, test_size, random_state, scoring, verbose, prefix : object
        As those of :class:`IncrementalSearchCV`.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from marsdask.learn.model_selection import HyperbandSearchCV
    >>> X = mt.arange(60.0, chunk_size=20).reshape(-1, 1) - 30
    >>> given = {"alpha": [1e-4, 1e-3, 1e-2, 1e4]}
    >>> search = HyperbandSearchCV(SGDClassifier(random_state=0), given, max_iter=3, random_state=0)
    >>> search.metadata["n_models"], search.metadata["partial_fit_calls"]
    (5, 11)
    >>> search.fit(X, X[:, 0] > 0).best_params_["alpha"] < 1
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        parameters: Any = None,
        max_iter: int = 81,
        aggressiveness: float = 3,
        patience: int | bool = False,
        tol: float = 0.001,
        test_size: float | None = None,
        random_state: Any = None,
        scoring: Any = None,
        verbose: bool = False,
        prefix: str = "",
    ) -> None:
        super().__init__(
            estimator,
            parameters,
            test_size=test_size,
            patience=patience,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            scoring=scoring,
            verbose=verbose,
            prefix=prefix,
        )
        self.aggressiveness = aggressiveness

    def _brackets(self) -> list[tuple[int, list[Rung]]]:
        most, share = self.max_iter, self.aggressiveness
        last = int(math.log(most, share) + 1e-9)
        brackets = []
        for bracket in range(last, -1, -1):
            count = math.ceil((last + 1) / (bracket + 1) * share**bracket - 1e-9)
            first = max(1, int(most / share**bracket + 1e-9))
            brackets.append((count, halvings(count, first, share, most)[: bracket + 1]))
        return brackets

    @property
    def metadata(self) -> dict[str, Any]:
        """What the search will do: how many estimators, and how often they learn from a block."""
        brackets = [
            {"bracket": number, "n_models": count, "partial_fit_calls": _calls(rungs)}
            for number, (count, rungs) in enumerate(self._brackets())
        ]
        total = {name: sum(b[name] for b in brackets) for name in ("n_models", "partial_fit_calls")}
        return {**total, "brackets": brackets}

    def _patience(self) -> int:
        if self.patience is True:
            return max(1, int(self.max_iter // self.aggressiveness))
        return int(self.patience)


def _calls(rungs: Sequence[Rung]) -> int:
    """Return how often estimators learn from a block, if none stops early."""
    before = [0, *(rung.calls for rung in rungs[:-1])]
    return sum(r.survivors * (r.calls - b) for r, b in zip(rungs, before, strict=True))
