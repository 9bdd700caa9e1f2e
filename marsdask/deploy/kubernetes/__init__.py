"""Clusters in Kubernetes, and the commands that their containers run.

>>> from marsdask.deploy.kubernetes import new_cluster  # doctest: +SKIP
>>> cluster = new_cluster(worker_num=2, worker_cpu=4, worker_mem="16g")  # doctest: +SKIP
>>> cluster.stop()  # doctest: +SKIP
"""

from .cluster import KubernetesClusterClient, new_cluster

__all__ = ["KubernetesClusterClient", "new_cluster"]
