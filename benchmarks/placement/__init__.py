"""A simulator of placement: graphs of up to a million tasks on a cluster of paper."""
