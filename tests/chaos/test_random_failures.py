"""Jobs end right or with a clear error, whatever dies meanwhile, and nothing is left behind."""

from __future__ import annotations

import os
import time

from tests.chaos.random_failures import SLACK, FailureInjector, open_files

#: ``make chaos`` sets them; here a few steps that are always the same.
SEED = int(os.environ.get("CHAOS_SEED", "1"))
SECONDS = float(os.environ.get("CHAOS_SECONDS", "0"))

#: Steps, whatever time they take.
STEPS = 3

#: Empty files of distributed's, one each in a directory, that stay for the next worker.
LOCKS = {"global.lock", "purge.lock"}


def test_random_failures(tmp_path):
    """Workers, their nannies, clients and the supervisor are killed in the middle of jobs."""
    before = open_files()
    end = time.monotonic() + SECONDS
    with FailureInjector(SEED, tmp_path).cluster() as injector:
        while len(injector.failures) < STEPS or time.monotonic() < end:
            injector.step()
        injector.shut_down()
    print(f"{injector.right} of {len(injector.failures)} jobs were right; seed {SEED}")  # noqa: T201
    print("\n".join(injector.errors))  # noqa: T201
    unexpected = [error for error in injector.errors if not error.startswith("kill_supervisor")]
    assert len(unexpected) <= len(injector.failures) // 4, unexpected
    assert open_files() <= before + SLACK
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in LOCKS]
    assert not left
