"""Chains of every family of operations: `python -m benchmarks.chains --help`.

`tests/conformance/test_chains.py` counts calls over the same families.
"""
