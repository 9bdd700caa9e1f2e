"""Row and column labels: names, selection by label, samples."""
