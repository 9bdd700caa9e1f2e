"""The commands: mars-supervisor (or mars-scheduler), mars-worker and mars-web.

Both generations of Mars's options are understood by each of them, whatever name it is called by.
"""
