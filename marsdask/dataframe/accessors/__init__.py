"""Accessors of series: strings, dates and times, categories."""
