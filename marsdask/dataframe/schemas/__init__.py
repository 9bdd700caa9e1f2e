"""The types of frames before they are computed."""
