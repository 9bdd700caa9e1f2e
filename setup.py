"""Map the top-level folder ``scheduler/`` to the import package ``marsdask.scheduler``.

Everything else is declared in pyproject.toml; this mapping is the one thing that cannot be said
there together with the packages below it.
"""

from setuptools import find_packages, setup

# Found by hand on both sides of the mapping, so that the result is the same where the symlink
# marsdask/scheduler is a link, a copy, or (in an sdist, on Windows) absent.
MARSDASK = find_packages(include=["marsdask", "marsdask.*"], exclude=["marsdask.scheduler*"])
SCHEDULER = [f"marsdask.scheduler.{name}" for name in find_packages("scheduler")]

setup(
    packages=[*MARSDASK, "marsdask.scheduler", *SCHEDULER],
    package_dir={"marsdask.scheduler": "scheduler"},
)
