"""Tests mirror the code: where the tests of each file are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source import ROOT, files, title

#: Files without tests of their own name, and the tests that cover them. The list may only shrink.
#: Files of one folder that only work together are tested together, declarations by what uses them,
#: and servers by the clusters of tests/cluster.
ELSEWHERE = {
    "tests/test_drop_in.py": ("marsdask/config", "marsdask/session"),
    "tests/test_dask_protocol.py": ("marsdask/core/protocol/finalization", "marsdask/dask_verbs"),
    "tests/dataframe/whole/test_fallback.py": (
        "marsdask/dataframe/whole/calls",
        "marsdask/dataframe/whole/origin",
        "marsdask/dataframe/whole/results",
    ),
    "tests/core/compilation/test_memory.py": (
        "marsdask/core/machine/costs",
        "marsdask/core/machine/plan",
    ),
    "tests/cluster/jobs/test_jobs.py": (
        "marsdask/core/compilation/serialization",
        "scheduler/supervisor/transitions",
        "scheduler/testing/jobs",
        "scheduler/testing/tools",
    ),
    "tests/scheduler/supervisor/compilation/test_processes.py": (
        "scheduler/supervisor/compilation/compiler",
        "scheduler/supervisor/compilation/session_process",
        "scheduler/supervisor/compilation/forkserver",
    ),
    "tests/compat/test_alias.py": (
        "marsdask/compat/__main__",
        "marsdask/compat/mars",
        "marsdask/compat/missing",
    ),
    "tests/compat/test_session.py": ("marsdask/core/mars_session",),
    "tests/remote/test_run_script.py": (
        "marsdask/remote/ranks",
        "marsdask/remote/script_process",
    ),
    "tests/remote/test_spawn.py": (
        "marsdask/core/dask/single_value",
        "marsdask/remote/names",
        "marsdask/remote/node",
        "marsdask/remote/object",
        "scheduler/worker_client",
    ),
    "tests/remote/test_task_log.py": ("marsdask/remote/fetched_log",),
    "tests/core/test_session.py": (
        "marsdask/core/call_site",
        "marsdask/core/compilation/held_value",
        "marsdask/core/compilation/failures",
        "marsdask/core/errors",
    ),
    "tests/core/protocol/test_layer.py": ("marsdask/core/compilation/static_graph",),
    "tests/core/results/test_stored.py": (
        "marsdask/core/results/layout",
        "marsdask/core/source_node",
    ),
    "tests/core/compilation/test_tiling.py": (
        "marsdask/core/grids/blockwise",
        "marsdask/core/grids/grid",
        "marsdask/core/grids/lengths",
        "marsdask/core/grids/logical",
        "marsdask/core/grids/shuffle",
    ),
    "tests/dataframe/test_labels.py": (
        "marsdask/dataframe/collection",
        "marsdask/dataframe/frame",
        "marsdask/dataframe/nodes/frame_node",
        "marsdask/dataframe/index",
        "marsdask/dataframe/frame_base",
        "marsdask/dataframe/rows",
        "marsdask/dataframe/series",
    ),
    "tests/dataframe/reduction/test_reductions.py": ("marsdask/dataframe/ordered/cumulative",),
    "tests/dataframe/io/test_parquet.py": ("marsdask/dataframe/storage/hive",),
    "tests/dataframe/relations/test_planning.py": (
        "marsdask/core/compilation/rules/relations",
        "marsdask/dataframe/relations/aggregates",
        "marsdask/dataframe/relations/columns",
        "marsdask/dataframe/relations/expression",
        "marsdask/dataframe/relations/inputs",
        "marsdask/dataframe/relations/joins",
        "marsdask/dataframe/relations/query",
        "marsdask/dataframe/relations/relation",
    ),
    "tests/dataframe/keyed/test_groupby.py": (
        "marsdask/dataframe/keyed/aggregation",
        "marsdask/dataframe/schemas/precision",
    ),
    "tests/dataframe/keyed/test_merge.py": ("marsdask/dataframe/row_parts",),
    "tests/deploy/test_modules.py": (
        "marsdask/deploy/kubernetes/scheduler",
        "marsdask/deploy/kubernetes/supervisor",
        "marsdask/deploy/kubernetes/web",
        "marsdask/deploy/kubernetes/worker",
        "marsdask/deploy/oscar/supervisor",
        "marsdask/deploy/oscar/worker",
    ),
    "tests/compat/test_local_cluster.py": ("marsdask/deploy/oscar/ray",),
    "tests/compat/contrib/dask/test_converter.py": ("marsdask/compat/contrib/dask/scheduler",),
    "tests/deploy/kubernetes/test_manifests.py": ("marsdask/deploy/kubernetes/pods",),
    "tests/deploy/kubernetes/test_cluster.py": ("marsdask/deploy/kubernetes/web_port",),
    "tests/tensor/chunkwise/test_overlap.py": ("marsdask/tensor/chunkwise/halo",),
    "tests/tensor/chunkwise/test_rechunk.py": ("marsdask/tensor/kernels/assembly",),
    "tests/tensor/creation/test_index_arrays.py": ("marsdask/tensor/lib/index_tricks",),
    "tests/tensor/linalg/test_large_systems.py": ("marsdask/tensor/linalg/blocked_lu",),
    "tests/tensor/linalg/test_products.py": (
        "marsdask/tensor/linalg/contraction",
        "marsdask/tensor/linalg/einsum_subscripts",
    ),
    "tests/tensor/ma/test_ma.py": ("marsdask/tensor/ma/masked_tensor",),
    "tests/tensor/quantile/test_exact.py": ("marsdask/tensor/quantile/selection",),
    "tests/tensor/random/test_state.py": ("marsdask/tensor/random/samplers",),
    "tests/tensor/test_unknown_lengths.py": ("marsdask/tensor/reduction/array_equiv",),
    "tests/tensor/reduction/test_histogram.py": (
        "marsdask/tensor/chunkwise/single_task",
        "marsdask/tensor/reduction/bin_widths",
    ),
    "tests/tensor/sparse/test_conversion.py": ("marsdask/tensor/sparse/blocks",),
    "tests/tensor/stats/test_stats.py": (
        "marsdask/tensor/stats/frequencies",
        "marsdask/tensor/stats/ks_test",
        "marsdask/tensor/stats/moments",
        "marsdask/tensor/stats/p_values",
        "marsdask/tensor/stats/rankdata",
        "marsdask/tensor/stats/sample",
        "marsdask/tensor/stats/variance",
    ),
    "tests/typing/test_tensor.py": ("marsdask/tensor/typing",),
    "tests/scheduler/test_contract.py": (
        "scheduler/base",
        "scheduler/events",
        "scheduler/testing/fixtures",
        "scheduler/testing/results",
    ),
    "tests/cluster/test_commands.py": ("scheduler/cli/local", "scheduler/preload"),
    "tests/scheduler/inprocess/test_handles.py": ("scheduler/inprocess/engine",),
    "tests/cluster/jobs/test_local.py": ("scheduler/remote/local_cluster",),
    "tests/scheduler/storage/test_shared.py": (
        "scheduler/storage/shared_handle",
        "scheduler/worker/shared_transfers",
    ),
    "tests/scheduler/supervisor/test_server.py": (
        "scheduler/supervisor/suspicious_tasks",
        "scheduler/supervisor/failover/unclaimed_results",
        "scheduler/supervisor/memory_deadlock",
    ),
    "tests/scheduler/supervisor/test_placement.py": ("scheduler/supervisor/hints",),
    "tests/scheduler/cluster/test_hooks.py": (
        "scheduler/supervisor/hooks",
        "scheduler/worker/hooks",
    ),
    "tests/cluster/scheduling/test_replicas.py": ("scheduler/supervisor/replicas",),
    "tests/cluster/failover/test_standby.py": ("scheduler/supervisor/failover/standby",),
    "tests/compat/test_compare.py": ("scheduler/testing/inject",),
    "tests/cluster/deployment/test_web.py": (
        "scheduler/web/legacy_api",
        "scheduler/web/rest",
        "scheduler/web/web_client",
    ),
    "tests/scheduler/worker/test_shared_results.py": ("scheduler/worker/connections",),
}

CODE = [path for path in files("marsdask", "scheduler") if path.name != "__init__.py"]


def mirror(path: Path) -> Path:
    """Return where the tests of a file of code would be."""
    parts = path.relative_to(ROOT).parts
    inner = parts[1:] if parts[0] == "marsdask" else parts
    return ROOT.joinpath("tests", *inner[:-1], f"test_{path.name}")


def test_each_file_of_code_has_its_tests() -> None:
    """Under its own name, or where the list says; the list has no file that is tested or gone."""
    alone = {title(path).removesuffix(".py") for path in CODE if not mirror(path).exists()}
    listed = [name for names in ELSEWHERE.values() for name in names]
    assert alone == set(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("path", ELSEWHERE)
def test_the_tests_named_exist(path: str) -> None:
    """A reader who follows the list finds the file."""
    assert (ROOT / path).is_file()


def test_where_tests_belong() -> None:
    """The folders below the package, and those of the schedulers, are those of the tests."""
    reductions = ROOT / "marsdask/tensor/reduction/reductions.py"
    assert title(mirror(reductions)) == "tests/tensor/reduction/test_reductions.py"
    assert title(mirror(ROOT / "scheduler/get.py")) == "tests/scheduler/test_get.py"
