"""The commands as Mars 0.7 and later name them."""

from .ray import RayClusterBackend, new_cluster_in_ray, new_ray_session

__all__ = ["RayClusterBackend", "new_cluster_in_ray", "new_ray_session"]
