"""The commands: mars-supervisor (or mars-scheduler), mars-worker and mars-web.

Each command accepts the options of both generations of Mars.
"""
