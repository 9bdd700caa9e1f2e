"""joblib's calls are tasks of a session, and scikit-learn's ``n_jobs`` counts its workers."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import marsdask
from marsdask.learn.contrib.joblib import MarsBackend, register_mars_backend


def where() -> tuple[int, str]:
    """Return the process and the thread that call it."""
    return os.getpid(), threading.current_thread().name


def refuse(number: int) -> int:
    """Raise an error for three."""
    if number == 3:
        raise KeyError("three")
    return number


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: calls have no chunks to merge."""


@pytest.fixture(scope="module", autouse=True)
def _registered():
    register_mars_backend()


@pytest.fixture
def session():
    with marsdask.new_session("threads", nthreads=2) as session:
        yield session


@pytest.mark.parametrize("name", ["marsdask", "mars"])
def test_calls_run_on_the_workers_of_a_session(session, name):
    """As many at a time as there are, and their results come in order."""
    with parallel_config(backend=name, session=session):
        assert effective_n_jobs() == 2
        assert Parallel()(delayed(abs)(-number) for number in range(9)) == list(range(9))
        found = set(Parallel()(delayed(where)() for _ in range(6)))
    assert {process for process, _ in found} == {os.getpid()}
    assert all(thread.startswith("marsdask-") for _, thread in found)


def test_processes_run_calls():
    """Where the session's workers are processes."""
    with marsdask.new_session("processes", nprocesses=1) as session:
        backend = MarsBackend(session)
        backend.configure(1)
        ((process, _),) = backend.submit(where).result()
        backend.terminate()
    assert process != os.getpid()


def test_errors_are_those_of_the_calls(session):
    """The backend works on after one; results may come one by one."""
    with parallel_config(backend="marsdask", session=session):
        with pytest.raises(KeyError, match="three"):
            Parallel()(delayed(refuse)(number) for number in range(5))
        found = Parallel(return_as="generator")(delayed(refuse)(number) for number in range(3))
        assert list(found) == [0, 1, 2]


def test_searches_of_scikit_learn_run_on_a_session(session):
    """With the result that they have elsewhere."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    grid = {"var_smoothing": [1e-9, 1.0]}
    expected = GridSearchCV(GaussianNB(), grid, cv=2).fit(X, y).cv_results_["mean_test_score"]
    with parallel_config(backend="marsdask", session=session):
        found = GridSearchCV(GaussianNB(), grid, cv=2).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


def test_numbers_of_jobs(session):
    """At most as many as workers; zero is refused."""
    backend = MarsBackend(session)
    assert [backend.effective_n_jobs(n) for n in (None, -1, -2, 1, 9)] == [2, 2, 1, 1, 2]
    with pytest.raises(ValueError, match="n_jobs == 0"):
        backend.effective_n_jobs(0)
