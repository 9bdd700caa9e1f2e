"""Connections between processes: whom they admit, how they begin and end."""
