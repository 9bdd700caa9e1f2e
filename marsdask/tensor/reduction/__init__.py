"""Reductions: sums, means, extremes, histograms."""
