"""Run Dask task graphs: in this process, in others, or on a cluster."""

# The folder lies beside marsdask/ in the repository, so a Python started there would find it under
# a name that belongs to somebody else on PyPI, and every class in it would exist twice.
if __name__ == "scheduler":
    raise ImportError("this folder is the package marsdask.scheduler: import it by that name")
