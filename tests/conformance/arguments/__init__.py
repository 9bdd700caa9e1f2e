"""Which arguments are heeded: a table of values that change what the references return.

``python -m tests.conformance.arguments`` makes the tables, by calling the references with many
values. The tests call the references and ours with the values of the tables alone.
"""
