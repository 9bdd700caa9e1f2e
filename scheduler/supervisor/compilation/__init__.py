"""The processes in which jobs are unpickled and compiled, outside the event loop."""
