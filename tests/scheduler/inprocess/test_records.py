"""Records of tasks and jobs."""

from marsdask.scheduler.events import GraphEnded, GraphSubmitted
from marsdask.scheduler.inprocess.records import ALL, LocalJob


def test_an_unobserved_job_collects_no_events():
    """Nobody would ever take them."""
    job = LocalJob()
    job.tell(GraphSubmitted(1))
    assert not job.events


def test_an_ended_job_collects_no_events():
    """The end is the last that is heard of it."""
    job = LocalJob(observed=True)
    job.tell(GraphEnded("done"))
    job.state = "done"
    job.tell(GraphSubmitted(1))
    assert list(job.events) == [GraphEnded("done")]


def test_bounds():
    """Every order is below the outermost bound, and each level's lies below the one outside it."""
    assert LocalJob().bound == ALL
    assert LocalJob(level=2).bound < LocalJob(level=1).bound <= 0 < ALL
