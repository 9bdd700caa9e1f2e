"""Functions of the user's over chunks, and chunks themselves."""
