"""Elements and parts, read and assigned."""
