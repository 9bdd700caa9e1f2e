"""MarsJobs that people have written, in both spellings of the memory policy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, Final

import yaml

from marsdask.scheduler.errors import did_you_mean

from .mars_job import KIND, VERSION

#: The group of Mars's own client; the operator has another one.
_OLD_VERSION: Final = "kubedl.io/v1alpha1"

#: The field of the definition, and its name in KubeDL's document, which is dropped.
_FIELD, _DOCUMENTED = "workerMemoryTuningPolicy", "memoryTuningPolicy"

#: The fields of the policy, and what they are.
_POLICY: Final[Mapping[str, tuple[type, ...]]] = {
    "plasmaStore": (str,),
    "lockFreeFileIO": (bool,),
    "spillDirs": (list,),
    "workerCachePercentage": (int,),
    "workerCacheSize": (str, int),
}


def read_job(source: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return a MarsJob of a YAML file, or of a mapping, as KubeDL's definition has it.

    KubeDL's document calls the memory policy ``memoryTuningPolicy``. Kubernetes drops this field
    silently, so it is renamed, with a warning.

    Parameters
    ----------
    source : str, path or mapping
        A file with one MarsJob, or its content.

    Returns
    -------
    dict
        The manifest.

    Raises
    ------
    ValueError
        If it is no MarsJob, or its memory policy is invalid.

    Examples
    --------
    >>> from marsdask.deploy.kubedl import read_job
    >>> job = {"kind": "MarsJob", "spec": {"marsReplicaSpecs": {}}}
    >>> read_job(job)["apiVersion"]
    'training.kubedl.io/v1alpha1'
    """
    if isinstance(source, Mapping):
        content: Any = source
    else:
        with open(source, encoding="utf-8") as file:
            content = yaml.safe_load(file)
    if not isinstance(content, Mapping) or content.get("kind") != KIND:
        raise ValueError(f"{source!s} is no {KIND}")
    version = content.get("apiVersion", VERSION)
    if version not in (VERSION, _OLD_VERSION):
        raise ValueError(f"invalid apiVersion: {version!r}; KubeDL's is {VERSION!r}")
    spec = content.get("spec")
    if not isinstance(spec, Mapping) or "marsReplicaSpecs" not in spec:
        raise ValueError(f"the {KIND} has no spec.marsReplicaSpecs")
    manifest = {name: value for name, value in content.items() if name != "status"}
    return {**manifest, "apiVersion": VERSION, "spec": _with_policy(dict(spec))}


def _with_policy(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a job's spec with its memory policy under the right name."""
    if _DOCUMENTED in spec:
        warnings.warn(
            f"spec.{_DOCUMENTED} is called spec.{_FIELD}: Kubernetes drops the name that KubeDL's "
            "document has; it is renamed here",
            UserWarning,
            stacklevel=3,
        )
        policy = spec.pop(_DOCUMENTED)
        if spec.setdefault(_FIELD, policy) != policy:
            raise ValueError(f"spec.{_FIELD} and spec.{_DOCUMENTED} differ: give one of them")
    policy = spec.get(_FIELD)
    if policy is not None:
        _check(policy)
    return spec


def _check(policy: Mapping[str, Any]) -> None:
    for name, value in policy.items():
        if name not in _POLICY:
            raise ValueError(
                f"unknown field in spec.{_FIELD}: {name!r}{did_you_mean(name, _POLICY)}"
            )
        kinds = _POLICY[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"invalid {name} in spec.{_FIELD}: {value!r}; give {names}")
    share = policy.get("workerCachePercentage", 1)
    if not 1 <= share <= 100:
        raise ValueError(f"invalid workerCachePercentage: {share}; give 1 to 100")
