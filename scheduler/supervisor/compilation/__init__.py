"""Where jobs unpickle and compile, outside the event loop."""
