"""Plots of frames: reduced where the rows are, drawn by pandas."""
