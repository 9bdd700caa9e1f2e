"""Answers of compile processes contain nothing that could run code; workers unpickle tasks."""

from __future__ import annotations

import os
import pickle

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.base import Hint, Stage
from marsdask.scheduler.supervisor.compilation.compiler import Failure, Finished
from marsdask.scheduler.supervisor.compilation.packed_tasks import (
    packed_answer,
    plain,
    unpacked_answer,
)
from marsdask.scheduler.supervisor.submissions import prepare

TASK = Task(("x", 1), abs, TaskRef(("x", 0)))


def sent(answer):
    """Return an answer after its way between the processes."""
    return unpacked_answer(plain(pickle.dumps(packed_answer(answer))))


@pytest.mark.parametrize("answer", [True, Finished(b"", (("x", 0),)), Failure("wrong", b"data")])
def test_answers_without_tasks(answer):
    """They arrive as they are."""
    assert sent(answer) == answer
    assert type(sent(answer)) is type(answer)


def test_tasks():
    """Of a graph, all but the functions; unpickling a packed task gives the task."""
    hint = Hint(nbytes=8, annotations={"retries": 2})
    stage = Stage({TASK.key: TASK}, (TASK.key,), {TASK.key: hint}, later=3, dropped=(("y", 0),))
    found = sent(prepared := prepare(stage, 10))
    (task,) = found.graph.values()
    assert found.graph.keys() == {TASK.key}
    assert task.dependencies == TASK.dependencies
    assert pickle.loads(pickle.dumps(task)).key == TASK.key
    assert (found.stage.keys, found.stage.later, found.stage.dropped) == (
        stage.keys,
        stage.later,
        stage.dropped,
    )
    assert (found.annotations, found.outside) == (prepared.annotations, {("x", 0)})
    assert found.annotations["retries"] == {TASK.key: 2}


def test_code_is_refused():
    """In what a process answers."""
    with pytest.raises(pickle.UnpicklingError, match="getpid"):
        plain(pickle.dumps(os.getpid))
