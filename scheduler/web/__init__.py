"""The HTTP interface of a cluster."""
