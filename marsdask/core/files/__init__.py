"""Files that programs read and write: their versions, what overlaps, and how they are replaced."""
