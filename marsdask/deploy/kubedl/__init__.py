"""Clusters that KubeDL's operator runs as MarsJobs.

>>> from marsdask.deploy.kubedl import new_cluster  # doctest: +SKIP
>>> cluster = new_cluster(image="registry/marsdask:1", worker_num=2)  # doctest: +SKIP
>>> cluster.stop()  # doctest: +SKIP
"""

from .cluster import KubeDLClusterClient, new_cluster
from .reading import read_job

__all__ = ["KubeDLClusterClient", "new_cluster", "read_job"]
