"""What frames of Mars have, and ours lack: methods, calls and keywords."""
